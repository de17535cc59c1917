package objectcount

import (
	"context"
	"errors"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// cluster lists objects with the function of a test, and counts the requests.
type cluster struct {
	metadata.Getter
	list     func(resource Resource, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error)
	requests atomic.Int64
}

func (c *cluster) Resource(resource Resource) metadata.Getter {
	return getter{cluster: c, resource: resource}
}

type getter struct {
	metadata.Getter
	cluster  *cluster
	resource Resource
}

func (g getter) List(ctx context.Context, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	g.cluster.requests.Add(1)
	list, err := g.cluster.list(g.resource, options)
	if list == nil && err == nil { // it hangs
		<-ctx.Done()
		return nil, &url.Error{Op: "Get", Err: ctx.Err()}
	}
	return list, err
}

func objects(n int64) *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{Items: make([]metav1.PartialObjectMetadata, min(n, 1))}
	if n > 1 {
		remaining := n - 1
		list.RemainingItemCount, list.Continue = &remaining, "next"
	}
	return list
}

var widgets = Resource{Group: "a.io", Version: "v1", Resource: "widgets"}

func TestRead(t *testing.T) {
	resource := schema.GroupResource{Group: "a.io", Resource: "widgets"}
	failed := func(cause string) Count {
		return Count{Reason: dependencyv1alpha1.ReasonCountFailed, Message: "widgets.a.io could not be listed: " + cause}
	}
	for _, test := range []struct {
		name      string
		err       error
		hangs     bool
		want      Count
		responded bool
	}{
		{name: "a number", want: Count{Number: 40, AtLeast: true}, responded: true},
		{
			name: "no right", err: apierrors.NewForbidden(resource, "", errors.New("no")), responded: true,
			want: Count{Reason: dependencyv1alpha1.ReasonForbidden, Message: "addon-agent may not list widgets.a.io"},
		},
		{
			name: "an aggregated API server that is down", err: apierrors.NewServiceUnavailable("at 12:00:00"), responded: true,
			want: failed("503 ServiceUnavailable"),
		},
		{name: "an unreadable response", err: errors.New("invalid character"), responded: true, want: failed("the response cannot be read")},
		{name: "a kind without objects", err: apierrors.NewMethodNotSupported(resource, "list"), responded: true},
		{name: "no connection", err: &url.Error{Op: "Get", Err: errors.New("refused")}, want: failed("no response")},
		{name: "an API server that hangs", hangs: true, want: failed("no response")},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &cluster{list: func(_ Resource, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
					if diff := cmp.Diff(metav1.ListOptions{Limit: 1}, options); diff != "" {
						t.Errorf("-want +got:\n%s", diff)
					}
					if test.err != nil || test.hangs {
						return nil, test.err
					}
					return objects(47), nil
				}}
				if got, responded := read(t.Context(), source, widgets); got != test.want || responded != test.responded {
					t.Errorf("%+v, responded: %t", got, responded)
				}
			})
		})
	}
}

// TestCounter tests that there is a request for each kind in five minutes, and that only changes are reported.
func TestCounter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var number, changes atomic.Int64
		number.Store(42)
		source := &cluster{list: func(Resource, metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
			return objects(number.Load()), nil
		}}
		counter := New(source, func() { changes.Add(1) })
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- counter.Start(ctx) }()
		expect := func(situation string, requests, changed int64, want Count, counted bool) {
			t.Helper()
			synctest.Wait()
			got, ok := counter.Count(widgets)
			if source.requests.Load() != requests || changes.Load() != changed || got != want || ok != counted {
				t.Errorf("%s: %d requests, %d changes, %+v counted: %t", situation, source.requests.Load(), changes.Load(), got, ok)
			}
		}
		expect("nothing is requested", 0, 0, Count{}, false)
		counter.CountOnly([]Resource{widgets})
		expect("requested", 1, 1, Count{Number: 40, AtLeast: true}, true)
		counter.CountOnly([]Resource{widgets})
		<-time.After(interval - time.Second)
		expect("before the interval ends", 1, 1, Count{Number: 40, AtLeast: true}, true)
		number.Store(49)
		<-time.After(2 * time.Second)
		expect("a few more", 2, 1, Count{Number: 40, AtLeast: true}, true)
		number.Store(3)
		<-time.After(interval)
		expect("many less", 3, 2, Count{Number: 3}, true)
		counter.CountOnly(nil)
		<-time.After(3 * interval)
		expect("no longer requested", 3, 2, Count{}, false)
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
