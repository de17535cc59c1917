package console_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/console"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

const token = "the-token"

// served is a console behind a server.
type served struct {
	*console.Console

	url, host string
}

func serve(t *testing.T) served {
	t.Helper()
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	viewed := console.New(token, host)
	handler = viewed
	return served{viewed, server.URL, host}
}

// update shows a fleet.
func (s served) update(content snapshot.Content) {
	s.Update(snapshot.New(content), func(*snapshot.Snapshot) overview.Options { return options(content) })
}

// options returns the inputs of the overview of a fleet.
func options(content snapshot.Content) overview.Options {
	return overview.Options{
		Now: content.Taken, GroupBy: "region", Command: func(line string) string { return line }, Note: func(string) string { return "" },
	}
}

// request returns the request of a viewer, after the change.
func (s served) request(t *testing.T, path string, change func(*http.Request)) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if change != nil {
		change(request)
	}
	return request
}

// get serves a request of a viewer, after the change, without a connection.
func (s served) get(t *testing.T, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	request, recorder := s.request(t, path, change), httptest.NewRecorder()
	request.Host = cmp.Or(request.Host, s.host)
	s.ServeHTTP(recorder, request)
	return recorder
}

func TestOnlyViewersGetData(t *testing.T) {
	viewed := serve(t)
	viewed.update(mixedfleet.Content(60))
	wrong := func(r *http.Request) { r.Header.Set("Authorization", "Bearer other") }
	anonymous := func(r *http.Request) { r.Header.Del("Authorization") }
	for name, test := range map[string]struct {
		path   string
		change func(*http.Request)
		want   int
	}{
		"the page":                     {"/", anonymous, http.StatusOK},
		"its script":                   {"/app.js", nil, http.StatusOK},
		"data":                         {"/api/cluster?name=cluster0010", nil, http.StatusOK},
		"no token":                     {"/api/cluster?name=cluster0010", anonymous, http.StatusUnauthorized},
		"a wrong token":                {"/api/graph", wrong, http.StatusUnauthorized},
		"the token in the query":       {"/api/events?token=" + token, anonymous, http.StatusUnauthorized},
		"a path that does not exist":   {"/api/nothing", nil, http.StatusNotFound},
		"a path without a token":       {"/nothing", anonymous, http.StatusUnauthorized},
		"another host":                 {"/api/graph", func(r *http.Request) { r.Host = "attacker.example" }, http.StatusMisdirectedRequest},
		"another host, for the page":   {"/", func(r *http.Request) { r.Host = "attacker.example" }, http.StatusMisdirectedRequest},
		"another port":                 {"/", func(r *http.Request) { r.Host = "127.0.0.1:1" }, http.StatusMisdirectedRequest},
		"a write":                      {"/api/cluster", func(r *http.Request) { r.Method = http.MethodPost }, http.StatusMethodNotAllowed},
		"a cluster that is not there":  {"/api/cluster?name=nowhere", nil, http.StatusNotFound},
		"the impact of nothing":        {"/api/impact", nil, http.StatusNotFound},
		"the impact of a wrong semver": {"/api/impact?addon=cluster-proxy&version=banana", nil, http.StatusBadRequest},
	} {
		response := viewed.get(t, test.path, test.change)
		if response.Code != test.want {
			t.Errorf("%s: status %d, want %d", name, response.Code, test.want)
		}
		policy := response.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") ||
			response.Header().Get("X-Content-Type-Options") != "nosniff" || response.Header().Get("Cache-Control") != "no-store" ||
			response.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v", name, response.Header())
		}
	}
}

