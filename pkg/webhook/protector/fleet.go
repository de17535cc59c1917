package protector

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// maxLists is how many lists of a fleet are read at the same time: the webhook decodes one while the API server makes the other.
const maxLists = 2

// fleetReviewer reviews requests that change add-ons on many managed clusters.
type fleetReviewer struct {
	*responder
	reviewer
}

// removals are add-ons that a request removes from managed clusters.
type removals struct {
	addOns []string
	// removes reports whether the request removes an add-on from a managed cluster where it is installed.
	removes func(addOn, cluster string) bool
}

// reviewRemovals reviews removals on all managed clusters.
func (v *fleetReviewer) reviewRemovals(ctx context.Context, evaluator policyEvaluator, requested removals) (outcome, error) {
	required := slices.DeleteFunc(slices.Clone(requested.addOns), func(addOn string) bool {
		return addOn == names.AgentAddOn || len(evaluator.Dependents(addOn)) == 0
	})
	removed, err := v.removedAddOns(ctx, removals{required, requested.removes})
	if err != nil || len(removed) == 0 {
		return outcome{}, err
	}
	affected := func(cluster string) bool { return removed[cluster] != nil }
	dependents := evaluator.dependentsOf(required)
	installed, err := v.listFleetAddOns(ctx, evaluator.addOnsToRead(dependents), func(_, cluster string) bool { return affected(cluster) })
	if err != nil {
		return outcome{}, err
	}
	now := v.now()
	state := fleetState{
		isAffected: affected,
		addOns:     installed,
		ocmVersion: skipOCMVersion,
		now:        now,
		hubAPIs:    v.lazyAlternativeAPIs(ctx, evaluator, dependents),
		// To read the facts takes a request for each cluster.
		facts: func(string) (evaluation.Facts, error) { return awaitedFacts(now), nil },
	}
	message, mode, err := v.reviewClusters(ctx, evaluator, state, func(cluster clusterReader, broken protection.Broken) error {
		name := cluster.managedCluster.Name
		removes := func(addOn string) bool { return requested.removes(addOn, name) }
		return cluster.addBroken(ctx, evaluator, removed[name], removes, broken)
	})
	return outcome{words: removalWords, message: message, mode: mode}, err
}

// addOnsToRead returns the add-ons whose state the verdicts on some add-ons need: these add-ons themselves, and all that they need if
// conditions decide whether they are on a cycle, or if they have alternatives.
func (e policyEvaluator) addOnsToRead(addOns []string) []string {
	read := sets.New(addOns...)
	for _, addOn := range addOns {
		if e.WidestCycle(addOn) == nil && !e.hasAlternatives(addOn) {
			continue
		}
		for _, need := range e.Needs(addOn) {
			read.Insert(need.Name)
		}
	}
	return sets.List(read)
}

// hasAlternatives reports whether an edge of the add-on has alternatives. One of them may stay when another is removed.
func (e policyEvaluator) hasAlternatives(addOn string) bool {
	return slices.ContainsFunc(e.Declarations(addOn), func(declared declaration.Declaration) bool {
		return slices.ContainsFunc(declared.Edges, func(edge declaration.Edge) bool { return len(edge.Alternatives) > 0 })
	})
}

// removedAddOns returns the add-ons that are removed from each managed cluster, by the name of the cluster. It leaves out add-ons that
// are being deleted already.
func (v *fleetReviewer) removedAddOns(ctx context.Context, requested removals) (map[string]sets.Set[string], error) {
	removed := map[string]sets.Set[string]{}
	for _, addOn := range requested.addOns {
		clusters, err := v.clustersWith(ctx, addOn)
		if err != nil {
			return nil, err
		}
		for _, cluster := range clusters {
			if !requested.removes(addOn, cluster) {
				continue
			}
			if removed[cluster] == nil {
				removed[cluster] = sets.New[string]()
			}
			removed[cluster].Insert(addOn)
		}
	}
	return removed, nil
}

// clustersWith returns the managed clusters on which an add-on is installed, and not being deleted.
func (v *fleetReviewer) clustersWith(ctx context.Context, addOn string) ([]string, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOnList"))
	if err := v.live.List(ctx, &list, byNameFromCache(addOn)...); err != nil {
		return nil, fmt.Errorf("list add-on %s of the fleet: %w", addOn, err)
	}
	var clusters []string
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp.IsZero() {
			clusters = append(clusters, list.Items[i].Namespace)
		}
	}
	return clusters, nil
}

