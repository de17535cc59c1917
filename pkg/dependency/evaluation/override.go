package evaluation

import (
	"fmt"
	"strings"
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/text"
)

// overrides returns the overrides of the edge or requirement by policies.
func (s *subject) overrides() []*policy.Override {
	if s.edge != nil {
		return s.edge.Overrides
	}
	return s.requirement.Overrides
}

// overriddenInputs returns the inputs that the verdict has because of policies.
func (s *subject) overriddenInputs() input.Set {
	var inputs input.Set
	for _, override := range s.overrides() {
		if !override.Everywhere() {
			inputs |= input.Labels
		}
	}
	if s.edge != nil && len(s.edge.Overrides) > 0 && s.edge.MayCompareVersion() {
		inputs |= versionRule.inputs
	}
	return inputs
}

// applyPolicies returns the edge or requirement after overrides by policies on the cluster, with the effect of the
// policies. It is the same subject if no policy overrides its type or version.
func (s *subject) applyPolicies(cluster *Cluster) (*subject, policy.Effect) {
	overrides := s.overrides()
	if len(overrides) == 0 {
		return s, policy.Effect{}
	}
	effect := policy.Combine(overrides, cluster.Labels, cluster.Now)
	if s.edge == nil {
		return s, effect // a requirement can only be waived
	}
	edge := s.edge.Under(&effect)
	if effect.Unknown != "" {
		edge = s.edge.Blocking() // the policy may make the edge Required, so a condition because of it must stay
	}
	if edge == s.edge {
		return s, effect
	}
	return &subject{edge: edge, kind: dependencyKind(&edge.Dependency)}, effect
}

// settle sets the verdict and returns true if policies decide it.
func settle(effect *policy.Effect, f *Finding) bool {
	switch {
	case effect.Unknown != "":
		f.Verdict, f.Until, f.detail().Because = Held, effect.Until, effect.Unknown
	case effect.Waived:
		f.Verdict, f.Until, f.detail().Because = Waived, effect.Until, waivedBecause(effect)
	default:
		return false
	}
	f.Detail.Policies = effect.Policies
	return true
}

func waivedBecause(effect *policy.Effect) string {
	return fmt.Sprintf("until %s by %s", effect.Until.Format(time.RFC3339), strings.Join(effect.Reasons, "; "))
}

// waivedRule is the rule of a waived edge of any kind.
var waivedRule = rule{
	sentence: func(f *Finding) string {
		return fmt.Sprintf("%s dependency '%s' is waived.", f.Type(), text.Name(f.Name()))
	},
	describe: func(f *Finding) string { return "waived " + text.Cut(f.detail().Because, maxReason) },
}

// withPolicies appends the overriding policies to a description.
func (f *Finding) withPolicies(description string) string {
	if f.Detail == nil || len(f.Detail.Policies) == 0 || f.Verdict == Waived {
		return description
	}
	return description + "; overridden by " + text.Cut(policy.Named(f.Detail.Policies...), maxReason)
}
