package served

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

// askTimeout bounds a question. The API server passes it on to whoever serves
// the version, and that one may hang.
const askTimeout = 10 * time.Second

// discover asks which kinds of a group are served. It asks about this group
// alone and about each of its versions by itself, so that one that fails is
// the only one of which nothing is known. An error says that the API server
// itself did not answer: then what was known is still the best to go by.
func discover(ctx context.Context, api rest.Interface, group string) (Group, error) {
	versions, err := versionsOf(ctx, api, group)
	switch {
	case apierrors.IsNotFound(err):
		return Group{Known: true}, nil
	case apierrors.IsForbidden(err):
		return Group{Known: true, Forbidden: "addon-agent may not read " + path(group)}, nil
	case err != nil:
		return Group{}, err
	}
	answers := make([]*metav1.APIResourceList, len(versions))
	failures := make([]error, len(versions))
	var asking sync.WaitGroup
	for i, version := range versions {
		asking.Go(func() {
			answers[i] = &metav1.APIResourceList{}
			failures[i] = get(ctx, api, path(group, version), answers[i])
		})
	}
	asking.Wait()
	if slices.ContainsFunc(failures, silent) {
		// Either who serves that version hangs, or the API server does.
		if _, err := versionsOf(ctx, api, group); err != nil {
			return Group{}, err
		}
	}
	return gather(group, versions, answers, failures)
}

// gather puts the answers on all versions of a group together.
func gather(group string, versions []string, answers []*metav1.APIResourceList, failures []error) (Group, error) {
	found := Group{Known: true}
	for i, version := range versions {
		switch cause, err := causeOf(failures[i]); {
		case err != nil:
			return Group{}, err
		case cause != "":
			if found.Failures == nil {
				found.Failures = map[string]string{}
			}
			found.Failures[version] = cause
		default:
			found.serves(group, version, answers[i])
		}
	}
	return found, nil
}

func (g *Group) serves(group, version string, resources *metav1.APIResourceList) {
	for _, resource := range resources.APIResources {
		subresource := strings.Contains(resource.Name, "/")
		foreign := resource.Group != "" && resource.Group != group
		if subresource || foreign || slices.Contains(g.Kinds[resource.Kind], version) {
			continue
		}
		if g.Kinds == nil {
			g.Kinds = map[string][]string{}
		}
		g.Kinds[resource.Kind] = append(g.Kinds[resource.Kind], version)
	}
}

// causeOf says why a version could not be asked about, in words that stay the
// same as long as the cause does; empty if it could, or is no longer there. An
// error is that of a connection which did not come about.
func causeOf(err error) (string, error) {
	var status apierrors.APIStatus
	var connection *url.Error
	switch {
	case err == nil, apierrors.IsNotFound(err):
		return "", nil
	case silent(err):
		return fmt.Sprintf("no answer within %s", askTimeout), nil
	case apierrors.IsUnauthorized(err):
		return "", err
	case errors.As(err, &status):
		return fmt.Sprintf("%d %s", status.Status().Code, status.Status().Reason), nil
	case errors.As(err, &connection):
		return "", err
	default:
		return "its answer cannot be read", nil
	}
}

// silent reports whether nobody answered in time.
func silent(err error) bool {
	var connection *url.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &connection) && connection.Timeout()
}

// versionsOf returns the versions of a group, most preferred first.
func versionsOf(ctx context.Context, api rest.Interface, group string) ([]string, error) {
	if group == "" {
		answer := &metav1.APIVersions{}
		err := get(ctx, api, path(group), answer)
		return answer.Versions, err
	}
	answer := &metav1.APIGroup{}
	if err := get(ctx, api, path(group), answer); err != nil {
		return nil, err
	}
	versions := make([]string, 0, len(answer.Versions))
	for _, version := range answer.Versions {
		versions = append(versions, version.Version)
	}
	return versions, nil
}

// path is where a group, or a version of it, is discovered.
func path(group string, version ...string) string {
	if group == "" {
		return strings.Join(append([]string{"/api"}, version...), "/")
	}
	return strings.Join(append([]string{"/apis", group}, version...), "/")
}

func get(ctx context.Context, api rest.Interface, path string, into runtime.Object) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	// The client would wait as long as a 503 tells it to; we have our own pace.
	return api.Get().AbsPath(path).MaxRetries(0).Do(ctx).Into(into)
}
