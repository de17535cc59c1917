package viewers

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	authenticationv1 "k8s.io/api/authentication/v1"
	clocktesting "k8s.io/utils/clock/testing"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/reviews"
	"open-cluster-management.io/interlock/pkg/report/console"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

// apiServer reviews tokens and rights. A token is the name of a user.
type apiServer struct {
	mutex sync.Mutex
	// allows reports whether a user has a right, as "verb resource namespace name".
	allows  func(user, right string) bool
	failure error
	// tokens and access are the numbers of reviews.
	tokens, access int
}

func (a *apiServer) User(_ context.Context, token string, audiences ...string) (authenticationv1.UserInfo, bool, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.tokens++
	user, isForConsole := strings.CutPrefix(token, "console:")
	ok := user != "wrong" && isForConsole == slices.Equal(audiences, []string{Audience})
	return authenticationv1.UserInfo{Username: user, Groups: []string{"viewers"}}, ok, a.failure
}

func (a *apiServer) Allowed(_ context.Context, user authenticationv1.UserInfo, right reviews.Attributes) (bool, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.access++
	r := right.Resource
	return a.allows(user.Username, strings.TrimSpace(strings.Join([]string{r.Verb, r.Resource, r.Namespace, r.Name}, " "))), a.failure
}

func (a *apiServer) counts() (int, int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.tokens, a.access
}

// ofCluster allows "admin" everything, "tenant" what is of cluster0010, and the others to list registrations.
func ofCluster(user, right string) bool {
	switch {
	case user == "admin", right == "list clustermanagementaddons":
		return true
	case user == "tenant":
		return slices.Contains([]string{
			"list managedclusteraddons cluster0010", "get managedclusters  cluster0010", "list managedclusterfacts cluster0010",
		}, right)
	default:
		return false
	}
}

// served is a console with viewers.
type served struct {
	*apiServer

	viewers *Viewers
	handler *console.Handler
	clock   *clocktesting.FakeClock
}

func serve(t *testing.T, content snapshot.Content) served {
	t.Helper()
	server, now := &apiServer{allows: ofCluster}, clocktesting.NewFakeClock(fixture.Now.Time)
	fleet := console.NewFleet()
	viewers := New(Options{
		Reviewer: server, Fleet: fleet, Lifetime: 30 * time.Second, Clock: now, Metrics: NewMetrics(prometheus.NewRegistry()),
	})
	fleet.Update(snapshot.New(content), func(*snapshot.Snapshot) overview.Options {
		return overview.Options{
			Now: content.Taken, GroupBy: "region", Command: func(line string) string { return line }, Note: func(string) string { return "" },
		}
	})
	return served{server, viewers, console.NewHandler(viewers, func(string) bool { return true }), now}
}

// get returns the status and the body of a response. A stream ends after its first events.
func (s served) get(t *testing.T, token, path string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response := &recorder{ResponseRecorder: httptest.NewRecorder(), written: cancel}
	s.handler.ServeHTTP(response, request)
	return response.Code, response.Body.String()
}

// recorder ends a stream once it has an event.
type recorder struct {
	*httptest.ResponseRecorder

	written func()
}

func (r *recorder) Write(content []byte) (int, error) {
	defer r.written()
	return r.ResponseRecorder.Write(content)
}

func (r *recorder) SetWriteDeadline(time.Time) error { return nil }

