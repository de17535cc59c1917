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
	"github.com/google/go-containerregistry/pkg/v1/types"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxDepth is the maximum number of manifests on the way to a blob. Images for several platforms need two.
const maxDepth = 3

// ErrNoTag is the error for a reference without a tag or a digest.
var ErrNoTag = errors.New("a tag or digest is missing, as in registry.example.com/addons:1.0.0")

// Client reads and writes artifacts.
type Client struct {
	// Insecure allows registries on loopback to have no TLS.
	Insecure bool
}

// Reference reads the reference of an artifact. It has to name its registry, and a tag or a digest.
func (c Client) Reference(reference string) (name.Reference, error) {
	if path := reference[strings.LastIndex(reference, "/")+1:]; !strings.ContainsAny(path, ":@") {
		return nil, fmt.Errorf("%q: %w", text.Excerpt(reference), ErrNoTag)
	}
	if host, _, ok := strings.Cut(reference, "/"); !ok || !strings.ContainsAny(host, ".:") && host != "localhost" {
		return nil, fmt.Errorf("%q: the registry is missing, as in registry.example.com/addons:1.0.0", text.Excerpt(reference))
	}
	parsed, err := c.parse(reference, name.StrictValidation)
	if err == nil && c.Insecure && !isLoopback(hostOf(parsed)) {
		err = fmt.Errorf("--insecure is for registries on loopback, and %s is none", parsed.Context().RegistryStr())
	}
	return parsed, err
}

// Image reads the reference of an image in a manifest. Without a registry in it, the image is on Docker Hub.
func (c Client) Image(reference string) (name.Reference, error) {
	return c.parse(reference, name.WeakValidation)
}

// parse reads a reference. Only registries on loopback may be used without TLS.
func (c Client) parse(reference string, validation name.Option) (name.Reference, error) {
	parsed, err := parse(reference, validation)
	if err == nil && c.Insecure && isLoopback(hostOf(parsed)) {
		parsed, err = parse(reference, validation, name.Insecure)
	}
	return parsed, err
}

// parse replaces name.ParseReference, because its error does not name the mistake.
func parse(reference string, options ...name.Option) (name.Reference, error) {
	var parsed name.Reference
	var err error
	if strings.Contains(reference, "@") {
		parsed, err = name.NewDigest(reference, options...)
	} else {
		parsed, err = name.NewTag(reference, options...)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text.Excerpt(reference), err)
	}
	return parsed, nil
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

// Timeouts for the beginning of a response, after the whole request was sent. A registry may copy uploaded content before it
// responds.
const (
	readTimeout  = 30 * time.Second
	writeTimeout = 5 * time.Minute
)

// newTransport returns a transport that waits for the beginning of a response no longer than the timeout.
func newTransport(timeout time.Duration) http.RoundTripper {
	transport := remote.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = timeout
	return transport
}

// All clients use the same transports, so that they share connections.
var readTransport, writeTransport = newTransport(readTimeout), newTransport(writeTimeout)

// tlsTransport refuses requests without TLS, also after a redirection. insecure allows them to loopback.
type tlsTransport struct {
	http.RoundTripper
	insecure bool
}

// RoundTrip implements http.RoundTripper.
func (t tlsTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	allowed := request.URL.Scheme == "https" || t.insecure && isLoopback(request.URL.Hostname())
	if !allowed {
		return nil, &withoutTLSError{request.URL.Host}
	}
	exchange := newExchange(request.Context(), t.timeout())
	response, err := t.RoundTripper.RoundTrip(exchange.request(request))
	if err == nil {
		exchange.watch.Stop()
		response.Body = &body{response.Body, exchange, true}
		return response, nil
	}
	if exchange.stalled() {
		err = fmt.Errorf("%s %s: %w", request.Method, request.URL.Redacted(), errStalled)
	}
	exchange.end()
	if netErr := net.Error(nil); errors.As(err, &netErr) && netErr.Timeout() && request.Context().Err() == nil {
		// The library retries errors of type net.Error, so the type is hidden here.
		err = fmt.Errorf("%s %s: no answer in time: %w", request.Method, request.URL.Redacted(), err)
	}
	return nil, err
}

// timeout returns the time after which an exchange without progress is given up.
func (t tlsTransport) timeout() time.Duration {
	if transport, ok := t.RoundTripper.(*http.Transport); ok && transport.ResponseHeaderTimeout > 0 {
		return transport.ResponseHeaderTimeout + grace
	}
	return writeTimeout
}

// grace lets the transport report a late response first, because its error says so.
const grace = 100 * time.Millisecond

func (c Client) options(ctx context.Context, transport http.RoundTripper) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithUserAgent("kubectl-addon"),
		remote.WithTransport(tlsTransport{transport, c.Insecure}),
	}
}

