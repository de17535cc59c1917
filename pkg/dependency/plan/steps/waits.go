package steps

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// waitForInstalled gives a step to each add-on that is installed and not ready, and that an add-on with a step requires, directly or
// through others.
func (i *installing) waitForInstalled() {
	queue := slices.Sorted(maps.Keys(i.because))
	for seen := sets.New(queue...); len(queue) > 0; queue = queue[1:] {
		findings := i.currentFindings(queue[0])
		for f := range findings {
			targets := i.requiredTargets(queue[0], &findings[f])
			met := !isOpen(&findings[f]) && slices.ContainsFunc(targets, i.isReady) // by one of several alternatives
			for _, target := range targets {
				if !seen.Has(target) {
					seen.Insert(target)
					queue = append(queue, target)
				}
				if isNew := i.hasStep(target) && !i.waits.Has(target); !met && !isNew && !i.isReady(target) {
					i.waits.Insert(target)
					i.addStep(target, queue[0])
				}
			}
		}
	}
}

// requiredTargets returns the add-ons that an edge waits for in this plan.
func (i *installing) requiredTargets(addOn string, finding *evaluation.Finding) []string {
	return slices.DeleteFunc(awaitedBy(i.evaluator, finding, i.isPlanned), func(target string) bool {
		return !slices.Contains(i.awaited[addOn], target)
	})
}

// currentFindings returns the findings on the edges of an add-on in the present state of the managed cluster.
func (i *installing) currentFindings(addOn string) []evaluation.Finding {
	return i.evaluator.Evaluate(addOn, i.evaluator.State(addOn, i.cluster.Cluster.Cluster, func(name string) evaluation.Observation {
		return i.cluster.AddOns[name]
	}))
}

// reportAwaited adds a finding for each add-on with a step that needs an installed add-on which does not work: an edge blocks the add-on
// now, and would not if the installed add-ons were available.
func (i *installing) reportAwaited() {
	for addOn := range i.because {
		observe := func(observations map[string]evaluation.Observation) func(string) evaluation.Observation {
			return func(name string) evaluation.Observation {
				if name == addOn {
					return i.planned[addOn] // with the AddOnTemplate that it gets
				}
				return observations[name]
			}
		}
		current := i.evaluator.Evaluate(addOn, i.evaluator.State(addOn, i.cluster.Cluster.Cluster, observe(i.cluster.AddOns)))
		settled := i.evaluator.Evaluate(addOn, protection.Settle(i.evaluator.State(addOn, i.cluster.Cluster.Cluster, observe(i.installed)), ""))
		awaited := slices.DeleteFunc(slices.Clone(current), func(f evaluation.Finding) bool {
			return !fails(f) || slices.ContainsFunc(settled, sameEdge(f))
		})
		if len(awaited) > 0 {
			sentence := "'%s' will not work until an installed add-on does: %s"
			if gate.Ordered(i.evaluator.Declaration(addOn)) {
				sentence = "'%s' waits for an installed add-on: %s"
			}
			i.findings.Insert(fmt.Sprintf(sentence, text.Name(addOn), condition.WaitMessage(awaited, maxAwaited)))
		}
	}
}

// maxAwaited is the maximum length of a text about installed add-ons, in characters.
const maxAwaited = 500

// fails reports whether an add-on waits for an edge that is known not to be satisfied.
func fails(finding evaluation.Finding) bool { return finding.Blocks() && finding.Unsatisfied() }

// sameEdge returns a function that reports whether a finding fails and is about the same edge or requirement as this one.
func sameEdge(finding evaluation.Finding) func(evaluation.Finding) bool {
	return func(f evaluation.Finding) bool {
		return fails(f) && f.Dependency == finding.Dependency && f.Name() == finding.Name()
	}
}

// isReady reports whether an installed add-on is available and its dependencies are satisfied.
func (i *installing) isReady(addOn string) bool {
	available := i.cluster.AddOns[addOn].Available
	if available == nil || available.Status != metav1.ConditionTrue {
		return false
	}
	findings := i.currentFindings(addOn)
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

// waitForRemoved gives a step to each add-on that is being deleted and needs an add-on with a step. The latter is removed afterwards.
func (r *removing) waitForRemoved(edges map[string][]string) {
	for changed := true; changed; {
		changed = false
		for addOn := range r.deleting {
			if !r.hasStep(addOn) && slices.ContainsFunc(edges[addOn], r.hasStep) {
				r.addStep(addOn, "")
				r.waits.Insert(addOn)
				changed = true
			}
		}
	}
}
