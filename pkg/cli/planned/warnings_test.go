package planned

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

// TestWarningsOfManyClustersAreShownOnce: a dry run tries each add-on on each managed cluster, and the hub warns of each.
func TestWarningsOfManyClustersAreShownOnce(t *testing.T) {
	state := &Fleet{}
	for _, name := range []string{"f4", "f3", "f2", "f1"} {
		state.Clusters = append(state.Clusters, steps.Cluster{Cluster: whatif.Cluster{Cluster: evaluation.Cluster{Name: name}}})
	}
	w := &warnings{inPlan: sets.New("known on f1", "known later"), shown: sets.New[string]()}
	tries := func(sent ...string) []string {
		var shown strings.Builder
		w.collect(state)
		for _, warning := range sent {
			if !w.handle(warning) {
				t.Errorf("shown at once: %s", warning)
			}
		}
		w.show(&shown)
		return strings.Split(strings.TrimSuffix(shown.String(), "\n"), "\n")
	}
	const waits = " yet: Required addon 'base' is not installed or not available."
	want := []string{
		"Warning: 'w1' is not installed on f1" + waits + " (the same on 4 clusters: f1, f2, f3 and 1 more cluster)",
		"Warning: 'w2' is not installed on f2" + waits,
		"Warning: about no cluster",
	}
	got := tries("'w1' is not installed on f3"+waits, "known on f1", "'w1' is not installed on f2"+waits, "'w1' is not installed on f1"+waits,
		"'w1' is not installed on f4"+waits, "about no cluster", "'w2' is not installed on f2"+waits, "about no cluster")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Warning: new of 'f1'"}, tries("'w1' is not installed on f3"+waits, "new of 'f1'")); diff != "" {
		t.Errorf("once more: -want, +got:\n%s", diff)
	}
	for _, warning := range []string{"'w2' is not installed on f3" + waits, "known later"} {
		if !w.handle(warning) {
			t.Errorf("shown again when it is done: %s", warning)
		}
	}
	if w.handle("later on f1") || !w.handle("later on f2") {
		t.Error("what is new when it is done is not shown once")
	}
}
