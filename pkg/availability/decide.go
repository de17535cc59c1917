package availability

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// The conditions that this package speaks of.
const (
	ConditionAvailable = ocmv1alpha1.ManagedClusterAddOnConditionAvailable
	ConditionDegraded  = ocmv1alpha1.ManagedClusterAddOnConditionDegraded
)

// The reasons of Available beyond those of OCM.
const (
	// ReasonRequiredDependencyNotSatisfied says that a Required dependency
	// fails: the same word as on Degraded.
	ReasonRequiredDependencyNotSatisfied = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	// ReasonAwaitingHealthCheck says that the dependencies are satisfied
	// again, and that the add-on's own health check has the next word.
	ReasonAwaitingHealthCheck = "AwaitingHealthCheck"
)

// DefaultGracePeriod is how long a lease may go without being renewed. OCM
// has no setting for it either: five times a lease duration of 60 seconds.
const DefaultGracePeriod = 5 * 60 * time.Second

// Input is all that a decision rests on.
type Input struct {
	// AddOn is the add-on's name.
	AddOn string
	// Mode is status.healthCheck.mode. Everything but Customized means Lease,
	// as it does for OCM.
	Mode ocmv1alpha1.HealthCheckMode
	// Available and Degraded are the stored conditions, nil if there are none.
	Available, Degraded *metav1.Condition
	// Lease is what is known of the add-on's lease. Not used in Customized mode.
	Lease Lease
	// HostingCluster is where a hosted add-on runs; empty if it is not hosted.
	HostingCluster string
	// GracePeriod is how long a lease may go without being renewed.
	GracePeriod time.Duration
	// Now is the time of the decision.
	Now time.Time
}

// Decision is what is to become of Available.
type Decision struct {
	// Write reports whether Condition is to be written. If not, Available is
	// to be left alone, and Condition is empty.
	Write bool
	// Condition is Available as it is to be.
	Condition metav1.Condition
	// LookAgain is the first moment at which the decision becomes another one
	// though nothing but the time has changed. Zero if there is none.
	LookAgain time.Time
	// Skew is how far the lease's renew time lies in the future, if that is
	// more than the grace period; else zero. The add-on counts as available,
	// as it does for OCM, but would so long after it died: one of the two
	// clocks is wrong.
	Skew time.Duration
}

// Decide returns what is to become of Available. An unsatisfied Required
// dependency comes before everything else, in both modes. Applying a decision
// and deciding again with nothing else changed leaves Available alone.
func Decide(in Input) Decision {
	switch {
	case requiredDependencyFails(in.Degraded):
		if in.saidByItsOwnManager() {
			return Decision{}
		}
		return in.become(metav1.ConditionFalse, ReasonRequiredDependencyNotSatisfied, in.Degraded.Message)
	case in.Mode == ocmv1alpha1.HealthCheckModeCustomized:
		return in.handBack()
	default:
		return in.followLease()
	}
}

func requiredDependencyFails(degraded *metav1.Condition) bool {
	return degraded != nil && degraded.Status == metav1.ConditionTrue &&
		degraded.Reason == ReasonRequiredDependencyNotSatisfied
}

// maxQuote is how much of a message is quoted: what else a health check says
// around it has to fit into the condition too.
const maxQuote = 30000

// Quote returns the message of Degraded as an add-on's own health check is to
// give it: cut, in bytes, where it is very long.
func Quote(message string) string {
	if len(message) <= maxQuote {
		return message
	}
	return strings.ToValidUTF8(message[:maxQuote], "")
}

// saidByItsOwnManager reports whether the add-on's own manager already says
// that the add-on is not available, because of just this, or because nothing of
// it is installed yet. To insist on our reason beside that would be a fight
// without a winner, on every cluster.
func (in Input) saidByItsOwnManager() bool {
	if in.Mode != ocmv1alpha1.HealthCheckModeCustomized || in.Available == nil {
		return false
	}
	switch in.Available.Status {
	case metav1.ConditionFalse:
		return in.Degraded.Message != "" &&
			strings.Contains(in.Available.Message, ReasonRequiredDependencyNotSatisfied+": "+Quote(in.Degraded.Message))
	case metav1.ConditionUnknown:
		return in.Available.Reason == ocmv1alpha1.AddonAvailableReasonWorkNotFound
	default:
		return false
	}
}

// handBack gives Available back to the add-on's own health check, which may
// be long in coming: until then nobody knows, and that is what it says.
func (in Input) handBack() Decision {
	if in.Available == nil || in.Available.Status != metav1.ConditionFalse ||
		in.Available.Reason != ReasonRequiredDependencyNotSatisfied {
		return Decision{}
	}
	return in.become(metav1.ConditionUnknown, ReasonAwaitingHealthCheck,
		"The dependencies of "+in.AddOn+" add-on are satisfied again; waiting for the add-on's own health check.")
}

// become returns the decision that leads to such a condition: to leave it
// alone where it says so already.
func (in Input) become(status metav1.ConditionStatus, reason, message string) Decision {
	stored := in.Available
	if stored != nil && stored.Status == status && stored.Reason == reason &&
		(stored.Message == message || aboutLease(reason)) {
		// Another version of OCM may word what a lease says differently. To
		// insist on our words would be a fight without a winner.
		return Decision{}
	}
	since := metav1.NewTime(in.Now)
	if stored != nil && stored.Status == status {
		since = stored.LastTransitionTime
	}
	return Decision{Write: true, Condition: metav1.Condition{
		Type: ConditionAvailable, Status: status, Reason: reason, Message: message, LastTransitionTime: since,
	}}
}
