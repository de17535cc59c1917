package responsecache

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestResponsesAreKept(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if r.URL.Path == "/broken" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, strconv.Itoa(requests))
	}))
	defer server.Close()
	now := clocktesting.NewFakePassiveClock(time.Now())
	client := http.Client{Transport: &Transport{Next: http.DefaultTransport, Lifetime: time.Minute, Clock: now}}
	for i, test := range []struct {
		reason, method, path, accept string
		after                        time.Duration
		want                         string
	}{
		{"first", "GET", "/apis", "", 0, "1"},
		{"kept", "GET", "/apis", "", 59 * time.Second, "1"},
		{"another form", "GET", "/apis", "application/yaml", 0, "2"},
		{"another query", "GET", "/apis?limit=1", "", 0, "3"},
		{"too old", "GET", "/apis", "", time.Second, "4"},
		{"a write", "POST", "/apis", "", 0, "5"},
		{"a watch", "GET", "/apis?watch=true", "", 0, "6"},
		{"a watch again", "GET", "/apis?watch=true", "", 0, "7"},
		{"a failure", "GET", "/broken", "", 0, "8"},
		{"a failure again", "GET", "/broken", "", 0, "9"},
		{"kept after all of these", "GET", "/apis", "", 0, "4"},
	} {
		now.SetTime(now.Now().Add(test.after))
		request, err := http.NewRequestWithContext(t.Context(), test.method, server.URL+test.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", test.accept)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || string(body) != test.want {
			t.Errorf("%d, %s: got %q, %v, want %q", i, test.reason, body, err, test.want)
		}
		_ = response.Body.Close()
	}
}
