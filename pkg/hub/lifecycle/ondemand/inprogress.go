package ondemand

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// workers is the number of managed clusters that are decided on at the same time. A step takes some ten requests to the API
// server, one after the other.
const workers = 8

// busyRetry is the time after which a key is tried again while a key that excludes it is in progress.
const busyRetry = 50 * time.Millisecond

// inProgress has the managed clusters and add-ons that are being decided on. It is safe for concurrent use.
type inProgress struct {
	mutex sync.Mutex
	busy  sets.Set[types.NamespacedName]
	// postponed has the keys whose last reconcile found one of them busy.
	postponed sets.Set[types.NamespacedName]
}

// begin makes the excluded keys busy while a key is decided on. If one of them is busy already, it returns false, and the key
// is postponed.
func (p *inProgress) begin(key types.NamespacedName, excluded ...types.NamespacedName) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.busy == nil {
		p.busy, p.postponed = sets.New[types.NamespacedName](), sets.New[types.NamespacedName]()
	}
	if p.busy.HasAny(excluded...) {
		p.postponed.Insert(key)
		return false
	}
	p.postponed.Delete(key)
	p.busy.Insert(excluded...)
	return true
}

func (p *inProgress) end(excluded ...types.NamespacedName) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.busy.Delete(excluded...)
}

// Postponed implements controllers.KeepsDelay: what the hub refuses is tried at growing intervals, also where many add-ons of
// a managed cluster are refused and exclude each other.
func (r *Reconciler) Postponed(key reconcile.Request) bool {
	r.inProgress.mutex.Lock()
	defer r.inProgress.mutex.Unlock()
	return r.inProgress.postponed.Has(key.NamespacedName)
}

// excludedBy returns the keys on which nothing else may be decided at the same time. The add-ons on a managed cluster are decided on one after the other: each
// may contradict the one before. So are the managed clusters of an add-on if only a limited number of them can have its
// label, and the reports of approvals, which share their state.
func excludedBy(evaluator *evaluation.Evaluator, key types.NamespacedName) []types.NamespacedName {
	if key.Namespace == "" {
		return []types.NamespacedName{Everything}
	}
	keys := []types.NamespacedName{{Namespace: key.Namespace}}
	if evaluator.Labeled(key.Name).Limit() > 0 {
		keys = append(keys, types.NamespacedName{Name: key.Name})
	}
	return keys
}
