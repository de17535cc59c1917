// Package stock holds the rules by which Open Cluster Management's own components write the fields that Interlock
// also writes or reads. Each rule is a table with the source that it was read in. Suites on real OCM run the same
// tables against the real components, to show that they are correct.
package stock

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// AddOn is the name of the add-on in the messages of the tables.
const AddOn = "gateway"

// Object is a kind of object that a component watches.
type Object string

// The objects whose events trigger a rule.
const (
	AddOns   Object = "ManagedClusterAddOn"
	Clusters Object = "ManagedCluster"
)

// Lease is the state of a lease.
type Lease string

// The states of a lease.
const (
	NoLease      Lease = "none"
	LiveLease    Lease = "live"
	StoppedLease Lease = "stopped"
)

// Prober is the kind of an add-on's health prober in addon-framework.
type Prober string

// The kinds of probers. AddOnTemplates, Deployment and Workload probers all
// read feedback of works, and follow the same branches as Work.
const (
	WorkProber Prober = "Work"
	// WorkProberWithoutFields is HealthProberTypeWork with a nil WorkProber.
	WorkProberWithoutFields Prober = "WorkWithoutFields"
	// DependentProber is a Work prober that Interlock's library for authors
	// wraps: it fails while a Required dependency fails.
	DependentProber Prober = "Dependent"
)

// Work is the state of an add-on's ManifestWorks on the hub.
type Work string

// The states of an add-on's ManifestWorks.
const (
	WorkNeverApplied Work = "never applied" // the add-on has no condition ManifestApplied
	WorkNotFound     Work = "not found"
	WorkNoStatus     Work = "no status"
	WorkNotAvailable Work = "not available"
	WorkNoFeedback   Work = "no feedback"
	WorkUnhealthy    Work = "unhealthy"
	WorkHealthy      Work = "healthy"
)

// Works lists all states of an add-on's ManifestWorks.
var Works = []Work{
	WorkNeverApplied, WorkNotFound, WorkNoStatus, WorkNotAvailable, WorkNoFeedback, WorkUnhealthy, WorkHealthy,
}

// Reference is the reference of an add-on to its AddOnTemplate.
type Reference string

// The references. AnotherReference names a template that OCM does not roll out any more.
const (
	NoReference      Reference = "none"
	AnotherReference Reference = "another"
	ThisReference    Reference = "this"
)

// Rollout is the state of the AddOnTemplate that an add-on refers to.
type Rollout string

// The states of a rollout. Its ManifestWorks are always applied and available here.
const (
	RolloutPending   Rollout = "pending"
	RolloutCompleted Rollout = "completed"
)

// Situation holds all inputs of a rule. In a case of a rule, an empty field matches every value.
type Situation struct {
	Mode         ocmv1alpha1.HealthCheckMode
	AddOnLease   Lease
	ClusterLease Lease
	// Cluster is the status of the ManagedCluster's condition Available.
	Cluster metav1.ConditionStatus
	// Available is the status of the add-on's condition Available.
	Available metav1.ConditionStatus
	Prober    Prober
	Work      Work
	// Degraded is the reason of the add-on's condition Degraded while it is True.
	Degraded string
	// Registered is the status of the add-on's condition RegistrationApplied.
	Registered metav1.ConditionStatus
	Reference  Reference
	Rollout    Rollout
}

// Write is the set of fields that a component writes. An empty field is not written.
type Write struct {
	// Available is written to the add-on's conditions.
	Available *metav1.Condition
	// Cluster is written to the ManagedCluster's conditions.
	Cluster *metav1.Condition
	// Label is the value of the ManagedCluster's label for the add-on.
	Label string
	// Registered is written to the add-on's conditions.
	Registered *metav1.Condition
	// Reference is the new reference to an AddOnTemplate, which is not applied yet.
	Reference Reference
	// Rollout is written to the reference. With RolloutCompleted, the template becomes the last applied template.
	Rollout Rollout
}

// Case is a row of a rule.
type Case struct {
	Match Situation
	Write Write
}

// Rule is the behavior of one controller of OCM. The first case that matches counts.
type Rule struct {
	Name string
	// Component is the process that the controller runs in.
	Component Component
	// Module and Source name the file that the rule was read in.
	Module, Source string
	// Watches are the objects whose events trigger the rule. A rule that
	// watches nothing polls.
	Watches []Object
	Cases   []Case
}

// Component is a process of OCM.
type Component string

// The processes of OCM that write.
const (
	RegistrationAgent Component = "registration-agent"
	RegistrationHub   Component = "registration-hub"
	AddOnManager      Component = "add-on's manager"
)

// Decide returns the write of the controller in the situation.
func (r *Rule) Decide(situation Situation) Write {
	for i := range r.Cases {
		if r.Cases[i].Match.matches(situation) {
			return r.Cases[i].Write
		}
	}
	return Write{}
}

func (s Situation) matches(situation Situation) bool {
	return matches(s.Mode, situation.Mode) && matches(s.AddOnLease, situation.AddOnLease) &&
		matches(s.ClusterLease, situation.ClusterLease) && matches(s.Cluster, situation.Cluster) &&
		matches(s.Available, situation.Available) && matches(s.Prober, situation.Prober) &&
		matches(s.Work, situation.Work) && matches(s.Degraded, situation.Degraded) && matches(s.Registered, situation.Registered) &&
		matches(s.Reference, situation.Reference) && matches(s.Rollout, situation.Rollout)
}

func matches[T ~string](pattern, value T) bool { return pattern == "" || pattern == value }
