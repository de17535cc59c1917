package availability

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// The conditions that are input and output of a decision.
const (
	ConditionAvailable = ocmv1alpha1.ManagedClusterAddOnConditionAvailable
	ConditionDegraded  = ocmv1alpha1.ManagedClusterAddOnConditionDegraded
)

// The reasons of Available that do not follow from a lease.
const (
	// ReasonRequiredDependencyNotSatisfied means that a Required dependency fails.
	// Degraded has the same reason.
	ReasonRequiredDependencyNotSatisfied = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	// ReasonClusterLost is the reason with which OCM's hub sets a ManagedCluster, and
	// then all its add-ons, to Unknown when the cluster's own lease stops. On an
	// add-on it outlives the outage until the cluster's agent reports again.
	ReasonClusterLost = "ManagedClusterLeaseUpdateStopped"
	// ReasonAwaitingHealthCheck means that the dependencies are satisfied again, and
	// that the add-on's own health check has not reported yet. The status is False at
	// first, and Unknown once the grace period has passed without a report.
	ReasonAwaitingHealthCheck = "AwaitingHealthCheck"
)

// DefaultGracePeriod is how long a lease may go without being renewed. OCM
// has no setting for it either: five times a lease duration of 60 seconds.
const DefaultGracePeriod = 5 * 60 * time.Second

// Input is the input of a decision.
type Input struct {
	// AddOn is the add-on's name.
	AddOn string
	// Mode is status.healthCheck.mode. Everything but Customized means Lease,
	// as it does for OCM.
	Mode ocmv1alpha1.HealthCheckMode
	// Available and Degraded are the stored conditions. They are nil if there are none.
	Available, Degraded *metav1.Condition
	// Lease is the state of the add-on's lease. It is not used in Customized mode.
	Lease Lease
	// HostingCluster is the cluster that runs a hosted add-on. It is empty if the add-on is not hosted.
	HostingCluster string
	// Memory is the Memory of the last decision that was carried out. It is empty after a restart.
	Memory
	// GracePeriod is how long a lease may go without being renewed, and how long an
	// add-on's own health check may take to report.
	GracePeriod time.Duration
	// Now is the time of the decision.
	Now time.Time
}

// Memory is the state that one decision on an add-on leaves for the next.
type Memory struct {
	// Asserted is the finding on dependencies that Available was set to.
	Asserted string
	// Awaiting is the time since when the add-on's own health check has been awaited. It is zero if it is not awaited.
	Awaiting time.Time
}

// Decision is the change that Available needs.
type Decision struct {
	// Write is whether to write Condition. If not, Available keeps its value, and
	// Condition is empty.
	Write bool
	// Condition is the new Available.
	Condition metav1.Condition
	// Memory is an input of the next decision, once this one has been carried out.
	Memory
	// NextChange is the time at which the decision changes without any other change. It is zero if there is none.
	NextChange time.Time
	// Skew is how far in the future the lease was renewed, if that is more than the grace period. Otherwise it is zero. One of the
	// two clocks is wrong. As with OCM, the add-on counts as available, also for that long after it stopped.
	Skew time.Duration
}

// Decide returns how Available has to change. After a decision has been carried out,
// the next one with the same input leaves Available alone.
//
//   - The hub's report that the cluster is lost stays until another writer
//     replaces it: OCM's registration agent, or the add-on's own manager.
//   - An unsatisfied Required dependency takes precedence over health, in both modes.
//   - Else Available follows the lease; in Customized mode it is handed back.
func Decide(input Input) Decision {
	switch {
	case ClusterLost(input.Available):
		return input.wait()
	case RequiredFails(input.Degraded):
		return input.assert()
	case input.Mode == ocmv1alpha1.HealthCheckModeCustomized:
		return input.handBack()
	default:
		return input.followLease()
	}
}

// RequiredFails reports whether a Required dependency of the add-on fails according to its Degraded condition, which may be nil.
func RequiredFails(degraded *metav1.Condition) bool {
	return degraded != nil && degraded.Status == metav1.ConditionTrue &&
		degraded.Reason == ReasonRequiredDependencyNotSatisfied
}

