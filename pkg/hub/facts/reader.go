package facts

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/factsobject"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/outage"
	"open-cluster-management.io/interlock/pkg/names"
)

// Reader reads what the agents of all clusters have reported.
type Reader struct {
	Fleet    hubcache.Reader
	Informer Objects
	Signs    SignsOfLife
	// Waiting remembers since when something is to be requested of a cluster that its
	// object does not request yet.
	Waiting *outage.Tracker
}

// Facts returns what the agent of a cluster has reported of what the add-ons
// there need.
func (r *Reader) Facts(ctx context.Context, declared *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	addOns, err := r.Fleet.OnCluster(ctx, cluster)
	if err != nil {
		return evaluation.Facts{}, err
	}
	object := r.Informer.Get(factsobject.Key(cluster))
	sign, err := r.Signs.of(ctx, cluster, object)
	if err != nil {
		return evaluation.Facts{}, err
	}
	found := r.facts(cluster, object, sign, requestable(declared.Requests(namesOf(addOns)...)))
	found.HeldUntil = sign.heldUntil
	return found, nil
}

// facts returns what is reported of all that is needed.
func (r *Reader) facts(cluster string, object *facts, sign signOfLife, needed needs) evaluation.Facts {
	if needed.Empty() {
		return evaluation.Facts{}
	}
	found, waits := r.reported(object, sign, needed)
	switch {
	case !waits:
		r.Waiting.Reported(waitingKey(cluster))
	case object != nil && unrequested(object.Spec, needed).Empty():
		r.Waiting.Reported(waitingKey(cluster))
		found.Requested = fleet.RequestedAt(object)
	default:
		found.Requested = r.Waiting.Found(waitingKey(cluster))
	}
	return found
}

// reported returns what is reported, and whether more of it is to be waited for.
func (r *Reader) reported(object *facts, sign signOfLife, needed needs) (evaluation.Facts, bool) {
	found := evaluation.Facts{APIs: evaluation.APIFacts{}, Versions: map[string]evaluation.VersionFact{}}
	switch {
	case r.Informer.State() == Absent:
		setUnknown(found, needed, notServedMessage)
		return found, false
	case sign.ended != "":
		setUnknown(found, needed, sign.ended)
		return found, false
	}
	found = fleet.FactsOf(object)
	if object != nil {
		setLeftOut(found, object.Spec, needed)
	}
	return found, !complete(found, needed)
}

// setUnknown sets facts that are unknown, with the reason.
func setUnknown(found evaluation.Facts, of needs, why string) {
	for _, api := range of.APIs {
		found.APIs[api] = evaluation.APIFact{Served: metav1.ConditionUnknown, Message: why}
	}
	for _, addOn := range of.AddOns {
		found.Versions[addOn] = evaluation.VersionFact{Message: why}
	}
}

// setLeftOut sets the facts that an object has no room to request.
func setLeftOut(found evaluation.Facts, spec requested, needed needs) {
	const why = "Interlock requests at most %d %s of a managed cluster"
	leftOut := unrequested(spec, needed)
	if len(spec.APIs) == dependencyv1alpha1.MaxRequests {
		setUnknown(found, needs{APIs: leftOut.APIs}, fmt.Sprintf(why, dependencyv1alpha1.MaxRequests, "APIs"))
	}
	if len(spec.AddOns) == dependencyv1alpha1.MaxRequests {
		setUnknown(found, needs{AddOns: leftOut.AddOns}, fmt.Sprintf(why, dependencyv1alpha1.MaxRequests, "add-ons"))
	}
}

// waitingKey is the key of a cluster in Waiting.
func waitingKey(cluster string) types.NamespacedName { return types.NamespacedName{Namespace: cluster} }

// Forget drops what is remembered of a cluster without requested facts.
func (r *Reader) Forget(cluster string) {
	r.Waiting.Forget(cluster)
	r.Signs.Silent.Forget(cluster)
}

// lean keeps what is needed of an object. Of managedFields it keeps when
// addon-manager last changed what the object requests.
func lean(full *facts) *facts {
	object := &facts{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: full.Namespace, Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion,
			Generation: full.Generation, CreationTimestamp: full.CreationTimestamp,
		},
		Spec: full.Spec, Status: full.Status,
	}
	for _, entry := range full.ManagedFields {
		if entry.Manager == names.AddonManager && entry.Subresource == "" {
			object.ManagedFields = append(object.ManagedFields, metav1.ManagedFieldsEntry{Manager: entry.Manager, Time: entry.Time})
		}
	}
	return object
}