// events reads the events of a viewer, until the test ends.
func (s served) events(t *testing.T) func() (string, string) {
	t.Helper()
	response, err := http.DefaultClient.Do(s.request(t, "/api/events", nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	reader := bufio.NewReader(response.Body)
	return func() (string, string) {
		t.Helper()
		var event, data string
		for {
			line, err := reader.ReadString('\n')
			switch {
			case err != nil && !errors.Is(err, context.Canceled):
				t.Fatal(err)
			case strings.HasPrefix(line, "event: "):
				event = strings.TrimSpace(strings.TrimPrefix(line, "event: "))
			case strings.HasPrefix(line, "data: "):
				data = strings.TrimPrefix(line, "data: ")
			case line == "\n" && event != "":
				return event, data
			}
		}
	}
}

// TestViewersSeeEachChange tests that all viewers get the overview, each change, and troubles with the hub, in their order.
func TestViewersSeeEachChange(t *testing.T) {
	viewed := serve(t)
	early := viewed.events(t)
	content := mixedfleet.Content(3)
	viewed.update(content)
	late := viewed.events(t)
	expect := func(want, contains string) {
		t.Helper()
		for name, next := range map[string]func() (string, string){"early": early, "late": late} {
			event, data := next()
			if event != want || !strings.Contains(data, contains) {
				t.Errorf("the %s viewer got %s %.200s, want %s with %s", name, event, data, want, contains)
			}
		}
	}
	expect("overview", `"causes":[{"number":1,"title":"managed-serviceaccount is not available`)
	content.AddOns[0].Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionTrue, "Running")}
	viewed.update(content)
	expect("overview", `"causes":[]`)
	viewed.SetTrouble("connection\nrefused")
	expect("trouble", `"connection\nrefused"`)
	during := viewed.events(t)
	if event, _ := during(); event != "overview" {
		t.Errorf("a viewer that comes during a trouble gets %s first", event)
	}
	if event, _ := during(); event != "trouble" {
		t.Errorf("a viewer that comes during a trouble gets %s then", event)
	}
	viewed.update(content)
	expect("overview", `"causes":[]`)
}

// TestOverviewHasGrid tests that an interactive overview has the state of each add-on, and no details.
func TestOverviewHasGrid(t *testing.T) {
	viewed := serve(t)
	viewed.update(mixedfleet.Content(60))
	_, data := viewed.events(t)()
	var got struct {
		overview.Overview

		Legend []struct{ State, Symbol, Word, Meaning string }
	}
	if err := json.Unmarshal([]byte(data), &got); err != nil {
		t.Fatal(err)
	}
	if got.Grid == nil || len(got.Grid.Clusters) != 60 || len(got.Clusters) > 0 || len(got.Legend) != len(overview.States) || got.Lost != 2 {
		t.Fatalf("%.1000s", data)
	}
	counts := map[overview.State]int{}
	for _, row := range got.Grid.Clusters {
		if len(row.States) != len(got.Grid.AddOns) {
			t.Errorf("%+v", row)
		}
		for _, digit := range row.States {
			if digit != ' ' {
				counts[overview.States[digit-'0']]++
			}
		}
	}
	for _, count := range got.AddOns {
		if counts[count.State] != count.Count {
			t.Errorf("%s: the grid has %d, and the overview counts %d", count.State, counts[count.State], count.Count)
		}
	}
}

func TestDetailsOfCluster(t *testing.T) {
	viewed := serve(t)
	viewed.update(mixedfleet.Content(60))
	var cluster overview.Cluster
	if err := json.NewDecoder(viewed.get(t, "/api/cluster?name=cluster0010", nil).Body).Decode(&cluster); err != nil {
		t.Fatal(err)
	}
	first := cluster.AddOns[0]
	if cluster.Name != "cluster0010" || len(cluster.AddOns) != 10 || first.State != overview.Failing || len(first.Causes) != 1 {
		t.Errorf("%+v", cluster)
	}
	picture := viewed.get(t, "/api/graph?addon=application-portal&cluster=cluster0010", nil).Body.String()
	if !strings.Contains(picture, "Dependencies around application-portal on cluster0010") || strings.Contains(picture, "work-manager") {
		t.Errorf("%.1000s", picture)
	}
	for group, want := range map[string]string{
		"region-1": "managed-serviceaccount: Not available 2, Leaving 1, Works 17", "-": "managed-serviceaccount: not installed",
	} {
		if picture := viewed.get(t, "/api/graph?group="+group, nil).Body.String(); !strings.Contains(picture, want) {
			t.Errorf("no %q in the graph of %s: %.1000s", want, group, picture)
		}
	}
	var changed overview.Prediction
	if err := json.NewDecoder(viewed.get(t, "/api/impact?addon=cluster-proxy", nil).Body).Decode(&changed); err != nil {
		t.Fatal(err)
	}
	if changed.Sentence != "No add-on stops working; an Optional dependency fails on 57 managed clusters." {
		t.Errorf("%+v", changed)
	}
}

