package condition

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestReactionTo(t *testing.T) {
	const isTrue, isFalse = metav1.ConditionTrue, metav1.ConditionFalse
	ago := func(seconds int) metav1.Time {
		return metav1.NewTime(fixture.Now.Add(-time.Duration(seconds) * time.Second))
	}
	var (
		down    = withTime(fixture.Available(isFalse, "Down"), ago(3))
		stopped = withTime(fixture.Available(isFalse, requiredReason), ago(2))
		broken  = withTime(fixture.Degraded(isTrue, requiredReason, ""), ago(4))
		whole   = withTime(fixture.Degraded(isFalse, satisfiedReason, ""), ago(5))
		up      = withTime(fixture.Available(isTrue, "Up"), ago(7))
		fails   = *fixture.Degraded(isTrue, requiredReason, "")
		fine    = *fixture.Degraded(isFalse, satisfiedReason, "")
		older   = withTime(fixture.Available(isFalse, "Down"), ago(4000))
		edge    = fixture.EdgeOn(fixture.Required("base"))
	)
	verdict := func(verdict evaluation.Verdict, degraded, available *metav1.Condition) []evaluation.Finding {
		return []evaluation.Finding{{Dependency: edge, Verdict: verdict, Degraded: degraded, Available: available}}
	}
	satisfied := verdict(evaluation.Satisfied, nil, nil)
	notAvailable := verdict(evaluation.NotAvailable, nil, down)
	satisfiedSince := func(seconds int) *metav1.Condition { return withTime(&metav1.Condition{Status: isFalse}, ago(seconds)) }
	failing := func(seconds int) *metav1.Condition {
		return withTime(fixture.Degraded(isTrue, requiredReason, ""), ago(seconds))
	}
	onAPI := addonv1alpha1.AddonDependency{Name: "base", API: &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Kind: "K"}}}
	for name, test := range map[string]struct {
		stored   *metav1.Condition
		desired  metav1.Condition
		findings []evaluation.Finding
		degraded *metav1.Condition // of the dependency, which is up
		want     Reaction
		seconds  int
	}{
		"a dependency goes down":                {nil, fails, notAvailable, nil, ReactionNoticed, 3},
		"after it was satisfied":                {satisfiedSince(60), fails, notAvailable, nil, ReactionNoticed, 3},
		"before the stored condition":           {satisfiedSince(1), fails, notAvailable, nil, ReactionNone, 0},
		"long ago":                              {nil, fails, verdict(evaluation.NotAvailable, nil, older), nil, ReactionNone, 0},
		"a dependency of it fails":              {nil, fails, verdict(evaluation.NotAvailable, broken, nil), nil, ReactionPropagated, 4},
		"a dependency of it fails, by the rule": {nil, fails, verdict(evaluation.NotAvailable, nil, stopped), nil, ReactionPropagated, 2},
		"it is deleted":                         {nil, fails, verdict(evaluation.NotInstalled, nil, nil), nil, ReactionNone, 0},
		"the status stays":                      {failing(60), fails, notAvailable, nil, ReactionNone, 0},
		"it is up again":                        {failing(60), fine, satisfied, nil, ReactionRecovered, 7},
		"what it depends on is satisfied again": {failing(60), fine, satisfied, whole, ReactionRecovered, 5},
		"it is up again in the same second":     {failing(7), fine, satisfied, nil, ReactionRecovered, 7},
		"it was up before":                      {failing(6), fine, satisfied, nil, ReactionNone, 0},
		"an API is served again": {
			failing(60), fine,
			[]evaluation.Finding{{Dependency: &onAPI, Verdict: evaluation.Satisfied}},
			nil, ReactionNone, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			observed := evaluation.AddOns{{Name: "base", Installed: true, Available: up, Degraded: test.degraded}}
			got, took := ReactionTo(test.stored, test.desired, test.findings, observed, fixture.Now.Time)
			if got != test.want || took != time.Duration(test.seconds)*time.Second {
				t.Errorf("%q after %s, want %q after %ds", got, took, test.want, test.seconds)
			}
		})
	}
}
