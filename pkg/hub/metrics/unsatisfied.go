package metrics

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// edge is one series: the clusters on which a dependency is unsatisfied in one way.
type edge struct {
	addOn, dependency, kind, verdict string
}

func (e edge) labels() []string { return []string{e.addOn, e.dependency, e.kind, e.verdict} }

// unsatisfiedEdges counts clusters by edge. It remembers what each add-on on
// each cluster contributed, so that a change or a deletion takes that back.
type unsatisfiedEdges struct {
	gauge *prometheus.GaugeVec

	mutex   sync.Mutex
	byAddOn map[types.NamespacedName][]edge
	counts  map[edge]int
}

// change replaces what an add-on contributes: next gets what it contributed before.
func (u *unsatisfiedEdges) change(key types.NamespacedName, next func(before []edge) []edge) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	before := u.byAddOn[key]
	now := next(before)
	if slices.Equal(before, now) {
		return
	}
	for _, e := range before {
		u.counts[e]--
	}
	for _, e := range now {
		u.counts[e]++
	}
	for _, e := range slices.Concat(before, now) {
		if u.counts[e] > 0 {
			u.gauge.WithLabelValues(e.labels()...).Set(float64(u.counts[e]))
			continue
		}
		delete(u.counts, e)
		u.gauge.DeleteLabelValues(e.labels()...)
	}
	if u.byAddOn[key] = now; len(now) == 0 {
		delete(u.byAddOn, key)
	}
}

// SetFindings replaces the findings on the edges of an add-on on one cluster. Edges
// that are held keep their value.
func (m *Metrics) SetFindings(key types.NamespacedName, findings []evaluation.Finding) {
	m.unsatisfied.change(key, func(before []edge) []edge {
		var now []edge
		for _, finding := range findings {
			switch {
			case finding.Verdict == evaluation.Held && finding.Name() == "":
				return before // it is not known what it declares: all of it is held
			case finding.Verdict == evaluation.Held:
				now = append(now, ofDependency(before, finding.Name())...)
			case finding.Unsatisfied():
				now = append(now, edge{
					addOn: key.Name, dependency: text.Name(finding.Name()),
					kind: string(finding.Type()), verdict: string(finding.Verdict),
				})
			}
		}
		return now
	})
}

func ofDependency(edges []edge, name string) []edge {
	var found []edge
	for _, e := range edges {
		if e.dependency == name {
			found = append(found, e)
		}
	}
	return found
}

// Forget drops what an add-on contributed that no longer exists on a cluster.
func (m *Metrics) Forget(key types.NamespacedName) {
	m.unsatisfied.change(key, func([]edge) []edge { return nil })
}
