package apidiscovery

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// requestTimeout is the timeout of a request. The API server may pass the request on to an
// aggregated API server, which may hang.
const requestTimeout = 10 * time.Second

// discover returns the kinds of a group that are served. It reads each version in its own
// request, so that a failure of one version does not affect the others. It returns an error
// if the API server itself did not respond.
func discover(ctx context.Context, api API, group string) (Group, error) {
	versions, err := versionsOf(ctx, api.REST, group)
	switch {
	case apierrors.IsNotFound(err):
		return Group{Discovered: true}, nil
	case apierrors.IsForbidden(err):
		return Group{Discovered: true, Forbidden: api.Client + " may not read " + path(group)}, nil
	case err != nil:
		return Group{}, err
	}
	served := make([]*metav1.APIResourceList, len(versions))
	failures := make([]error, len(versions))
	var reading sync.WaitGroup
	for i, version := range versions {
		reading.Go(func() {
			served[i] = &metav1.APIResourceList{}
			failures[i] = get(ctx, api.REST, path(group, version), served[i])
		})
	}
	reading.Wait()
	if slices.ContainsFunc(failures, timedOut) {
		// Either the aggregated API server of that version hangs, or the API server.
		if _, err := versionsOf(ctx, api.REST, group); err != nil {
			return Group{}, err
		}
	}
	return gather(group, versions, served, failures)
}

// gather returns the group with the results of all its versions.
func gather(group string, versions []string, served []*metav1.APIResourceList, failures []error) (Group, error) {
	result := Group{Discovered: true}
	for i, version := range versions {
		switch cause, err := causeOf(failures[i]); {
		case err != nil:
			return Group{}, err
		case cause != "":
			if result.Failures == nil {
				result.Failures = map[string]string{}
			}
			result.Failures[version] = cause
		default:
			result.add(group, version, served[i])
		}
	}
	return result, nil
}

func (g *Group) add(group, version string, resources *metav1.APIResourceList) {
	for _, resource := range resources.APIResources {
		subresource := strings.Contains(resource.Name, "/")
		foreign := resource.Group != "" && resource.Group != group
		if subresource || foreign || slices.Contains(g.Kinds[resource.Kind], version) {
			continue
		}
		if g.Kinds == nil {
			g.Kinds, g.Resources = map[string][]string{}, map[string]string{}
		}
		if len(g.Kinds[resource.Kind]) == 0 {
			g.Resources[resource.Kind] = resource.Name
		}
		g.Kinds[resource.Kind] = append(g.Kinds[resource.Kind], version)
	}
}

// causeOf returns the cause of a failed discovery of a version. It is empty if the
// discovery did not fail, or if the version was removed. The same cause always has the
// same text. It returns an error if the API server itself did not respond.
func causeOf(err error) (string, error) {
	var status apierrors.APIStatus
	var connection *url.Error
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return "", nil
	case timedOut(err):
		return fmt.Sprintf("no response within %s", requestTimeout), nil
	case apierrors.IsUnauthorized(err):
		return "", err
	case errors.As(err, &status):
		return fmt.Sprintf("%d %s", status.Status().Code, status.Status().Reason), nil
	case errors.As(err, &connection):
		return "", err
	default:
		return "its response cannot be read", nil
	}
}

// timedOut reports whether a request had no response in time.
func timedOut(err error) bool {
	var connection *url.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &connection) && connection.Timeout()
}

// versionsOf returns the versions of a group, most preferred first.
func versionsOf(ctx context.Context, api rest.Interface, group string) ([]string, error) {
	if group == "" {
		core := &metav1.APIVersions{}
		err := get(ctx, api, path(group), core)
		return core.Versions, err
	}
	served := &metav1.APIGroup{}
	if err := get(ctx, api, path(group), served); err != nil {
		return nil, err
	}
	versions := make([]string, 0, len(served.Versions))
	for _, version := range served.Versions {
		versions = append(versions, version.Version)
	}
	return versions, nil
}

// path returns the path of the discovery document of a group, or of a version of it.
func path(group string, version ...string) string {
	if group == "" {
		return strings.Join(append([]string{"/api"}, version...), "/")
	}
	return strings.Join(append([]string{"/apis", group}, version...), "/")
}

func get(ctx context.Context, api rest.Interface, path string, target runtime.Object) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	// The client must not retry, because it would wait for the Retry-After of a 503.
	return api.Get().AbsPath(path).MaxRetries(0).Do(ctx).Into(target)
}
