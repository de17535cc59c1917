package availability

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// The values from which inputs are put together: those that mean something, and
// one that does not.
var (
	modes    = []ocmv1alpha1.HealthCheckMode{"", "Lease", "Customized", "Other"}
	statuses = []metav1.ConditionStatus{"True", "False", "Unknown", "Other"}
	reasons  = []string{
		ReasonLeaseUpdated, ReasonLeaseStopped, ReasonLeaseNotFound, ReasonRequiredDependencyNotSatisfied,
		ReasonAwaitingHealthCheck, ReasonClusterLost, "DependencyNotSatisfied", "DependenciesSatisfied", "ProbeAvailable",
	}
)

func pick[T any](from []T, choice byte) T { return from[int(choice)%len(from)] }

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
	f.Fuzz(func(t *testing.T, name string, mode, was, cause, lease, asserted byte, ago, grace int64, hosting, message string) {
		in := Input{
			AddOn: name, Mode: pick(modes, mode), HostingCluster: hosting,
			Available: condition("Available", was, message), Degraded: condition("Degraded", cause, message+"!"),
			Lease: Lease{State: LeaseState(lease % 3)}, GracePeriod: time.Duration(grace), Now: now,
		}
		in.Asserted = pick([]string{"", ReasonRequiredDependencyNotSatisfied + ": " + message + "!", "another"}, asserted)
		in.Awaiting = pick([]time.Time{{}, now, now.Add(-time.Duration(ago))}, asserted/3)
		if lease > 2 {
			at := now.Add(-time.Duration(ago))
			in.Lease.RenewTime = &at
		}
		first := Decide(in)
		if first.Write {
			checkWritten(t, in, first.Condition)
		} else if first.Condition != (metav1.Condition{}) {
			t.Errorf("leaves Available alone, but with a condition: %+v", first.Condition)
		}
		after := in
		after.Memory = first.Memory
		if first.Write {
			after.Available = &first.Condition
		}
		second := Decide(after)
		if second.Write || second.Memory != first.Memory {
			t.Errorf("decided %+v, and once that is stored %+v", first, second)
		}
		if !second.NextChange.Equal(first.NextChange) {
			t.Errorf("to look again at %s, and once that is stored at %s", first.NextChange, second.NextChange)
		}
		checkFights(t, in, after, first)
	})
}

// checkFights checks which conditions of another writer are replaced.
func checkFights(t *testing.T, in, after Input, decision Decision) {
	t.Helper()
	fails, stored := RequiredFails(in.Degraded), after.Available
	switch {
	case ClusterLost(in.Available) && decision.Write:
		t.Errorf("replaces the hub's report that the cluster is lost: %+v", decision)
	case !fails && decision.Asserted != "":
		t.Errorf("remembers %q though no dependency fails", decision.Asserted)
	case decision.Awaiting.IsZero() != (decision.NextChange.IsZero() || in.Mode != ocmv1alpha1.HealthCheckModeCustomized):
		t.Errorf("in mode %q awaits since %s until %s", in.Mode, decision.Awaiting, decision.NextChange)
	case fails && (stored == nil || stored.Status == metav1.ConditionTrue):
		t.Errorf("a Required dependency fails, and Available is %+v", stored)
	case fails && decision.Write && in.Asserted == decision.Asserted && in.Available != nil && in.Available.Status != metav1.ConditionTrue:
		t.Errorf("asserts again what another writer has replaced by %+v", in.Available)
	}
}

func checkWritten(t *testing.T, in Input, written metav1.Condition) {
	t.Helper()
	if written.Type != ConditionAvailable || written.Reason == "" {
		t.Errorf("not a condition Available with a reason: %+v", written)
	}
	moved := in.Available == nil || in.Available.Status != written.Status
	if moved != written.LastTransitionTime.Equal(&atNow) {
		t.Errorf("status changed: %t, but the time of the transition is %s", moved, written.LastTransitionTime)
	}
}
