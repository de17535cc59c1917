//go:build e2e

package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Reports of a witness on writes that no working addon-manager makes.
func TestWitnessDistinguishesFlaps(t *testing.T) {
	up := func(number int) write {
		return write{number: number, conditions: map[string]metav1.ConditionStatus{available: metav1.ConditionTrue}}
	}
	down := func(number int) write {
		return write{number: number, conditions: map[string]metav1.ConditionStatus{available: metav1.ConditionFalse}}
	}
	well := func(number int) write {
		return write{number: number, conditions: map[string]metav1.ConditionStatus{degraded: metav1.ConditionFalse}}
	}
	broken := func(number int) write {
		return write{number: number, conditions: map[string]metav1.ConditionStatus{degraded: metav1.ConditionTrue}}
	}
	touched := broken(2)
	touched.conditions[available] = metav1.ConditionFalse
	for name, test := range map[string]struct {
		bases, leaves []write
		want          int
	}{
		"each change has its cause":             {[]write{down(1), up(3)}, []write{broken(2), well(4)}, 0},
		"late, in the order of the causes":      {[]write{down(1), up(2)}, []write{broken(3), well(4)}, 0},
		"some are skipped":                      {[]write{down(1), up(2), down(3), up(4)}, []write{broken(5), well(6)}, 0},
		"before its cause":                      {[]write{down(2)}, []write{broken(1)}, 1},
		"without a cause":                       {nil, []write{well(1)}, 1},
		"back and forth for one cause":          {[]write{down(1)}, []write{broken(2), well(3), broken(4)}, 2},
		"a state that was answered comes back":  {[]write{down(1), up(2)}, []write{broken(3), well(4), broken(5)}, 1},
		"a condition that is another's to tell": {[]write{down(1)}, []write{touched}, 1},
	} {
		if got := unexplainedBy(test.bases, test.leaves); len(got) != test.want {
			t.Errorf("%s: %v, want %d", name, got, test.want)
		}
	}
}

func TestWitnessReportsEmptyWrites(t *testing.T) {
	written := func(message string, seconds int64, managers ...string) *addonv1alpha1.ManagedClusterAddOn {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		moment := metav1.Unix(seconds, 0)
		addOn.ResourceVersion = moment.String()
		addOn.Status.Conditions = []metav1.Condition{{Type: degraded, Status: metav1.ConditionTrue, Message: message, LastTransitionTime: moment}}
		for _, manager := range managers {
			addOn.ManagedFields = append(addOn.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, Time: &moment})
		}
		return addOn
	}
	for name, test := range map[string]struct {
		before, after client.Object
		want          int
	}{
		"something new":            {written("a", 1, "interlock-addon-manager"), written("b", 2, "interlock-addon-manager"), 0},
		"nothing but time":         {written("a", 1, "interlock-addon-manager"), written("a", 2, "interlock-addon-manager"), 1},
		"in the same second":       {written("a", 1, "interlock-addon-manager"), written("a", 1, "interlock-addon-manager"), 1},
		"nothing, by another":      {written("a", 1, "registration-agent"), written("a", 2, "registration-agent"), 0},
		"nothing, by a new writer": {written("a", 1), written("a", 2, "interlock-addon-agent"), 1},
	} {
		w := newWitness(0)
		w.compare("add-on", test.before, test.after)
		if len(w.empty) != test.want {
			t.Errorf("%s: %v, want %d", name, w.empty, test.want)
		}
	}
}
