package statuscmd

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/test/fixture"
)

const waitsForX = "AddOnTemplate 'v2' waits: x"

func upgrading(cluster, name, message string) addonv1alpha1.ManagedClusterAddOn {
	return fixture.Holds("v2", addOn(cluster, name,
		condition("Available", metav1.ConditionTrue, "Works", ""),
		condition("Upgradable", metav1.ConditionFalse, "WaitingForDependencies", message)))
}

func TestRowsHaveWaits(t *testing.T) {
	gated := addOn("c1", "gated", condition("Installable", metav1.ConditionFalse, "WaitingForDependencies", "for x"))
	gated.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	undecided := addOn("c1", "undecided")
	undecided.Annotations, undecided.CreationTimestamp = gated.Annotations, fixture.Now
	since := fixture.Earlier.UTC()
	for _, test := range []struct {
		addOn addonv1alpha1.ManagedClusterAddOn
		want  Waits
	}{
		{addOn("c1", "a"), Waits{}},
		{gated, Waits{Kind: dependencyv1alpha1.WaitInstallation, Since: since, Message: "for x"}},
		{undecided, Waits{Kind: dependencyv1alpha1.WaitInstallation, Since: fixture.Now.UTC()}},
		{upgrading("c1", "b", waitsForX), Waits{Kind: dependencyv1alpha1.WaitUpgrade, Template: "v2", Since: since, Message: waitsForX}},
	} {
		row := row(&test.addOn)
		if diff := cmp.Diff(test.want, row.Waits); diff != "" || row.Waiting() != (test.want != Waits{}) {
			t.Errorf("%s (-want +got):\n%s", test.addOn.Name, diff)
		}
	}
}

func TestEqualWaitsAreGrouped(t *testing.T) {
	rows := Rows([]addonv1alpha1.ManagedClusterAddOn{
		upgrading("c1", "a", "AddOnTemplate 'v2' waits: y"), upgrading("c1", "b", waitsForX), upgrading("c2", "b", waitsForX), addOn("c3", "b"),
	})
	rows[2].Waits.Since = rows[2].Waits.Since.Add(-time.Hour)
	var got [][]string
	for _, group := range groupWaits(rows) {
		got = append(got, append([]string{group.addOn, group.waits.Message, age(group.waits.Since, fixture.Now.Time)}, group.clusters...))
	}
	want := [][]string{{"b", waitsForX, "65m", "c1", "c2"}, {"a", "AddOnTemplate 'v2' waits: y", "5m", "c1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestOnlyWaits tests --waiting, which prints only waits.
func TestOnlyWaits(t *testing.T) {
	for name, test := range map[string]struct {
		addOns      []addonv1alpha1.ManagedClusterAddOn
		out, errOut string
	}{
		"Waits": {
			[]addonv1alpha1.ManagedClusterAddOn{upgrading("c1", "b", waitsForX), addOn("c1", "a")},
			"ADD-ON   KIND      RUNS   WAITING   SINCE   CLUSTERS   WAITS FOR\n" +
				"b        Upgrade   -      v2        5m      1: c1      " + waitsForX + "\n", "",
		},
		"None": {
			[]addonv1alpha1.ManagedClusterAddOn{addOn("c1", "a"), addOn("c2", "a")}, "", "None of 2 add-ons is waiting for dependencies.\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			o := &options{IOStreams: streams, flags: output.NewFlags(output.Wide, output.Name), filter: filter{waiting: true}}
			rows := slices.DeleteFunc(Rows(test.addOns), func(row Row) bool { return !o.keeps(row) })
			if err := o.print(rows, len(test.addOns), fixture.Now.Time); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.out, out.String()) + cmp.Diff(test.errOut, errOut.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWaitsAreWatched(t *testing.T) {
	w, out := newWatcher(filter{failing: true})
	waits := upgrading("c1", "b", waitsForX)
	unnamed := upgrading("c1", "c", "It waits")
	unnamed.Status.RelatedObjects = nil
	for i := range waits.Status.Conditions {
		waits.Status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	if err := w.replace(Rows([]addonv1alpha1.ManagedClusterAddOn{waits, unnamed})); err != nil {
		t.Fatal(err)
	}
	want := `NAMESPACE   NAME   AVAILABLE   DEGRADED   SINCE   REASON                   MESSAGE
c1          b      True        -          -       Works                    -
c1          b      -           -          -       WaitingForDependencies   AddOnTemplate 'v2' waits: x
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
