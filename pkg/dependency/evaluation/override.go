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

// override finds what policies say of the edge or requirement on the cluster. Where that decides the
// verdict, settled is true. Else it returns what is to be evaluated instead.
func (s *subject) override(g *given, f *Finding) (instead *subject, settled bool) {
	overrides := s.overrides()
	if len(overrides) == 0 {
		return s, false
	}
	effect := policy.Together(overrides, g.cluster.Labels, g.cluster.Now)
	if effect.None() {
		return s, false
	}
	switch {
	case effect.Unknown != "":
		f.Verdict, f.Until, f.detail().Because = Held, effect.Until, effect.Unknown
		f.Detail.Policies = effect.Policies
		return s, true
	case effect.Waived:
		f.Verdict, f.Until, f.detail().Because = Waived, effect.Until, waivedBecause(&effect)
		f.Detail.Policies = effect.Policies
		return s, true
	case s.edge == nil:
		return s, false // a requirement can only be waived
	}
	edge := s.edge.Under(&effect)
	if edge == s.edge {
		return s, false
	}
	f.Dependency, f.detail().Policies = &edge.Dependency, effect.Policies
	return &subject{edge: edge, kind: kindOf(&edge.Dependency, nil)}, false
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
