package status

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/table"
)

func watching(filter filter) (*shown, *bytes.Buffer) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	o := &options{IOStreams: streams, filter: filter, flags: output.NewFlags(output.Name)}
	return &shown{options: o, table: table.New(out, Heading), rows: map[string]Row{}}, out
}

func TestOnlyChangesAreShownAgain(t *testing.T) {
	works := addOn("c1", "a", metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Works"})
	fails := addOn("c1", "a", metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: "Fails"})
	other, elsewhere := addOn("c1", "other"), addOn("c2", "a")
	heading := "NAMESPACE   NAME   AVAILABLE   DEGRADED   SINCE   REASON   MESSAGE\n"
	rowWorks := "c1          a      True        -          -       Works    -\n"
	rowFails := "c1          a      False       -          -       Fails    -\n"
	rowGone := "c1          a      -           -          -       -        deleted\n"
	type list = []addonv1alpha1.ManagedClusterAddOn
	for name, test := range map[string]struct {
		filter filter
		lists  []list
		want   string
	}{
		"a change":          {filter{name: "a"}, []list{{works}, {works}, {fails}}, heading + rowWorks + rowFails},
		"a deletion":        {filter{name: "a"}, []list{{works}, {}, {}}, heading + rowWorks + rowGone},
		"of others nothing": {filter{name: "a", selected: map[string]bool{"c1": true}}, []list{{}, {other, elsewhere}}, ""},
		"what fails, and that it no longer does": {
			filter{failing: true},
			[]list{{works}, {fails}, {works}, {}},
			heading + rowFails + rowWorks,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, out := watching(test.filter)
			for _, one := range test.lists {
				if err := s.replace(Rows(one)); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What happened while the hub was away is shown, and nothing twice.
func TestAnotherListShowsWhatDiffers(t *testing.T) {
	s, out := watching(filter{})
	before := []addonv1alpha1.ManagedClusterAddOn{addOn("c1", "a"), addOn("c1", "gone"), addOn("c1", "same")}
	after := []addonv1alpha1.ManagedClusterAddOn{
		addOn("c1", "a", metav1.Condition{Type: "Available", Status: metav1.ConditionTrue}), addOn("c1", "same"),
	}
	for _, list := range [][]addonv1alpha1.ManagedClusterAddOn{before, after} {
		out.Reset()
		if err := s.replace(Rows(list)); err != nil {
			t.Fatal(err)
		}
	}
	want := "c1          a      True        -          -       -        -\n" +
		"c1          gone   -           -          -       -        deleted\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
