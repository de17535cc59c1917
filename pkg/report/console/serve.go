package console

import (
	"cmp"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/drawing"
	"open-cluster-management.io/interlock/pkg/text"
)

//go:embed static/index.html static/app.js static/app.css
var static embed.FS

// policy is the Content-Security-Policy of all responses. The page loads its own script and style sheet, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Times of a stream of events: a comment shows a viewer that the console is alive, and a viewer that does not read is disconnected.
const (
	heartbeat    = 15 * time.Second
	writeTimeout = 30 * time.Second
)

// files are the files of the page, by path.
var files = map[string]struct{ name, kind string }{
	"/":        {"static/index.html", "text/html; charset=utf-8"},
	"/app.js":  {"static/app.js", "text/javascript; charset=utf-8"},
	"/app.css": {"static/app.css", "text/css; charset=utf-8"},
}

// ServeHTTP implements http.Handler. The files of the page have no data, so that a browser gets them without a token.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		w.Header().Set(name, value)
	}
	switch file, isFile := files[r.URL.Path]; {
	case !slices.Contains(c.hosts, r.Host):
		http.Error(w, "this host is not served here", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
	case r.URL.Path == "/favicon.ico":
		w.WriteHeader(http.StatusNoContent)
	case isFile:
		content, err := static.ReadFile(file.name)
		if err != nil {
			http.Error(w, "no such file", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", file.kind)
		_, _ = w.Write(content) // the viewer has gone
	case !c.authorized(r):
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token is missing or wrong: open the address that the program has printed", http.StatusUnauthorized)
	default:
		c.serveData(w, r)
	}
}

// authorized reports whether a request has the token. Its comparison takes the same time for each wrong token.
func (c *Console) authorized(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(token), []byte(c.token)) == 1
}

// serveData serves the state of the fleet.
func (c *Console) serveData(w http.ResponseWriter, r *http.Request) {
	current := c.state()
	if current.finder == nil && r.URL.Path != "/api/events" {
		http.Error(w, "the fleet has not been read yet", http.StatusServiceUnavailable)
		return
	}
	switch r.URL.Path {
	case "/api/events":
		c.serveEvents(w, r)
	case "/api/cluster":
		cluster, ok := current.finder.Cluster(r.URL.Query().Get("name"))
		if !ok {
			http.Error(w, "no such managed cluster", http.StatusNotFound)
			return
		}
		serveJSON(w, cluster)
	case "/api/graph":
		current.serveGraph(w, r)
	case "/api/impact":
		current.serveImpact(w, r)
	default:
		http.NotFound(w, r)
	}
}

// serveEvents sends the current overview, and again each time that it changes. A slow viewer misses states between, not the last one.
func (c *Console) serveEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	if err := stream.Flush(); err != nil {
		return
	}
	var sent []byte
	for {
		current := c.state()
		next := current.trouble
		if len(next) == 0 {
			next = current.overview
		}
		if len(sent) == 0 && len(current.trouble) > 0 {
			next = slices.Concat(current.overview, current.trouble)
		}
		if len(next) > 0 {
			if err := send(w, stream, next); err != nil {
				return
			}
			sent = next
		}
		if !waitForChange(w, r, stream, current.changed) {
			return
		}
	}
}

// waitForChange waits for a change. It returns false if the viewer has gone.
func waitForChange(w http.ResponseWriter, r *http.Request, stream *http.ResponseController, changed <-chan struct{}) bool {
	for {
		select {
		case <-r.Context().Done():
			return false
		case <-changed:
			return true
		case <-time.After(heartbeat):
			if err := send(w, stream, []byte(": alive\n\n")); err != nil {
				return false
			}
		}
	}
}

// send sends a part of a stream.
func send(w http.ResponseWriter, stream *http.ResponseController, part []byte) error {
	if err := stream.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := w.Write(part); err != nil {
		return err
	}
	return stream.Flush()
}

// unlabeled is the group of the managed clusters without the label. No value of a label begins with it.
const unlabeled = "-"

// serveGraph serves the graph as SVG, of the fleet, or limited to an add-on, a group or a managed cluster.
func (s state) serveGraph(w http.ResponseWriter, r *http.Request) {
	query, hub := r.URL.Query(), s.hub
	if group := query.Get("group"); group != "" {
		hub = snapshot.New(hub.Select(func(cluster *clusterv1.ManagedCluster) bool {
			return text.Name(cmp.Or(cluster.Labels[s.groupBy], unlabeled)) == group
		}))
	}
	graph := report.FindGraph(hub, query.Get("cluster"), query.Get("addon"))
	w.Header().Set("Content-Type", "image/svg+xml")
	_ = drawing.Figure(w, graph) // the viewer has gone
}

// serveImpact serves the impact of the removal of an add-on, or of another version of it.
func (s state) serveImpact(w http.ResponseWriter, r *http.Request) {
	query, change := r.URL.Query(), whatif.Change{}
	addOn, version := query.Get("addon"), query.Get("version")
	if !s.hub.IsInstalled(addOn, "") {
		http.Error(w, fmt.Sprintf("add-on %q is not installed on any managed cluster", text.Name(addOn)), http.StatusNotFound)
		return
	}
	if version == "" {
		change.Remove = []string{addOn}
	} else {
		if _, err := semver.NewVersion(version); err != nil {
			http.Error(w, fmt.Sprintf("version %q: %v", text.Excerpt(version), err), http.StatusBadRequest)
			return
		}
		change.Versions = map[string]string{addOn: version}
	}
	changed := []changedEdge{}
	for _, item := range report.FindImpact(s.hub, "", report.Trial{Change: change}).Items {
		changed = append(changed, changedEdge{
			AddOn: text.Name(item.AddOn), Edge: text.Name(item.Edge), Type: item.Type, Before: item.VerdictBefore, After: item.VerdictAfter,
			Breaks: item.Breaks, Clusters: len(item.Clusters),
		})
	}
	serveJSON(w, changed)
}

// changedEdge is an edge whose verdict a change would change, with the number of managed clusters.
type changedEdge struct {
	AddOn    string                       `json:"addOn"`
	Edge     string                       `json:"edge"`
	Type     addonv1alpha1.DependencyType `json:"type"`
	Before   evaluation.Verdict           `json:"before,omitempty"`
	After    evaluation.Verdict           `json:"after"`
	Breaks   bool                         `json:"breaks"`
	Clusters int                          `json:"clusters"`
}

func serveJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the viewer has gone
}
