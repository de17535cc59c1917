package console_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/console"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

// viewers admits viewers by their headers. A test changes the admissions.
type viewers struct {
	mutex   sync.Mutex
	views   map[string]*console.View
	failure error
}

func (v *viewers) Admit(r *http.Request) (console.Admission, error) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	name := r.Header.Get("X-Viewer")
	view := v.views[name]
	switch {
	case v.failure != nil:
		return console.Admission{}, v.failure
	case view == nil:
		return console.Admission{}, &console.Refusal{Status: http.StatusForbidden, Text: "no right to see it"}
	}
	return console.Admission{View: view, Viewer: name}, nil
}

func (v *viewers) set(change func()) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	change()
}

// onlyCluster returns a view of a single managed cluster.
func onlyCluster(fleet *console.Fleet, name string) *console.View {
	return console.NewView(fleet, func(hub *snapshot.Snapshot) *snapshot.Snapshot {
		return snapshot.New(hub.Select(func(cluster *clusterv1.ManagedCluster) bool { return cluster.Name == name }))
	})
}

// reviewed is a console that admits its viewers again all the time.
type reviewed struct {
	*viewers

	fleet   *console.Fleet
	handler *console.Handler
	url     string
}

func serveReviewed(t *testing.T) reviewed {
	t.Helper()
	fleet := console.NewFleet()
	admitting := &viewers{views: map[string]*console.View{"all": console.NewView(fleet, nil), "one": onlyCluster(fleet, "cluster0010")}}
	handler := console.NewHandler(admitting, func(string) bool { return true })
	handler.Review = 20 * time.Millisecond
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return reviewed{admitting, fleet, handler, server.URL}
}

func (r reviewed) update(content snapshot.Content) {
	r.fleet.Update(snapshot.New(content), func(*snapshot.Snapshot) overview.Options { return options(content) })
}

// open opens a stream. The function returns the next event, or an empty name at the end of the stream.
func (r reviewed) open(t *testing.T, viewer string) (int, func() (string, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/api/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Viewer", viewer)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	reader := bufio.NewReader(response.Body)
	return response.StatusCode, func() (string, string) {
		var event string
		for {
			line, err := reader.ReadString('\n')
			switch {
			case err != nil:
				return "", ""
			case strings.HasPrefix(line, "event: "):
				event = strings.TrimSpace(strings.TrimPrefix(line, "event: "))
			case strings.HasPrefix(line, "data: "):
				return event, line
			}
		}
	}
}

func expect(t *testing.T, next func() (string, string), want, contains string) string {
	t.Helper()
	event, data := next()
	if event != want || !strings.Contains(data, contains) {
		t.Fatalf("got the event %q with %.300s, want %q with %q", event, data, want, contains)
	}
	return data
}

// TestViewsShareFleet tests that each viewer sees the own view of each state.
func TestViewsShareFleet(t *testing.T) {
	served := serveReviewed(t)
	served.update(mixedfleet.Content(60))
	_, all := served.open(t, "all")
	_, one := served.open(t, "one")
	for _, state := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		if data := expect(t, all, "overview", "cluster0007"); !strings.Contains(data, "cluster0010") {
			t.Error("the whole fleet lacks a cluster")
		}
		if data := expect(t, one, "overview", "cluster0010"); strings.Contains(data, "cluster0007") || !strings.Contains(data, `"clusters":1`) {
			t.Errorf("the view of a cluster has others: %s", data)
		}
		served.update(withWorkManager(state, "cluster0010"))
	}
}

// withWorkManager returns a fleet where work-manager has a state on a cluster.
func withWorkManager(state metav1.ConditionStatus, cluster string) snapshot.Content {
	content := mixedfleet.Content(60)
	for _, addOn := range content.AddOns {
		if addOn.Namespace == cluster && addOn.Name == "work-manager" {
			addOn.Status.Conditions = []metav1.Condition{*fixture.Available(state, "Tested")}
		}
	}
	return content
}

