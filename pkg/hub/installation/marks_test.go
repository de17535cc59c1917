package installation

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	lifecycle "open-cluster-management.io/interlock/pkg/hub/lifecycle/installation"
	"open-cluster-management.io/interlock/pkg/trigger"
	"open-cluster-management.io/interlock/test/fixture"
)

// lead lets another leader take over: it knows nothing but what is on the hub.
func (b *bench) lead() {
	was := b.Reconciler
	b.Reconciler = &Reconciler{
		Clock: was.Clock, Inputs: was.Inputs, Declarations: was.Declarations, Needs: &Needs{Changed: trigger.New()}, Policies: was.Policies,
		Live: was.Live, Writer: was.Writer, Recorder: was.Recorder, Metrics: lifecycle.NewMetrics(prometheus.NewRegistry()),
		Changed:  trigger.New(),
		Evaluate: trigger.New(), RemovalDelay: was.RemovalDelay,
	}
}

// mark returns since when base is not needed on the first managed cluster, as the hub shows it; empty: it does not.
func (b *bench) mark(t *testing.T) string {
	t.Helper()
	base := &addonv1alpha1.ManagedClusterAddOn{}
	err := b.hub.Get(t.Context(), types.NamespacedName{Namespace: "cluster000", Name: "base"}, base)
	if mark := base.Annotations[addonv1alpha1.UnusedSinceAnnotation]; mark != "" || err != nil {
		return mark
	}
	decision := &clusterv1beta1.PlacementDecision{}
	err = b.hub.Get(t.Context(), types.NamespacedName{Namespace: addonv1alpha1.InstallNamespace, Name: "base-interlock-1"}, decision)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return readMarks(decision.Annotations[addonv1alpha1.UnusedSinceAnnotation])["cluster000"]
}

func (b *bench) wantMark(t *testing.T, want string, patches int) {
	t.Helper()
	if got := b.mark(t); got != want || b.patches != patches {
		t.Errorf("marked %q by %d patches, want %q by %d", got, b.patches, want, patches)
	}
	b.patches = 0
}

// lose sets whether a managed cluster can be reached.
func (b *bench) lose(t *testing.T, i int, status metav1.ConditionStatus) {
	t.Helper()
	lost := cluster(i)
	if err := b.hub.Get(t.Context(), client.ObjectKeyFromObject(lost), lost); err != nil {
		t.Fatal(err)
	}
	lost.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
	if err := b.hub.Update(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
}

const hour = time.Hour

// Both ways of installing, with what removes base.
var ways = map[string]struct {
	base     string
	onDemand bool
	removal  string
}{
	"installed by OCM": {listed, false, "update PlacementDecision base-interlock-1"},
}

func TestANewLeaderGoesOnWithTheHour(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			b := newInstalled(t, way.base, way.onDemand, 2)
			b.wantMark(t, "", 0)
			since := markOf(b.clock.Now())
			b.later(t, 0)
			b.wantMark(t, since, map[bool]int{true: 2, false: 1}[way.onDemand])
			b.later(t, hour/2)
			b.wantMark(t, since, 0)
			b.lead()
			if writes := b.later(t, hour/2-time.Minute); len(writes) > 0 {
				t.Errorf("too early: %v", writes)
			}
			b.wantMark(t, since, 0)
			if writes := b.later(t, time.Minute); len(writes) == 0 || writes[0] != way.removal {
				t.Errorf("got %v, want %s", writes, way.removal)
			}
			b.later(t, time.Minute)
			if got := b.mark(t); got != "" {
				t.Errorf("still marked %s", got)
			}
		})
	}
}

