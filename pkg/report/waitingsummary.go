package report

import (
	"cmp"
	"slices"
	"time"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// SummarizedWait is an installation or an upgrade of an add-on that waits for dependencies, over the fleet.
type SummarizedWait struct {
	AddOn string                      `json:"addOn"`
	Kind  dependencyv1alpha1.WaitKind `json:"kind"`
	// Template is the AddOnTemplate that waits. An installation may have none.
	Template string `json:"template,omitempty"`
	// Version is the version of the template. It may have none.
	Version string `json:"version,omitempty"`
	// Since is the time at which the first of the waits began.
	Since time.Time `json:"since,omitzero"`
	// Clusters are the managed clusters on which it waits, ascending.
	Clusters []string `json:"clusters"`
	// Dependencies has the number of clusters by the name of the edge or requirement that it waits for there.
	Dependencies map[string]int `json:"dependencies,omitempty"`
}

// addWaits adds the waits of all add-ons on a managed cluster, or of a single add-on. It merges equal waits of several clusters.
func (s *Summary) addWaits(cluster *Cluster, addOn string) {
	for _, wait := range cluster.waits(nil) {
		if cmp.Or(addOn, wait.AddOn) != wait.AddOn {
			continue
		}
		index := slices.IndexFunc(s.Waiting, func(candidate SummarizedWait) bool {
			return candidate.AddOn == wait.AddOn && candidate.Kind == wait.Kind && candidate.Template == wait.Template &&
				candidate.Version == wait.Version
		})
		if index < 0 {
			index = len(s.Waiting)
			s.Waiting = append(s.Waiting, SummarizedWait{
				AddOn: wait.AddOn, Kind: wait.Kind, Template: wait.Template, Version: wait.Version, Dependencies: map[string]int{},
			})
		}
		s.Waiting[index].add(cluster.Name, wait)
	}
}

// add adds the same wait on another managed cluster.
func (w *SummarizedWait) add(cluster string, wait reportedWait) {
	w.Clusters = append(w.Clusters, cluster)
	if wait.Since != nil && (w.Since.IsZero() || wait.Since.Time.Before(w.Since)) {
		w.Since = wait.Since.UTC()
	}
	for _, edge := range wait.Dependencies {
		if edge.Dependency != "" {
			w.Dependencies[edge.Dependency]++
		}
	}
}

// compare orders waits by the number of managed clusters, largest first.
func (w SummarizedWait) compare(b SummarizedWait) int {
	return cmp.Or(cmp.Compare(len(b.Clusters), len(w.Clusters)), cmp.Compare(w.AddOn, b.AddOn), cmp.Compare(w.Kind, b.Kind),
		cmp.Compare(w.Template, b.Template), cmp.Compare(w.Version, b.Version))
}
