package simulator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

func TestFaultsAreTheSameForTheSameSeed(t *testing.T) {
	draw := func(seed uint64) []Fault {
		var drawn []Fault
		faults := NewFaults(seed, 0.1)
		for range 1000 {
			drawn = append(drawn, faults.Draw(true))
		}
		if faults.Requests() != 1000 {
			t.Errorf("counts %d requests", faults.Requests())
		}
		return drawn
	}
	if diff := cmp.Diff(draw(1), draw(1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(draw(1), draw(2)) {
		t.Error("another seed draws the same")
	}
}

func TestFaultsHaveTheirShare(t *testing.T) {
	faults := NewFaults(7, 0.1)
	for i := range 10_000 {
		if fault := faults.Draw(i%2 == 0); fault == Conflict && i%2 == 1 {
			t.Fatal("a read is in conflict")
		}
	}
	if wrong := 10_000 - faults.Count(NoFault); wrong < 900 || wrong > 1100 {
		t.Errorf("%d of 10,000 answers go wrong, want about 1,000", wrong)
	}
	for _, fault := range []Fault{TooMany, Conflict, NotReached, AnswerLost} {
		if faults.Count(fault) == 0 {
			t.Errorf("never %s", fault)
		}
	}
	if faultless := NewFaults(7, 0); faultless.Draw(true) != NoFault {
		t.Error("a fault although there are to be none")
	}
}

func TestProxy(t *testing.T) {
	var arrived atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		if r.URL.Path != "/apis/x" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		_, _ = w.Write([]byte("carried out"))
	}))
	defer server.Close()

	for _, c := range []struct {
		fault   Fault
		code    int
		reason  metav1.StatusReason
		arrives int64
	}{
		{TooMany, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 0},
		{Conflict, http.StatusConflict, metav1.StatusReasonConflict, 0},
		{NotReached, http.StatusGatewayTimeout, metav1.StatusReasonTimeout, 0},
		{AnswerLost, http.StatusGatewayTimeout, metav1.StatusReasonTimeout, 1},
		{NoFault, http.StatusOK, "", 1},
	} {
		arrived.Store(0)
		handler, err := newFaultHandler(&rest.Config{Host: server.URL}, func(bool) Fault { return c.fault })
		if err != nil {
			t.Fatal(err)
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPatch, "/apis/x", strings.NewReader("{}")))
		if recorder.Code != c.code || arrived.Load() != c.arrives {
			t.Errorf("%q: answered %d, arrived %d times; want %d and %d", c.fault, recorder.Code, arrived.Load(), c.code, c.arrives)
		}
		if c.reason == "" {
			continue
		}
		var status metav1.Status
		if err := json.Unmarshal(recorder.Body.Bytes(), &status); err != nil || status.Reason != c.reason || status.Kind != "Status" {
			t.Errorf("%q: answered %s (%v)", c.fault, recorder.Body, err)
		}
	}
}

func TestProxyLetsWatchesPass(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	handler, err := newFaultHandler(&rest.Config{Host: server.URL}, func(bool) Fault { return TooMany })
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/apis/x?watch=true", nil))
	if recorder.Code != http.StatusOK {
		t.Errorf("answered %d", recorder.Code)
	}
}
