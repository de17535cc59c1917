package availability

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// The values of inputs: all values with a meaning, and another value.
var (
	modes    = []ocmv1alpha1.HealthCheckMode{"", "Lease", "Customized", "Other"}
	statuses = []metav1.ConditionStatus{"True", "False", "Unknown", "Other"}
	reasons  = []string{
		ReasonLeaseUpdated, ReasonLeaseStopped, ReasonLeaseNotFound, ReasonRequiredDependencyNotSatisfied,
		ReasonAwaitingHealthCheck, ReasonClusterLost, "DependencyNotSatisfied", "DependenciesSatisfied", "ProbeAvailable",
	}
)

func pick[T any](values []T, choice byte) T { return values[int(choice)%len(values)] }

func condition(kind string, choice byte, message string) *metav1.Condition {
	if choice == 0 {
		return nil
	}
	return &metav1.Condition{
		Type: kind, Status: pick(statuses, choice), Reason: pick(reasons, choice/4), Message: message,
		LastTransitionTime: earlier,
	}
}

func FuzzDecide(f *testing.F) {
	f.Add("proxy", byte(0), byte(0), byte(0), byte(0), byte(0), int64(0), int64(grace), "", "")
	f.Add("proxy", byte(0), byte(1), byte(12), byte(2), byte(1), int64(time.Minute), int64(grace), "", missing)
	f.Add("proxy", byte(2), byte(13), byte(0), byte(2), byte(2), int64(-time.Hour), int64(grace), "mgmt", missing)
	f.Add("proxy", byte(2), byte(13), byte(12), byte(3), byte(0), int64(-1<<63), int64(1<<62), "mgmt", "")
	f.Fuzz(func(t *testing.T, name string, mode, available, degraded, lease, asserted byte, ago, grace int64, hosting, message string) {
		input := Input{
			AddOn:          name,
			Mode:           pick(modes, mode),
			HostingCluster: hosting,
			Available:      condition("Available", available, message),
			Degraded:       condition("Degraded", degraded, message+"!"),
			Lease:          Lease{State: LeaseState(lease % 3)},
			GracePeriod:    time.Duration(grace),
			Now:            now,
		}
		input.Asserted = pick([]string{"", ReasonRequiredDependencyNotSatisfied + ": " + message + "!", "another"}, asserted)
		input.Awaiting = pick([]time.Time{{}, now, now.Add(-time.Duration(ago))}, asserted/3)
		if lease > 2 {
			renewTime := now.Add(-time.Duration(ago))
			input.Lease.RenewTime = &renewTime
		}
		first := Decide(input)
		if first.Write {
			checkWritten(t, input, first.Condition)
		} else if first.Condition != (metav1.Condition{}) {
			t.Errorf("leaves Available alone, but with a condition: %+v", first.Condition)
		}
		next := input
		next.Memory = first.Memory
		if first.Write {
			next.Available = &first.Condition
		}
		second := Decide(next)
		if second.Write || second.Memory != first.Memory {
			t.Errorf("decided %+v, and once that is stored %+v", first, second)
		}
		if !second.NextChange.Equal(first.NextChange) {
			t.Errorf("to look again at %s, and once that is stored at %s", first.NextChange, second.NextChange)
		}
		checkFights(t, input, next, first)
	})
}

// checkFights checks which conditions of another writer are replaced.
func checkFights(t *testing.T, input, next Input, decision Decision) {
	t.Helper()
	fails, stored := RequiredFails(input.Degraded), next.Available
	switch {
	case ClusterLost(input.Available) && decision.Write:
		t.Errorf("replaces the hub's report that the cluster is lost: %+v", decision)
	case !fails && decision.Asserted != "":
		t.Errorf("remembers %q though no dependency fails", decision.Asserted)
	case decision.Awaiting.IsZero() != (decision.NextChange.IsZero() || input.Mode != ocmv1alpha1.HealthCheckModeCustomized):
		t.Errorf("in mode %q awaits since %s until %s", input.Mode, decision.Awaiting, decision.NextChange)
	case fails && (stored == nil || stored.Status == metav1.ConditionTrue):
		t.Errorf("a Required dependency fails, and Available is %+v", stored)
	case fails && decision.Write && input.Asserted == decision.Asserted &&
		input.Available != nil && input.Available.Status != metav1.ConditionTrue:
		t.Errorf("asserts the finding again although another writer has replaced it by %+v", input.Available)
	}
}

func checkWritten(t *testing.T, input Input, written metav1.Condition) {
	t.Helper()
	if written.Type != ConditionAvailable || written.Reason == "" {
		t.Errorf("not a condition Available with a reason: %+v", written)
	}
	moved := input.Available == nil || input.Available.Status != written.Status
	if moved != written.LastTransitionTime.Equal(&atNow) {
		t.Errorf("status changed: %t, but the time of the transition is %s", moved, written.LastTransitionTime)
	}
}
