package hubcache

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/jsonprune"
)

func TestDecoder(t *testing.T) {
	const object = `{"kind":"ManagedClusterAddOn","apiVersion":"addon.open-cluster-management.io/v1alpha1",` +
		`"metadata":{"name":"a","resourceVersion":"7"}}`
	addOn := &addonv1alpha1.ManagedClusterAddOn{
		TypeMeta:   metav1.TypeMeta{Kind: "ManagedClusterAddOn", APIVersion: addonv1alpha1.GroupVersion.String()},
		ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7"},
	}
	expired := &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Code: http.StatusGone, Reason: metav1.StatusReasonExpired}
	for _, test := range []struct {
		name, stream string
		kind         watch.EventType
		object       runtime.Object
		err          error
		message      string
	}{
		{name: "an add-on", stream: `{"type":"MODIFIED","object":` + object + "}\n", kind: watch.Modified, object: addOn},
		{name: "a bookmark", stream: `{"type":"BOOKMARK","object":` + object + "}\n", kind: watch.Bookmark, object: addOn},
		{
			name: "an error", stream: `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}` + "\n",
			kind: watch.Error, object: expired,
		},
		{name: "the end", stream: "", err: io.EOF},
		{name: "an end amid an event", stream: `{"type":"MODIFIED","object":` + object, err: io.ErrUnexpectedEOF},
		{name: "an unknown type", stream: `{"type":"MOVED","object":` + object + "}\n", message: `it has the type "MOVED"`},
		{name: "no object", stream: `{"type":"ADDED"}` + "\n", message: `it has the type "ADDED"`},
		{name: "no JSON", stream: "<html>\n", message: "invalid character"},
		{name: "too long", stream: strings.Repeat(" ", largestEvent) + "\n", message: "too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			decoder := newDecoder(io.NopCloser(strings.NewReader(test.stream)))
			kind, got, err := decoder.Decode()
			switch {
			case test.message != "":
				if err == nil || !strings.Contains(err.Error(), test.message) {
					t.Errorf("want an error with %q, got %v", test.message, err)
				}
			case !errors.Is(err, test.err) || kind != test.kind:
				t.Errorf("want %q and error %v, got %q and %v", test.kind, test.err, kind, err)
			}
			if test.object != nil {
				if diff := cmp.Diff(test.object, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestWatchRequestsAndRefusals(t *testing.T) {
	codes := map[string]int{"": http.StatusOK, "1": http.StatusGone}
	var requested []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.URL.Path+"?"+r.URL.RawQuery)
		w.WriteHeader(codes[r.URL.Query().Get("resourceVersion")])
	}))
	defer server.Close()
	addOns := addOnWatch{restClient(t, server.URL, http.DefaultClient)}
	watching, err := addOns.watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if event, open := <-watching.ResultChan(); open {
		t.Errorf("want the end of the watch, got %v", event)
	}
	if _, err := addOns.watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"}); err == nil {
		t.Error("want the refusal")
	}
	const path = "/apis/addon.open-cluster-management.io/v1alpha1/managedclusteraddons?allowWatchBookmarks=true"
	if diff := cmp.Diff([]string{path + "&watch=true", path + "&resourceVersion=1&watch=true"}, requested); diff != "" {
		t.Error(diff)
	}
	server.Close()
	if _, err := addOns.watch(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("want the refused connection: the reflector waits before it tries again")
	}
}

func restClient(t testing.TB, host string, client *http.Client) rest.Interface {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kind := addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOn")
	addOnClient, err := apiutil.RESTClientForGVK(kind, false, false, &rest.Config{Host: host}, serializer.NewCodecFactory(scheme), client)
	if err != nil {
		t.Fatal(err)
	}
	return addOnClient
}

// repeatedEvent is the response to a watch: the same event without end.
type repeatedEvent struct {
	event  []byte
	offset int
}

func (r *repeatedEvent) RoundTrip(*http.Request) (*http.Response, error) {
	body := &repeatedEvent{event: r.event}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}, nil
}

func (r *repeatedEvent) Read(buffer []byte) (int, error) {
	n := copy(buffer, r.event[r.offset:])
	r.offset = (r.offset + n) % len(r.event)
	return n, nil
}

func (*repeatedEvent) Close() error { return nil }

// BenchmarkWatch measures the cost of a watch event, from the response to the stripped object.
func BenchmarkWatch(b *testing.B) {
	whole := &repeatedEvent{event: append(watchEvent(1), '\n')}
	pruned := &jsonprune.Transport{Next: whole, Drop: unread}
	ofClientGo := func(ctx context.Context, client rest.Interface) (watch.Interface, error) {
		return client.Get().Resource("managedclusteraddons").Param("watch", "true").Watch(ctx)
	}
	for _, variant := range []struct {
		name      string
		transport http.RoundTripper
		watch     func(context.Context, rest.Interface) (watch.Interface, error)
	}{
		{"client-go", whole, ofClientGo},
		{"client-go+pruned", pruned, ofClientGo},
		{"once+pruned", pruned, func(ctx context.Context, client rest.Interface) (watch.Interface, error) {
			return addOnWatch{client}.watch(ctx, metav1.ListOptions{})
		}},
	} {
		b.Run(variant.name, func(b *testing.B) {
			watching, err := variant.watch(b.Context(), restClient(b, "http://hub", &http.Client{Transport: variant.transport}))
			if err != nil {
				b.Fatal(err)
			}
			defer watching.Stop()
			shares := &sharing{}
			b.ReportAllocs()
			for b.Loop() {
				shares.managedClusterAddOn((<-watching.ResultChan()).Object.(*addonv1alpha1.ManagedClusterAddOn))
			}
		})
	}
}
