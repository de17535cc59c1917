package installation

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/test/fixture"
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
	b, recorder := newBench(t, manual, true, 1), &related{}
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

// So are those on one add-on: what is given up on several managed clusters, and what waits for an approval with another number, or because
// of another value.
func TestEventsOnOneAddOnDiffer(t *testing.T) {
	b, recorder := newBench(t, manual, true, 1), &related{}
	b.Recorder = recorder
	givenUp := []installation.Target{{Cluster: "cluster1", AddOn: "base"}, {Cluster: "cluster2", AddOn: "base"}}
	b.report(installation.Plan{GivenUp: givenUp}, nil, nil, 50)
	for _, waiting := range []struct {
		approved string
		clusters int
	}{{"", 30}, {"", 31}, {"lots", 31}} {
		base := fixture.Specified(t, "base", "{"+manual+"}")
		base.Annotations = map[string]string{addonv1alpha1.ApproveInstallAnnotation: waiting.approved}
		b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{base})))
		for range 2 {
			b.report(installation.Plan{Unapproved: map[string]int{"base": waiting.clusters}}, nil, nil, 50)
			b.clock.SetTime(b.clock.Now().Add(settled))
		}
	}
	if len(recorder.all) != 5 || len(sets.New(recorder.all...)) != 5 {
		t.Errorf("got %q", recorder.all)
	}
}

// The event that has the number to approve says why the approval that there is does not count. It is there as long as the approval is not.
func TestEventsOnWhatWaitsForAnApproval(t *testing.T) {
	const key = "dependency.addon.open-cluster-management.io/approve-"
	const command = ": kubectl annotate --overwrite clustermanagementaddon base " + key
	b := newBench(t, manual, true, 1)
	notes := func(after time.Duration) (all []string) {
		t.Helper()
		b.clock.SetTime(b.clock.Now().Add(after))
		plan := installation.Plan{Unapproved: map[string]int{"base": 30}}
		b.report(plan, nil, nil, 50)
		b.reportRemovals(installation.RemovalPlan{Plan: plan}, 50)
		for len(b.recorder.Events) > 0 {
			_, note, _ := strings.Cut(<-b.recorder.Events, "waits for an approval")
			all = append(all, note)
		}
		return all
	}
	for _, test := range []struct{ approved, because string }{
		{"", ""},
		{"abc", ", because its annotation says 'abc', which is not a number"},
		{"abd", ", because its annotation says 'abd', which is not a number"},
		{"5", ", because its annotation approves only 5"},
	} {
		base := fixture.Specified(t, "base", "{"+manual+"}")
		base.Annotations = map[string]string{
			addonv1alpha1.ApproveInstallAnnotation: test.approved, addonv1alpha1.ApproveRemovalAnnotation: test.approved,
		}
		b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{base})))
		for _, step := range []struct {
			after time.Duration
			want  int
		}{{0, 0}, {settled, 2}, {settled, 0}, {repeated - settled, 2}, {time.Minute, 0}} {
			got := notes(step.after)
			if len(got) != step.want {
				t.Fatalf("%q, after %s: %q", test.approved, step.after, got)
			}
			if len(got) > 0 && (got[0] != test.because+command+"install=30" || got[1] != test.because+command+"removal=30") {
				t.Errorf("%q: %q", test.approved, got)
			}
		}
	}
}
