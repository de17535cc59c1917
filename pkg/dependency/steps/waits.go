package steps

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
)

// waitForInstalled gives what is installed and not ready a step, where an add-on with a step requires it, directly or through others.
func (i *installing) waitForInstalled() {
	below := slices.Sorted(maps.Keys(i.because))
	for seen := sets.New(below...); len(below) > 0; below = below[1:] {
		findings := i.today(below[0])
		for f := range findings {
			targets := i.required(below[0], &findings[f])
			met := !isOpen(&findings[f]) && slices.ContainsFunc(targets, i.isReady) // by one of several alternatives
			for _, target := range targets {
				if !seen.Has(target) {
					seen.Insert(target)
					below = append(below, target)
				}
				if isNew := i.has(target) && !i.waits.Has(target); !met && !isNew && !i.isReady(target) {
					i.waits.Insert(target)
					i.need(target, below[0])
				}
			}
		}
	}
}

// required are the add-ons that are to be there for an edge.
func (i *installing) required(addOn string, finding *evaluation.Finding) []string {
	return slices.DeleteFunc(waitsFor(i.declared, finding, i.isThere), func(target string) bool {
		return !slices.Contains(i.reached[addOn], target)
	})
}

// today are the verdicts on the edges of an add-on as the managed cluster is now.
func (i *installing) today(addOn string) []evaluation.Finding {
	return i.declared.Evaluate(addOn, i.declared.State(addOn, i.on.Cluster.Cluster, func(name string) evaluation.Observation {
		return i.on.AddOns[name]
	}))
}

// onlyMissing are the add-ons with a step that wait for nothing that is installed already: all that they wait for is missing, or
// contradicts them.
func (i *installing) onlyMissing() sets.Set[string] {
	only := sets.New[string]()
	for addOn := range i.because {
		observe := func(all map[string]evaluation.Observation) func(string) evaluation.Observation {
			return func(name string) evaluation.Observation {
				if name == addOn {
					return i.then[addOn] // with the AddOnTemplate that it gets
				}
				return all[name]
			}
		}
		today := i.declared.Evaluate(addOn, i.declared.State(addOn, i.on.Cluster.Cluster, observe(i.on.AddOns)))
		settled := i.declared.Evaluate(addOn, protection.Settle(i.declared.State(addOn, i.on.Cluster.Cluster, observe(i.before)), ""))
		if !slices.ContainsFunc(today, func(f evaluation.Finding) bool { return fails(f) && !slices.ContainsFunc(settled, same(f)) }) {
			only.Insert(addOn)
		}
	}
	return only
}

// fails reports whether an add-on waits for an edge that is known not to be satisfied.
func fails(finding evaluation.Finding) bool { return finding.Blocks() && finding.Unsatisfied() }

// same reports whether a finding fails that is on the same edge or requirement as another one.
func same(as evaluation.Finding) func(evaluation.Finding) bool {
	return func(f evaluation.Finding) bool {
		return fails(f) && f.Dependency == as.Dependency && f.Name() == as.Name()
	}
}

// isReady reports whether an installed add-on is available and its dependencies are satisfied.
func (i *installing) isReady(addOn string) bool {
	available := i.on.AddOns[addOn].Available
	if available == nil || available.Status != metav1.ConditionTrue {
		return false
	}
	findings := i.today(addOn)
	for f := range findings {
		if isOpen(&findings[f]) {
			return false
		}
	}
	return true
}

// isOpen reports whether an add-on waits for an edge or a requirement.
func isOpen(finding *evaluation.Finding) bool {
	return finding.Blocks() && (finding.Unsatisfied() || finding.Held())
}

// waitForRemoved gives what is being removed a step, where it needs an add-on with a step: that is removed afterwards.
func (r *removing) waitForRemoved(edges map[string][]string) {
	for again := true; again; {
		again = false
		for addOn := range r.going {
			if !r.has(addOn) && slices.ContainsFunc(edges[addOn], r.has) {
				r.need(addOn, "")
				r.waits.Insert(addOn)
				again = true
			}
		}
	}
}
