package registry

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"open-cluster-management.io/interlock/pkg/text"
)

// refusal is a response of a registry that refuses a request, in words for users.
type refusal struct {
	message string
	cause   error
}

func (r *refusal) Error() string { return r.message }

// Unwrap returns the error of the library.
func (r *refusal) Unwrap() error { return r.cause }

// withoutTLSError is the error for a request without TLS that is not allowed.
type withoutTLSError struct{ host string }

func (e *withoutTLSError) Error() string {
	return fmt.Sprintf("%s without TLS is refused; --insecure allows it for registries on loopback", e.host)
}

// explainConnection explains why there is no response at all. The library tries with TLS and without, so its message has both failures.
func explainConnection(err error, registry string) error {
	if unknown := new(net.DNSError); errors.As(err, &unknown) && unknown.IsNotFound {
		return &refusal{fmt.Sprintf("there is no registry %s: its name is not known: check the reference, and the network", registry), err}
	}
	if failed := new(net.OpError); errors.As(err, &failed) {
		return &refusal{fmt.Sprintf("the registry %s cannot be reached: %v: check the reference, and that the registry runs", registry, failed.Err), err}
	}
	if certificate := new(tls.CertificateVerificationError); errors.As(err, &certificate) {
		return &refusal{fmt.Sprintf("the certificate of %s is not trusted: %v: this machine needs the CA that has signed it", registry, certificate.Err), err}
	}
	if refused := new(withoutTLSError); errors.As(err, &refused) {
		return &refusal{refused.Error(), err}
	}
	if errors.Is(err, errStalled) {
		return &refusal{fmt.Sprintf("the registry %s stopped in the middle: no progress in time: run this again, or ask who runs it", registry), err}
	}
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() {
		return &refusal{fmt.Sprintf("the registry %s did not answer in time: check that it runs, and run this again", registry), err}
	}
	if errors.As(err, new(*json.SyntaxError)) {
		return &refusal{fmt.Sprintf("%s does not answer as a registry does: %v: "+
			"check the reference, and whether a proxy or a login page answers in its place", registry, err), err}
	}
	return err
}

// explain replaces the message of the library for a response that refuses a request. That message is about HTTP, and of a HEAD request
// it has no reason.
func explain(err error, repository name.Repository) error {
	registry := repository.RegistryStr()
	if err == nil || errors.As(err, new(*refusal)) {
		return err
	}
	failed := new(transport.Error)
	if !errors.As(err, &failed) {
		return explainConnection(err, registry)
	}
	status := fmt.Sprintf("%d %s", failed.StatusCode, http.StatusText(failed.StatusCode))
	for _, diagnostic := range failed.Errors {
		status += ", " + text.OneLine(text.Excerpt(diagnostic.Message))
	}
	message := ""
	switch failed.StatusCode {
	case http.StatusUnauthorized:
		message = fmt.Sprintf("%s wants a login for %s (%s): log in with docker login %s, or write the credentials to Docker's configuration",
			registry, repository.RepositoryStr(), status, registry)
	case http.StatusForbidden:
		message = fmt.Sprintf("%s denies access to %s (%s): log in with docker login %s as a user who has it",
			registry, repository.RepositoryStr(), status, registry)
	case http.StatusNotFound:
		message = fmt.Sprintf("%s does not have this in %s (%s): check the repository, and the tag or digest",
			registry, repository.RepositoryStr(), status)
	default:
		if failed.StatusCode == 0 {
			return err
		}
		message = fmt.Sprintf("%s refuses a request for %s: %s", registry, repository.RepositoryStr(), status)
		if failed.StatusCode == http.StatusTooManyRequests || failed.StatusCode >= http.StatusInternalServerError {
			message += ": run this again later"
		}
	}
	return &refusal{message, err}
}

// explainedBody is the content of a blob. Its errors are explained.
type explainedBody struct {
	io.ReadCloser
	repository name.Repository
}

// Read implements io.Reader.
func (b explainedBody) Read(content []byte) (int, error) {
	n, err := b.ReadCloser.Read(content)
	if err != nil && !errors.Is(err, io.EOF) {
		err = explain(err, b.repository)
	}
	return n, err
}
