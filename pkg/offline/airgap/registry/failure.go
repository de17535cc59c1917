package registry

import (
	"errors"
	"fmt"
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

// explain replaces the message of the library for a response that refuses a request. That message is about HTTP, and of a HEAD request
// it has no reason.
func explain(err error, repository name.Repository) error {
	failed := new(transport.Error)
	if !errors.As(err, &failed) || errors.As(err, new(*refusal)) {
		return err
	}
	registry := repository.RegistryStr()
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
	}
	return &refusal{message, err}
}
