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

// gather is how long changes are gathered before settings are written.
const gather = time.Second

// Wishes remembers what add-ons wish for the settings of others on their managed clusters, as they were evaluated last. It is safe for
// concurrent use.
type Wishes struct {
	// Changed triggers the controller of settings.
	Changed *trigger.Trigger

	mutex sync.Mutex
	// of are the wishes, by managed cluster and dependent.
	of map[string]map[string]wished
}

// wished is what a dependent wishes, by the add-on.
type wished struct {
	by map[string][]settings.Variable
	// held are the add-ons of which that is not known. unknown: it is not known of any.
	held    sets.Set[string]
	unknown bool
}

// Found remembers what an add-on wishes by its findings. Without findings, it wishes nothing. What is not known stays as it was.
func (w *Wishes) Found(addOn types.NamespacedName, findings []evaluation.Finding) {
	for name := range w.remember(addOn, wishedBy(findings)) {
		w.Changed.EnqueueAfter(gather, types.NamespacedName{Namespace: addOn.Namespace, Name: name})
	}
}

// remember returns the add-ons on the managed cluster whose settings this concerns.
func (w *Wishes) remember(addOn types.NamespacedName, is wished) (concerned sets.Set[string]) {
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
	concerned = sets.KeySet(before.by).Union(sets.KeySet(is.by)).Union(before.held)
	if before.unknown && !is.unknown {
		concerned = concerned.Union(w.wished(addOn.Namespace))
	}
	w.set(addOn, is)
	return concerned
}

// wished are the add-ons on a managed cluster of which dependents wish something.
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

// wishedBy returns what the findings of an add-on wish. What is held is not known.
func wishedBy(findings []evaluation.Finding) (is wished) {
	for i := range findings {
		found := &findings[i]
		if found.Dependency == nil {
			is.unknown = is.unknown || found.Requirement == nil // it is not known what the add-on declares
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
		case len(variables) > 0: // else, the edge does not apply, or is waived
			is.by[on] = append(is.by[on], variables...)
		}
	}
	return is
}

// On returns what the dependents of an add-on on a managed cluster wish, ascending by dependent. read is false where that is not known of a
// dependent, and complete where another add-on there may be one, because it is not known what that declares.
func (w *Wishes) On(addOn types.NamespacedName) (wishes []settings.Request, read, complete bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	read, complete = true, true
	dependents := w.of[addOn.Namespace]
	for _, name := range slices.Sorted(maps.Keys(dependents)) {
		of := dependents[name]
		read, complete = read && !of.held.Has(addOn.Name), complete && !of.unknown
		if variables := of.by[addOn.Name]; len(variables) > 0 {
			wishes = append(wishes, settings.Request{Dependent: name, Variables: variables})
		}
	}
	return wishes, read, complete
}
