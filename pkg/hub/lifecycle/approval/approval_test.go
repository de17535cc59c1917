package approval

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/test/fixture"
)

// registered returns the registration of base with annotations that approve changes.
func registered(t *testing.T, approved string) addonv1alpha1.ClusterManagementAddOn {
	t.Helper()
	base := fixture.Specified(t, "base", "{installStrategy: {type: Manual}}")
	base.Annotations = map[string]string{
		addonv1alpha1.ApproveInstallAnnotation: approved, addonv1alpha1.ApproveRemovalAnnotation: approved,
	}
	return base
}

// The event that has the number to approve says why the approval that there is does not count. It is there as long as the approval is not.
func TestEvents(t *testing.T) {
	const key = "dependency.addon.open-cluster-management.io/approve-"
	const command = ": kubectl annotate --overwrite clustermanagementaddon base " + key
	clock, recorder := clocktesting.NewFakePassiveClock(fixture.Now.Time), events.NewFakeRecorder(10)
	installations := Events{Kind: Installations, Clock: clock, Recorder: recorder}
	removals := Events{Kind: Removals, Clock: clock, Recorder: recorder}
	collect := func(delay time.Duration, install catalog.Install) (notes []string) {
		t.Helper()
		clock.SetTime(clock.Now().Add(delay))
		for _, emitter := range []*Events{&installations, &removals} {
			if next := emitter.Report("base", 30, 50, install); !next.After(clock.Now()) {
				t.Errorf("reported again at %s", next)
			}
		}
		for len(recorder.Events) > 0 {
			_, note, _ := strings.Cut(<-recorder.Events, "waits for an approval")
			notes = append(notes, note)
		}
		return notes
	}
	for _, test := range []struct{ approved, because string }{
		{"", ""},
		{"abc", ", because its annotation says 'abc', which is not a number"},
		{"abd", ", because its annotation says 'abd', which is not a number"},
		{"5", ", because its annotation approves only 5"},
	} {
		base := registered(t, test.approved)
		for _, step := range []struct {
			delay time.Duration
			want  int
		}{{0, 0}, {Settled, 2}, {Settled, 0}, {Repeated - Settled, 2}, {time.Minute, 0}} {
			got := collect(step.delay, catalog.InstallOf(&base))
			if len(got) != step.want {
				t.Fatalf("%q, after %s: %q", test.approved, step.delay, got)
			}
			if len(got) > 0 && (got[0] != test.because+command+"install=30" || got[1] != test.because+command+"removal=30") {
				t.Errorf("%q: %q", test.approved, got)
			}
		}
	}
	if next := installations.Report("base", 0, 50, catalog.Install{}); !next.IsZero() || len(installations.waiting) > 0 {
		t.Errorf("nothing waits: reported again at %s", next)
	}
}

// related records the object that each event is also about.
type related struct{ fieldPaths []string }

// Eventf implements events.EventRecorder.
func (r *related) Eventf(_, secondary runtime.Object, _, _, _, _ string, _ ...any) {
	if reference, ok := secondary.(*corev1.ObjectReference); ok {
		r.fieldPaths = append(r.fieldPaths, reference.FieldPath)
	}
}

// Events of one reason on one object are counted as one, unless they are also about different objects.
func TestEventsDiffer(t *testing.T) {
	clock, recorder := clocktesting.NewFakePassiveClock(fixture.Now.Time), &related{}
	emitter := Events{Kind: Installations, Clock: clock, Recorder: recorder}
	for _, waiting := range []struct {
		approved string
		clusters int
	}{{"", 30}, {"", 31}, {"lots", 31}} {
		declared := catalog.New([]addonv1alpha1.ClusterManagementAddOn{registered(t, waiting.approved)})
		for range 2 {
			emitter.ReportAll(map[string]int{"base": waiting.clusters}, 50, declared)
			clock.SetTime(clock.Now().Add(Settled))
		}
	}
	if len(recorder.fieldPaths) != 3 || len(sets.New(recorder.fieldPaths...)) != 3 {
		t.Errorf("got %q", recorder.fieldPaths)
	}
	if emitter.ReportAll(nil, 50, nil); len(emitter.waiting) > 0 {
		t.Error("it is not forgotten")
	}
}
