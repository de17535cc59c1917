package steps

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/text"
)

// Removal is what a user wants to have removed.
type Removal struct {
	AddOns []string
	// Unit: also what only they needed, if Interlock or the plugin has installed it and no other writer has taken it over.
	Unit bool
	// Forced: although add-ons that stay require it.
	Forced bool
	// Wait: what is being removed already is waited for before what it needs is removed.
	Wait bool
}

// Remove plans what is removed from managed clusters, dependents first.
func Remove(declared *evaluation.Evaluator, wanted Removal, clusters []Cluster) *Plan {
	return merged(clusters, func(on Cluster) *onCluster { return remove(declared, wanted, on) })
}

// removing is the plan of a removal from a managed cluster, while it is being made.
type removing struct {
	*onCluster
	declared *evaluation.Evaluator
	on       Cluster
	wanted   Removal
	// now is what is installed, and is not being removed already.
	now map[string]evaluation.Observation
	// going is what is being removed already, as it was before.
	going map[string]evaluation.Observation
}

func remove(declared *evaluation.Evaluator, wanted Removal, on Cluster) *onCluster {
	r := &removing{
		onCluster: newOnCluster(), declared: declared, on: on, wanted: wanted, now: map[string]evaluation.Observation{},
		going: map[string]evaluation.Observation{},
	}
	for name, observed := range on.AddOns {
		switch {
		case !observed.Installed:
		case observed.Removed.IsZero():
			r.now[name] = observed
		default:
			observed.Removed = time.Time{}
			r.going[name] = observed
		}
	}
	if on.Lost() {
		r.refuse("the managed cluster cannot be reached, so it is not known what is needed there")
	}
	for _, name := range wanted.AddOns {
		r.name(name)
	}
	if wanted.Unit {
		for r.addUnneeded() {
			continue
		}
	}
	r.requirements()
	edges := r.edges()
	if wanted.Wait {
		r.waitForRemoved(edges)
	} else {
		maps.DeleteFunc(r.because, func(addOn string, _ sets.Set[string]) bool { return r.waits.Has(addOn) })
	}
	r.layers = layersOf(reversed(edges), r.has)
	return r.onCluster
}

// refuse adds a problem, which a forced removal only reports.
func (r *removing) refuse(sentence string) {
	if r.wanted.Forced {
		r.findings.Insert(sentence)
	} else {
		r.problems.Insert(sentence)
	}
}

// name gives a named add-on a step, where it is installed.
func (r *removing) name(addOn string) {
	name, install := text.Name(addOn), r.declared.Install(addOn)
	selected, known := r.on.isSelected(addOn)
	_, is := r.now[addOn]
	switch {
	case !is && r.on.AddOns[addOn].Installed:
		r.findings.Insert(fmt.Sprintf("'%s' is being removed already", name))
		r.waits.Insert(addOn)
		r.need(addOn, "")
		return
	case !is:
		r.findings.Insert(fmt.Sprintf("'%s' is not installed", name))
		return
	case install.Placed && (selected || !known):
		r.problems.Insert(stays(r.declared.Catalog, addOn, known))
	}
	r.need(addOn, "")
}

// addUnneeded adds what only removed add-ons need, and reports whether there was anything. What is being removed already is part of
// the unit, so that another run continues where one was interrupted.
func (r *removing) addUnneeded() (added bool) {
	for _, addOn := range slices.Sorted(maps.Keys(r.all())) {
		if r.has(addOn) || !r.on.Owned.Has(addOn) || r.declared.Install(addOn).Placed {
			continue
		}
		needing, staying := sets.New[string](), false
		for dependent := range r.all() {
			_, going := r.going[dependent]
			switch {
			case dependent == addOn || !installation.MayUse(r.declared.Catalog, dependent, addOn):
			case r.has(dependent):
				needing.Insert(dependent)
			case going:
			default:
				staying = true
			}
		}
		switch {
		case staying || len(needing) == 0:
			continue
		case r.on.Taken.Has(addOn):
			r.findings.Insert(fmt.Sprintf("'%s' stays, although no other add-on needs it: another writer than Interlock and kubectl addon has "+
				"written its spec, its labels or its own annotations. Name it to uninstall it, too", text.Name(addOn)))
			continue
		}
		added = true
		if _, going := r.going[addOn]; going {
			r.waits.Insert(addOn)
		}
		for dependent := range needing {
			r.need(addOn, dependent)
		}
	}
	return added
}

// requirements adds what add-ons that stay require of what is removed.
func (r *removing) requirements() {
	removed := sets.KeySet(r.because).Difference(r.waits)
	after := maps.Clone(r.now)
	maps.DeleteFunc(after, func(name string, _ evaluation.Observation) bool { return removed.Has(name) })
	for dependent := range after {
		findings := settledFinding(r.declared, r.on, after, dependent)
		taken, err := protection.Taken(dependent, removed, findings, func() ([]evaluation.Finding, error) {
			return settledFinding(r.declared, r.on, r.now, dependent), nil
		})
		if err != nil {
			continue // there is none
		}
		for edge := range taken {
			r.refuse(fmt.Sprintf("'%s', which stays, %s", text.Name(dependent), edge.Text()))
		}
	}
}

// all is what is installed, and what is being removed already.
func (r *removing) all() map[string]evaluation.Observation {
	all := maps.Clone(r.now)
	maps.Copy(all, r.going)
	return all
}

// edges are those that installed add-ons wait for.
func (r *removing) edges() map[string][]string {
	all := r.all()
	edges := make(map[string][]string, len(all))
	isThere := func(addOn string) bool { _, is := all[addOn]; return is }
	for name := range all {
		edges[name] = nil
		findings := settledFinding(r.declared, r.on, all, name)
		for f := range findings {
			edges[name] = append(edges[name], waitsFor(r.declared, &findings[f], isThere)...)
		}
	}
	return edges
}
