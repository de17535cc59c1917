package evaluation

import (
	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	notAnswered = "the managed cluster's addon-agent has not answered"

	howToSetVersion = "set the annotation " + addonv1alpha1.AddOnVersionAnnotation +
		" on the lease of its agent, on its AddOnTemplate, on its ManagedClusterAddOn or on its ClusterManagementAddOn"
)

// findVersion compares the version of an add-on that is there. A version that
// does not do is held while the agent may still report another.
func (c *Evaluator) findVersion(finding *Finding, e *declaration.Edge, cluster *Cluster, observed *Observation) {
	if e.Versions.AcceptsAll() {
		finding.Verdict = Satisfied
		return
	}
	if until := cluster.Facts.HeldUntil; cluster.Offline == OfflineHold && cluster.Now.Before(until) {
		finding.Verdict, finding.Until = Held, until
		return
	}
	fact, answered := cluster.Facts.Versions[e.On]
	lease := fact.annotated()
	version := versions.Running(versions.Sources{
		Lease: lease, Template: observed.Template,
		AddOn:        versions.Annotated{Current: observed.Version, Former: observed.FormerVersion},
		Registration: c.Version(e.On),
	})
	verdict, because := judgeVersion(e.Versions, version)
	due, pending := cluster.answerDue()
	switch {
	case observed.Template.Unknown && lease.Current == "":
		finding.Verdict = Held // another version than that of the sources below may run
		return
	case verdict == Satisfied:
		finding.Verdict = Satisfied
		return
	case !answered && pending:
		finding.Verdict, finding.Until = Held, due
		return
	case version == (versions.Version{}):
		because = howToSetVersion
		if fact.Message != "" {
			because = text.Cut(text.OneLine(fact.Message), maxReason) + "; " + howToSetVersion
		}
		if !answered && !cluster.Facts.Asked.IsZero() {
			because = notAnswered + "; " + howToSetVersion
		}
	}
	finding.Verdict = verdict
	finding.detail().Version, finding.Detail.Because = version, because
}

// judgeVersion compares the version of an add-on, and returns why it does not
// match.
func judgeVersion(r *versions.Range, version versions.Version) (Verdict, string) {
	if version == (versions.Version{}) {
		return VersionUnknown, ""
	}
	parsed, err := semver.NewVersion(version.Number)
	if err != nil {
		return VersionUnknown, "it is no semantic version"
	}
	if because := r.Mismatch(parsed); because != "" {
		return VersionMismatch, because
	}
	return Satisfied, ""
}
