package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// Effect is what all policies together say of a dependency on one managed cluster at one
// moment. The zero value is that of no policy.
type Effect struct {
	// Policies are those that say it, ascending.
	Policies []string
	// Type is empty for that declared. Versions are the ranges that must all match; none: that
	// declared counts.
	Type     addonv1alpha1.DependencyType
	Versions []string
	// Waived: the dependency counts as satisfied until a moment, for reasons.
	Waived bool
	Until  time.Time
	// Reasons are those of the waivers.
	Reasons []string
	// Unknown is why it is not known what the administrator wants: an override is invalid.
	// Until is then when to look again, if that is known.
	Unknown string
	// Conflicting: the policies contradict each other. The stricter counts.
	Conflicting bool
}

// None reports whether no policy says anything.
func (e *Effect) None() bool { return len(e.Policies) == 0 }

// Together is what overrides of one dependency say on a managed cluster with these labels at a
// moment. Of two that contradict each other the stricter counts (the contract's "administrator's
// word"): the one that does not waive, the stricter type, and all ranges of versions. A waiver
// that has ended says nothing.
func Together(overrides []*Override, clusterLabels map[string]string, now time.Time) Effect {
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

// add takes an override that does not waive.
func (e *Effect) add(override *Override) {
	switch is := override.Type; {
	case is == "":
	case e.Type == "":
		e.Type = is
	case e.Type != is:
		e.Conflicting = true
		if stricter(is, e.Type) {
			e.Type = is
		}
	}
	if override.Version != "" && !slices.Contains(e.Versions, override.Version) {
		e.Conflicting = e.Conflicting || len(e.Versions) > 0
		e.Versions = append(e.Versions, override.Version)
	}
}

// waive takes the waivers. They only count where no other policy wants something of the
// dependency, and end with the last of them.
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

// stricter compares types that an override can set.
func stricter(a, b addonv1alpha1.DependencyType) bool {
	order := []addonv1alpha1.DependencyType{
		addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeIfInstalled, addonv1alpha1.DependencyTypeOptional,
	}
	return slices.Index(order, a) < slices.Index(order, b)
}

// Named names policies in a message.
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
