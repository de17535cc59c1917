package bundle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

const (
	isTrue, isFalse, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	customized, lease        = ocmv1alpha1.HealthCheckModeCustomized, ocmv1alpha1.HealthCheckModeLease
	required                 = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
)

var (
	now     = metav1.NewTime(fixture.Now.Time)
	earlier = metav1.NewTime(fixture.Now.Add(-time.Hour))
)

func condition(kind string, status metav1.ConditionStatus, reason, message string) *metav1.Condition {
	return &metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: earlier}
}

func available(status metav1.ConditionStatus, reason, message string) *metav1.Condition {
	return condition("Available", status, reason, message)
}

func edge(kind addonv1alpha1.DependencyType, verdict evaluation.Verdict) evaluation.Finding {
	return evaluation.Finding{Dependency: &addonv1alpha1.AddonDependency{Name: "base", Type: kind}, Verdict: verdict}
}

func TestDecide(t *testing.T) {
	type findings = []evaluation.Finding
	needed, optional := addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeOptional
	satisfied, held, failing := findings{
		edge(needed, evaluation.Satisfied),
	}, findings{
		edge(needed, evaluation.Held),
	}, findings{
		edge(needed, evaluation.NotAvailable),
	}
	fails := condition("Degraded", isTrue, required, "base is missing")
	lost := available(unknown, availability.ReasonClusterLost, "lost")
	noLease := available(unknown, availability.ReasonLeaseNotFound, "no lease")
	for name, test := range map[string]struct {
		input  Input
		status metav1.ConditionStatus // empty: nothing is written
		reason string
		since  metav1.Time
		mode   ocmv1alpha1.HealthCheckMode
	}{
		"First":        {Input{Findings: satisfied}, isTrue, ReasonAvailable, now, customized},
		"NeedsNothing": {Input{}, isTrue, ReasonAvailable, now, customized},
		"IsStored":     {input: Input{Findings: satisfied, Stored: available(isTrue, ReasonAvailable, messageAvailable)}},
		"OCMFoundNoLease": {
			Input{Findings: satisfied, Stored: noLease}, isTrue, ReasonAvailable, now, customized,
		},
		"Fails":             {Input{Findings: failing, Degraded: fails}, isFalse, required, now, customized},
		"FailsAsTheGuardDo": {input: Input{Findings: failing, Degraded: fails, Stored: available(isFalse, required, fails.Message)}},
		"FailsInAnotherWay": {
			Input{Findings: failing, Degraded: fails, Stored: available(isFalse, required, "before")}, isFalse, required, earlier, customized,
		},
		"DegradedIsLate": {input: Input{Findings: satisfied, Degraded: fails, Stored: available(isFalse, required, fails.Message)}},
		"DegradedIsNotYet": {
			input: Input{Findings: failing, Stored: available(isTrue, ReasonAvailable, messageAvailable)},
		},
		"OptionalFails": {
			Input{Findings: findings{edge(optional, evaluation.NotInstalled)}}, isTrue, ReasonAvailable, now, customized,
		},
		"Waived":           {Input{Findings: findings{edge(needed, evaluation.Waived)}}, isTrue, ReasonAvailable, now, customized},
		"HeldFirst":        {Input{Findings: held}, unknown, ReasonUnknown, now, customized},
		"HeldWithoutLease": {Input{Findings: held, Stored: noLease}, unknown, ReasonUnknown, earlier, customized},
		"Held":             {input: Input{Findings: held, Stored: available(isTrue, ReasonAvailable, messageAvailable)}},
		"Lost":             {input: Input{Findings: satisfied, Lost: true, Stored: lost}},
		"LostAndFailing":   {input: Input{Findings: failing, Degraded: fails, Lost: true, Stored: lost}},
		"LostFirst":        {Input{Lost: true}, unknown, ReasonUnknown, now, customized},
		"BackAndHeld":      {input: Input{Findings: held, Degraded: fails, Stored: lost}},
		"Back":             {Input{Findings: satisfied, Stored: lost}, isTrue, ReasonAvailable, now, customized},
	} {
		t.Run(name, func(t *testing.T) {
			test.input.Bundle, test.input.Now = true, now
			got := Decide(test.input)
			if got.Write != (test.status != "") || got.Condition.Status != test.status || got.Condition.Reason != test.reason ||
				got.Mode != test.mode ||
				!got.Condition.LastTransitionTime.Equal(&test.since) {
				t.Fatalf("%+v", got)
			}
			test.input.Stored = &got.Condition
			if second := Decide(test.input); got.Write && second.Write {
				t.Errorf("written again: %+v", second)
			}
		})
	}
}

func TestFormerBundleIsGivenBack(t *testing.T) {
	for name, test := range map[string]struct {
		stored *metav1.Condition
		writes bool
	}{
		"NeverOne":     {nil, false},
		"OfItsAgent":   {available(isTrue, availability.ReasonLeaseUpdated, ""), false},
		"OfTheGuard":   {available(isFalse, required, ""), false},
		"WasAvailable": {available(isTrue, ReasonAvailable, messageAvailable), true},
		"WasUnknown":   {available(unknown, ReasonUnknown, messageUnknown), true},
		"GivenBack":    {available(unknown, ReasonReleased, messageReleased), false},
	} {
		t.Run(name, func(t *testing.T) {
			got := Decide(Input{Stored: test.stored, Now: now})
			if got.Write != test.writes || test.writes && (got.Mode != lease || got.Condition.Status != unknown) {
				t.Errorf("%+v", got)
			}
		})
	}
}
