// Package placement predicts the managed clusters that a Placement of OCM selects, before it is
// created. It decides as OCM's placement controller does, as far as the hub's objects allow.
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

// Fleet has the managed clusters that a Placement selects from.
type Fleet struct {
	Clusters []clusterv1.ManagedCluster
	// Sets has all ManagedClusterSets. Bound has the names of the sets that are bound to the
	// Placement's namespace.
	Sets  []clusterv1beta2.ManagedClusterSet
	Bound []string
	// Now is the hub's time, because tolerations can end.
	Now time.Time
}

// Selection is the result of a Placement.
type Selection struct {
	// Clusters has the sorted names of the managed clusters.
	Clusters []string
	// Notes explain undecided parts, and an empty selection.
	Notes []string
}

// Select returns the selection of a new Placement. It returns an error for an invalid
// Placement, for which OCM would set the condition PlacementMisconfigured.
func Select(placement *clusterv1beta1.Placement, fleet Fleet) (Selection, error) {
	inSets, err := selectorsOf(placement, fleet)
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
	for i := range fleet.Clusters {
		cluster := &fleet.Clusters[i]
		if !cluster.DeletionTimestamp.IsZero() || !anyMatches(inSets, cluster.Labels) ||
			!tolerated(cluster.Spec.Taints, placement.Spec.Tolerations, fleet.Now) {
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
		cause := "no ManagedClusterSet is bound"
		if len(placement.Spec.ClusterSets) > 0 {
			cause = fmt.Sprintf("none of its clusterSets (%s) is bound", strings.Join(placement.Spec.ClusterSets, ", "))
		}
		s.Notes = append(s.Notes, fmt.Sprintf("%s to namespace %q: create a ManagedClusterSetBinding there", cause, placement.Namespace))
	}
	if limit := placement.Spec.NumberOfClusters; limit != nil && int(*limit) < len(s.Clusters) {
		s.Notes = append(s.Notes, fmt.Sprintf("numberOfClusters is %d, and prioritizers decide on the hub which of these they are: all count here", *limit))
	}
}

// SetsByLabel returns the ManagedClusterSets that labels of clusters name, and the set of all
// clusters. It replaces sets that cannot be read. The second result has the names of bound sets,
// which are all of them.
func SetsByLabel(clusters []clusterv1.ManagedCluster) ([]clusterv1beta2.ManagedClusterSet, []string) {
	bound := []string{global}
	for i := range clusters {
		if name := clusters[i].Labels[clusterv1beta2.ClusterSetLabel]; name != "" && !slices.Contains(bound, name) {
			bound = append(bound, name)
		}
	}
	sets := make([]clusterv1beta2.ManagedClusterSet, 0, len(bound))
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

// selectorsOf returns the selectors of the ManagedClusterSets that the Placement selects from.
func selectorsOf(placement *clusterv1beta1.Placement, fleet Fleet) ([]labels.Selector, error) {
	var selectors []labels.Selector
	for i := range fleet.Sets {
		set := &fleet.Sets[i]
		listed := len(placement.Spec.ClusterSets) == 0 || slices.Contains(placement.Spec.ClusterSets, set.Name)
		if !listed || !slices.Contains(fleet.Bound, set.Name) {
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

func anyMatches(selectors []labels.Selector, values map[string]string) bool {
	return slices.ContainsFunc(selectors, func(selector labels.Selector) bool { return selector.Matches(labels.Set(values)) })
}

// predicate is a compiled predicate. All of its parts have to match.
type predicate struct {
	labels, claims labels.Selector
	expressions    []expression
}

func compile(predicates []clusterv1beta1.ClusterPredicate) ([]predicate, error) {
	compiled := make([]predicate, len(predicates))
	for i := range predicates {
		selector := &predicates[i].RequiredClusterSelector
		path := fmt.Sprintf("spec.predicates[%d].requiredClusterSelector", i)
		var err error
		target := &compiled[i]
		if target.labels, err = metav1.LabelSelectorAsSelector(&selector.LabelSelector); err != nil {
			return nil, fmt.Errorf("%s.labelSelector: %w", path, err)
		}
		claims := metav1.LabelSelector{MatchExpressions: selector.ClaimSelector.MatchExpressions}
		if target.claims, err = metav1.LabelSelectorAsSelector(&claims); err != nil {
			return nil, fmt.Errorf("%s.claimSelector: %w", path, err)
		}
		if target.expressions, err = compileExpressions(selector.CelSelector.CelExpressions); err != nil {
			return nil, fmt.Errorf("%s.celSelector.%w", path, err)
		}
	}
	return compiled, nil
}

// anyPredicate reports whether any predicate matches. Without predicates, all clusters match.
func anyPredicate(predicates []predicate, cluster *clusterv1.ManagedCluster) (bool, error) {
	if len(predicates) == 0 {
		return true, nil
	}
	claims := labels.Set{}
	for _, claim := range cluster.Status.ClusterClaims {
		claims[claim.Name] = claim.Value
	}
	for _, compiled := range predicates {
		if !compiled.labels.Matches(labels.Set(cluster.Labels)) || !compiled.claims.Matches(claims) {
			continue
		}
		if matches, err := allMatch(compiled.expressions, cluster); err != nil || matches {
			return matches, err
		}
	}
	return false, nil
}
