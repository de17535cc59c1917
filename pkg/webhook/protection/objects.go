package protection

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
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/factsobject"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// warnOfObjects adds warnings of the objects that a removal leaves without an add-on that provides their kinds. They never
// refuse it. OCM reads no warnings. If the removal itself could not be reviewed, that is warned of already.
func warnOfObjects(
	request admission.Request, reviewed error, response admission.Response, addOn string, find func() (protection.Objects, error),
) admission.Response {
	if reviewed != nil || ofOCM(request.UserInfo) || addOn == names.AgentAddOn {
		return response
	}
	left, err := find()
	if err != nil {
		return response.WithWarnings(unchecked(fmt.Sprintf("objects exist of the APIs that '%s' provides", text.Name(addOn)), err).Warnings...)
	}
	for _, sentence := range left.Sentences() {
		response = response.WithWarnings(text.OneLine(sentence.Text))
	}
	return response
}

// leftObjects finds the objects that the removal of an add-on from a managed cluster leaves without a provider.
func (v *Validator) leftObjects(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (protection.Objects, error) {
	provides, err := v.declared.provides(ctx, addOn.Name)
	if err != nil || !provides || !addOn.DeletionTimestamp.IsZero() {
		return nil, err
	}
	under, done, err := v.beginProtected(ctx)
	if err != nil || done == nil {
		return nil, err
	}
	defer done()
	facts, err := v.reportedOf(ctx, addOn.Namespace)
	if err != nil {
		return nil, err
	}
	existing := protection.Existing(under.Catalog, addOn.Name, facts.Status.Objects)
	if len(existing) == 0 {
		return nil, nil
	}
	is, _, ok, err := v.readCluster(ctx, under, addOn.Namespace)
	if err != nil || !ok {
		return nil, err
	}
	read := protection.OtherProviders(under.Catalog, addOn.Name, existing)
	if facts.Status.AgentAddOn != "" {
		read = append(read, facts.Status.AgentAddOn)
	}
	on, err := v.among(ctx, addOn.Namespace, read)
	if err != nil {
		return nil, err
	}
	left := protection.Objects{}
	left.Add(under.Catalog, addOn.Name, addOn.Namespace, existing, on.stays, on.lastReport(is.cluster, facts))
	return left, nil
}

// reportedOf reads the facts of a managed cluster; empty if there are none.
func (r reviewer) reportedOf(ctx context.Context, cluster string) (*dependencyv1alpha1.ManagedClusterFacts, error) {
	object := &dependencyv1alpha1.ManagedClusterFacts{}
	if err := r.live.Get(ctx, factsobject.Key(cluster), object); err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("read ManagedClusterFacts %s: %w", cluster, err)
	}
	return object, nil
}

// lastReport reports whether facts no longer change: the managed cluster is lost, or its addon-agent does not run.
func (a addOns) lastReport(cluster *clusterv1.ManagedCluster, facts *dependencyv1alpha1.ManagedClusterFacts) bool {
	agent := facts.Status.AgentAddOn
	return fleet.ClusterStatus(cluster) == metav1.ConditionUnknown || agent != "" && fleet.Ended(agent, a[agent]) != ""
}

// leftObjects is the same for the removal of an add-on from all managed clusters.
func (v *RegistrationValidator) leftObjects(ctx context.Context, addOn string) (protection.Objects, error) {
	provides, err := v.declared.provides(ctx, addOn)
	if err != nil || !provides {
		return nil, err
	}
	under, done, err := v.beginProtected(ctx)
	if err != nil || done == nil {
		return nil, err
	}
	defer done()
	facts, err := v.factsWithObjects(ctx, under, addOn)
	if err != nil || len(facts) == 0 {
		return nil, err
	}
	installed, err := v.where(ctx, addOn)
	if err != nil {
		return nil, err
	}
	return v.leftOn(ctx, under, addOn, sets.New(installed...), facts)
}

// factsWithObjects returns the facts of managed clusters with objects of an add-on's kinds, and of no others.
func (v *fleetReviewer) factsWithObjects(ctx context.Context, under declared, addOn string) (map[string]*dependencyv1alpha1.ManagedClusterFacts, error) {
	var all dependencyv1alpha1.ManagedClusterFactsList
	switch err := v.live.List(ctx, &all, fromCache()); {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list ManagedClusterFacts: %w", err)
	}
	facts := map[string]*dependencyv1alpha1.ManagedClusterFacts{}
	for i := range all.Items {
		one := &all.Items[i]
		if existing := protection.Existing(under.Catalog, addOn, one.Status.Objects); len(existing) > 0 && client.ObjectKeyFromObject(one) == factsobject.Key(one.Namespace) {
			one.Status.Objects = existing
			facts[one.Namespace] = one
		}
	}
	return facts, nil
}

// leftOn finds the objects on the managed clusters of an add-on where protection is on.
func (v *fleetReviewer) leftOn(
	ctx context.Context, under declared, addOn string, installed sets.Set[string], facts map[string]*dependencyv1alpha1.ManagedClusterFacts,
) (protection.Objects, error) {
	read := sets.New[string]()
	for _, one := range facts {
		read.Insert(protection.OtherProviders(under.Catalog, addOn, one.Status.Objects)...).Insert(one.Status.AgentAddOn)
	}
	on, err := v.listAll(ctx, sets.List(read.Delete("")), func(_, cluster string) bool { return facts[cluster] != nil })
	if err != nil {
		return nil, err
	}
	var clusters clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &clusters, fromCache()); err != nil {
		return nil, fmt.Errorf("list managed clusters: %w", err)
	}
	left := protection.Objects{}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		if name := cluster.Name; installed.Has(name) && facts[name] != nil && cluster.DeletionTimestamp.IsZero() &&
			v.modeIn(under, cluster) != dependencyv1alpha1.ProtectionOff {
			left.Add(under.Catalog, addOn, name, facts[name].Status.Objects, on[name].stays, on[name].lastReport(cluster, facts[name]))
		}
	}
	return left, nil
}
