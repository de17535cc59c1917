package protector

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// warnOfObjects adds warnings of orphaned objects: objects that a removal leaves without an add-on that provides their kinds. It never
// refuses the removal. OCM reads no warnings. If the review of the removal failed, the response has a warning already.
func warnOfObjects(
	request admission.Request, reviewErr error, response admission.Response, addOn string, findObjects func() (protection.Objects, error),
) admission.Response {
	if reviewErr != nil || fromOCM(request.UserInfo) || addOn == names.AgentAddOn {
		return response
	}
	orphaned, err := findObjects()
	if err != nil {
		concern := fmt.Sprintf("objects exist of the APIs that '%s' provides", text.Name(addOn))
		return response.WithWarnings(allowUnchecked(concern, err).Warnings...)
	}
	for _, sentence := range orphaned.Sentences() {
		response = response.WithWarnings(text.OneLine(sentence.Text))
	}
	return response
}

// orphanedObjects returns the objects that the removal of an add-on from a managed cluster leaves without a provider.
func (v *Validator) orphanedObjects(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (protection.Objects, error) {
	provides, err := v.declarations.provides(ctx, addOn.Name)
	if err != nil || !provides || !addOn.DeletionTimestamp.IsZero() {
		return nil, err
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return nil, err
	}
	defer release()
	facts, err := v.readFacts(ctx, addOn.Namespace)
	if err != nil {
		return nil, err
	}
	existing := protection.Existing(evaluator.Catalog, addOn.Name, facts.Status.Objects)
	if len(existing) == 0 {
		return nil, nil
	}
	review, ok, err := v.beginCluster(ctx, evaluator, addOn.Namespace)
	if err != nil || !ok {
		return nil, err
	}
	readNames := protection.OtherProviders(evaluator.Catalog, addOn.Name, existing)
	if facts.Status.AgentAddOn != "" {
		readNames = append(readNames, facts.Status.AgentAddOn)
	}
	installed, err := v.readNamedAddOns(ctx, addOn.Namespace, readNames)
	if err != nil {
		return nil, err
	}
	orphaned, final := protection.Objects{}, installed.factsAreFinal(review.cluster.managedCluster, facts)
	orphaned.Add(evaluator.Catalog, addOn.Name, addOn.Namespace, existing, installed.stays, final)
	return orphaned, nil
}

// readFacts reads the ManagedClusterFacts of a managed cluster. It returns an empty object if there are none.
func (r reviewer) readFacts(ctx context.Context, cluster string) (*dependencyv1alpha1.ManagedClusterFacts, error) {
	object := &dependencyv1alpha1.ManagedClusterFacts{}
	if err := r.live.Get(ctx, factsobject.Key(cluster), object); err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("read ManagedClusterFacts %s: %w", cluster, err)
	}
	return object, nil
}

// factsAreFinal reports whether facts no longer change: the managed cluster is lost, or its addon-agent does not run.
func (a addOns) factsAreFinal(cluster *clusterv1.ManagedCluster, facts *dependencyv1alpha1.ManagedClusterFacts) bool {
	agent := facts.Status.AgentAddOn
	return fleet.ClusterStatus(cluster) == metav1.ConditionUnknown || agent != "" && fleet.Ended(agent, a[agent]) != ""
}

// orphanedObjects returns the objects that the removal of an add-on from all managed clusters leaves without a provider.
func (v *RegistrationValidator) orphanedObjects(ctx context.Context, addOn string) (protection.Objects, error) {
	provides, err := v.declarations.provides(ctx, addOn)
	if err != nil || !provides {
		return nil, err
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return nil, err
	}
	defer release()
	facts, err := v.listFactsWithObjects(ctx, evaluator, addOn)
	if err != nil || len(facts) == 0 {
		return nil, err
	}
	installed, err := v.clustersWith(ctx, addOn)
	if err != nil {
		return nil, err
	}
	return v.orphanedOnClusters(ctx, evaluator, addOn, sets.New(installed...), facts)
}

// listFactsWithObjects returns the facts of the managed clusters that have objects of an add-on's kinds, by managed cluster. Only these
// objects are left in the facts.
func (v *fleetReviewer) listFactsWithObjects(
	ctx context.Context, evaluator policyEvaluator, addOn string,
) (map[string]*dependencyv1alpha1.ManagedClusterFacts, error) {
	var list dependencyv1alpha1.ManagedClusterFactsList
	switch err := v.live.List(ctx, &list, fromCache()); {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list ManagedClusterFacts: %w", err)
	}
	facts := map[string]*dependencyv1alpha1.ManagedClusterFacts{}
	for i := range list.Items {
		object := &list.Items[i]
		existing := protection.Existing(evaluator.Catalog, addOn, object.Status.Objects)
		if len(existing) > 0 && client.ObjectKeyFromObject(object) == factsobject.Key(object.Namespace) {
			object.Status.Objects = existing
			facts[object.Namespace] = object
		}
	}
	return facts, nil
}

// orphanedOnClusters returns the objects that the removal of an add-on orphans on the managed clusters where it is installed, and
// protection is on.
func (v *fleetReviewer) orphanedOnClusters(
	ctx context.Context, evaluator policyEvaluator, addOn string,
	installed sets.Set[string], facts map[string]*dependencyv1alpha1.ManagedClusterFacts,
) (protection.Objects, error) {
	readNames := sets.New[string]()
	for _, object := range facts {
		readNames.Insert(protection.OtherProviders(evaluator.Catalog, addOn, object.Status.Objects)...).Insert(object.Status.AgentAddOn)
	}
	byCluster, err := v.listFleetAddOns(ctx, sets.List(readNames.Delete("")), func(_, cluster string) bool { return facts[cluster] != nil })
	if err != nil {
		return nil, err
	}
	var clusters clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &clusters, fromCache()); err != nil {
		return nil, fmt.Errorf("list managed clusters: %w", err)
	}
	orphaned := protection.Objects{}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		name, object := cluster.Name, facts[cluster.Name]
		if !installed.Has(name) || object == nil || !cluster.DeletionTimestamp.IsZero() ||
			v.modeIn(evaluator, cluster) == dependencyv1alpha1.ProtectionOff {
			continue
		}
		others := byCluster[name]
		orphaned.Add(evaluator.Catalog, addOn, name, object.Status.Objects, others.stays, others.factsAreFinal(cluster, object))
	}
	return orphaned, nil
}