func TestTheMarkEndsWithTheHour(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			b := newInstalled(t, way.base, way.onDemand, 1)
			b.later(t, 0)
			b.lead() // also if another leader began it
			b.install(t, 0, "leaf")
			b.later(t, time.Minute)
			b.wantMark(t, "", 2)
			b.later(t, time.Minute)
			b.wantMark(t, "", 0)
		})
	}
	for name, keep := range map[string]func(t *testing.T, b *bench){
		"an author wants to keep it":   func(t *testing.T, b *bench) { t.Helper(); b.registered(t, needing) },
		"its owner consents no longer": func(t *testing.T, b *bench) { t.Helper(); b.declare(t, manual, false) },
		"another writer has taken it over": func(t *testing.T, b *bench) {
			t.Helper()
			base := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster000", Name: "base"}}
			labeled := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"configs": [{"name": "x", "resource": "y"}]}}`))
			if err := b.hub.Patch(t.Context(), base, labeled, client.FieldOwner("another")); err != nil {
				t.Fatal(err)
			}
			b.patches--
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newInstalled(t, listed, false, 1)
			b.later(t, 0)
			keep(t, b)
			b.lead()
			b.later(t, time.Minute)
			b.wantMark(t, "", 2)
		})
	}
}

// What happens while the cluster is lost is not known, and what a policy denies has not been true for the whole hour. So it begins anew,
// also if another leader takes over meanwhile, or afterwards.
func TestThereIsNoMarkWhereTheHourDoesNotRun(t *testing.T) {
	for name, stops := range map[string]struct{ begin, end func(t *testing.T, b *bench) }{
		"the cluster is lost": {
			func(t *testing.T, b *bench) { t.Helper(); b.lose(t, 0, metav1.ConditionUnknown) },
			func(t *testing.T, b *bench) { t.Helper(); b.lose(t, 0, metav1.ConditionTrue) },
		},
		"a policy denies": {
			func(t *testing.T, b *bench) { t.Helper(); b.deny(t) },
			func(t *testing.T, b *bench) { t.Helper(); b.allow() },
		},
	} {
		for of, way := range ways {
			for when, at := range map[string]int{"of one leader": 0, "as another leader begins": 1, "before another leader": 2} {
				t.Run(name+", "+of+", "+when, func(t *testing.T) {
					b := newInstalled(t, way.base, way.onDemand, 1)
					b.later(t, 0)
					b.patches = 0
					stops.begin(t, b)
					if at == 1 {
						b.lead()
					}
					b.later(t, time.Minute)
					b.wantMark(t, "", 1)
					b.later(t, time.Minute)
					b.wantMark(t, "", 0)
					stops.end(t, b)
					if at == 2 {
						b.lead()
					}
					again := markOf(b.clock.Now().Add(time.Minute))
					b.later(t, time.Minute)
					b.wantMark(t, again, 1)
					if writes := b.later(t, hour-time.Second); len(writes) > 0 {
						t.Errorf("removed before the hour: %v", writes)
					}
				})
			}
		}
	}
}

func TestAMarkThatIsNotWritten(t *testing.T) {
	busy := errors.New("the hub is busy")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "managedclusteraddons"}, "base", busy)
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "managedclusteraddons"}, "base")
	for name, test := range map[string]struct{ refusal, want error }{
		"the hub is busy": {busy, busy}, "another writer was faster": {conflict, nil}, "it is gone": {gone, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newInstalled(t, listed, false, 1)
			b.refuse = func(write, _ string) error {
				if write == "patch" {
					return test.refusal
				}
				return nil
			}
			since := markOf(b.clock.Now())
			if _, _, err := b.reconcile(t); !errors.Is(err, test.want) {
				t.Errorf("error %v", err)
			}
			b.refuse = func(string, string) error { return nil }
			b.later(t, time.Minute)
			b.wantMark(t, since, 2)
			if writes := b.later(t, hour-time.Minute); !slices.Equal(writes, []string{"update PlacementDecision base-interlock-1"}) {
				t.Errorf("got %v", writes)
			}
		})
	}
}

func TestReadMarks(t *testing.T) {
	for annotation, want := range map[string]string{
		"": "", "nonsense": "", "[]": "", `{"cluster000": 5}`: "", `{"cluster000": "x", "other": "y"}`: "x", `{"other": "y"}`: "",
	} {
		if got := readMarks(annotation)["cluster000"]; got != want {
			t.Errorf("%s: got %q", annotation, got)
		}
	}
	bad := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		addonv1alpha1.UnusedSinceAnnotation: "yesterday",
	}}}
	if since := marked(bad, nil); !since.IsZero() {
		t.Errorf("read %s", since)
	}
	if got := markOf(fixture.Now.Time); got == "" || markOf(time.Time{}) != "" {
		t.Errorf("written %q", got)
	}
}
