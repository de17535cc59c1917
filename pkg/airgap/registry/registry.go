// Package registry reads and writes artifacts in registries, with the credentials of Docker's configuration.
package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"open-cluster-management.io/interlock/pkg/airgap/layout"
	"open-cluster-management.io/interlock/pkg/airgap/signature"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxDepth is how deep manifests refer to manifests: those of images for several platforms do once.
const maxDepth = 3

// ErrNoTag is returned for a reference that names neither a tag nor a digest.
var ErrNoTag = errors.New("a tag or digest is missing, as in registry.example.com/addons:1.0.0")

// Client reads and writes artifacts.
type Client struct {
	// Insecure: registries on loopback may have no TLS.
	Insecure bool
}

// Reference reads the reference of an artifact. It has to name its registry, and a tag or a digest.
func (c Client) Reference(reference string) (name.Reference, error) {
	if path := reference[strings.LastIndex(reference, "/")+1:]; !strings.ContainsAny(path, ":@") {
		return nil, fmt.Errorf("%q: %w", text.Excerpt(reference), ErrNoTag)
	}
	parsed, err := c.parse(reference, name.StrictValidation)
	if err == nil && c.Insecure && !isLoopback(hostOf(parsed)) {
		err = fmt.Errorf("--insecure is for registries on loopback, and %s is none", parsed.Context().RegistryStr())
	}
	return parsed, err
}

// Image reads the reference of an image, as manifests have them: without a registry, it is of Docker Hub.
func (c Client) Image(reference string) (name.Reference, error) {
	return c.parse(reference, name.WeakValidation)
}

// parse reads a reference. TLS is left out for registries on loopback only.
func (c Client) parse(reference string, validation name.Option) (parsed name.Reference, err error) {
	parsed, err = parse(reference, validation)
	if err == nil && c.Insecure && isLoopback(hostOf(parsed)) {
		parsed, err = parse(reference, validation, name.Insecure)
	}
	return parsed, err
}

// parse is name.ParseReference, which does not say what is wrong.
func parse(reference string, options ...name.Option) (name.Reference, error) {
	if strings.Contains(reference, "@") {
		return name.NewDigest(reference, options...)
	}
	return name.NewTag(reference, options...)
}

func hostOf(reference name.Reference) string {
	host, _, err := net.SplitHostPort(reference.Context().RegistryStr())
	if err != nil {
		return reference.Context().RegistryStr()
	}
	return host
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// These are how long a registry may take until it begins to answer a request that it has as a whole. One may copy what was
// uploaded before it answers.
const (
	readPatience  = 30 * time.Second
	writePatience = 5 * time.Minute
)

// limited is a transport that waits for an answer no longer than that.
func limited(patience time.Duration) http.RoundTripper {
	transport := remote.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = patience
	return transport
}

// All clients have the same transports, so that they share connections.
var reading, writing = limited(readPatience), limited(writePatience)

// guarded sends nothing without TLS, other than to loopback where that is allowed: neither at first, nor after a redirection.
type guarded struct {
	http.RoundTripper
	insecure bool
}

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(request *http.Request) (*http.Response, error) {
	allowed := request.URL.Scheme == "https" || g.insecure && isLoopback(request.URL.Hostname())
	if !allowed {
		return nil, fmt.Errorf("%s without TLS is refused; --insecure allows it for registries on loopback", request.URL.Host)
	}
	response, err := g.RoundTripper.RoundTrip(request)
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() && request.Context().Err() == nil {
		// Without the type of the error, the library does not try again.
		err = fmt.Errorf("%s %s: no answer in time: %w", request.Method, request.URL.Redacted(), err)
	}
	return response, err
}

func (c Client) options(ctx context.Context, transport http.RoundTripper) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithUserAgent("kubectl-addon"),
		remote.WithTransport(guarded{transport, c.Insecure}),
	}
}

// Get adds what a reference leads to: its manifests at once, and other content when it is opened.
func (c Client) Get(ctx context.Context, reference name.Reference, to layout.Blobs) (v1.Descriptor, error) {
	puller, err := remote.NewPuller(c.options(ctx, reading)...)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return get(ctx, puller, reference, to, maxDepth)
}

