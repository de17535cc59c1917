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

// Count is the number of objects of a kind.
type Count struct {
	Number int64
	// AtLeast means that there may be more.
	AtLeast bool
	// Reason is why the number is not known, and Message explains it. Both are empty if the number is known.
	Reason  dependencyv1alpha1.FactReason
	Message string
}

// interval is the time between two counts. A count changes at most once in that time.
const interval = 5 * time.Minute

// retryFirst is the delay before the first retry of a count that failed. It grows with each retry, up to interval. It is short
// because the missing right may be granted soon.
const retryFirst = 30 * time.Second

// confirmations is how often in a row a count must fail before the failure replaces a number: an API server that starts also fails
// and forbids for moments.
const confirmations = 2

// requestTimeout bounds a request. The API server may pass it on to an aggregated API server, which may hang.
const requestTimeout = 10 * time.Second

// maxExact is the largest number of objects that is reported exactly.
const maxExact = 10

// kind is the state of the count of one kind.
type kind struct {
	counted  bool
	count    Count
	failures int // in a row
}

// update stores the result of a request. It returns whether the count changed, and the delay until the next count. A managed
// cluster that does not respond has not changed.
func (k *kind) update(count Count, responded bool) (bool, time.Duration) {
	delay := interval
	if count.Reason == "" {
		k.failures = 0
	} else {
		k.failures++
		delay = min(retryFirst<<min(k.failures-1, 16), interval)
	}
	unconfirmed := count.Reason != "" && k.count.Reason == "" && k.failures < confirmations
	if k.counted && (!responded || unconfirmed || k.count == count) {
		return false, delay
	}
	k.counted, k.count = true, count
	return true, delay
}

// read counts the objects of a resource by the metadata of one of them, and reports whether the API server responded. The list does
// not come from the API server's cache, which would ignore the limit.
func read(ctx context.Context, objects metadata.Interface, resource Resource) (Count, bool) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := objects.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
	var status apierrors.APIStatus
	var connection *url.Error
	failed := func(cause string) Count {
		return Count{Reason: dependencyv1alpha1.ReasonCountFailed, Message: fmt.Sprintf("%s could not be listed: %s", resource.GroupResource(), cause)}
	}
	switch {
	case err == nil:
		return countOf(list), true
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

// countOf returns the count that a list with a limit shows. An aggregated API server need not report how many objects remain.
func countOf(list *metav1.PartialObjectMetadataList) Count {
	listed := int64(len(list.Items))
	if list.RemainingItemCount == nil && list.Continue != "" {
		return Count{Number: listed, AtLeast: true}
	}
	return coarse(listed + max(0, ptr.Deref(list.RemainingItemCount, 0)))
}

// coarse rounds a number of objects, so that the report of a fleet does not change with each object.
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
