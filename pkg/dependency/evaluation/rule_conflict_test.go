package evaluation_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestConflicts(t *testing.T) {
	const (
		anyVersion   = "dependencies: [{name: a, type: Conflicts}]"
		versionRange = `dependencies: [{name: a, type: Conflicts, version: ">= 2"}]`
		installed    = "Addon 'a' is installed, which conflicts with this addon. (installed)"
		inRange      = "Addon 'a' is installed in version '>= 2', which conflicts with this addon. "
		maybe        = "Addon 'a' is installed, and may be in version '>= 2', which conflicts with this addon. "
	)
	now := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	a := func(observed evaluation.Observation) map[string]evaluation.Observation {
		return map[string]evaluation.Observation{"a": observed}
	}
	facts := func(version string, requested time.Time) evaluation.Cluster {
		cluster := evaluation.Cluster{Now: now, Facts: evaluation.Facts{Requested: requested}}
		if version != "" {
			cluster.Facts.Versions = map[string]evaluation.VersionFact{"a": {Version: version}}
		}
		return cluster
	}
	for name, tc := range map[string]ruleCase{
		"NotInstalled": {reason: "nothing is in the way", spec: anyVersion, want: "a=Satisfied"},
		"Installed":    {reason: "it is", spec: anyVersion, addOns: a(running("")), want: "a=Conflict", message: installed},
		"NotAvailable": {
			reason: "also what is down is in the way", spec: anyVersion, want: "a=Conflict", message: installed,
			addOns: a(evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionFalse, "Stopped")}),
		},
		"NotReported": {
			reason: "also before it is reported", spec: anyVersion, addOns: a(evaluation.Observation{Installed: true}), want: "a=Conflict",
			message: installed,
		},
		"AnyVersion": {
			reason: "every version", spec: `dependencies: [{name: a, type: Conflicts, version: "*"}]`, addOns: a(running("1.0.0")),
			want: "a=Conflict", message: installed,
		},
		"NoVersion":  {reason: "not installed in that range", spec: versionRange, want: "a=Satisfied"},
		"OtherRange": {reason: "another version is no conflict", spec: versionRange, addOns: a(running("1.9.0")), want: "a=Satisfied"},
		"Prerelease": {reason: "a range has releases only", spec: versionRange, addOns: a(running("3.0.0-rc.1")), want: "a=Satisfied"},
		"WithinRange": {
			reason: "that version is", spec: versionRange, addOns: a(running("2.1.0")), want: "a=Conflict",
			message: inRange + "(version 2.1.0 from its ManagedClusterAddOn)",
		},
		"Unknown": {
			reason: "it may be that version", spec: versionRange, addOns: a(running("")), want: "a=VersionUnknown",
			message: maybe + "(version not known: " + howTo + ")",
		},
		"LeaseFirst": {
			reason: "the version that runs counts", spec: versionRange, cluster: facts("2.0.0", now), addOns: a(running("1.0.0")),
			want: "a=Conflict", message: inRange + "(version 2.0.0 from its agent's lease)",
		},
		"LeasePending": {
			reason: "the lease may have another version", spec: versionRange, cluster: facts("", now.Add(-time.Second)), addOns: a(running("2.0.0")),
			want: "a=Held",
		},
		"LeaseLate": {
			reason: "but not for ever", spec: versionRange, cluster: facts("", now.Add(-time.Minute)), addOns: a(running("2.0.0")),
			want: "a=Conflict", message: inRange + "(version 2.0.0 from its ManagedClusterAddOn)",
		},
		"Alias": {
			reason: "beside a dependency on another version", want: "a=Satisfied old=Conflict", addOns: a(running("0.9.0")),
			spec: `dependencies: [{name: a, type: Optional}, {name: old, addOn: a, type: Conflicts, version: "< 1", message: Its API differs.}]`,
			message: "Addon 'a' is installed in version '< 1', which conflicts with this addon. " +
				"Its API differs. (version 0.9.0 from its ManagedClusterAddOn)",
		},
		"NotHere": {
			reason: "where the condition does not hold", spec: `dependencies: [{name: a, type: Conflicts, when: {expression: "false"}}]`,
			addOns: a(running("")), want: "a=NotApplicable",
		},
	} {
		t.Run(name, tc.run)
	}
}

// Two add-ons that exclude each other are no cycle: where one is installed, it works.
func TestConflictsAreOnNoCycle(t *testing.T) {
	x := fixture.Specified(t, "x", "dependencies: [{name: y, type: Conflicts}]")
	y := fixture.Specified(t, "y", "dependencies: [{name: x, type: Conflicts}, {name: missing, type: Conflicts}]")
	declared := evaluator(append(fixture.Registrations("z: x"), x, y))
	for _, addOn := range []string{"x", "y"} {
		if problems := declared.Problems(addOn); len(problems) > 0 {
			t.Errorf("%s: %v", addOn, problems)
		}
	}
	for _, addOn := range []string{"x", "y"} {
		state := declared.State(addOn, evaluation.Cluster{}, func(name string) evaluation.Observation {
			if name == addOn {
				return running("")
			}
			return evaluation.Observation{}
		})
		for _, finding := range declared.Evaluate(addOn, state) {
			if finding.Verdict != evaluation.Satisfied {
				t.Errorf("%s: %s is %s", addOn, finding.Name(), finding.Verdict)
			}
		}
	}
}
