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

// nextTurn is the time after which a key is tried again while another key has its turn.
const nextTurn = 50 * time.Millisecond

// turns has the keys that have their turn. It is safe for concurrent use.
type turns struct {
	mutex sync.Mutex
	taken sets.Set[types.NamespacedName]
	// waiting has the keys whose last reconcile found that another key has its turn.
	waiting sets.Set[types.NamespacedName]
}

// take takes the turns of some keys for a key to decide on. It takes none of them and returns false if one of them is
// taken.
func (t *turns) take(decided types.NamespacedName, keys ...types.NamespacedName) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.taken == nil {
		t.taken, t.waiting = sets.New[types.NamespacedName](), sets.New[types.NamespacedName]()
	}
	if t.taken.HasAny(keys...) {
		t.waiting.Insert(decided)
		return false
	}
	t.waiting.Delete(decided)
	t.taken.Insert(keys...)
	return true
}

// PutOff implements controllers.KeepsDelay: what the hub refuses is tried at growing intervals, also where many add-ons of a
// managed cluster are refused and wait for each other's turns.
func (r *Reconciler) PutOff(key reconcile.Request) bool {
	r.turns.mutex.Lock()
	defer r.turns.mutex.Unlock()
	return r.turns.waiting.Has(key.NamespacedName)
}

func (t *turns) release(keys ...types.NamespacedName) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.taken.Delete(keys...)
}

// takenBy returns the keys that a decision takes. The add-ons on a managed cluster are decided on one after the other: each
// may contradict the one before. So are the managed clusters of an add-on if only a limited number of them can have its
// label, and the reports of approvals, which share their state.
func takenBy(evaluator *evaluation.Evaluator, key types.NamespacedName) []types.NamespacedName {
	if key.Namespace == "" {
		return []types.NamespacedName{Everything}
	}
	keys := []types.NamespacedName{{Namespace: key.Namespace}}
	if evaluator.Labeled(key.Name).Limit() > 0 {
		keys = append(keys, types.NamespacedName{Name: key.Name})
	}
	return keys
}
