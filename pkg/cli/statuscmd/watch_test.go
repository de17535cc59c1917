package statuscmd

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/test/fixture"
)

func newWatcher(filter filter) (*watcher, *bytes.Buffer) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	o := &options{IOStreams: streams, filter: filter, flags: output.NewFlags(output.Name)}
	return &watcher{options: o, table: table.New(out, Heading), rows: map[string]Row{}}, out
}

func TestWatchPrintsOnlyChanges(t *testing.T) {
	working := addOn("c1", "a", metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Works"})
	failing := addOn("c1", "a", metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: "Fails"})
	otherName, otherCluster := addOn("c1", "other"), addOn("c2", "a")
	heading := "NAMESPACE   NAME   AVAILABLE   DEGRADED   SINCE   REASON   MESSAGE\n"
	workingRow := "c1          a      True        -          -       Works    -\n"
	failingRow := "c1          a      False       -          -       Fails    -\n"
	deletedRow := "c1          a      -           -          -       -        deleted\n"
	type list = []addonv1alpha1.ManagedClusterAddOn
	for name, test := range map[string]struct {
		filter filter
		lists  []list
		want   string
	}{
		"a change":          {filter{name: "a"}, []list{{working}, {working}, {failing}}, heading + workingRow + failingRow},
		"a deletion":        {filter{name: "a"}, []list{{working}, {}, {}}, heading + workingRow + deletedRow},
		"of others nothing": {filter{name: "a", selected: map[string]bool{"c1": true}}, []list{{}, {otherName, otherCluster}}, ""},
		"what fails, and that it no longer does": {
			filter{failing: true},
			[]list{{working}, {failing}, {working}, {}},
			heading + failingRow + workingRow,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, out := newWatcher(test.filter)
			for _, addOns := range test.lists {
				if err := w.replace(Rows(addOns)); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestNextListShowsChanges tests that changes while the hub did not respond are printed once.
func TestNextListShowsChanges(t *testing.T) {
	w, out := newWatcher(filter{})
	firstList := []addonv1alpha1.ManagedClusterAddOn{addOn("c1", "a"), addOn("c1", "gone"), addOn("c1", "same")}
	nextList := []addonv1alpha1.ManagedClusterAddOn{
		addOn("c1", "a", metav1.Condition{Type: "Available", Status: metav1.ConditionTrue}), addOn("c1", "same"),
	}
	for _, list := range [][]addonv1alpha1.ManagedClusterAddOn{firstList, nextList} {
		out.Reset()
		if err := w.replace(Rows(list)); err != nil {
			t.Fatal(err)
		}
	}
	want := "c1          a      True        -          -       -        -\n" +
		"c1          gone   -           -          -       -        deleted\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// screenOutput is an output on a screen.
type screenOutput struct{ bytes.Buffer }

func (*screenOutput) Screen() terminal.Screen { return terminal.Screen{Width: 100} }

// TestScreenShowsWholeList tests that each change shows all rows again, in place of the last ones.
func TestScreenShowsWholeList(t *testing.T) {
	out := &screenOutput{}
	w, _ := newWatcher(filter{failing: true})
	w.Out = out
	page := terminal.NewRefresher(out)
	failing := addOn("c1", "a", metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: "Fails"})
	working := addOn("c1", "a", metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Works"})
	for _, list := range [][]addonv1alpha1.ManagedClusterAddOn{{failing, addOn("c2", "b")}, {working}} {
		if err := w.refresh(page, Rows(list), fixture.Now.Time); err != nil {
			t.Fatal(err)
		}
	}
	const heading = "\x1b[H\x1b[2J2026-08-01 10:05:00 UTC, until you interrupt it:\n"
	want := heading + `NAMESPACE   NAME   AVAILABLE   DEGRADED   SINCE   REASON   MESSAGE
c1          a      False       -          -       Fails    -
c2          b      -           -          -       -        -
` + heading + "The only add-on is not failing.\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