func TestViewersGetWhatTheirRightsAllow(t *testing.T) {
	s := serve(t, mixedfleet.Content(60))
	for name, test := range map[string]struct {
		token, path string
		status      int
		contains    string
	}{
		"no token":      {"", "/api/events", http.StatusUnauthorized, "sign in"},
		"a wrong token": {"wrong", "/api/events", http.StatusUnauthorized, "does not accept this token"},
		"no rights": {
			"stranger", "/api/events", http.StatusForbidden,
			"You may see no managed cluster of this hub: you need the right to list managedclusteraddons",
		},
		"no rights, for data":     {"stranger", "/api/graph", http.StatusForbidden, "list managedclusteraddons"},
		"all rights":              {"admin", "/api/events", http.StatusOK, "cluster0007"},
		"a token for the console": {"console:tenant", "/api/events", http.StatusOK, `"clusters":1,`},
		"a wrong one":             {"console:wrong", "/api/events", http.StatusUnauthorized, "does not accept this token"},
		"a cluster":               {"tenant", "/api/events", http.StatusOK, `"clusters":1,`},
		"its details":             {"tenant", "/api/cluster?name=cluster0010", http.StatusOK, "managed-serviceaccount"},
		"the details of another":  {"tenant", "/api/cluster?name=cluster0007", http.StatusNotFound, "no such managed cluster"},
	} {
		if status, body := s.get(t, test.token, test.path); status != test.status || !strings.Contains(body, test.contains) {
			t.Errorf("%s: status %d, %.300s; want %d with %q", name, status, body, test.status, test.contains)
		}
	}
}

// TestOtherClustersChangeNothing tests that each byte that the viewer of a managed cluster gets is the same as on a hub that has no other
// cluster. So no name, message or number of another cluster is in any response.
func TestOtherClustersChangeNothing(t *testing.T) {
	content := mixedfleet.Content(60)
	content.AddOns = append(content.AddOns, content.AddOns[0].DeepCopy())
	content.AddOns[len(content.AddOns)-1].Namespace, content.AddOns[len(content.AddOns)-1].Name = "cluster0007", "only-elsewhere"
	// An add-on of the viewer's cluster whose agent runs on another one, and the other way round.
	for _, addOn := range content.AddOns {
		other := map[string]string{"cluster0010": "cluster0011", "cluster0011": "cluster0010"}[addOn.Namespace]
		if addOn.Name == "permission-user" && other != "" {
			addOn.Annotations = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: other}
		}
	}
	alone := content.Select(func(cluster *clusterv1.ManagedCluster) bool { return cluster.Name == "cluster0010" })
	alone.Hosting = snapshot.Hosting{}
	shared, single := serve(t, content), serve(t, alone)
	differences := 0
	for _, path := range []string{
		"/api/events", "/api/cluster?name=cluster0010", "/api/cluster?name=cluster0007", "/api/graph", "/api/graph?cluster=cluster0010",
		"/api/graph?cluster=cluster0007", "/api/graph?group=-", "/api/graph?group=region-1", "/api/graph?group=region-2",
		"/api/graph?addon=cluster-gateway", "/api/graph?addon=only-elsewhere", "/api/impact?addon=managed-serviceaccount",
		"/api/impact?addon=managed-serviceaccount&version=1.0.0", "/api/impact?addon=cluster-proxy", "/api/impact?addon=only-elsewhere",
	} {
		status, body := shared.get(t, "tenant", path)
		wantStatus, want := single.get(t, "tenant", path)
		if status != wantStatus || body != want {
			t.Errorf("%s: %s", path, cmp.Diff(want, body))
		}
		if _, whole := shared.get(t, "admin", path); whole != body {
			differences++
		}
	}
	if differences < 8 {
		t.Errorf("only %d of the responses depend on the viewer", differences)
	}
}

// TestViewersShareViewsAndReviews tests that further requests of a viewer take no reviews, and that equal rights have one view.
func TestViewersShareViewsAndReviews(t *testing.T) {
	s := serve(t, mixedfleet.Content(60))
	s.get(t, "tenant", "/api/graph")
	tokens, access := s.counts()
	var requests sync.WaitGroup
	for range 20 {
		requests.Go(func() { s.get(t, "tenant", "/api/cluster?name=cluster0010") })
	}
	requests.Wait()
	if moreTokens, more := s.counts(); moreTokens != tokens || more != access {
		t.Errorf("%d reviews of tokens and %d of rights, then %d and %d", tokens, access, moreTokens, more)
	}
	for _, token := range []string{"admin", "tenant"} {
		s.get(t, token, "/api/graph")
	}
	if count := s.viewers.Count(); count != 2 {
		t.Errorf("%d views", count)
	}
	s.clock.Step(10 * time.Minute)
	if count := s.viewers.Count(); count != 0 {
		t.Errorf("%d views without viewers", count)
	}
}

