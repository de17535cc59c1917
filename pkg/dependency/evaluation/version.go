package evaluation

import (
	"fmt"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	notReported = "the managed cluster's addon-agent has not reported it"

	templateUnknown = "an AddOnTemplate is being rolled out, and which one runs until then is not known"

	howToSetVersion = "set the annotation " + addonv1alpha1.AddOnVersionAnnotation +
		" on the lease of its agent, on its AddOnTemplate, on its ManagedClusterAddOn or on its ClusterManagementAddOn"
)

// versionRule is the rule of an edge on an add-on in a range of versions.
var versionRule = rule{inputs: input.Versions | input.Facts, sentence: versionSentence, describe: describeVersion}

// evaluateVersion sets the verdict by the state of the add-on, and then by its version.
func evaluateVersion(g *grounds, f *Finding) {
	observed := g.state.AddOns.Named(g.edge.AddOn)
	evaluateInstalled(g, f, observed)
	if !observed.Installed || g.edge.Versions.AcceptsAll() {
		return
	}
	switch f.Verdict {
	case Satisfied:
		compareAddOn(g, f, observed)
	case Tolerated: // a version outside of the range is not tolerated
		tolerated := *f
		f.Until = time.Time{}
		if compareAddOn(g, f, observed); f.Verdict != VersionMismatch {
			*f = tolerated
		}
	default:
	}
}

// compareAddOn compares the version of an installed add-on. A mismatch is held while the agent may still report another
// version.
func compareAddOn(g *grounds, f *Finding, observed *Observation) {
	if until, held := g.cluster.factsHeld(); held {
		f.Verdict, f.Until = Held, until
		return
	}
	fact, reported := g.cluster.Facts.Versions[g.edge.AddOn]
	sources := g.cluster.VersionSources(observed, g.catalog.Version(g.edge.AddOn))
	version := versions.Running(sources)
	verdict, because := judgeVersion(g.edge.Versions, version)
	due, pending := g.cluster.reportDue()
	switch {
	case observed.Template.Unknown && sources.Lease.Current == "":
		f.Verdict = Held // a version that no source below has may be running
		f.detail().Because = templateUnknown
		return
	case version.OCM && g.cluster.OCMUnread:
		f.Verdict = Held
		return
	case verdict == Satisfied:
		f.Verdict = Satisfied
		return
	case !reported && pending:
		f.awaitReport(due)
		return
	case version == (versions.Version{}) && g.templateDue(observed):
		f.awaitReport(observed.Created.Add(ReportTime))
		f.detail().TemplateDue = true
		return
	case version == (versions.Version{}):
		because = howToSetVersion
		if fact.Message != "" {
			because = text.Cut(text.OneLine(fact.Message), maxReason) + "; " + howToSetVersion
		}
		if !reported && !g.cluster.Facts.Requested.IsZero() {
			because = notReported + "; " + howToSetVersion
		}
	}
	f.Verdict = verdict
	f.detail().Version, f.Detail.Because = version, because
}

// templateDue reports whether OCM has still to write the name of the AddOnTemplate that it installs. It does that in the
// moments after the ManagedClusterAddOn is created. The template then has the version.
func (g *grounds) templateDue(observed *Observation) bool {
	return observed.Template == (versions.Templates{}) && g.catalog.Deployable(observed.Name) &&
		g.cluster.Now.Before(observed.Created.Add(ReportTime))
}

// VersionSources returns the versions of an add-on on the cluster, by source. registered is the version of its
// registration.
func (c *Cluster) VersionSources(observed *Observation, registered versions.Annotated) versions.Sources {
	return versions.Sources{
		Lease:        c.Facts.Versions[observed.Name].annotated(),
		Template:     observed.Template,
		AddOn:        versions.Annotated{Current: observed.Version, Former: observed.FormerVersion},
		Registration: registered,
		OCM:          c.OCMVersion,
	}
}

// versionOf returns the version of an add-on, or an empty string if no source reports it. The second result is false while
// its agent may still report another version.
func (c *Cluster) versionOf(observed *Observation, registered versions.Annotated) (string, bool) {
	sources := c.VersionSources(observed, registered)
	version := versions.Running(sources)
	_, held := c.factsHeld()
	_, reported := c.Facts.Versions[observed.Name]
	_, pending := c.reportDue()
	unread := observed.Template.Unknown && sources.Lease.Current == "" || version.OCM && c.OCMUnread
	return version.Number, !held && !unread && (reported || !pending)
}

// judgeVersion compares the version of an add-on. The second result is the reason of a mismatch.
func judgeVersion(accepted *versions.Range, version versions.Version) (Verdict, string) {
	if version == (versions.Version{}) {
		return VersionUnknown, ""
	}
	if length := len(version.Number); length > versions.MaxLength {
		return VersionUnknown, fmt.Sprintf("annotation %s has %d bytes; a version has at most %d", version.Annotation(), length, versions.MaxLength)
	}
	if version.OCM && version.Number == "" {
		return VersionUnknown, fmt.Sprintf("%s has %s, but %s", version.Source, versions.OCM, ocmNotReported)
	}
	parsed, err := version.Parse()
	if err != nil {
		return VersionUnknown, "it is no semantic version"
	}
	if because := accepted.Mismatch(parsed); because != "" {
		return VersionMismatch, because
	}
	return Satisfied, ""
}

func versionSentence(f *Finding) string {
	name, versionRange := text.Name(declaration.Target(f.Dependency)), excerpt(f.Dependency.Version)
	switch {
	case f.Verdict != VersionMismatch && f.Verdict != VersionUnknown:
		return addOnSentence(f)
	case f.Type() == addonv1alpha1.DependencyTypeIfInstalled:
		return fmt.Sprintf("Addon '%s' is installed, but not in version '%s'.", name, versionRange)
	default:
		return fmt.Sprintf("%s addon '%s' is not installed or not available in version '%s'.", f.Type(), name, versionRange)
	}
}

func describeVersion(f *Finding) string {
	if f.Verdict != VersionMismatch && f.Verdict != VersionUnknown {
		return describeAddOn(f)
	}
	return versionDetail(f.detail())
}

// versionDetail describes a reported version, and the reason why it does not match.
func versionDetail(detail *Detail) string {
	version := detail.Version
	if version.Number == "" {
		return join("version not known", detail.Because)
	}
	source := string(version.Source)
	if version.OCM {
		source += " (" + versions.OCM + ")"
	}
	described := join(fmt.Sprintf("version %s from %s", excerpt(version.Number), source), detail.Because)
	if version.RollingOut != "" {
		described += fmt.Sprintf("; %s is being rolled out", excerpt(version.RollingOut))
	}
	return described
}
