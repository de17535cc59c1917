package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/statuscmd"
)

const (
	// patience is how long a step may take to reach its state, in addition to the grace period.
	patience = 20 * time.Second
	// calm is how long the state then has to last. firstCalm is the same for the first step: OCM's controllers write
	// each new add-on several times.
	calm      = 400 * time.Millisecond
	firstCalm = 3 * time.Second
	// mostMismatches is the number of mismatches that are shown for a failed step.
	mostMismatches = 8
)

var errFailed = errors.New("a step failed, see above")

type verdict int

const (
	notPlayed verdict = iota
	cameTrue
	failed
)

// result is the result of a step.
type result struct {
	step    *step
	verdict verdict
	waited  time.Duration
	took    time.Duration
}

// play plays the steps in order, until one fails. The steps after it depend on its result.
func play(w *world, steps []step) ([]result, error) {
	results := make([]result, len(steps))
	for i := range steps {
		results[i].step = &steps[i]
	}
	for i := range results {
		w.printer.heading(i+1, len(steps), results[i].step)
		if err := w.play(&results[i]); err != nil {
			results[i].verdict = failed
			return results, fmt.Errorf("step %d, %q: %w", i+1, results[i].step.title, err)
		}
		results[i].verdict = cameTrue
	}
	return results, nil
}

func (w *world) play(r *result) error {
	ctx, cancel := context.WithTimeout(w.ctx, patience+w.grace)
	defer cancel()
	began := time.Now()
	origin := began
	if err := r.step.run(ctx, w); err != nil {
		return err
	}
	if r.step.trigger != nil {
		if first, err := w.await(ctx, began, r.step); err == nil {
			origin = first.time
			r.waited = origin.Sub(began)
		} // otherwise the step fails below, with the observed state
	}
	quiet := calm
	if w.versions == nil {
		quiet = firstCalm
	}
	err := w.observer.settle(ctx, r.step.expect, quiet)
	if w.interrupted() {
		return errInterrupted
	}
	times := timesOf(w.observer.since(origin), r.step.expect, origin)
	r.took = times.last()
	w.printer.rows(w.rowsOf(r.step))
	switch {
	case r.step.unchanged:
		w.printer.insisted(w)
	case len(r.step.show) == 0:
		w.printer.times(r.step, times)
	}
	w.printer.line("")
	if err != nil {
		return w.unexpected(r.step, err)
	}
	if r.step.unchanged && len(times.order) > 0 {
		return fmt.Errorf("expected no change, seen %s: %s", times.order[0], times.path(times.order[0]))
	}
	w.printer.asExpected(r.step)
	return w.checkUntouched(r.step)
}

// await waits for the change that starts the clock of a step: an agent makes it when a lease is older than the grace
// period.
func (w *world) await(ctx context.Context, began time.Time, s *step) (change, error) {
	finish := w.printer.progress(fmt.Sprintf("%s, which is %s here and 5m0s in OCM", s.wait, w.grace))
	first, err := w.observer.await(ctx, began, s.trigger)
	finish(err)
	if err == nil {
		var renewal time.Time
		if renewal, err = w.lastRenewal(ctx, first.addOn); err == nil {
			late := first.time.Sub(renewal.Add(w.grace))
			w.printer.line("%sNoticed %s after that moment.", indent, brief(late))
		}
	}
	w.printer.line("")
	return first, err
}

// rowsOf returns the rows that kubectl addon status shows for the step's add-ons.
func (w *world) rowsOf(s *step) []statuscmd.Row {
	var shown []addonv1alpha1.ManagedClusterAddOn
	w.observer.look(func(addOns map[types.NamespacedName]*installed, _ []change) bool {
		for _, e := range s.expect {
			if addOn := addOns[e.key()]; addOn != nil && s.shows(e.addOn) {
				shown = append(shown, *addOn)
			}
		}
		return true
	})
	return statuscmd.Rows(shown)
}

func (s *step) shows(addOn string) bool {
	for _, name := range s.show {
		if name == addOn {
			return true
		}
	}
	return len(s.show) == 0
}

// unexpected describes the expected and the observed state.
func (w *world) unexpected(s *step, err error) error {
	var texts []string
	w.observer.look(func(addOns map[types.NamespacedName]*installed, _ []change) bool {
		texts = mismatches(s.expect, addOns)
		return true
	})
	if excess := len(texts) - mostMismatches; excess > 0 {
		texts = append(texts[:mostMismatches], fmt.Sprintf("and %d more", excess))
	}
	return fmt.Errorf("%w:\n%s", err, strings.Join(texts, "\n"))
}

// checkUntouched compares the resourceVersions of all other add-ons with those at the end of the previous step. Equal
// versions prove that nothing has written them since.
func (w *world) checkUntouched(s *step) error {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := w.hub.List(w.ctx, &list); err != nil {
		return err
	}
	stepAddOns := map[types.NamespacedName]bool{}
	for _, e := range s.expect {
		stepAddOns[e.key()] = true
	}
	versions := map[types.NamespacedName]string{}
	for i := range list.Items {
		versions[key(list.Items[i].Namespace, list.Items[i].Name)] = list.Items[i].ResourceVersion
	}
	before := w.versions
	w.versions = versions
	untouched := map[string]int{}
	for name, version := range before {
		if stepAddOns[name] {
			continue
		}
		if versions[name] != version {
			return fmt.Errorf("%s on %s was written, although it has nothing to do with this step: "+
				"expected resourceVersion %s, seen %q", name.Name, name.Namespace, version, versions[name])
		}
		untouched[name.Namespace]++
	}
	w.printer.untouched(untouched)
	return nil
}
