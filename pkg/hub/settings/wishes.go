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
	// unread: that may not be all, or no longer true.
	unread bool
}

// Found remembers what an add-on wishes by its findings. Without findings, it wishes nothing.
func (w *Wishes) Found(addOn types.NamespacedName, _ *evaluation.Evaluator, findings []evaluation.Finding) {
	is := wishedBy(findings)
	w.mutex.Lock()
	before := w.of[addOn.Namespace][addOn.Name]
	if is.unread {
		is.by = before.by
	}
	w.set(addOn, is)
	w.mutex.Unlock()
	if reflect.DeepEqual(before, is) {
		return
	}
	for name := range sets.KeySet(before.by).Union(sets.KeySet(is.by)) {
		w.Changed.EnqueueAfter(gather, types.NamespacedName{Namespace: addOn.Namespace, Name: name})
	}
}

func (w *Wishes) set(addOn types.NamespacedName, is wished) {
	if len(is.by) == 0 && !is.unread {
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
			is.unread = is.unread || found.Requirement == nil // it is not known what the add-on declares
			continue
		}
		if found.Dependency.Settings == nil {
			continue
		}
		variables, read := found.Settings()
		if !read || found.Verdict == evaluation.Held && variables == nil {
			is.unread = true
			continue
		}
		if len(variables) == 0 { // the edge does not apply, or is waived
			continue
		}
		if is.by == nil {
			is.by = map[string][]settings.Variable{}
		}
		on := declaration.Target(found.Dependency)
		is.by[on] = append(is.by[on], variables...)
	}
	return is
}

// On returns what the dependents of an add-on on a managed cluster wish, ascending by dependent. read is false where it is not known of one
// of the add-ons there.
func (w *Wishes) On(addOn types.NamespacedName) (wishes []settings.Wish, read bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	read = true
	dependents := w.of[addOn.Namespace]
	for _, name := range slices.Sorted(maps.Keys(dependents)) {
		read = read && !dependents[name].unread
		if variables := dependents[name].by[addOn.Name]; len(variables) > 0 {
			wishes = append(wishes, settings.Wish{Dependent: name, Variables: variables})
		}
	}
	return wishes, read
}
