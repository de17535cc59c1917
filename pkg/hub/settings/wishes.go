package settings

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/settings"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// gather is the time for which changes are collected before settings are written.
const gather = time.Second

// RequestStore has the settings that add-ons request for others on their managed clusters, by their last evaluation. It is
// safe for concurrent use.
type Wishes struct {
	// Changed triggers the controller of settings.
	Changed *trigger.Trigger

	mutex sync.Mutex
	// requests has the requests by managed cluster and dependent.
	of map[string]map[string]wished
}

// requests are the settings that a dependent requests, by add-on.
type wished struct {
	by map[string][]settings.Variable
	// held has the add-ons with unknown requests. unknown is true if all requests are unknown.
	held    sets.Set[string]
	unknown bool
}

// Update stores the requests in the findings of an add-on. Without findings, it has none. Unknown requests do not change.
func (w *Wishes) Found(addOn types.NamespacedName, findings []evaluation.Finding) {
	for name := range w.remember(addOn, wishedBy(findings)) {
		w.Changed.EnqueueAfter(gather, types.NamespacedName{Namespace: addOn.Namespace, Name: name})
	}
}

// remember returns the add-ons on the managed cluster whose settings may change.
func (w *Wishes) remember(addOn types.NamespacedName, is wished) sets.Set[string] {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	before := w.of[addOn.Namespace][addOn.Name]
	if is.unknown {
		is.by, is.held = before.by, before.held
	}
	for name := range is.held {
		if was := before.by[name]; was != nil {
			is.by[name] = was
		}
	}
	if reflect.DeepEqual(before, is) {
		return nil
	}
	concerned := sets.KeySet(before.by).Union(sets.KeySet(is.by)).Union(before.held)
	if before.unknown && !is.unknown {
		concerned = concerned.Union(w.wished(addOn.Namespace))
	}
	w.set(addOn, is)
	return concerned
}

// requested returns the add-ons on a managed cluster for which there are requests.
func (w *Wishes) wished(cluster string) sets.Set[string] {
	all := sets.New[string]()
	for _, of := range w.of[cluster] {
		all = all.Union(sets.KeySet(of.by))
	}
	return all
}

func (w *Wishes) set(addOn types.NamespacedName, is wished) {
	if len(is.by) == 0 && len(is.held) == 0 && !is.unknown {
		delete(w.of[addOn.Namespace], addOn.Name)
		if len(w.of[addOn.Namespace]) == 0 {
			delete(w.of, addOn.Namespace)
		}
		return
	}
	if w.of == nil {
		w.of = map[string]map[string]wished{}
	}
	if w.of[addOn.Namespace] == nil {
		w.of[addOn.Namespace] = map[string]wished{}
	}
	w.of[addOn.Namespace][addOn.Name] = is
}

// requestsIn returns the requests in the findings of an add-on. Requests of held edges are unknown.
func wishedBy(findings []evaluation.Finding) wished {
	var is wished
	for i := range findings {
		found := &findings[i]
		if found.Dependency == nil {
			is.unknown = is.unknown || found.Requirement == nil // the declaration of the add-on is unknown
			continue
		}
		if found.Dependency.Settings == nil {
			continue
		}
		if is.by == nil {
			is.by, is.held = map[string][]settings.Variable{}, sets.New[string]()
		}
		on := declaration.Target(found.Dependency)
		variables, read := found.Settings()
		switch {
		case !read, found.Verdict == evaluation.Held && variables == nil:
			is.held.Insert(on)
		case len(variables) > 0: // otherwise, the edge does not apply, or is waived
			is.by[on] = append(is.by[on], variables...)
		}
	}
	return is
}

// Get returns the requests for an add-on on a managed cluster, ordered by dependent. known is false if the requests of a
// dependent are unknown. complete is false if another add-on there may be a dependent, because its declaration is unknown.
func (w *Wishes) On(addOn types.NamespacedName) (list []settings.Request, known, complete bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known, complete = true, true
	dependents := w.of[addOn.Namespace]
	for _, name := range slices.Sorted(maps.Keys(dependents)) {
		requested := dependents[name]
		known, complete = known && !requested.held.Has(addOn.Name), complete && !requested.unknown
		if variables := requested.by[addOn.Name]; len(variables) > 0 {
			list = append(list, settings.Request{Dependent: name, Variables: variables})
		}
	}
	return list, known, complete
}
