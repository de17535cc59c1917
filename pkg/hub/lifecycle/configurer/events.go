package configurer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/events"
)

// The reasons of events on settings, all on ManagedClusterAddOns.
const (
	// EventConflict is emitted if dependents request different values for a variable. It is on each of them.
	EventConflict = "SettingConflict"
	// EventUnset is emitted if a requested setting is not set. It is on the dependent. If nothing is requested, and OCM waits for the
	// AddOnDeploymentConfig, it is on the add-on itself.
	EventUnset = "SettingUnset"
	// EventGivenUp is emitted if another writer has changed settings again and again. It is on the add-on with these
	// settings.
	EventGivenUp = "SettingGivenUp"
	// EventUnsteady is emitted if the requests change again and again, or the AddOnDeploymentConfig is deleted again and again. It is on the
	// add-on with these settings.
	EventUnsteady = "SettingUnsteady"
)

const actionSet = "Set"

// emitted has the content of emitted events by add-on: reason, dependent, variable and note. Each event is emitted once.
type emitted struct {
	notes map[types.NamespacedName]map[[4]string]bool
}

func (e *emitted) forget(addOn types.NamespacedName) { delete(e.notes, addOn) }

// findings are the subjects of events on the settings of an add-on.
type findings struct {
	requests []settings.Request
	agreed   settings.Agreed
	// problem is the reason why no setting is set.
	problem problem
	// awaited is whether OCM waits for the AddOnDeploymentConfig, because it does not exist.
	awaited bool
	// paused is the reason why Interlock waits before it writes the settings.
	paused settings.Obstacle
}

// outcome returns the outcome for messages of the dependents.
func (f *findings) outcome() settings.Outcome {
	return settings.OutcomeOf(f.agreed, cmp.Or(f.problem.obstacle, f.paused))
}

// notes returns the content of the current events.
func (f *findings) notes(addOn string) map[[4]string]bool {
	notes := map[[4]string]bool{}
	for _, conflict := range f.agreed.Conflicts {
		for _, dependent := range conflict.Dependents {
			note := fmt.Sprintf("Setting '%s' of '%s' is not set, because add-ons request different values: %s",
				conflict.Variable, addOn, strings.Join(conflict.Dependents, ", "))
			notes[[4]string{EventConflict, dependent, conflict.Variable, note}] = true
		}
	}
	for _, request := range f.requests {
		if f.problem.description != "" {
			notes[[4]string{EventUnset, request.Dependent, "", f.unset(addOn)}] = true
		}
		for _, variable := range request.Variables {
			if variable.Problem != "" {
				note := fmt.Sprintf("Setting '%s' of '%s' %s", variable.Name, addOn, variable.Problem)
				notes[[4]string{EventUnset, request.Dependent, variable.Name, note}] = true
			}
		}
	}
	if len(f.requests) == 0 && f.awaited && f.problem.description != "" {
		notes[[4]string{EventUnset, addOn, "", f.unset(addOn)}] = true
	}
	return notes
}

// unset returns the note about the problem.
func (f *findings) unset(addOn string) string {
	if f.awaited {
		return fmt.Sprintf("OCM does not deploy '%s' until AddOnDeploymentConfig '%s' with its settings exists: %s",
			addOn, fleet.SettingsConfigName(addOn), f.problem.description)
	}
	return fmt.Sprintf("No setting of '%s' is set: %s", addOn, f.problem.description)
}

// report publishes the outcome of the requests for an add-on, and emits the new events on conflicts and missing settings.
func (r *Reconciler) report(addOn types.NamespacedName, subjects findings) {
	r.publish(addOn, subjects.requests, subjects.outcome())
	current := subjects.notes(addOn.Name)
	reported := r.emitted.notes[addOn]
	for _, event := range slices.SortedFunc(maps.Keys(current), func(a, b [4]string) int { return slices.Compare(a[:], b[:]) }) {
		if !reported[event] {
			related := aboutAddOn(addOn)
			related.FieldPath = event[2] // events that differ in the note only are counted as one
			r.warn(types.NamespacedName{Namespace: addOn.Namespace, Name: event[1]}, related, event[0], event[3])
		}
	}
	if len(current) == 0 {
		r.emitted.forget(addOn)
		return
	}
	if r.emitted.notes == nil {
		r.emitted.notes = map[types.NamespacedName]map[[4]string]bool{}
	}
	r.emitted.notes[addOn] = current
}

// publish publishes the outcome of the requests for an add-on, and has the dependents evaluated if it has changed.
func (r *Reconciler) publish(addOn types.NamespacedName, requests []settings.Request, outcome settings.Outcome) {
	if len(requests) == 0 {
		r.Outcomes.Forget(addOn)
		return
	}
	if !r.Outcomes.Set(addOn, outcome) {
		return
	}
	for _, request := range requests {
		r.Evaluate.Enqueue(types.NamespacedName{Namespace: addOn.Namespace, Name: request.Dependent})
	}
}

// publishFirst publishes that nothing is known to keep the settings of an add-on from being set, unless an outcome is
// published already. Otherwise, the messages of the dependents would stay as they are.
func (r *Reconciler) publishFirst(addOn types.NamespacedName, requests []settings.Request) {
	if r.Outcomes.Outcome(addOn).Obstacle == settings.Undecided {
		r.publish(addOn, requests, settings.OutcomeOf(settings.Agree(requests), settings.NoObstacle))
	}
}

// reportGivenUp emits an event about settings that are given up, once for each pause.
func (r *Reconciler) reportGivenUp(addOn types.NamespacedName, until time.Time) {
	r.reportPause(addOn, until, EventGivenUp, fmt.Sprintf("The settings that '%s' gets from its dependents are not put back until %s, because another "+
		"writer has changed AddOnDeploymentConfig '%s' twice within an hour",
		addOn.Name, until.UTC().Format(time.RFC3339), fleet.SettingsConfigName(addOn.Name)))
}

// reportUnsteady emits an event about settings whose next change waits long, once for each pause.
func (r *Reconciler) reportUnsteady(config *managedConfig, until time.Time, pause time.Duration) {
	if pause < settings.Noticed {
		return
	}
	addOn := client.ObjectKeyFromObject(config.addOn)
	note := "The requests of the dependents of '%s' change again and again, so its settings stay as they are until %s: does an expression in " +
		"valueFrom or when read a setting that it changes?"
	if config.config == nil {
		note = "The AddOnDeploymentConfig with the settings of '%s' is deleted again and again, so Interlock does not create it until %s"
	}
	r.reportPause(addOn, until, EventUnsteady, fmt.Sprintf(note, addOn.Name, until.UTC().Format(time.RFC3339)))
}

// reportPause emits an event about a pause, unless it is the one of the last event.
func (r *Reconciler) reportPause(addOn types.NamespacedName, until time.Time, reason, note string) {
	if r.paused[addOn].Equal(until) {
		return
	}
	if r.paused == nil {
		r.paused = map[types.NamespacedName]time.Time{}
	}
	r.paused[addOn] = until
	r.warn(addOn, nil, reason, note)
}

func (r *Reconciler) warn(addOn types.NamespacedName, related *corev1.ObjectReference, reason, note string) {
	var secondary runtime.Object
	if related != nil {
		secondary = related
	}
	r.Recorder.Eventf(aboutAddOn(addOn), secondary, corev1.EventTypeWarning, reason, actionSet, "%s", events.Note(note))
}

func aboutAddOn(addOn types.NamespacedName) *corev1.ObjectReference {
	return events.About(events.ManagedClusterAddOn, &addonv1alpha1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{Namespace: addOn.Namespace, Name: addOn.Name},
	})
}
