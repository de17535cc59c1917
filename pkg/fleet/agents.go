package fleet

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Agents selects the facts that verdicts use from the reports of agents on managed
// clusters. addon-manager and the plugin share this code, so that both use the same facts.
type Agents struct {
	Objects interface {
		// See Reader.
		AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error)
		Cluster(ctx context.Context, name string) (*clusterv1.ManagedCluster, error)
	}
	Memory AgentMemory
}

// AgentMemory is the past state of agents that the objects of a hub no longer show.
type AgentMemory interface {
	// See Memory for Back and Found.
	Back(cluster string, status metav1.ConditionStatus) time.Time
	Found(addOn types.NamespacedName) time.Time
	// Silent returns when an agent lost its sign of life. Alive resets it.
	Silent(agent types.NamespacedName) time.Time
	Alive(agent types.NamespacedName)
	// Awaited returns when a cluster's object began to lack a request that add-ons need.
	// Requested resets it.
	Awaited(cluster string) time.Time
	Requested(cluster string)
}

// Reported is a cluster's ManagedClusterFacts on the hub, with the requests of its add-ons.
type Reported struct {
	// Object is nil as long as no facts are requested.
	Object *dependencyv1alpha1.ManagedClusterFacts
	// NotServed is true if the hub does not serve the CRD. Then facts cannot be requested.
	NotServed bool
	// Needed holds the facts that the add-ons on the cluster need.
	Needed catalog.Requests
}

// FactsNotServed is the message about all facts if a hub does not serve ManagedClusterFacts.
const FactsNotServed = "the hub does not serve the CRD " + dependencyv1alpha1.CRDName + ": install it, and let addon-manager use it"

// Facts returns the facts of a cluster that its add-ons need.
func (a Agents) Facts(ctx context.Context, cluster string, reported Reported) (evaluation.Facts, error) {
	sign, err := a.SignOfLife(ctx, cluster, reported.Object)
	if err != nil {
		return evaluation.Facts{}, err
	}
	facts := a.needed(cluster, reported, sign)
	facts.HeldUntil = sign.HeldUntil
	return facts, nil
}

// needed returns the needed facts that are reported, with the time of the request for facts that are still awaited.
func (a Agents) needed(cluster string, reported Reported, sign SignOfLife) evaluation.Facts {
	if reported.Needed.Empty() {
		return evaluation.Facts{}
	}
	facts, waits := reported.counting(sign)
	switch {
	case !waits:
		a.Memory.Requested(cluster)
	case reported.Object != nil && (!HasReports(reported.Object) || Unrequested(reported.Object.Spec, reported.Needed).Empty()):
		a.Memory.Requested(cluster)
		facts.Requested = RequestedAt(reported.Object)
	default:
		facts.Requested = a.Memory.Awaited(cluster)
	}
	return facts
}

// counting returns the facts that verdicts use, and whether some needed facts are still awaited.
func (r Reported) counting(sign SignOfLife) (evaluation.Facts, bool) {
	facts := evaluation.Facts{APIs: evaluation.APIFacts{}, Versions: map[string]evaluation.VersionFact{}}
	switch {
	case r.NotServed:
		setUnknown(facts, r.Needed, FactsNotServed)
		return facts, false
	case sign.Ended != "":
		setUnknown(facts, r.Needed, sign.Ended)
		return facts, false
	}
	facts = FactsOf(r.Object)
	if r.Object != nil {
		setLeftOut(facts, r.Object.Spec, r.Needed)
	}
	return facts, !complete(facts, r.Needed)
}
