package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// Effect is the combined override of a dependency by all policies, on one managed cluster at one time. The zero value
// overrides nothing.
type Effect struct {
	// Policies has the policies that override the dependency, in ascending order.
	Policies []string
	// Type replaces the declared type. If it is empty, the declared type counts.
	Type addonv1alpha1.DependencyType
	// Versions are ranges that replace the declared range. All of them must match. If there are none, the
	// declared range counts.
	Versions []string
	// Waived is true if the dependency counts as satisfied until the time Until.
	Waived bool
	Until  time.Time
	// Reasons are the reasons of the waivers.
	Reasons []string
	// Unknown describes an invalid override. The intended effect is unknown then. Until is the time of the next evaluation,
	// or zero if only a change leads to one.
	Unknown string
	// Conflicting is true if two policies contradict each other. The stricter one counts.
	Conflicting bool
}

// None reports whether no policy overrides the dependency.
func (e *Effect) None() bool { return len(e.Policies) == 0 }

// Combine combines the overrides of one dependency, on a managed cluster with these labels. If two overrides contradict
// each other, the stricter one counts: no waiver, the stricter type, and all ranges of versions. A waiver that has ended
// is ignored.
func Combine(overrides []*Override, clusterLabels map[string]string, now time.Time) Effect {
	var effect Effect
	var waivers []*Override
	for _, override := range overrides {
		if !override.Selects(clusterLabels) || override.Ended(now) {
			continue
		}
		effect.Policies = append(effect.Policies, override.Policy)
		switch {
		case override.Wrong(now) != "":
			effect.Unknown = Named(override.Policy) + ": " + override.Wrong(now)
			if override.Invalid == "" {
				effect.Until = override.Until.Add(-LongestWaiver)
			}
		case override.Waived:
			waivers = append(waivers, override)
		default:
			effect.add(override)
		}
	}
	effect.Policies = slices.Compact(effect.Policies)
	if effect.Unknown != "" {
		return Effect{Policies: effect.Policies, Unknown: effect.Unknown, Until: effect.Until}
	}
	effect.waive(waivers)
	return effect
}

// add adds an override without a waiver.
func (e *Effect) add(override *Override) {
	switch {
	case override.Type == "":
	case e.Type == "":
		e.Type = override.Type
	case e.Type != override.Type:
		e.Conflicting = true
		if stricter(override.Type, e.Type) {
			e.Type = override.Type
		}
	}
	if override.Version != "" && !slices.Contains(e.Versions, override.Version) {
		e.Conflicting = e.Conflicting || len(e.Versions) > 0
		e.Versions = append(e.Versions, override.Version)
	}
}

// waive adds the waivers. They have no effect beside an override of another policy. The last end of a waiver counts.
func (e *Effect) waive(waivers []*Override) {
	if len(waivers) == 0 {
		return
	}
	if e.Type != "" || len(e.Versions) > 0 {
		e.Conflicting = true
		return
	}
	e.Waived = true
	for _, waiver := range waivers {
		e.Reasons = append(e.Reasons, fmt.Sprintf("%s: %s", Named(waiver.Policy), text.OneLine(waiver.Reason)))
		if waiver.Until.After(e.Until) {
			e.Until = waiver.Until
		}
	}
}

// stricter reports whether type a is stricter than type b.
func stricter(a, b addonv1alpha1.DependencyType) bool {
	order := []addonv1alpha1.DependencyType{
		addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeIfInstalled, addonv1alpha1.DependencyTypeOptional,
	}
	return slices.Index(order, a) < slices.Index(order, b)
}

// Named returns the names of policies for a message.
func Named(policies ...string) string {
	names := make([]string, 0, len(policies))
	for _, policy := range policies {
		names = append(names, "'"+text.Name(policy)+"'")
	}
	kind := "AddOnDependencyPolicy "
	if len(policies) > 1 {
		kind = "AddOnDependencyPolicies "
	}
	return kind + strings.Join(names, ", ")
}