// listFleetAddOns returns the included add-ons of each managed cluster, by the name of the cluster. If several cannot be listed, it
// returns the error of the first name, so that the message does not change from request to request.
func (v *fleetReviewer) listFleetAddOns(
	ctx context.Context, addOnNames []string, include func(addOn, cluster string) bool,
) (map[string]addOns, error) {
	lists, errs := make([][]*addonv1alpha1.ManagedClusterAddOn, len(addOnNames)), make([]error, len(addOnNames))
	var group errgroup.Group
	group.SetLimit(maxLists)
	for i, name := range addOnNames {
		group.Go(func() error {
			lists[i], errs[i] = v.listFleetAddOn(ctx, name, func(cluster string) bool { return include(name, cluster) })
			return nil
		})
	}
	_ = group.Wait()
	if index := slices.IndexFunc(errs, func(err error) bool { return err != nil }); index >= 0 {
		return nil, errs[index]
	}
	byCluster := map[string]addOns{}
	for _, addOn := range slices.Concat(lists...) {
		if byCluster[addOn.Namespace] == nil {
			byCluster[addOn.Namespace] = addOns{}
		}
		byCluster[addOn.Namespace][addOn.Name] = addOn
	}
	return byCluster, nil
}

// listFleetAddOn returns one add-on on each of the included managed clusters.
func (v *fleetReviewer) listFleetAddOn(
	ctx context.Context, name string, include func(cluster string) bool,
) ([]*addonv1alpha1.ManagedClusterAddOn, error) {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := v.live.List(ctx, &list, byNameFromCache(name)...); err != nil {
		return nil, fmt.Errorf("list add-on %s of the fleet: %w", name, err)
	}
	var included []*addonv1alpha1.ManagedClusterAddOn
	for i := range list.Items {
		if include(list.Items[i].Namespace) {
			lean := fleet.LeanAddOn(&list.Items[i])
			lean.Spec.Configs = list.Items[i].Spec.Configs // they name the AddOnTemplate
			included = append(included, lean)
		}
	}
	return included, nil
}

// fromCache returns the options of a list that the API server takes from its cache. Otherwise it would read all objects of the
// resource from etcd. Each call returns new options, because the client adds its other options to them.
func fromCache() *client.ListOptions {
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
}

// byNameFromCache returns the options to list the objects of one name in all namespaces.
func byNameFromCache(name string) []client.ListOption {
	return []client.ListOption{client.MatchingFields{"metadata.name": name}, fromCache()}
}

// fleetState has the inputs of the verdicts on many managed clusters.
type fleetState struct {
	// isAffected reports whether the request affects a managed cluster. Other clusters are not reviewed.
	isAffected func(cluster string) bool
	// addOns are the add-ons that were read, by the name of their managed cluster.
	addOns     map[string]addOns
	ocmVersion ocmVersion
	facts      func(cluster string) (evaluation.Facts, error)
	// hubAPIs returns the APIs that the hub serves. It may be nil: then they are not read.
	hubAPIs func() evaluation.APIFacts
	now     time.Time
}

// reviewClusters calls addBroken for each affected managed cluster. It returns a message about the broken edges, and the mode of
// protection on their clusters. If some clusters enforce protection and others only warn, it returns the message of the former.
func (v *fleetReviewer) reviewClusters(
	ctx context.Context, evaluator policyEvaluator, state fleetState,
	addBroken func(cluster clusterReader, broken protection.Broken) error,
) (string, dependencyv1alpha1.Protection, error) {
	var clusters clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &clusters, fromCache()); err != nil {
		return "", "", fmt.Errorf("list managed clusters: %w", err)
	}
	byMode := map[dependencyv1alpha1.Protection]protection.Broken{
		dependencyv1alpha1.ProtectionEnforce: {}, dependencyv1alpha1.ProtectionWarn: {},
	}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		if !state.isAffected(cluster.Name) || !cluster.DeletionTimestamp.IsZero() || fleet.ClusterStatus(cluster) == "" { // it never joined
			continue
		}
		broken := byMode[v.modeIn(evaluator, cluster)]
		if broken == nil { // protection is off there
			continue
		}
		if err := ctx.Err(); err != nil { // addBroken may read nothing, and would not fail
			return "", "", fmt.Errorf("review the fleet: %w", err)
		}
		if err := addBroken(v.clusterReader(cluster, state), broken); err != nil {
			return "", "", err
		}
	}
	for _, mode := range []dependencyv1alpha1.Protection{dependencyv1alpha1.ProtectionEnforce, dependencyv1alpha1.ProtectionWarn} {
		if message := byMode[mode].Message(); message != "" {
			return message, mode, nil
		}
	}
	return "", "", nil
}

// clusterReader returns the reader of one managed cluster of the fleet.
func (v *fleetReviewer) clusterReader(cluster *clusterv1.ManagedCluster, state fleetState) clusterReader {
	return clusterReader{
		Objects:        fleet.Objects{Reader: v.live},
		templates:      fleet.Objects{Reader: v.cache},
		managedCluster: cluster,
		addOns:         state.addOns[cluster.Name],
		facts:          func() (evaluation.Facts, error) { return state.facts(cluster.Name) },
		ocmVersion:     state.ocmVersion,
		hubAPIs:        state.hubAPIs,
		now:            state.now,
	}
}

func (r reviewer) modeIn(evaluator policyEvaluator, cluster *clusterv1.ManagedCluster) dependencyv1alpha1.Protection {
	mode, _ := r.modeOf(evaluator, cluster)
	return mode
}
