package evaluation

import (
	"fmt"
	"strings"
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/text"
)

// overrides are what policies say of the edge or requirement.
func (s *subject) overrides() []*policy.Override {
	if s.edge != nil {
		return s.edge.Overrides
	}
	return s.requirement.Overrides
}

// overriddenInputs are what the verdict depends on because of policies.
func (s *subject) overriddenInputs() (inputs input.Set) {
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

// under returns what counts of the edge or requirement on the cluster: itself where policies say nothing
// of it, or let it be waived. The effect is what they say.
func (s *subject) under(cluster *Cluster) (counts *subject, effect policy.Effect) {
	overrides := s.overrides()
	if len(overrides) == 0 {
		return s, effect
	}
	effect = policy.Together(overrides, cluster.Labels, cluster.Now)
	if s.edge == nil {
		return s, effect // a requirement can only be waived
	}
	edge := s.edge.Under(&effect)
	if effect.Unknown != "" {
		edge = s.edge.Blocking() // it may be: what is stored because of it must not be taken back
	}
	if edge == s.edge {
		return s, effect
	}
	return &subject{edge: edge, kind: dependencyKind(&edge.Dependency)}, effect
}

// settle sets the verdict where policies decide it, and reports whether they do.
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

// waivedRule is that of an edge that is waived, whatever kind it is else.
var waivedRule = rule{
	sentence: func(f *Finding) string {
		return fmt.Sprintf("%s dependency '%s' is waived.", f.Type(), text.Name(f.Name()))
	},
	found: func(f *Finding) string { return "waived " + text.Cut(f.detail().Because, maxReason) },
}

// overruled adds to what was found that policies say what the edge needs.
func (f *Finding) overruled(found string) string {
	if f.Detail == nil || len(f.Detail.Policies) == 0 || f.Verdict == Waived {
		return found
	}
	return found + "; overridden by " + text.Cut(policy.Named(f.Detail.Policies...), maxReason)
}