// TestHostileFleetIsData tests that hostile names come as JSON and valid XML, with kinds that no browser takes for a page.
func TestHostileFleetIsData(t *testing.T) {
	viewed := serve(t)
	content := mixedfleet.HostileContent()
	viewed.update(content)
	_, data := viewed.events(t)()
	if strings.Contains(data, "<script") || strings.Contains(data, "\x1b") || !json.Valid([]byte(data)) {
		t.Errorf("%.1000s", data)
	}
	response := viewed.get(t, "/api/graph", nil)
	if kind := response.Header().Get("Content-Type"); kind != "image/svg+xml" {
		t.Errorf("the graph is %s", kind)
	}
	decoder := xml.NewDecoder(response.Body)
	for {
		element, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := element.(xml.StartElement); ok && (start.Name.Local == "script" || start.Name.Local == "foreignObject") {
			t.Errorf("the graph has an element %s", start.Name.Local)
		}
	}
	response = viewed.get(t, "/api/impact?addon=%3Cscript%3E", nil)
	if kind := response.Header().Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
		t.Errorf("an error is %s", kind)
	}
}

// TestPageIsSmallAndLoadsNothingElse tests the files of the page.
func TestPageIsSmallAndLoadsNothingElse(t *testing.T) {
	viewed := serve(t)
	size := 0
	for _, path := range []string{"/", "/app.js", "/app.css"} {
		content := viewed.get(t, path, nil).Body.String()
		var compressed strings.Builder
		writer := gzip.NewWriter(&compressed)
		if _, err := writer.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		size += compressed.Len()
		for _, reference := range []string{"url(", "@import", "eval(", "new Function", "WebSocket", "importScripts"} {
			if strings.Contains(content, reference) {
				t.Errorf("%s has %q", path, reference)
			}
		}
	}
	if size > 150<<10 || size < 5<<10 {
		t.Errorf("%d KiB compressed", size>>10)
	}
	t.Logf("%d KiB compressed", size>>10)
}

// TestViewerThatLeavesIsForgotten tests that the stream of a viewer ends with its connection.
func TestViewerThatLeavesIsForgotten(t *testing.T) {
	viewed := serve(t)
	viewed.update(mixedfleet.Content(1))
	ctx, leave := context.WithTimeout(t.Context(), 30*time.Second)
	defer leave()
	ended := make(chan struct{})
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/events", nil)
	request.Host = viewed.host
	request.Header.Set("Authorization", "Bearer "+token)
	go func() {
		viewed.ServeHTTP(recorder, request)
		close(ended)
	}()
	leave()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the stream does not end")
	}
}

// TestViewersRequestAtOnce tests requests of several viewers during updates, for the race detector.
func TestViewersRequestAtOnce(t *testing.T) {
	viewed := serve(t)
	content := mixedfleet.Content(60)
	viewed.update(content)
	var viewers sync.WaitGroup
	for _, path := range []string{
		"/api/cluster?name=cluster0010", "/api/cluster?name=cluster0007", "/api/graph", "/api/graph?addon=cluster-gateway",
		"/api/impact?addon=cluster-proxy", "/api/impact?addon=managed-serviceaccount&version=1.0.0",
	} {
		viewers.Go(func() {
			for range 5 {
				if response := viewed.get(t, path, nil); response.Code != http.StatusOK {
					t.Errorf("%s: status %d", path, response.Code)
				}
			}
		})
	}
	for range 5 {
		viewed.update(content)
	}
	viewers.Wait()
}
