package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/Masterminds/semver/v3"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/drawing"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/pkg/report/page"
	"open-cluster-management.io/interlock/pkg/text"
)

// serveData serves a part of a view.
func (h *Handler) serveData(w http.ResponseWriter, r *http.Request, view *View) {
	select {
	case h.working <- struct{}{}:
		defer func() { <-h.working }()
	case <-r.Context().Done():
		return
	case <-time.After(patience):
		unavailable(w, "too many requests: try again later")
		return
	}
	now := view.fleet.moment()
	if now.hub == nil {
		unavailable(w, "the fleet has not been read yet")
		return
	}
	current, err := view.at(now)
	if err != nil {
		h.fail(err)
		http.Error(w, "the fleet cannot be shown", http.StatusInternalServerError)
		return
	}
	switch r.URL.Path {
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

// serveGraph serves the graph as SVG, of the fleet, or limited to an add-on, a group or a managed cluster.
func (s *state) serveGraph(w http.ResponseWriter, r *http.Request) {
	query, hub := r.URL.Query(), s.hub
	if group := query.Get("group"); group != "" {
		hub = snapshot.New(hub.Select(func(cluster *clusterv1.ManagedCluster) bool {
			return text.Name(cmp.Or(cluster.Labels[s.groupBy], overview.Unlabeled)) == group
		}))
	}
	graph := report.FindGraph(hub, query.Get("cluster"), query.Get("addon"))
	states := s.finder.NodeStates(query.Get("cluster"), query.Get("group"))
	w.Header().Set("Content-Type", "image/svg+xml")
	_ = drawing.Figure(w, graph, page.Marks(states)) // the viewer has gone
}

// serveImpact serves the impact of the removal of an add-on, or of another version of it.
func (s *state) serveImpact(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	addOn, version := query.Get("addon"), query.Get("version")
	if !s.hub.IsInstalled(addOn, "") {
		http.Error(w, fmt.Sprintf("add-on %q is not installed on any managed cluster", text.Name(addOn)), http.StatusNotFound)
		return
	}
	if _, err := semver.NewVersion(version); version != "" && err != nil {
		http.Error(w, fmt.Sprintf("version %q: %v", text.Excerpt(version), err), http.StatusBadRequest)
		return
	}
	serveJSON(w, s.finder.Predict(addOn, version))
}

func serveJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the viewer has gone
}
