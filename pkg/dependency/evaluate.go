package dependency

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Verdict is what is true of one edge on one managed cluster.
type Verdict string

// The verdicts.
const (
	// Satisfied: the dependency is installed and its Available is True.
	Satisfied Verdict = "Satisfied"
	// NotInstalled: the cluster has no ManagedClusterAddOn of the name.
	NotInstalled Verdict = "NotInstalled"
	// NotAvailable: the ManagedClusterAddOn is there, but Available is not True.
	NotAvailable Verdict = "NotAvailable"
	// Cycle: the edge is on a cycle of Required edges and can never be satisfied.
	Cycle Verdict = "Cycle"
	// Held: the cluster cannot be reached, so nothing new is known of the edge.
	Held Verdict = "Held"
)

// Verdicts lists every Verdict.
var Verdicts = []Verdict{Satisfied, NotInstalled, NotAvailable, Cycle, Held}

// OfflinePolicy says what becomes of the verdicts on an unreachable cluster.
type OfflinePolicy string

const (
	// OfflineHold keeps the last verdicts while a cluster is unreachable.
	OfflineHold OfflinePolicy = "hold"
	// OfflineStrict is the letter of the proposal: an add-on that is Unknown
	// is not available.
	OfflineStrict OfflinePolicy = "strict"
)

// clusterLostReason is the reason with which OCM's hub sets a ManagedCluster,
// and then all its add-ons, to Unknown when the cluster's own lease stops. On
// an add-on it outlives the outage until the cluster's agent reports again.
const clusterLostReason = "ManagedClusterLeaseUpdateStopped"

// settleTime is how long after its return a cluster's agents may take to
// report: as long as OCM lets an add-on be silent before it is not available.
const settleTime = 5 * 60 * time.Second

// Cluster is what the hub knows of a managed cluster.
type Cluster struct {
	// Available is the status of ManagedClusterConditionAvailable, empty
	// where the ManagedCluster or the condition does not exist.
	Available metav1.ConditionStatus
	// Since is when that status began.
	Since time.Time
	// Now is the time of the evaluation.
	Now     time.Time
	Offline OfflinePolicy
}

// Observation is what the hub knows of one add-on on one managed cluster.
type Observation struct {
	Installed bool
	// Available is the add-on's condition of that type, nil when it has none.
	Available *metav1.Condition
}

// Finding is the verdict on one edge, with what it rests on.
type Finding struct {
	Dependency addonv1alpha1.AddonDependency
	Verdict    Verdict
	// Available is set for NotAvailable when the condition exists.
	Available *metav1.Condition
	// Cycle is set for Cycle: the members in canonical order, closed.
	Cycle []string
	// Until is set for Held when it ends by itself: the moment to look again.
	Until time.Time
}

// Unsatisfied reports whether the edge is known not to be satisfied.
func (f Finding) Unsatisfied() bool {
	return f.Verdict != Satisfied && f.Verdict != Held
}

// Evaluate finds a verdict for each dependency of the named add-on on one
// cluster, in the order declared; observe tells what is known of another
// add-on on the same cluster. No finding: the add-on declares no dependencies.
// An unusable declaration is one finding that is held, without a dependency.
// The findings may be shared: they must not be changed.
func (c *Catalog) Evaluate(addOn string, cluster Cluster, observe func(addOn string) Observation) []Finding {
	declaration := c.declarations[addOn]
	if declaration.Invalid {
		return []Finding{{Verdict: Held}}
	}
	if len(declaration.Dependencies) == 0 {
		return nil
	}
	cycles := c.Cycles(addOn)
	findings, changed := c.satisfied[addOn], false
	for i, dependency := range declaration.Dependencies {
		finding := find(dependency, cycles[dependency.Name], cluster, observe)
		if finding.Verdict == Satisfied {
			continue
		}
		if !changed {
			findings, changed = slices.Clone(findings), true
		}
		findings[i] = finding
	}
	return findings
}

func allSatisfied(dependencies []addonv1alpha1.AddonDependency) []Finding {
	findings := make([]Finding, len(dependencies))
	for i, dependency := range dependencies {
		findings[i] = Finding{Dependency: dependency, Verdict: Satisfied}
	}
	return findings
}

func find(dependency addonv1alpha1.AddonDependency, cycle []string, cluster Cluster,
	observe func(addOn string) Observation,
) Finding {
	finding := Finding{Dependency: dependency}
	if cluster.lost() {
		finding.Verdict = Held
		return finding
	}
	if len(cycle) > 0 && dependency.Type == addonv1alpha1.DependencyTypeRequired {
		finding.Verdict, finding.Cycle = Cycle, cycle
		return finding
	}
	observed := observe(dependency.Name)
	switch {
	case !observed.Installed:
		finding.Verdict = NotInstalled
	case observed.Available == nil:
		finding.Verdict = NotAvailable
	case observed.Available.Status == metav1.ConditionTrue:
		finding.Verdict = Satisfied
	case cluster.settling() && leftFromOutage(observed.Available):
		finding.Verdict, finding.Until = Held, cluster.settled()
	default:
		finding.Verdict, finding.Available = NotAvailable, observed.Available
	}
	return finding
}

// lost reports whether nothing new can be known of the cluster's add-ons.
func (c Cluster) lost() bool {
	return c.Offline == OfflineHold && c.Available == metav1.ConditionUnknown
}

// settling reports whether the cluster's agents can still be expected to report
// after an outage; of a cluster without a ManagedCluster nothing is held.
func (c Cluster) settling() bool {
	return c.Offline == OfflineHold && c.Available != "" && c.Now.Before(c.settled())
}

// settled is when an agent that has not reported is taken for one that will not.
func (c Cluster) settled() time.Time { return c.Since.Add(settleTime) }

// HeldUntil returns the first moment at which a finding that is held ends by
// itself; zero if none does.
func HeldUntil(findings []Finding) time.Time {
	var first time.Time
	for _, finding := range findings {
		if !finding.Until.IsZero() && (first.IsZero() || finding.Until.Before(first)) {
			first = finding.Until
		}
	}
	return first
}

// leftFromOutage reports whether an add-on's Available is still the hub's word
// that the cluster is lost, although the cluster may be back already: writing
// verdicts from it would degrade the whole cluster for the moment that its
// agents need to report.
func leftFromOutage(available *metav1.Condition) bool {
	return available.Status == metav1.ConditionUnknown && available.Reason == clusterLostReason
}
