package facts

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/factsinformer"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/names"
)

// Reader reads what the agents of all clusters have reported.
type Reader struct {
	Clock    clock.PassiveClock
	Fleet    hubcache.Reader
	Informer Informer
	Signs    SignsOfLife

	mutex sync.Mutex
	// waiting has, by cluster, since when something is to be requested that its
	// object does not request yet.
	waiting map[string]time.Time
}

// Facts returns what the agent of a cluster has reported of what the add-ons
// there need.
func (r *Reader) Facts(ctx context.Context, declared *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	addOns, err := r.Fleet.OnCluster(ctx, cluster)
	if err != nil {
		return evaluation.Facts{}, err
	}
	object := r.Informer.Get(keyOf(cluster))
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
	if r.Informer.State() == factsinformer.Absent {
		r.stopWaiting(cluster)
		return unknown(needed, notServedMessage)
	}
	if sign.ended != "" {
		r.stopWaiting(cluster)
		return unknown(needed, sign.ended)
	}
	found := factsOf(reportedIn(object), needed)
	if object != nil {
		leftOut(object.Spec, needed, found)
	}
	switch {
	case complete(found, needed):
		r.stopWaiting(cluster)
	case object != nil && requestsAll(object.Spec, needed):
		r.stopWaiting(cluster)
		found.Requested = requestedAt(object)
	default:
		found.Requested = r.waitingSince(cluster)
	}
	return found
}

// factsOf returns the reported facts that are needed.
func factsOf(known reported, needed needs) evaluation.Facts {
	found := evaluation.Facts{
		APIs:     make(evaluation.APIFacts, len(needed.APIs)),
		Versions: make(map[string]evaluation.VersionFact, len(needed.AddOns)),
	}
	for _, api := range needed.APIs {
		if fact := known.apis[apiOf(api)]; fact != nil {
			found.APIs[api] = fleet.APIFactOf(fact)
		}
	}
	for _, addOn := range needed.AddOns {
		if fact := known.addOns[addOn]; fact != nil {
			found.Versions[addOn] = fleet.VersionFactOf(fact)
		}
	}
	return found
}

// unknown returns facts that are all unknown, with the reason.
func unknown(needed needs, why string) evaluation.Facts {
	found := evaluation.Facts{
		APIs:     make(evaluation.APIFacts, len(needed.APIs)),
		Versions: make(map[string]evaluation.VersionFact, len(needed.AddOns)),
	}
	for _, api := range needed.APIs {
		found.APIs[api] = evaluation.APIFact{Served: metav1.ConditionUnknown, Message: why}
	}
	for _, addOn := range needed.AddOns {
		found.Versions[addOn] = evaluation.VersionFact{Message: why}
	}
	return found
}

// leftOut sets the facts that an object has no room to request.
func leftOut(spec requested, needed needs, found evaluation.Facts) {
	const why = "Interlock requests at most %d %s of a managed cluster"
	if len(spec.APIs) == dependencyv1alpha1.MaxRequests {
		for _, api := range needed.APIs {
			if !slices.Contains(spec.APIs, apiOf(api)) {
				message := fmt.Sprintf(why, dependencyv1alpha1.MaxRequests, "APIs")
				found.APIs[api] = evaluation.APIFact{Served: metav1.ConditionUnknown, Message: message}
			}
		}
	}
	if len(spec.AddOns) == dependencyv1alpha1.MaxRequests {
		for _, addOn := range needed.AddOns {
			if !slices.Contains(spec.AddOns, dependencyv1alpha1.AddOn{Name: addOn}) {
				found.Versions[addOn] = evaluation.VersionFact{Message: fmt.Sprintf(why, dependencyv1alpha1.MaxRequests, "add-ons")}
			}
		}
	}
}

func complete(found evaluation.Facts, needed needs) bool {
	return len(found.APIs) == len(needed.APIs) && len(found.Versions) == len(needed.AddOns)
}

// requestsAll reports whether an object requests all that is needed.
func requestsAll(spec requested, needed needs) bool {
	for _, api := range needed.APIs {
		if !slices.Contains(spec.APIs, apiOf(api)) {
			return false
		}
	}
	for _, addOn := range needed.AddOns {
		if !slices.Contains(spec.AddOns, dependencyv1alpha1.AddOn{Name: addOn}) {
			return false
		}
	}
	return true
}

// requestedAt is when addon-manager last changed what an object requests.
func requestedAt(object *facts) time.Time {
	at := object.CreationTimestamp.Time
	for _, entry := range object.ManagedFields {
		if entry.Manager == names.AddonManager && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

// waitingSince returns since when something is to be requested of a cluster.
func (r *Reader) waitingSince(cluster string) time.Time {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	since, waits := r.waiting[cluster]
	if !waits {
		since = r.Clock.Now()
		if r.waiting == nil {
			r.waiting = map[string]time.Time{}
		}
		r.waiting[cluster] = since
	}
	return since
}

// Forget drops what is remembered of a cluster without requested facts.
func (r *Reader) Forget(cluster string) {
	r.stopWaiting(cluster)
	r.Signs.Silent.Forget(cluster)
}

// stopWaiting drops since when something is to be requested of a cluster.
func (r *Reader) stopWaiting(cluster string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.waiting, cluster)
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
