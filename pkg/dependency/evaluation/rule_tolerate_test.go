package evaluation_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestTolerate(t *testing.T) {
	since := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	const (
		spec  = "dependencies: [{name: a, tolerate: 2m}]"
		fails = "Required addon 'a' is not installed or not available. "
		down  = fails + "(Available=False, Stopped, since 2026-08-01T10:00:00Z)"
	)
	later := func(passed time.Duration) evaluation.Cluster { return evaluation.Cluster{Now: since.Add(passed)} }
	a := func(observed evaluation.Observation, lapse evaluation.Lapse) map[string]evaluation.Observation {
		observed.Lapse = lapse
		return map[string]evaluation.Observation{"a": observed}
	}
	stopped := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionFalse, "Stopped")}
	stoppedIn := func(version string) evaluation.Observation {
		down := running(version)
		down.Available = stopped.Available
		return down
	}
	broken := running("")
	broken.Degraded = fixture.Degraded(metav1.ConditionTrue, requiredReason, "")
	lapsed := evaluation.Lapse{Since: since}
	for name, tc := range map[string]ruleCase{
		"Available": {
			reason: "nothing to tolerate", spec: spec, cluster: later(time.Minute),
			addOns: a(running(""), evaluation.Lapse{}), want: "a=Satisfied",
		},
		"AtOnce": {reason: "counts as satisfied", spec: spec, cluster: later(0), addOns: a(stopped, lapsed), want: "a=Tolerated"},
		"Before": {
			reason: "to the last moment", spec: spec, cluster: later(2*time.Minute - 1),
			addOns: a(stopped, lapsed), want: "a=Tolerated",
		},
		"Over": {
			reason: "exactly", spec: spec, cluster: later(2 * time.Minute),
			addOns: a(stopped, lapsed), want: "a=NotAvailable", message: down,
		},
		"Chain": {
			reason: "a dependency of its own fails", spec: spec, cluster: later(time.Minute),
			addOns: a(broken, lapsed), want: "a=Tolerated",
		},
		"NeverAvailable": {
			reason: "what just was installed is not tolerated", spec: spec, cluster: later(time.Minute), addOns: a(stopped, evaluation.Lapse{}),
			want: "a=NotAvailable", message: down,
		},
		"Unwitnessed": {
			reason: "after a restart the last verdict counts", spec: spec, cluster: later(time.Minute),
			addOns: a(stopped, evaluation.Lapse{Since: since, Unwitnessed: true}), want: "a=Held",
		},
		"UnwitnessedOver": {
			reason: "but not for ever", spec: spec, cluster: later(2 * time.Minute),
			addOns: a(stopped, evaluation.Lapse{Since: since, Unwitnessed: true}), want: "a=NotAvailable", message: down,
		},
		"NotInstalled": {
			reason: "a removal is meant", spec: spec, cluster: later(time.Minute), addOns: nil, want: "a=NotInstalled",
			message: fails + "(not installed)",
		},
		"Version": {
			reason: "nor is another version tolerated", spec: `dependencies: [{name: a, version: ">= 2", tolerate: 2m}]`,
			cluster: later(time.Minute),
			addOns:  a(running("1.0.0"), evaluation.Lapse{}), want: "a=VersionMismatch",
			message: "Required addon 'a' is not installed or not available in version '>= 2'. (version 1.0.0 from its ManagedClusterAddOn)",
		},
		"OtherVersionDown": {
			reason: "also while it is not available", spec: `dependencies: [{name: a, version: ">= 2", tolerate: 2m}]`,
			cluster: later(time.Minute), addOns: a(stoppedIn("1.0.0"), lapsed), want: "a=VersionMismatch",
			message: "Required addon 'a' is not installed or not available in version '>= 2'. (version 1.0.0 from its ManagedClusterAddOn)",
		},
		"RightVersionDown": {
			reason: "the right version is", spec: `dependencies: [{name: a, version: ">= 2", tolerate: 2m}]`,
			cluster: later(time.Minute), addOns: a(stoppedIn("2.0.0"), lapsed), want: "a=Tolerated",
		},
		"VersionUnread": {
			reason: "while it is not available, its version does not count", spec: `dependencies: [{name: a, version: ">= 2", tolerate: 2m}]`,
			cluster: later(time.Minute), addOns: a(stopped, lapsed), want: "a=Tolerated",
		},
		"OtherFails": {
			reason: "it is no part of the message", spec: "dependencies: [{name: a, tolerate: 2m}, {name: b}]", cluster: later(time.Minute),
			addOns: a(stopped, lapsed), want: "a=Tolerated b=NotInstalled",
			message: "Required addon 'b' is not installed or not available. (not installed)",
		},
		"NoTolerance": {
			reason:  "another edge's tolerance is not this one's",
			spec:    "dependencies: [{name: a}, {name: b, addOn: a, type: Optional, tolerate: 2m}]",
			cluster: later(time.Minute), addOns: a(stopped, lapsed), want: "a=NotAvailable b=Tolerated", message: down,
		},
	} {
		t.Run(name, tc.run)
	}
}

// The message about a tolerated failure has its end, and the next evaluation follows then.
func TestToleratedUntil(t *testing.T) {
	x := fixture.Specified(t, "x", "dependencies: [{name: a, tolerate: 2m}, {name: b, tolerate: 1m}]")
	declared := evaluator(append(fixture.Registrations("y:"), x))
	since := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	state := declared.State("x", evaluation.Cluster{Now: since}, func(string) evaluation.Observation {
		return evaluation.Observation{
			Installed: true, Available: fixture.Available(metav1.ConditionFalse, "Stopped"), Lapse: evaluation.Lapse{Since: since},
		}
	})
	findings := declared.Evaluate("x", state)
	const want = "tolerated until 2026-08-01T10:02:00Z: Available=False, Stopped, since 2026-08-01T10:00:00Z"
	if got := findings[0].Reason(); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	if until := evaluation.HeldUntil(findings); !until.Equal(since.Add(time.Minute)) {
		t.Errorf("evaluated again at %s", until)
	}
	if !declared.Tolerates("a") || declared.Tolerates("x") || declared.Tolerates("y") {
		t.Error("tolerates others than a and b")
	}
}
