package catalog

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// decisionPage is how many managed clusters one PlacementDecision has. Open Cluster Management writes one after the other. Between two
// writes, a cluster that moves from one to the next is in none, and its add-on is uninstalled.
const decisionPage = 100

// Labelled is on how many managed clusters an owner lets Interlock have an add-on installed by InstallLabel.
type Labelled struct {
	// Placements is the number of Placements of the add-on that select the label as they have to.
	Placements int
	// Problem is why a Placement that selects the label does not count; empty: none does not.
	Problem string
}

// LabelledBy finds how Placements select the label of an add-on. They are those that its registration lists.
func LabelledBy(placements []clusterv1beta1.Placement, addOn string) (found Labelled) {
	for i := range placements {
		one := &placements[i]
		switch problem := wronglyLabelled(&one.Spec); {
		case !selectsLabel(&one.Spec, addonv1alpha1.InstallLabelPrefix+addOn):
		case problem != "":
			found.Problem = "Placement " + one.Namespace + "/" + one.Name + " " + problem
		default:
			found.Placements++
		}
	}
	return found
}

// Limit is on how many managed clusters the add-on may be installed by the label; 0: on none, and -1: on all. With two Placements, each
// cluster is always in a decision of one of them.
func (l Labelled) Limit() int {
	switch l.Placements {
	case 0:
		return 0
	case 1:
		return decisionPage
	}
	return -1
}

// selectsLabel reports whether a Placement selects managed clusters that have a label.
func selectsLabel(spec *clusterv1beta1.PlacementSpec, label string) bool {
	return slices.ContainsFunc(spec.Predicates, func(predicate clusterv1beta1.ClusterPredicate) bool {
		selector := &predicate.RequiredClusterSelector.LabelSelector
		value, exact := selector.MatchLabels[label]
		return exact && value == addonv1alpha1.InstallLabelValue ||
			slices.ContainsFunc(selector.MatchExpressions, func(of metav1.LabelSelectorRequirement) bool {
				return of.Key == label && (of.Operator == metav1.LabelSelectorOpExists ||
					of.Operator == metav1.LabelSelectorOpIn && slices.Contains(of.Values, addonv1alpha1.InstallLabelValue))
			})
	})
}

// wronglyLabelled returns why a Placement would remove an add-on from managed clusters that have the label; empty: it does not.
func wronglyLabelled(spec *clusterv1beta1.PlacementSpec) string {
	tolerates := slices.ContainsFunc(spec.Tolerations, func(of clusterv1beta1.Toleration) bool {
		return of.Operator == clusterv1beta1.TolerationOpExists && of.Key == "" && of.Value == "" && of.Effect == "" && of.TolerationSeconds == nil
	})
	switch {
	case spec.NumberOfClusters != nil:
		return "selects a limited number of clusters: remove spec.numberOfClusters"
	case !tolerates:
		return "does not tolerate every taint, so it uninstalls the add-on from a cluster that is lost: set spec.tolerations to [{operator: Exists}]"
	}
	return ""
}
