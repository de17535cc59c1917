package catalog

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// decisionPage is the number of managed clusters in one PlacementDecision. OCM writes the PlacementDecisions one after the
// other. A cluster that moves to the next one is in none of them between two writes, and its add-on is uninstalled.
const decisionPage = 100

// Placements has the Placements of a hub. Unread is true if they could not be read yet.
type Placements struct {
	Items  []clusterv1beta1.Placement
	Unread bool
}

// Labeled is the consent of an owner to installations by InstallLabel.
type Labeled struct {
	// Placements has the Placements of the add-on that select the label correctly, in ascending order.
	Placements []types.NamespacedName
	// Problem is the reason why a Placement that selects the label does not count. It is empty if all of them count.
	Problem string
}

// Consented returns the catalog with the consents that Placements give. They are unknown in a catalog without Placements.
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
		listed := func(placement *clusterv1beta1.Placement) bool {
			return slices.Contains(install.Placements, types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name})
		}
		if labeled := labeledBy(placements.Items, listed, addOn); len(labeled.Placements) > 0 || labeled.Problem != "" {
			consented.labeled[addOn] = labeled
		}
	}
	return &consented
}

// Labeled returns the consent that the Placements of a registered add-on give.
func (c *Catalog) Labeled(addOn string) Labeled { return c.labeled[addOn] }

// InstallLabel is the label of the managed clusters on which Interlock has an add-on installed.
func InstallLabel(addOn string) string { return addonv1alpha1.InstallLabelPrefix + addOn }

// labeledBy returns the consent that the listed Placements give by selecting the label of an add-on.
func labeledBy(placements []clusterv1beta1.Placement, listed func(*clusterv1beta1.Placement) bool, addOn string) Labeled {
	var labeled Labeled
	for i := range placements {
		placement := &placements[i]
		switch problem := wronglyLabeled(&placement.Spec); {
		case !listed(placement) || !selectsLabel(&placement.Spec, InstallLabel(addOn)):
		case problem != "":
			labeled.Problem = "Placement " + placement.Namespace + "/" + placement.Name + " " + problem
		default:
			labeled.Placements = append(labeled.Placements, types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name})
		}
	}
	slices.SortFunc(labeled.Placements, func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) })
	return labeled
}

func (l Labeled) equal(b Labeled) bool {
	return l.Problem == b.Problem && slices.Equal(l.Placements, b.Placements)
}

// Limit returns the number of managed clusters on which the label may install the add-on. It is -1 without a limit: with
// two Placements, each cluster is always in a decision of one of them.
func (l Labeled) Limit() int {
	switch len(l.Placements) {
	case 0:
		return 0
	case 1:
		return decisionPage
	}
	return -1
}

// selectsLabel reports whether a Placement selects managed clusters with the label.
func selectsLabel(spec *clusterv1beta1.PlacementSpec, label string) bool {
	return slices.ContainsFunc(spec.Predicates, func(predicate clusterv1beta1.ClusterPredicate) bool {
		selector := &predicate.RequiredClusterSelector.LabelSelector
		value, exact := selector.MatchLabels[label]
		return exact && value == addonv1alpha1.InstallLabelValue ||
			slices.ContainsFunc(selector.MatchExpressions, func(requirement metav1.LabelSelectorRequirement) bool {
				return requirement.Key == label && (requirement.Operator == metav1.LabelSelectorOpExists ||
					requirement.Operator == metav1.LabelSelectorOpIn && slices.Contains(requirement.Values, addonv1alpha1.InstallLabelValue))
			})
	})
}

// wronglyLabeled returns the reason why a Placement would remove an add-on from managed clusters with the label. It is
// empty if it would not.
func wronglyLabeled(spec *clusterv1beta1.PlacementSpec) string {
	tolerates := slices.ContainsFunc(spec.Tolerations, func(t clusterv1beta1.Toleration) bool {
		return t.Operator == clusterv1beta1.TolerationOpExists && t.Key == "" && t.Value == "" && t.Effect == "" && t.TolerationSeconds == nil
	})
	switch {
	case spec.NumberOfClusters != nil:
		return "selects a limited number of clusters: remove spec.numberOfClusters"
	case !tolerates:
		return "does not tolerate every taint, so it uninstalls the add-on from a cluster that is lost: set spec.tolerations to [{operator: Exists}]"
	}
	return ""
}