// TestWithdrawnRightsEnd tests that a withdrawn right or token does not count after the lifetime of the response, and a new one does soon.
func TestWithdrawnRightsEnd(t *testing.T) {
	s := serve(t, mixedfleet.Content(60))
	status := func(token string) int {
		code, _ := s.get(t, token, "/api/cluster?name=cluster0010")
		return code
	}
	if status("tenant") != http.StatusOK || status("stranger") != http.StatusForbidden {
		t.Fatal("wrong at the start")
	}
	s.mutex.Lock()
	s.allows = func(user, right string) bool {
		return ofCluster(map[string]string{"stranger": "tenant", "tenant": "stranger", "admin": "admin"}[user], right)
	}
	s.mutex.Unlock()
	if status("tenant") != http.StatusOK || status("stranger") != http.StatusForbidden {
		t.Error("a response counts for less than its lifetime")
	}
	s.clock.Step(11 * time.Second)
	if status("stranger") != http.StatusOK {
		t.Error("a new right does not count after 11 seconds")
	}
	s.clock.Step(20 * time.Second)
	if status("tenant") != http.StatusForbidden {
		t.Error("a withdrawn right counts after 31 seconds")
	}
}

// TestFailedReviewsAreNotKept tests an API server that does not respond.
func TestFailedReviewsAreNotKept(t *testing.T) {
	s := serve(t, mixedfleet.Content(3))
	s.failure = errors.New("connection refused")
	if status, body := s.get(t, "admin", "/api/graph"); status != http.StatusServiceUnavailable || strings.Contains(body, "refused") {
		t.Errorf("status %d, %s", status, body)
	}
	s.failure = nil
	if status, _ := s.get(t, "admin", "/api/graph"); status != http.StatusOK {
		t.Errorf("status %d after the failure", status)
	}
}

// TestTokensAreBounded tests a client that tries many tokens. A viewer whose token was accepted is still served.
func TestTokensAreBounded(t *testing.T) {
	s := serve(t, mixedfleet.Content(3))
	s.get(t, "admin", "/api/graph")
	refused := 0
	for i := range 300 {
		if status, _ := s.get(t, "guess"+strings.Repeat("x", i), "/api/graph"); status == http.StatusTooManyRequests {
			refused++
		}
	}
	if tokens, _ := s.counts(); refused == 0 || tokens > 250 {
		t.Errorf("%d of 300 are refused after %d reviews", refused, tokens)
	}
	if status, _ := s.get(t, "admin", "/api/graph"); status != http.StatusOK {
		t.Errorf("an accepted viewer gets status %d", status)
	}
}

// TestMissingRightsOnClustersAreReviewedSeldom tests that the reviews of a viewer of few of many clusters do not grow with their number.
func TestMissingRightsOnClustersAreReviewedSeldom(t *testing.T) {
	s := serve(t, mixedfleet.Content(1000))
	s.get(t, "tenant", "/api/graph")
	_, first := s.counts()
	for range 4 {
		s.clock.Step(12 * time.Second)
		s.get(t, "tenant", "/api/graph")
	}
	if _, after := s.counts(); first < 1000 || after-first > 100 {
		t.Errorf("%d reviews at first, %d more in 48 seconds", first, after-first)
	}
	s.clock.Step(20 * time.Second)
	s.get(t, "tenant", "/api/graph")
	if _, after := s.counts(); after < 2000 {
		t.Errorf("%d reviews after a minute", after)
	}
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	metrics := NewMetrics(registry)
	RegisterGauges(registry, func() int { return 3 }, func() int { return 2 })
	metrics.count(reviewToken, true, nil)
	metrics.count(reviewAccess, false, nil)
	metrics.count(reviewAccess, false, errors.New("refused"))
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	want := `# HELP interlock_console_streams ` + Help[NameStreams] + `
# TYPE interlock_console_streams gauge
interlock_console_streams 3
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), NameStreams); err != nil {
		t.Error(err)
	}
	if count, err := testutil.GatherAndCount(registry); err != nil || count != 5 {
		t.Errorf("%d series, %v", count, err)
	}
}
