package catalog

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// decisionPage is how many managed clusters one PlacementDecision has. Open Cluster Management writes one after the other. Between two
// writes, a cluster that moves from one to the next is in none, and its add-on is uninstalled.
const decisionPage = 100

// Placements are those of a hub; Unread: they could not be read yet.
type Placements struct {
	Items  []clusterv1beta1.Placement
	Unread bool
}

// Labeled is on how many managed clusters an owner lets Interlock have an add-on installed by InstallLabel.
type Labeled struct {
	// Placements are those of the add-on, ascending, that select the label as they have to.
	Placements []types.NamespacedName
	// Problem is why a Placement that selects the label does not count; empty: none does not.
	Problem string
}

// Consented returns the catalog with the consent that Placements give. It is unknown in a catalog without them.
func (c *Catalog) Consented(placements Placements) *Catalog {
	consented := *c
	consented.labeled = nil
	if placements.Unread {
		return &consented
	}
	consented.labeled = map[string]Labeled{}
	for addOn, install := range c.installs {
		if !install.Placed {
			continue
		}
		listed := func(one *clusterv1beta1.Placement) bool {
			return slices.Contains(install.Placements, types.NamespacedName{Namespace: one.Namespace, Name: one.Name})
		}
		if by := labeledBy(placements.Items, listed, addOn); len(by.Placements) > 0 || by.Problem != "" {
			consented.labeled[addOn] = by
		}
	}
	return &consented
}

// Labeled returns how the Placements of a registered add-on let Interlock install it.
func (c *Catalog) Labeled(addOn string) Labeled { return c.labeled[addOn] }

// InstallLabel is the label of the managed clusters on which Interlock has an add-on installed.
func InstallLabel(addOn string) string { return addonv1alpha1.InstallLabelPrefix + addOn }

// labeledBy finds how those Placements that are listed select the label of an add-on.
func labeledBy(placements []clusterv1beta1.Placement, listed func(*clusterv1beta1.Placement) bool, addOn string) (found Labeled) {
	for i := range placements {
		one := &placements[i]
		switch problem := wronglyLabeled(&one.Spec); {
		case !listed(one) || !selectsLabel(&one.Spec, InstallLabel(addOn)):
		case problem != "":
			found.Problem = "Placement " + one.Namespace + "/" + one.Name + " " + problem
		default:
			found.Placements = append(found.Placements, types.NamespacedName{Namespace: one.Namespace, Name: one.Name})
		}
	}
	slices.SortFunc(found.Placements, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return found
}

func (l Labeled) equal(other Labeled) bool {
	return l.Problem == other.Problem && slices.Equal(l.Placements, other.Placements)
}

// Limit is on how many managed clusters the add-on may be installed by the label; 0: on none, and -1: on all. With two Placements, each
// cluster is always in a decision of one of them.
func (l Labeled) Limit() int {
	switch len(l.Placements) {
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

// wronglyLabeled returns why a Placement would remove an add-on from managed clusters that have the label; empty: it does not.
func wronglyLabeled(spec *clusterv1beta1.PlacementSpec) string {
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
