package dependency

import (
	"errors"
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
	// NotAvailable: the ManagedClusterAddOn is there, but Available is not True,
	// or a Required dependency of its own fails.
	NotAvailable Verdict = "NotAvailable"
	// VersionMismatch: the add-on is available, in a version that the edge does not accept.
	VersionMismatch Verdict = "VersionMismatch"
	// VersionUnknown: nobody says which version of the add-on, or of the platform, it is.
	VersionUnknown Verdict = "VersionUnknown"
	// APINotServed: the managed cluster does not serve the API, or nobody says so.
	APINotServed Verdict = "APINotServed"
	// RequirementNotMet: the platform is not what the add-on requires.
	RequirementNotMet Verdict = "RequirementNotMet"
	// Cycle: the edge is on a cycle of Required edges and can never be satisfied.
	Cycle Verdict = "Cycle"
	// Held: the cluster cannot be reached or has not answered yet, so nothing new is known of the edge.
	Held Verdict = "Held"
	// NotApplicable: the edge's condition does not hold on the cluster.
	NotApplicable Verdict = "NotApplicable"
)

// Verdicts lists every Verdict.
var Verdicts = []Verdict{
	Satisfied, NotInstalled, NotAvailable, VersionMismatch, VersionUnknown, APINotServed, RequirementNotMet,
	Cycle, Held, NotApplicable,
}

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

// SettleTime is how long after its return a cluster's agents may take to
// report: as long as OCM lets an add-on be silent before it is not available.
const SettleTime = 5 * 60 * time.Second

// Cluster is what the hub knows of a managed cluster. All but the first four
// fields only matter to edges that use them. Moments are by the hub's clock: a
// condition's time may be by the clock of a managed cluster.
type Cluster struct {
	// Available is the status of ManagedClusterConditionAvailable, empty
	// where the ManagedCluster or the condition does not exist.
	Available metav1.ConditionStatus
	// Back is when the hub saw the cluster come back; zero: long ago.
	Back time.Time
	// Now is the time of the evaluation.
	Now     time.Time
	Offline OfflinePolicy

	Name   string
	Labels map[string]string
	// Claims are the values of the cluster's claims by name.
	Claims map[string]string
	// KubernetesVersion is as the cluster reports it; empty where it has not.
	KubernetesVersion string
	// OCMVersion is that of the hub; empty where it is not known.
	OCMVersion string
	// OCMUnread: it could not be read yet.
	OCMUnread bool
	// Facts is what the cluster's agent has answered.
	Facts Facts
}

// Observation is what the hub knows of one add-on on one managed cluster.
type Observation struct {
	Installed bool
	// Available and Degraded are the add-on's conditions of these types, nil
	// when it has none.
	Available, Degraded *metav1.Condition
	// Found is when the hub first saw Available as the loss of the cluster left
	// it. It matters only where LeftByLoss is true of Available.
	Found time.Time
	// Version is the version annotation of the ManagedClusterAddOn, FormerVersion
	// the one under its former key.
	Version, FormerVersion string
	// Template has the versions of its AddOnTemplates.
	Template TemplateVersions

	// The rest is only asked of the dependent itself, for its conditions.

	Labels, Annotations map[string]string
	// Config are the customizedVariables of the AddOnDeploymentConfig that
	// addon-framework gives the add-on.
	Config map[string]string
	// ConfigUnread: they could not be read yet.
	ConfigUnread bool
}

// Finding is the verdict on one edge, with what it rests on.
type Finding struct {
	// Dependency is the edge; a name like requirements.kubernetes is that of a
	// requirement. It is shared: it must not be changed.
	Dependency *addonv1alpha1.AddonDependency
	Verdict    Verdict
	// Degraded is set for NotAvailable when a Required dependency of the
	// dependency fails; else Available is, when the condition exists.
	Degraded, Available *metav1.Condition
	// Cycle is set for Cycle: the members in canonical order, closed.
	Cycle []string
	// Until is set for Held when it ends by itself: the moment to look again.
	Until time.Time
	// Detail is set where the finding rests on more than the proposal's rule.
	Detail *Detail
}

// noDependency is that of a finding on a declaration that cannot be used.
var noDependency addonv1alpha1.AddonDependency

// Detail is what a finding rests on beyond the proposal's rule.
type Detail struct {
	// Requirement says what of the platform is required; empty for an edge.
	Requirement string
	// Version is what was found; its Source is empty for the platform's.
	Version Version
	// Because says why that does not do.
	Because string
	// Providers are the add-ons that bring the API.
	Providers []string
	// ConditionError says why the edge's condition could not be evaluated; the
	// edge then applies.
	ConditionError string
}

// Unsatisfied reports whether the edge is known not to be satisfied.
func (f Finding) Unsatisfied() bool {
	return f.Verdict != Satisfied && f.Verdict != Held && f.Verdict != NotApplicable
}

func (f Finding) held() bool { return f.Verdict == Held }

