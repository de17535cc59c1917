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

// Agents find what counts of what the agents of managed clusters report. addon-manager and
// the plugin share this, so that both find the same.
type Agents struct {
	Objects interface {
		// AddOn and Cluster are as in Reader.
		AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error)
		Cluster(ctx context.Context, name string) (*clusterv1.ManagedCluster, error)
	}
	Memory AgentMemory
}

// AgentMemory has what the objects of a hub no longer show of agents.
type AgentMemory interface {
	// Back and Found are as in Memory.
	Back(cluster string, status metav1.ConditionStatus) time.Time
	Found(addOn types.NamespacedName) time.Time
	// Silent returns since when an agent has had no sign of life. Alive ends that.
	Silent(agent types.NamespacedName) time.Time
	Alive(agent types.NamespacedName)
	// Awaited returns since when something is to be requested of a cluster that its object
	// does not request yet. Requested ends that.
	Awaited(cluster string) time.Time
	Requested(cluster string)
}

// Reported is what a hub has of the facts of a cluster.
type Reported struct {
	// Object is nil where nothing is requested yet.
	Object *dependencyv1alpha1.ManagedClusterFacts
	// NotServed: the hub does not serve the CRD, so nothing can be requested.
	NotServed bool
	// Needed is what the add-ons on the cluster need.
	Needed catalog.Requests
}

// FactsNotServed says what is missing where a hub has no ManagedClusterFacts.
const FactsNotServed = "the hub does not serve the CRD " + dependencyv1alpha1.CRDName + ": install it, and let addon-manager use it"

// Facts returns what counts of all that is needed of a cluster.
func (a Agents) Facts(ctx context.Context, cluster string, reported Reported) (evaluation.Facts, error) {
	sign, err := a.SignOfLife(ctx, cluster, reported.Object)
	if err != nil {
		return evaluation.Facts{}, err
	}
	found := a.needed(cluster, reported, sign)
	found.HeldUntil = sign.HeldUntil
	return found, nil
}

// needed returns what is reported of all that is needed, and since when more is awaited.
func (a Agents) needed(cluster string, reported Reported, sign SignOfLife) evaluation.Facts {
	if reported.Needed.Empty() {
		return evaluation.Facts{}
	}
	found, waits := reported.counting(sign)
	switch {
	case !waits:
		a.Memory.Requested(cluster)
	case reported.Object != nil && (!HasReports(reported.Object) || Unrequested(reported.Object.Spec, reported.Needed).Empty()):
		a.Memory.Requested(cluster)
		found.Requested = RequestedAt(reported.Object)
	default:
		found.Requested = a.Memory.Awaited(cluster)
	}
	return found
}

// counting returns what counts, and whether more of it is to be waited for.
func (r Reported) counting(sign SignOfLife) (evaluation.Facts, bool) {
	found := evaluation.Facts{APIs: evaluation.APIFacts{}, Versions: map[string]evaluation.VersionFact{}}
	switch {
	case r.NotServed:
		setUnknown(found, r.Needed, FactsNotServed)
		return found, false
	case sign.Ended != "":
		setUnknown(found, r.Needed, sign.Ended)
		return found, false
	}
	found = FactsOf(r.Object)
	if r.Object != nil {
		setLeftOut(found, r.Object.Spec, r.Needed)
	}
	return found, !complete(found, r.Needed)
}
