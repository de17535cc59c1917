package evaluation

import (
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// These are the rules of an edge on a conflicting add-on: in any version, or in a range of versions.
var (
	conflictRule           = rule{sentence: conflictSentence, describe: describeConflict}
	conflictingVersionRule = rule{inputs: input.Versions | input.Facts, sentence: conflictSentence, describe: describeConflict}
)

// evaluateConflict fails the edge if the add-on is installed. An unavailable add-on conflicts too.
func evaluateConflict(g *grounds, f *Finding) {
	f.Verdict = Satisfied
	if g.state.AddOns.Named(g.edge.AddOn).Installed {
		f.Verdict = Conflict
	}
}

// evaluateConflictingVersion fails the edge if the installed add-on is in the range. An unknown version may be in the
// range, so it does not satisfy the edge.
func evaluateConflictingVersion(g *grounds, f *Finding) {
	observed := g.state.AddOns.Named(g.edge.AddOn)
	if !observed.Installed {
		f.Verdict = Satisfied
		return
	}
	compareAddOn(g, f, observed)
	if f.Verdict == VersionMismatch {
		f.Verdict = Satisfied
		f.Detail.Version, f.Detail.Because = versions.Version{}, ""
		return
	}
	if f.Verdict != Satisfied {
		return
	}
	// The agent may still report a version that replaces the other sources.
	_, reported := g.cluster.Facts.Versions[g.edge.AddOn]
	if due, pending := g.cluster.reportDue(); pending && !reported {
		f.awaitReport(due)
		return
	}
	f.Verdict = Conflict
	f.detail().Version = versions.Running(g.cluster.VersionSources(observed, g.catalog.Version(g.edge.AddOn)))
}

func conflictSentence(f *Finding) string {
	name, versionRange := text.Name(declaration.Target(f.Dependency)), excerpt(f.Dependency.Version)
	switch {
	case !declaration.ComparesVersion(f.Dependency):
		return fmt.Sprintf("Addon '%s' is installed, which conflicts with this addon.", name)
	case f.Verdict == VersionUnknown:
		return fmt.Sprintf("Addon '%s' is installed, and may be in version '%s', which conflicts with this addon.", name, versionRange)
	default:
		return fmt.Sprintf("Addon '%s' is installed in version '%s', which conflicts with this addon.", name, versionRange)
	}
}

func describeConflict(f *Finding) string {
	if !declaration.ComparesVersion(f.Dependency) {
		return "installed"
	}
	return versionDetail(f.detail())
}
