// Package placement finds which managed clusters a Placement of OCM selects, before it is
// created. It decides as OCM's placement controller does, as far as the hub's objects show.
package placement

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	sdkv1beta2 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta2"
)

// Fleet is what a Placement selects from.
type Fleet struct {
	Clusters []clusterv1.ManagedCluster
	// Sets are all ManagedClusterSets. Bound are the names of those that are bound to the
	// Placement's namespace.
	Sets  []clusterv1beta2.ManagedClusterSet
	Bound []string
	// Now is the hub's time; tolerations can end.
	Now time.Time
}

// Selection is what a Placement selects.
type Selection struct {
	// Clusters are the names of the managed clusters, ascending.
	Clusters []string
	// Notes say what is not decided, and why nothing is selected.
	Notes []string
}

// Select returns what a new Placement selects. Its error names what is wrong with the
// Placement: OCM would set its condition PlacementMisconfigured.
func Select(placement *clusterv1beta1.Placement, from Fleet) (Selection, error) {
	inSets, err := selectorsOf(placement, from)
	if err != nil {
		return Selection{}, err
	}
	predicates, err := compile(placement.Spec.Predicates)
	if err != nil {
		return Selection{}, err
	}
	if err := validate(placement.Spec.Tolerations); err != nil {
		return Selection{}, err
	}
	var selection Selection
	for i := range from.Clusters {
		cluster := &from.Clusters[i]
		if !cluster.DeletionTimestamp.IsZero() || !anyMatches(inSets, cluster.Labels) || !tolerated(cluster.Spec.Taints, placement.Spec.Tolerations, from.Now) {
			continue
		}
		if matches, err := anyPredicate(predicates, cluster); err != nil {
			return Selection{}, err
		} else if matches {
			selection.Clusters = append(selection.Clusters, cluster.Name)
		}
	}
	slices.Sort(selection.Clusters)
	selection.note(placement, len(inSets))
	return selection, nil
}

func (s *Selection) note(placement *clusterv1beta1.Placement, sets int) {
	if sets == 0 {
		from := "no ManagedClusterSet is bound"
		if len(placement.Spec.ClusterSets) > 0 {
			from = fmt.Sprintf("none of its clusterSets (%s) is bound", strings.Join(placement.Spec.ClusterSets, ", "))
		}
		s.Notes = append(s.Notes, fmt.Sprintf("%s to namespace %q: create a ManagedClusterSetBinding there", from, placement.Namespace))
	}
	if limit := placement.Spec.NumberOfClusters; limit != nil && int(*limit) < len(s.Clusters) {
		s.Notes = append(s.Notes, fmt.Sprintf("numberOfClusters is %d, and prioritizers decide on the hub which of these they are: all count here", *limit))
	}
}

// SetsByLabel are the ManagedClusterSets that the labels of clusters name, and the set of all
// clusters, for where the sets cannot be read; all count as bound.
func SetsByLabel(clusters []clusterv1.ManagedCluster) (sets []clusterv1beta2.ManagedClusterSet, bound []string) {
	bound = []string{global}
	for i := range clusters {
		if name := clusters[i].Labels[clusterv1beta2.ClusterSetLabel]; name != "" && !slices.Contains(bound, name) {
			bound = append(bound, name)
		}
	}
	for _, name := range bound {
		set := clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if name == global {
			set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
				SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
			}
		}
		sets = append(sets, set)
	}
	return sets, bound
}

// global is the ManagedClusterSet of all managed clusters, which OCM creates.
const global = "global"

// selectorsOf are the selectors of the ManagedClusterSets that the Placement selects from.
func selectorsOf(placement *clusterv1beta1.Placement, from Fleet) (selectors []labels.Selector, err error) {
	for i := range from.Sets {
		set := &from.Sets[i]
		wanted := len(placement.Spec.ClusterSets) == 0 || slices.Contains(placement.Spec.ClusterSets, set.Name)
		if !wanted || !slices.Contains(from.Bound, set.Name) {
			continue
		}
		selector, err := sdkv1beta2.BuildClusterSelector(set)
		if err != nil {
			return nil, fmt.Errorf("ManagedClusterSet %q: spec.clusterSelector: %w", set.Name, err)
		}
		selectors = append(selectors, selector)
	}
	return selectors, nil
}

func anyMatches(selectors []labels.Selector, of map[string]string) bool {
	return slices.ContainsFunc(selectors, func(selector labels.Selector) bool { return selector.Matches(labels.Set(of)) })
}

// predicate is compiled: all of its parts have to match.
type predicate struct {
	labels, claims labels.Selector
	expressions    []expression
}

func compile(predicates []clusterv1beta1.ClusterPredicate) (compiled []predicate, err error) {
	for i := range predicates {
		selector := &predicates[i].RequiredClusterSelector
		path := fmt.Sprintf("spec.predicates[%d].requiredClusterSelector", i)
		var one predicate
		if one.labels, err = metav1.LabelSelectorAsSelector(&selector.LabelSelector); err != nil {
			return nil, fmt.Errorf("%s.labelSelector: %w", path, err)
		}
		claims := metav1.LabelSelector{MatchExpressions: selector.ClaimSelector.MatchExpressions}
		if one.claims, err = metav1.LabelSelectorAsSelector(&claims); err != nil {
			return nil, fmt.Errorf("%s.claimSelector: %w", path, err)
		}
		if one.expressions, err = compileExpressions(selector.CelSelector.CelExpressions); err != nil {
			return nil, fmt.Errorf("%s.celSelector.%w", path, err)
		}
		compiled = append(compiled, one)
	}
	return compiled, nil
}

// anyPredicate reports whether a predicate matches; without any, all clusters match.
func anyPredicate(predicates []predicate, cluster *clusterv1.ManagedCluster) (bool, error) {
	if len(predicates) == 0 {
		return true, nil
	}
	claims := labels.Set{}
	for _, claim := range cluster.Status.ClusterClaims {
		claims[claim.Name] = claim.Value
	}
	for _, one := range predicates {
		if !one.labels.Matches(labels.Set(cluster.Labels)) || !one.claims.Matches(claims) {
			continue
		}
		if matches, err := allMatch(one.expressions, cluster); err != nil || matches {
			return matches, err
		}
	}
	return false, nil
}