// Follows reports whether Available has the reason of a failing Required dependency
// exactly where Degraded has it. Both are nil where the add-on has no such condition.
func Follows(available, degraded *metav1.Condition) bool {
	return available != nil &&
		(available.Reason == ReasonRequiredDependencyNotSatisfied) == RequiredFails(degraded)
}

// LeftByGuard reports whether the guard would leave Available as it is beside
// Degraded. Both are nil where the add-on has no such condition.
func LeftByGuard(available, degraded *metav1.Condition) bool {
	switch {
	case !RequiredFails(degraded), available == nil, ClusterLost(available):
		return true
	}
	return available.Status == metav1.ConditionFalse && available.Reason == degraded.Reason && available.Message == degraded.Message
}

// ClusterLost reports whether the hub set Available, which may be nil, because the cluster is lost. The condition can arrive before
// the loss itself, and it stays when the cluster is back, until the add-on's agent reports.
func ClusterLost(available *metav1.Condition) bool {
	return available != nil && available.Status == metav1.ConditionUnknown && available.Reason == ReasonClusterLost
}

// wait leaves Available to the hub, and keeps the finding that was asserted before. OCM's hub writes Available again after each
// other write that changes the label of the add-on, so two writers would never stop.
func (input Input) wait() Decision {
	if !RequiredFails(input.Degraded) {
		return Decision{}
	}
	return Decision{Memory: Memory{Asserted: input.Asserted}}
}

// assert sets Available to False once per finding. Another writer that then
// replaces it by False or Unknown is left alone: OCM's own agents write theirs
// again and again, and two such writers would never stop. True is always replaced.
func (input Input) assert() Decision {
	finding := ReasonRequiredDependencyNotSatisfied + ": " + input.Degraded.Message
	if input.Asserted == finding && input.Available != nil && input.Available.Status != metav1.ConditionTrue {
		return Decision{Memory: Memory{Asserted: finding}}
	}
	decision := input.become(metav1.ConditionFalse, ReasonRequiredDependencyNotSatisfied, input.Degraded.Message)
	decision.Asserted = finding
	return decision
}

// handBack gives Available back to the add-on's own health check. OCM labels the
// ManagedCluster by the status of Available. So the status stays False until the
// health check reports: the label of an unhealthy add-on does not move. Without a
// report within the grace period, the status is Unknown.
func (input Input) handBack() Decision {
	if input.Available == nil || input.Available.Status != metav1.ConditionFalse ||
		input.Available.Reason != ReasonRequiredDependencyNotSatisfied && input.Available.Reason != ReasonAwaitingHealthCheck {
		return Decision{}
	}
	since := input.Awaiting
	if since.IsZero() {
		since = input.Now
	}
	message := "The dependencies of " + input.AddOn + " add-on are satisfied again; waiting for the add-on's own health check."
	until := since.Add(input.GracePeriod)
	if !input.Now.Before(until) {
		return input.become(metav1.ConditionUnknown, ReasonAwaitingHealthCheck, message)
	}
	decision := input.become(metav1.ConditionFalse, ReasonAwaitingHealthCheck, message)
	decision.Awaiting, decision.NextChange = since, until
	return decision
}

// become returns the decision that leads to this condition. It writes nothing if the condition is stored already.
func (input Input) become(status metav1.ConditionStatus, reason, message string) Decision {
	stored := input.Available
	if stored != nil && stored.Status == status && stored.Reason == reason &&
		(stored.Message == message || aboutLease(reason)) {
		// Another version of OCM may have another message. Replacing it would never stop.
		return Decision{}
	}
	since := metav1.NewTime(input.Now)
	if stored != nil && stored.Status == status {
		since = stored.LastTransitionTime
	}
	return Decision{Write: true, Condition: metav1.Condition{
		Type: ConditionAvailable, Status: status, Reason: reason, Message: message, LastTransitionTime: since,
	}}
}
