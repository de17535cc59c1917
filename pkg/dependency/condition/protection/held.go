package protection

import (
	"slices"
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// MayBreak returns the add-ons, ascending, that the installation of an add-on can contradict: the add-on and its dependents.
func MayBreak(declared *catalog.Catalog, addOn string) []string {
	affected := append(slices.Clone(declared.Dependents(addOn)), addOn)
	slices.Sort(affected)
	return slices.Compact(affected)
}

// Installation is the review of an add-on that is on a managed cluster, and whose installation has not begun.
type Installation struct {
	Contradicted Contradicted
	// Known is false while a verdict that matters is held, as on a lost cluster.
	Known bool
	// Until is the time when a held verdict ends by itself. It is zero if none does.
	Until time.Time
}

// ReviewInstallation reviews an add-on. states has the installed add-ons of MayBreak.
func ReviewInstallation(declared *evaluation.Evaluator, addOn string, states map[string]evaluation.State) Installation {
	before, after := map[string][]evaluation.Finding{}, map[string][]evaluation.Finding{}
	for name, state := range states {
		after[name] = declared.Evaluate(name, Settle(state, ""))
		if name != addOn {
			before[name] = declared.Evaluate(name, Settle(removeFrom(state, addOn), ""))
		}
	}
	contradicted := Contradictions(before, after)
	review := Installation{Contradicted: contradicted, Known: len(contradicted) > 0 || !anyHeld(addOn, after)}
	for _, findings := range after {
		if until := evaluation.HeldUntil(findings); !until.IsZero() && (review.Until.IsZero() || until.Before(review.Until)) {
			review.Until = until
		}
	}
	return review
}

// removeFrom returns the state without an installed add-on.
func removeFrom(state evaluation.State, addOn string) evaluation.State {
	state.AddOns = slices.Clone(state.AddOns)
	for i := range state.AddOns {
		if state.AddOns[i].Name == addOn {
			state.AddOns[i] = evaluation.Observation{Name: addOn}
		}
	}
	return state
}

// anyHeld reports whether a blocking verdict is held on an edge from the add-on or to it.
func anyHeld(addOn string, findingsByAddOn map[string][]evaluation.Finding) bool {
	for name, findings := range findingsByAddOn {
		if slices.ContainsFunc(findings, func(f evaluation.Finding) bool {
			return f.Held() && f.Blocks() && (name == addOn || f.Dependency == nil || hasTarget(&f, addOn))
		}) {
			return true
		}
	}
	return false
}

// hasTarget reports whether the edge of a finding, or one of its alternatives, leads to an add-on.
func hasTarget(f *evaluation.Finding, addOn string) bool {
	return slices.ContainsFunc(evaluation.Named(f.Dependency), func(end evaluation.Finding) bool {
		return end.Dependency.API == nil && declaration.Target(end.Dependency) == addOn
	})
}