// GetOne is Get for an artifact that is one manifest.
func (c Client) GetOne(ctx context.Context, reference name.Reference, to layout.Blobs) (v1.Descriptor, error) {
	puller, err := remote.NewPuller(c.options(ctx, reading)...)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return get(ctx, puller, reference, to, 1)
}

// get reads manifests, and those that they refer to up to a depth.
func get(ctx context.Context, puller *remote.Puller, reference name.Reference, to layout.Blobs, depth int) (v1.Descriptor, error) {
	if depth == 0 {
		return v1.Descriptor{}, fmt.Errorf("%s: a manifest must not refer to this one", reference)
	}
	found, err := puller.Get(ctx, reference)
	if err != nil {
		return v1.Descriptor{}, err
	}
	of, err := to.Add(found.MediaType, found.Manifest)
	if err != nil {
		return of, err
	}
	children, err := to.Children(of)
	if err != nil {
		return of, err
	}
	for _, child := range children {
		digest := reference.Context().Digest(child.Digest.String())
		if child.MediaType.IsIndex() || child.MediaType.IsImage() {
			if _, err := get(ctx, puller, digest, to, depth-1); err != nil {
				return of, err
			}
			continue
		}
		to[child.Digest] = layout.Blob{Size: child.Size, Open: func() (io.ReadCloser, error) {
			layer, err := puller.Layer(ctx, digest)
			if err != nil {
				return nil, err
			}
			return layer.Compressed()
		}}
	}
	return of, nil
}

// GetSignatures adds the signatures of an artifact. found is false where there are none.
func (c Client) GetSignatures(
	ctx context.Context, repository name.Repository, of v1.Hash, to layout.Blobs,
) (signatures v1.Descriptor, found bool, err error) {
	signatures, err = c.GetOne(ctx, repository.Tag(signature.Tag(of)), to)
	if failed := new(transport.Error); errors.As(err, &failed) && failed.StatusCode == http.StatusNotFound {
		return signatures, false, nil
	}
	return signatures, err == nil, err
}

// Put writes what a descriptor leads to, and its manifest last, under a reference.
func (c Client) Put(ctx context.Context, reference name.Reference, of v1.Descriptor, from layout.Blobs) error {
	pusher, err := remote.NewPusher(c.options(ctx, writing)...)
	if err != nil {
		return err
	}
	repository := reference.Context()
	return from.Walk([]v1.Descriptor{of}, func(one v1.Descriptor) error {
		if !one.MediaType.IsIndex() && !one.MediaType.IsImage() {
			return pusher.Upload(ctx, repository, layer{one, from[one.Digest]})
		}
		content, err := from.Read(one)
		if err != nil {
			return err
		}
		to := name.Reference(repository.Digest(one.Digest.String()))
		if one.Digest == of.Digest {
			to = reference
		}
		return pusher.Put(ctx, to, manifest{content, one.MediaType})
	})
}

// manifest is one that is written as it is.
type manifest struct {
	content   []byte
	mediaType types.MediaType
}

// RawManifest implements remote.Taggable.
func (m manifest) RawManifest() ([]byte, error) { return m.content, nil }

// MediaType is the one under which it is written.
func (m manifest) MediaType() (types.MediaType, error) { return m.mediaType, nil }

// layer is a blob as the library uploads them.
type layer struct {
	of   v1.Descriptor
	blob layout.Blob
}

// Digest implements v1.Layer, as do the other methods.
func (l layer) Digest() (v1.Hash, error) { return l.of.Digest, nil }

// DiffID is the digest of what is in it.
func (l layer) DiffID() (v1.Hash, error) { return l.of.Digest, nil }

// Compressed opens it.
func (l layer) Compressed() (io.ReadCloser, error) { return l.blob.Open() }

// Uncompressed opens it: nothing is decompressed here.
func (l layer) Uncompressed() (io.ReadCloser, error) { return l.blob.Open() }

// Size is its number of bytes.
func (l layer) Size() (int64, error) { return l.of.Size, nil }

// MediaType is the one that its manifest names.
func (l layer) MediaType() (types.MediaType, error) { return l.of.MediaType, nil }
