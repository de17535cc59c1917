package statuscmd

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/test/fixture"
)

func addOn(namespace, name string, conditions ...metav1.Condition) addonv1alpha1.ManagedClusterAddOn {
	a := addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	a.Status.Conditions = conditions
	return a
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: fixture.Earlier}
}

func TestTableShowsFailingCondition(t *testing.T) {
	rows := Rows([]addonv1alpha1.ManagedClusterAddOn{
		addOn("cluster2", "leaf"),
		addOn("cluster1", "optional-missing",
			condition("Degraded", metav1.ConditionTrue, "DependencyNotSatisfied", "Optional addon 'x' is not there."),
			condition("Available", metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated", "it is available.")),
		addOn("cluster1", "healthy",
			condition("Available", metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated", "it is available."),
			condition("Degraded", metav1.ConditionFalse, "DependenciesSatisfied", "All satisfied.")),
		addOn("cluster1", "required-missing",
			condition("Available", metav1.ConditionFalse, "RequiredDependencyNotSatisfied", "Required\naddon\t'y' is not there."),
			condition("Degraded", metav1.ConditionTrue, "RequiredDependencyNotSatisfied", "Required\naddon\t'y' is not there.")),
	})
	var cells [][]string
	for _, row := range rows {
		cells = append(cells, row.Cells(fixture.Now.Time))
	}
	var out bytes.Buffer
	if err := table.Print(&out, Heading, cells); err != nil {
		t.Fatal(err)
	}
	want := `NAMESPACE   NAME               AVAILABLE   DEGRADED   SINCE   REASON                            MESSAGE
cluster1    healthy            True        False      5m      ManagedClusterAddOnLeaseUpdated   it is available.
cluster1    optional-missing   True        True       5m      DependencyNotSatisfied            Optional addon 'x' is not there.
cluster1    required-missing   False       True       5m      RequiredDependencyNotSatisfied    Required addon 'y' is not there.
cluster2    leaf               -           -          -       -                                 -
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestOnlyRequiredDependenciesFailCheck(t *testing.T) {
	for _, test := range []struct {
		name string
		row  Row
		want bool
	}{
		{"a Required dependency is missing", Row{Degraded: "True", Reason: "RequiredDependencyNotSatisfied"}, true},
		{"an Optional one is: the add-on works", Row{Degraded: "True", Reason: "DependencyNotSatisfied"}, false},
		{"degraded for another reason: not a matter of dependencies", Row{Degraded: "True", Reason: "DiskFull"}, false},
		{"the agent has not followed yet", Row{Degraded: "False", Available: "False", Reason: "RequiredDependencyNotSatisfied"}, false},
	} {
		if got := test.row.Unsatisfied(); got != test.want {
			t.Errorf("%s: unsatisfied is %t", test.name, got)
		}
	}
}

func TestFailing(t *testing.T) {
	for _, test := range []struct {
		name string
		row  Row
		want bool
	}{
		{"it works", Row{Available: "True"}, false},
		{"and is not degraded", Row{Available: "True", Degraded: "False"}, false},
		{"it works in part", Row{Available: "True", Degraded: "True"}, true},
		{"it does not work", Row{Available: "False"}, true},
		{"it is not known", Row{Available: "Unknown"}, true},
		{"nothing is reported", Row{}, true},
	} {
		if got := test.row.Failing(); got != test.want {
			t.Errorf("%s: failing is %t", test.name, got)
		}
	}
}
