package objectcount

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/ptr"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Count is how many objects of a kind exist.
type Count struct {
	Number int64
	// AtLeast: there may be more.
	AtLeast bool
	// Reason is why the number is not known, and Message the reason in words; empty: it is known.
	Reason  dependencyv1alpha1.FactReason
	Message string
}

// interval is after how long objects are counted again. So a count changes at most once in that time.
const interval = 5 * time.Minute

// retryFirst is after how long a count that failed is repeated, then with a growing delay up to interval: a right may follow
// soon.
const retryFirst = 30 * time.Second

// confirmations is how often in a row a count must fail before that replaces a number: an API server that starts also fails
// and forbids for moments.
const confirmations = 2

// requestTimeout bounds a request. The API server may pass it on to an aggregated API server, which may hang.
const requestTimeout = 10 * time.Second

// maxExact is up to how many objects are reported exactly.
const maxExact = 10

// kind is what is known of the objects of a kind.
type kind struct {
	known    bool
	count    Count
	failures int // in a row
}

// found keeps what a request found, and returns whether that changed anything, and when to count again. A managed cluster that
// does not respond has not changed.
func (k *kind) found(count Count, responded bool) (changed bool, again time.Duration) {
	again = interval
	if count.Reason == "" {
		k.failures = 0
	} else {
		k.failures++
		again = min(retryFirst<<min(k.failures-1, 16), interval)
	}
	unconfirmed := count.Reason != "" && k.count.Reason == "" && k.failures < confirmations
	if k.known && (!responded || unconfirmed || k.count == count) {
		return false, again
	}
	k.known, k.count = true, count
	return true, again
}

// read counts the objects of a resource by the metadata of one of them, and reports whether its API server responded. The
// list is not one of the API server's cache, which would ignore the limit.
func read(ctx context.Context, objects metadata.Interface, resource Resource) (count Count, responded bool) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := objects.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
	var status apierrors.APIStatus
	var connection *url.Error
	failed := func(why string) Count {
		return Count{Reason: dependencyv1alpha1.ReasonCountFailed, Message: fmt.Sprintf("%s could not be listed: %s", resource.GroupResource(), why)}
	}
	switch {
	case err == nil:
		return of(list), true
	case apierrors.IsForbidden(err):
		return Count{Reason: dependencyv1alpha1.ReasonForbidden, Message: "addon-agent may not list " + resource.GroupResource().String()}, true
	case apierrors.IsMethodNotSupported(err):
		return Count{}, true // no object of such a kind is stored
	case errors.As(err, &status): // the same cause has the same text each time
		return failed(fmt.Sprintf("%d %s", status.Status().Code, status.Status().Reason)), true
	case errors.As(err, &connection), errors.Is(err, context.DeadlineExceeded):
		return failed("no response"), false
	default:
		return failed("the response cannot be read"), true
	}
}

// of returns the count that a list with a limit shows. An aggregated API server need not say how many objects remain.
func of(list *metav1.PartialObjectMetadataList) Count {
	listed := int64(len(list.Items))
	if list.RemainingItemCount == nil && list.Continue != "" {
		return Count{Number: listed, AtLeast: true}
	}
	return coarse(listed + max(0, ptr.Deref(list.RemainingItemCount, 0)))
}

// coarse rounds a number of objects, because what is reported of a fleet should not change with each object.
func coarse(number int64) Count {
	if number <= maxExact {
		return Count{Number: number}
	}
	unit := int64(1)
	for number/unit >= 10 {
		unit *= 10
	}
	return Count{Number: number / unit * unit, AtLeast: true}
}