// Evaluate finds a verdict for each dependency of the named add-on on one
// cluster, in the order declared, and then for each requirement; observe tells
// what is known of an add-on on the same cluster, and is asked of others only
// where it matters. No finding: the add-on declares nothing. An unusable
// declaration is one finding that is held, without a dependency.
// The findings may be shared: they must not be changed.
func (c *Catalog) Evaluate(addOn string, cluster Cluster, observe func(addOn string) Observation) []Finding {
	declaration := c.declarations[addOn]
	if declaration.Invalid {
		return []Finding{{Dependency: &noDependency, Verdict: Held}}
	}
	if len(declaration.edges) == 0 {
		return nil
	}
	if cluster.lost() {
		findings := make([]Finding, len(declaration.edges))
		for i := range findings {
			findings[i] = Finding{Dependency: &declaration.edges[i].declared, Verdict: Held}
		}
		return findings
	}
	cycles := c.Cycles(addOn)
	if k := c.knots[addOn]; k != nil {
		cycles = k.cycles(addOn, &cluster, observe)
	}
	findings, shared := declaration.satisfied, true
	for i := range declaration.edges {
		e := &declaration.edges[i]
		finding := Finding{Dependency: &e.declared}
		c.find(&finding, addOn, e, cycles[e.on], &cluster, observe)
		if finding.Verdict == Satisfied && finding.Detail == nil {
			continue
		}
		if shared {
			findings, shared = slices.Clone(findings), false
		}
		findings[i] = finding
	}
	return findings
}

// allSatisfied are the findings on edges that are all satisfied.
func allSatisfied(edges []edge) []Finding {
	findings := make([]Finding, len(edges))
	for i := range edges {
		findings[i] = Finding{Dependency: &edges[i].declared, Verdict: Satisfied}
	}
	return findings
}

// find decides the verdict of one edge.
func (c *Catalog) find(finding *Finding, addOn string, e *edge, cycle []string, cluster *Cluster,
	observe func(addOn string) Observation,
) {
	if e.when != nil {
		applies, err := e.when.applies(addOn, cluster, observe)
		switch {
		case !applies:
			finding.Verdict = NotApplicable
			return
		case errors.Is(err, errConfigUnread):
			finding.Verdict = Held
			return
		case err != nil:
			finding.Detail = &Detail{ConditionError: err.Error()}
		}
	}
	switch {
	case e.requirement != nil:
		e.requirement.find(finding, cluster)
	case e.on == "":
		c.findAPI(finding, cluster)
	case len(cycle) > 0 && e.waits():
		finding.Verdict, finding.Cycle = Cycle, cycle
	default:
		c.findAddOn(finding, e, cluster, observe(e.on))
	}
}

// findAddOn decides by the state of the add-on, and then by its version.
func (c *Catalog) findAddOn(finding *Finding, e *edge, cluster *Cluster, observed Observation) {
	onlyVersion := e.declared.Type == addonv1alpha1.DependencyTypeIfInstalled
	switch {
	case !observed.Installed && onlyVersion:
		finding.Verdict = Satisfied
	case !observed.Installed:
		finding.Verdict = NotInstalled
	case onlyVersion:
		c.findVersion(finding, e, cluster, observed)
	case RequiredFails(observed.Degraded):
		// Available follows this condition. Because this one comes first, the
		// finding does not change then.
		finding.Verdict, finding.Degraded = NotAvailable, observed.Degraded
	case observed.Available == nil:
		finding.Verdict = NotAvailable
	case observed.Available.Status == metav1.ConditionTrue && e.versions == nil:
		finding.Verdict = Satisfied
	case observed.Available.Status == metav1.ConditionTrue:
		c.findVersion(finding, e, cluster, observed)
	case cluster.settling(&observed):
		finding.Verdict, finding.Until = Held, cluster.settled(&observed)
	default:
		finding.Verdict, finding.Available = NotAvailable, observed.Available
	}
}

// lost reports whether nothing new can be known of the cluster's add-ons.
func (c *Cluster) lost() bool {
	return c.Offline == OfflineHold && c.Available == metav1.ConditionUnknown
}

// settling reports whether the add-on's agent may still report after a loss of
// the cluster. The ManagedCluster itself may not show that loss yet. Without a
// ManagedCluster nothing is held.
func (c *Cluster) settling(observed *Observation) bool {
	return c.Offline == OfflineHold && c.Available != "" && LeftByLoss(observed.Available) && c.Now.Before(c.settled(observed))
}

// settled is when an agent that has not reported is taken for one that will not.
func (c *Cluster) settled(observed *Observation) time.Time {
	return later(c.Back, observed.Found).Add(SettleTime)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

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

// LeftByLoss reports whether an add-on's Available is what the hub sets when
// the cluster is lost. It can arrive before the loss itself, and it stays when
// the cluster is back, until the add-on's agent reports. A verdict from it would
// degrade the whole cluster meanwhile.
func LeftByLoss(available *metav1.Condition) bool {
	return available != nil && available.Status == metav1.ConditionUnknown && available.Reason == clusterLostReason
}
