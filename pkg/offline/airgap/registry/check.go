package registry

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// CheckPush returns an error unless the registry accepts uploads for a reference, with the credentials of this user. It begins an
// upload and cancels it.
func (c Client) CheckPush(ctx context.Context, reference name.Reference) error {
	err := remote.CheckPushPermission(reference, authn.DefaultKeychain, withContext{tlsTransport{readTransport, c.Insecure}, ctx})
	return explain(err, reference.Context())
}

// withContext ends requests that have no context of their own.
type withContext struct {
	http.RoundTripper
	ctx context.Context //nolint:containedctx // the library has no argument for it
}

// RoundTrip implements http.RoundTripper.
func (w withContext) RoundTrip(request *http.Request) (*http.Response, error) {
	return w.RoundTripper.RoundTrip(request.WithContext(w.ctx))
}

// Has reports whether the registry has the artifact of a reference.
func (c Client) Has(ctx context.Context, reference name.Reference) (bool, error) {
	_, err := remote.Head(reference, c.options(ctx, readTransport)...)
	if failed := new(transport.Error); errors.As(err, &failed) && failed.StatusCode == http.StatusNotFound {
		return false, nil
	}
	return err == nil, explain(err, reference.Context())
}

// IsDenied reports whether a registry has refused a request for lack of credentials or rights.
func IsDenied(err error) bool {
	failed := new(transport.Error)
	return errors.As(err, &failed) && (failed.StatusCode == http.StatusUnauthorized || failed.StatusCode == http.StatusForbidden)
}