// Get adds the artifact of a reference to blobs. It reads manifests immediately, and other content when its blob is opened.
func (c Client) Get(ctx context.Context, reference name.Reference, blobs layout.Blobs) (v1.Descriptor, error) {
	puller, err := remote.NewPuller(c.options(ctx, readTransport)...)
	if err != nil {
		return v1.Descriptor{}, err
	}
	artifact, err := get(ctx, puller, reference, blobs, maxDepth)
	return artifact, explain(err, reference.Context())
}

// GetOne is Get for an artifact that has only one manifest.
func (c Client) GetOne(ctx context.Context, reference name.Reference, blobs layout.Blobs) (v1.Descriptor, error) {
	puller, err := remote.NewPuller(c.options(ctx, readTransport)...)
	if err != nil {
		return v1.Descriptor{}, err
	}
	artifact, err := get(ctx, puller, reference, blobs, 1)
	return artifact, explain(err, reference.Context())
}

// get adds a manifest, and the manifests that it refers to, up to a depth.
func get(ctx context.Context, puller *remote.Puller, reference name.Reference, blobs layout.Blobs, depth int) (v1.Descriptor, error) {
	if depth == 0 {
		return v1.Descriptor{}, fmt.Errorf("%s: a manifest must not refer to this one", reference)
	}
	response, err := puller.Get(ctx, reference)
	if err != nil {
		return v1.Descriptor{}, err
	}
	descriptor, err := blobs.Add(response.MediaType, response.Manifest)
	if err != nil {
		return descriptor, err
	}
	children, err := blobs.Children(descriptor)
	if err != nil {
		return descriptor, err
	}
	for _, child := range children {
		digest := reference.Context().Digest(child.Digest.String())
		if child.MediaType.IsIndex() || child.MediaType.IsImage() {
			if _, err := get(ctx, puller, digest, blobs, depth-1); err != nil {
				return descriptor, err
			}
			continue
		}
		blobs[child.Digest] = layout.Blob{Size: child.Size, Open: func() (io.ReadCloser, error) {
			layer, err := puller.Layer(ctx, digest)
			if err != nil {
				return nil, explain(err, reference.Context())
			}
			content, err := layer.Compressed()
			if err != nil {
				return nil, explain(err, reference.Context())
			}
			return explainedBody{content, reference.Context()}, nil
		}}
	}
	return descriptor, nil
}

// Put writes an artifact under a reference: the blobs that it refers to, directly or not, and its manifest last.
func (c Client) Put(ctx context.Context, reference name.Reference, artifact v1.Descriptor, blobs layout.Blobs) error {
	pusher, err := remote.NewPusher(c.options(ctx, writeTransport)...)
	if err != nil {
		return err
	}
	repository := reference.Context()
	err = blobs.Walk([]v1.Descriptor{artifact}, func(descriptor v1.Descriptor) error {
		if !descriptor.MediaType.IsIndex() && !descriptor.MediaType.IsImage() {
			return pusher.Upload(ctx, repository, layer{descriptor, blobs[descriptor.Digest]})
		}
		content, err := blobs.Read(descriptor)
		if err != nil {
			return err
		}
		target := name.Reference(repository.Digest(descriptor.Digest.String()))
		if descriptor.Digest == artifact.Digest {
			target = reference
		}
		return pusher.Put(ctx, target, manifest{content, descriptor.MediaType})
	})
	return explain(err, repository)
}

// manifest is a manifest that is written without decoding it.
type manifest struct {
	content   []byte
	mediaType types.MediaType
}

// RawManifest implements remote.Taggable.
func (m manifest) RawManifest() ([]byte, error) { return m.content, nil }

// MediaType returns the type that the registry stores with the manifest.
func (m manifest) MediaType() (types.MediaType, error) { return m.mediaType, nil }

// layer is a blob to upload.
type layer struct {
	descriptor v1.Descriptor
	blob       layout.Blob
}

// Digest implements v1.Layer. The other methods do too.
func (l layer) Digest() (v1.Hash, error) { return l.descriptor.Digest, nil }

// DiffID returns the digest of the blob. It should be the digest of the uncompressed content, but uploads do not use it.
func (l layer) DiffID() (v1.Hash, error) { return l.descriptor.Digest, nil }

// Compressed opens the blob.
func (l layer) Compressed() (io.ReadCloser, error) { return l.blob.Open() }

// Uncompressed opens the blob without decompressing it.
func (l layer) Uncompressed() (io.ReadCloser, error) { return l.blob.Open() }

// Size returns the number of bytes.
func (l layer) Size() (int64, error) { return l.descriptor.Size, nil }

// MediaType returns the type in the manifest of the artifact.
func (l layer) MediaType() (types.MediaType, error) { return l.descriptor.MediaType, nil }
