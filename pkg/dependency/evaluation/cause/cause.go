package cause

import (
	"cmp"
	"slices"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// Cause is the reason why add-ons do not work. It has the same value on every managed cluster.
type Cause struct {
	// AddOn is the dependency that fails. It is empty for an API or a requirement.
	AddOn string `json:"addOn,omitempty"`
	// API is the API that is not served, as messages name it.
	API string `json:"api,omitempty"`
	// ServedBy is the cluster that must serve the API. It is empty for the managed cluster of the add-on. HostingCluster is the name of the
	// other managed cluster that runs the agent of the add-on.
	ServedBy       addonv1alpha1.APIServer `json:"servedBy,omitempty"`
	HostingCluster string                  `json:"hostingCluster,omitempty"`
	// Unreported is true if no addon-agent reports whether the API is served with the required
	// fields.
	Unreported bool `json:"unreported,omitempty"`
	// Served is true if the API is served without the required fields.
	Served bool `json:"served,omitempty"`
	// Requirement is a requirement on the platform, such as requirements.kubernetes. Dependent
	// is the add-on that declares it.
	Requirement string             `json:"requirement,omitempty"`
	Dependent   string             `json:"dependent,omitempty"`
	Verdict     evaluation.Verdict `json:"verdict"`
	// Removing is whether the dependency is being removed, where the verdict is NotAvailable.
	Removing bool `json:"removing,omitempty"`
	// Reason is the reason of the dependency's condition Available, if the verdict is NotAvailable.
	Reason string `json:"reason,omitempty"`
	// Cycle has the members of the cycle, if the verdict is Cycle. AddOn is the first member, so
	// that the cycle is a single cause for all add-ons that wait on any of its edges.
	Cycle string `json:"cycle,omitempty"`
}

// Cause returns the cause of an edge that fails by itself.
func (s Step) Cause() Cause {
	finding := s.Finding
	cause := Cause{Verdict: finding.Verdict}
	switch {
	case finding.Requirement != nil:
		cause.Requirement, cause.Dependent = finding.Requirement.Name, s.AddOn
	case finding.Dependency != nil && finding.Dependency.API != nil:
		cause.API = finding.API()
		if by := declaration.ServedBy(finding.Dependency); by != addonv1alpha1.APIServerManagedCluster {
			cause.ServedBy = by
		}
		if detail := finding.Detail; detail != nil {
			cause.Unreported, cause.Served, cause.HostingCluster = detail.Unreported, detail.Served, detail.HostingCluster
		}
	case finding.Verdict == evaluation.Cycle && len(finding.Cycle) > 0:
		cause.AddOn, cause.Cycle = finding.Cycle[0], catalog.CycleText(finding.Cycle)
	default:
		cause.AddOn = finding.Target()
	}
	if finding.Available != nil {
		cause.Reason = finding.Available.Reason
	}
	cause.Removing = finding.Verdict == evaluation.NotAvailable && finding.Detail != nil && !finding.Detail.Removing.IsZero()
	return cause
}

// String describes the failure in a few words.
func (c Cause) String() string {
	if c.Cycle != "" {
		return c.Cycle
	}
	what := c.AddOn + c.API + c.Requirement
	switch {
	case c.ServedBy == addonv1alpha1.APIServerHub:
		what += " on the hub"
	case c.HostingCluster != "":
		what += " on hosting cluster " + text.Name(c.HostingCluster)
	}
	if c.Dependent != "" {
		what += " of " + c.Dependent
	}
	phrase, known := phrases[c.Verdict]
	switch {
	case !known:
		phrase = string(c.Verdict)
	case c.Unreported && c.Served:
		phrase = "is not known to have the required fields"
	case c.Unreported:
		phrase = "is not known to be served"
	case c.Served:
		phrase = "does not have the required fields"
	case c.Removing:
		phrase = "is being removed, and not available"
	}
	if c.Reason != "" {
		phrase += ": " + c.Reason
	}
	return what + " " + phrase
}

var phrases = map[evaluation.Verdict]string{
	evaluation.NotInstalled:      "is not installed",
	evaluation.NotAvailable:      "is not available",
	evaluation.VersionMismatch:   "has a version that is not accepted",
	evaluation.VersionUnknown:    "has a version that is not known",
	evaluation.APINotServed:      "is not served",
	evaluation.RequirementNotMet: "is not met",
	evaluation.SettingMismatch:   "has other settings than are needed",
	evaluation.Conflict:          "is installed, which conflicts",
	evaluation.NoAlternative:     "has no alternative that is available",
	evaluation.Cycle:             "is on a cycle of dependencies",
}

// Victim is an add-on on a managed cluster that does not work.
type Victim struct {
	Cluster string `json:"cluster"`
	AddOn   string `json:"addOn"`
	// Since is the time at which it stopped to work. It is zero if that is not known.
	Since time.Time `json:"since,omitzero"`
}

// Ranked is a cause with the add-ons that it breaks.
type Ranked struct {
	Cause
	// Victims are ordered by cluster and add-on.
	Victims []Victim `json:"victims"`
}

// Ranking collects the victims of causes. The zero value is empty.
type Ranking struct{ victims map[Cause][]Victim }

// Add adds a victim to a cause.
func (r *Ranking) Add(cause Cause, victim Victim) {
	if r.victims == nil {
		r.victims = map[Cause][]Victim{}
	}
	r.victims[cause] = append(r.victims[cause], victim)
}

// Ranked returns all causes. Causes on more clusters come first, then causes that break more
// add-ons, then by name.
func (r *Ranking) Ranked() []Ranked {
	ranking, clusters := make([]Ranked, 0, len(r.victims)), map[Cause]int{}
	for cause, victims := range r.victims {
		slices.SortFunc(victims, func(a, b Victim) int {
			return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.AddOn, b.AddOn))
		})
		ranked := Ranked{Cause: cause, Victims: slices.Compact(victims)}
		ranking, clusters[cause] = append(ranking, ranked), len(ranked.Clusters())
	}
	slices.SortFunc(ranking, func(a, b Ranked) int {
		return cmp.Or(-cmp.Compare(clusters[a.Cause], clusters[b.Cause]), -cmp.Compare(len(a.Victims), len(b.Victims)),
			cmp.Compare(a.String(), b.String()))
	})
	return ranking
}

// Clusters returns the managed clusters on which the cause breaks something, ascending.
func (r *Ranked) Clusters() []string {
	names := make([]string, 0, len(r.Victims))
	for _, victim := range r.Victims {
		names = append(names, victim.Cluster)
	}
	return slices.Compact(names)
}
