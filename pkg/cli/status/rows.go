package status

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Row is what is shown of one add-on on one managed cluster.
type Row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Available and Degraded are the status of the condition, empty where it
	// does not exist.
	Available string `json:"available"`
	Degraded  string `json:"degraded"`
	// Reason and Message are those of Degraded when it is True, else those of
	// Available.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Heading names the columns of Cells.
var Heading = []string{"NAMESPACE", "NAME", "AVAILABLE", "DEGRADED", "REASON", "MESSAGE"}

// Cells returns the row as columns.
func (r Row) Cells() []string {
	return []string{r.Namespace, r.Name, r.Available, r.Degraded, r.Reason, r.Message}
}

// Unsatisfied reports whether a Required dependency keeps the add-on from working.
func (r Row) Unsatisfied() bool {
	return r.Degraded == string(metav1.ConditionTrue) &&
		r.Reason == addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
}

// Rows makes rows of add-ons, ordered by namespace and name.
func Rows(addOns []addonv1alpha1.ManagedClusterAddOn) []Row {
	rows := make([]Row, 0, len(addOns))
	for i := range addOns {
		rows = append(rows, row(&addOns[i]))
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

func row(addOn *addonv1alpha1.ManagedClusterAddOn) Row {
	r := Row{Namespace: addOn.Namespace, Name: addOn.Name}
	if available := meta.FindStatusCondition(addOn.Status.Conditions, "Available"); available != nil {
		r.Available, r.Reason, r.Message = string(available.Status), available.Reason, available.Message
	}
	if degraded := meta.FindStatusCondition(addOn.Status.Conditions, "Degraded"); degraded != nil {
		r.Degraded = string(degraded.Status)
		if degraded.Status == metav1.ConditionTrue {
			r.Reason, r.Message = degraded.Reason, degraded.Message
		}
	}
	return r
}
