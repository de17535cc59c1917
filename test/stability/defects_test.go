package stability

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// The rules that Interlock had before. On real OCM they made writers overwrite each other for ever. The enumeration
// has to find the same fights.

// alwaysAsserts is the agent that set its condition again whatever was stored.
func alwaysAsserts(input availability.Input) availability.Decision {
	input.Memory = availability.Memory{}
	decision := availability.Decide(input)
	decision.Memory = availability.Memory{}
	return decision
}

// deniesLoss is the agent that replaced the hub's report that the cluster is lost.
func deniesLoss(input availability.Input) availability.Decision {
	if input.Available != nil && input.Available.Reason == availability.ReasonClusterLost {
		replaced := *input.Available
		replaced.Reason = "Other"
		input.Available = &replaced
	}
	return availability.Decide(input)
}

// keepsReason is an agent that does not hand Available back.
func keepsReason(input availability.Input) availability.Decision {
	decision := availability.Decide(input)
	if decision.Condition.Reason == availability.ReasonAwaitingHealthCheck {
		return availability.Decision{}
	}
	return decision
}

// guardsTrueOnly is the guard that replaced only True.
func guardsTrueOnly(before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if available := conditionsOf(after).available.condition(); available != nil && available.Status != metav1.ConditionTrue {
		return after, nil
	}
	return mutate(before, after)
}

// movesTime is a guard that builds a new condition instead of restoring the stored one.
func movesTime(before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	written, err := mutate(before, after)
	if err != nil || conditionsOf(after) == conditionsOf(written) {
		return written, err
	}
	result := conditionsOf(written)
	if stored := conditionsOf(before).available; result.available == stored {
		result.available ^= 1
	}
	return result.object(), nil
}

func TestDefectsAreFound(t *testing.T) {
	lease := World{
		Mode: ocmv1alpha1.HealthCheckModeLease, AddOnLease: stock.NoLease, RegistrationAgent: true, AddOnAgent: true, Dependency: RequiredMissing,
	}
	stopped := lease
	stopped.AddOnLease = stock.StoppedLease
	guarded := lease
	guarded.Guard = true
	lost := lease
	lost.AddOnLease, lost.RegistrationAgent, lost.Dependency = stock.LiveLease, false, Satisfied
	custom := World{
		Mode: ocmv1alpha1.HealthCheckModeCustomized, Prober: stock.WorkProber, Work: stock.WorkUnhealthy,
		RegistrationAgent: true, AddOnAgent: true, Dependency: RequiredMissing,
	}
	noFeedback, notApplied, recovered := custom, custom, custom
	noFeedback.Work, notApplied.Work, recovered.Work = stock.WorkNoFeedback, stock.WorkNotAvailable, stock.WorkNeverApplied
	recovered.Dependency = Satisfied
	live := guarded
	live.AddOnLease, live.AddOnAgent = stock.LiveLease, false

	for _, test := range []struct {
		name  string
		world World
		rules *interlock
		// want are parts of the reported schedule, in their order.
		want []string
	}{
		{
			"case 1: an add-on without a lease, no guard", lease, withRules(alwaysAsserts, mutate, nil),
			[]string{
				"never ends", "round", "addon-agent decides: Available Unknown/ManagedClusterAddOnLeaseNotFound → False/Required",
				"registration-agent polls", "→ Unknown/ManagedClusterAddOnLeaseNotFound",
			},
		},
		{
			"case 1: an add-on without a lease, the guard of that time", guarded, withRules(alwaysAsserts, guardsTrueOnly, nil),
			[]string{
				"never ends", "round", "addon-agent decides: Available Unknown/ManagedClusterAddOnLeaseNotFound → False/Required",
				"registration-agent polls",
			},
		},
		{
			"case 1: an add-on with a stopped lease", stopped, withRules(alwaysAsserts, mutate, nil),
			[]string{
				"never ends", "round", "addon-agent decides: Available False/ManagedClusterAddOnLeaseUpdateStopped → False/Required",
				"registration-agent polls",
			},
		},
		{
			"case 2: the registration agent is dead, no dependency fails", lost, withRules(deniesLoss, mutate, nil),
			[]string{
				"never ends", "round", "addon-agent decides: Available Unknown/ManagedClusterLeaseUpdateStopped → True", "hub sets the label",
				"hub checks the add-ons", "→ Unknown/ManagedClusterLeaseUpdateStopped",
			},
		},
		{
			"case 3: False/ProbeUnavailable", custom, withRules(alwaysAsserts, mutate, nil),
			[]string{"never ends", "round", "addon-agent decides: Available False/ProbeUnavailable → False/Required", "add-on's manager probes"},
		},
		{
			"case 3: False/WorkNotApplied", notApplied, withRules(alwaysAsserts, mutate, nil),
			[]string{"never ends", "round", "addon-agent decides: Available False/WorkNotApplied → False/Required", "add-on's manager probes"},
		},
		{
			"case 3: Unknown/NoProbeResult", noFeedback, withRules(alwaysAsserts, mutate, nil),
			[]string{"never ends", "round", "addon-agent decides: Available Unknown/NoProbeResult → False/Required", "add-on's manager probes"},
		},
		{
			"a guard that moves a time", live, withRules(availability.Decide, movesTime, nil),
			[]string{"never ends", "round", "registration-agent polls"},
		},
		{
			"a guard for True alone", guarded, withRules(availability.Decide, guardsTrueOnly, nil),
			[]string{"the guard lets pass Unknown/ManagedClusterAddOnLeaseNotFound", "registration-agent polls"},
		},
		{
			"a reason that is left behind", recovered, withRules(keepsReason, mutate, nil),
			[]string{"ends where the reason lingers", "addon-manager evaluates", "addon-agent decides"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			problems := newModel(test.world, test.rules).check().problems
			report := strings.Join(problems[:min(1, len(problems))], "")
			t.Log(report)
			rest := report
			for _, part := range test.want {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("%q is not reported, or not in this order", part)
				}
				rest = after
			}
		})
	}
}
