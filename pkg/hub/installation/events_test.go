package installation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"open-cluster-management.io/interlock/pkg/dependency/installation"
)

// related records the object that each event is also about.
type related struct{ all []string }

// Eventf implements events.EventRecorder.
func (r *related) Eventf(_, other runtime.Object, _, _, _, _ string, _ ...any) {
	if reference, ok := other.(*corev1.ObjectReference); ok && reference != nil {
		r.all = append(r.all, reference.Namespace+"/"+reference.Name+reference.FieldPath)
	}
}

// Events of one reason on one object are counted as one, unless they are also about different objects.
func TestEventsOnSeveralDependenciesDiffer(t *testing.T) {
	b, recorder := newBench(t, listed, false, 1), &related{}
	b.Recorder = recorder
	var done []installation.Target
	var needs []need
	for _, name := range []string{"gateway", "tunnel"} {
		target := installation.Target{Cluster: "cluster1", AddOn: name}
		done, needs = append(done, target), append(needs, need{Target: target, dependents: []string{"portal"}})
	}
	b.report(installation.Plan{}, done, needs, 1)
	if len(recorder.all) != 2 || recorder.all[0] == recorder.all[1] {
		t.Errorf("got %v", recorder.all)
	}
}

// So are those on one add-on that is given up on several managed clusters.
func TestEventsOnOneAddOnDiffer(t *testing.T) {
	b, recorder := newBench(t, listed, false, 1), &related{}
	b.Recorder = recorder
	givenUp := []installation.Target{{Cluster: "cluster1", AddOn: "base"}, {Cluster: "cluster2", AddOn: "base"}}
	b.report(installation.Plan{GivenUp: givenUp}, nil, nil, 50)
	if len(recorder.all) != 2 || recorder.all[0] == recorder.all[1] {
		t.Errorf("got %q", recorder.all)
	}
}
