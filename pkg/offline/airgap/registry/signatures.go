package registry

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/offline/airgap/signature"
)

// GetSignatures adds the signatures of the artifact with a digest to blobs.
func (c Client) GetSignatures(
	ctx context.Context, repository name.Repository, digest v1.Hash, blobs layout.Blobs,
) (signature.Signatures, error) {
	var signatures signature.Signatures
	tagged, ok, err := c.getTagged(ctx, repository, digest, blobs)
	if err != nil {
		return signatures, err
	}
	if ok {
		signatures.Tagged = &tagged
	}
	return signatures, c.getBundles(ctx, repository, digest, blobs, &signatures)
}

// getTagged adds the manifest with the signatures of cosign 2. It returns false if there is none.
func (c Client) getTagged(
	ctx context.Context, repository name.Repository, digest v1.Hash, blobs layout.Blobs,
) (v1.Descriptor, bool, error) {
	tagged, err := c.GetOne(ctx, repository.Tag(signature.Tag(digest)), blobs)
	if failed := new(transport.Error); errors.As(err, &failed) && failed.StatusCode == http.StatusNotFound {
		return tagged, false, nil
	}
	return tagged, err == nil, err
}

// getBundles adds the manifests with bundles that refer to the artifact. A registry that does not list what refers to an artifact has the
// list under a tag.
func (c Client) getBundles(
	ctx context.Context, repository name.Repository, digest v1.Hash, blobs layout.Blobs, signatures *signature.Signatures,
) error {
	referrers, err := remote.Referrers(repository.Digest(digest.String()), c.options(ctx, readTransport)...)
	if err != nil {
		return explain(err, repository)
	}
	list, err := referrers.IndexManifest()
	if err != nil {
		return explain(err, repository)
	}
	for _, referrer := range list.Manifests {
		if !signature.MayBeBundle(referrer) {
			continue
		}
		manifest, err := c.GetOne(ctx, repository.Digest(referrer.Digest.String()), blobs)
		if err != nil {
			return err
		}
		if err := signatures.AddBundle(blobs, manifest); err != nil {
			return err
		}
	}
	return nil
}

// PutSignatures writes the signatures of the artifact with a digest, and keeps those that are there.
func (c Client) PutSignatures(
	ctx context.Context, repository name.Repository, digest v1.Hash, signatures signature.Signatures, blobs layout.Blobs,
) error {
	if signatures.Tagged != nil {
		existing, ok, err := c.getTagged(ctx, repository, digest, blobs)
		if err != nil {
			return err
		}
		tagged := *signatures.Tagged
		if ok {
			if tagged, err = signature.Merge(blobs, existing, tagged); err != nil {
				return err
			}
		}
		if err := c.Put(ctx, repository.Tag(signature.Tag(digest)), tagged, blobs); err != nil {
			return err
		}
	}
	for _, bundle := range signatures.Bundles {
		if err := c.Put(ctx, repository.Digest(bundle.Digest.String()), bundle, blobs); err != nil {
			return err
		}
	}
	return nil
}