// TestHiddenChangeIsNoEvent tests that a viewer gets no event when only parts of the fleet change that the viewer may not see.
func TestHiddenChangeIsNoEvent(t *testing.T) {
	served := serveReviewed(t)
	served.update(mixedfleet.Content(60))
	_, all := served.open(t, "all")
	_, one := served.open(t, "one")
	expect(t, all, "overview", "cluster0007")
	expect(t, one, "overview", "cluster0010")
	served.update(withWorkManager(metav1.ConditionFalse, "cluster0012"))
	expect(t, all, "overview", "cluster0012")
	served.update(withWorkManager(metav1.ConditionFalse, "cluster0010"))
	if data := expect(t, one, "overview", "cluster0010"); !strings.Contains(data, `{"state":"Down","count":2}`) {
		t.Errorf("the next event is not that of the visible change: %s", data)
	}
}

// TestBusyConsoleKeepsStreams tests that streams stay open while the console cannot review their viewers.
func TestBusyConsoleKeepsStreams(t *testing.T) {
	served := serveReviewed(t)
	served.update(mixedfleet.Content(60))
	_, next := served.open(t, "all")
	expect(t, next, "overview", "cluster0007")
	served.set(func() { served.failure = &console.Refusal{Status: http.StatusTooManyRequests, Text: "too many"} })
	expect(t, next, "trouble", "does not respond to reviews")
	served.set(func() { served.failure = nil })
	expect(t, next, "overview", "cluster0007")
}

// TestStreamFollowsRights tests that a stream shows another view after a review, and ends with the last right.
func TestStreamFollowsRights(t *testing.T) {
	served := serveReviewed(t)
	served.update(mixedfleet.Content(60))
	_, next := served.open(t, "all")
	expect(t, next, "overview", "cluster0007")
	served.set(func() { served.views["all"] = served.views["one"] })
	if data := expect(t, next, "overview", "cluster0010"); strings.Contains(data, "cluster0007") {
		t.Error("a withdrawn cluster is shown")
	}
	served.set(func() { served.views["all"] = nil })
	if event, _ := next(); event != "" {
		t.Errorf("after the last right, the stream has %s", event)
	}
	if status, _ := served.open(t, "all"); status != http.StatusForbidden {
		t.Errorf("status %d", status)
	}
}

// TestNothingNewWithoutReview tests a stream while the hub does not respond to reviews.
func TestNothingNewWithoutReview(t *testing.T) {
	served := serveReviewed(t)
	served.update(mixedfleet.Content(60))
	_, next := served.open(t, "all")
	expect(t, next, "overview", "cluster0007")
	served.set(func() { served.failure = errors.New("connection refused") })
	expect(t, next, "trouble", "does not respond to reviews")
	if status, _ := served.open(t, "all"); status != http.StatusServiceUnavailable {
		t.Errorf("a new viewer gets status %d", status)
	}
	served.update(mixedfleet.Content(3))
	served.set(func() { served.failure = nil })
	if data := expect(t, next, "overview", "cluster0001"); strings.Contains(data, "cluster0007") {
		t.Error("shows an old state after the review")
	}
}

// TestStreamsAreBounded tests the limit of a viewer, and that a stream that ends makes room.
func TestStreamsAreBounded(t *testing.T) {
	served := serveReviewed(t)
	served.update(mixedfleet.Content(1))
	opened := 0
	for status := http.StatusOK; status == http.StatusOK && opened < 1000; opened++ {
		status, _ = served.open(t, "all")
		if status != http.StatusOK && status != http.StatusTooManyRequests {
			t.Fatalf("status %d", status)
		}
	}
	if opened < 32 || opened > 100 {
		t.Errorf("%d streams of a viewer", opened)
	}
	if status, _ := served.open(t, "one"); status != http.StatusOK {
		t.Errorf("another viewer gets status %d", status)
	}
	served.set(func() { served.views["all"] = nil }) // which ends the streams
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return served.handler.Streams() == 1, nil
	})
	if err != nil {
		t.Errorf("%d streams are open", served.handler.Streams())
	}
}
