package evaluation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/text"
)

// Why an add-on is not installed on a managed cluster, where the hub shows it.
const (
	unregistered = "it has no ClusterManagementAddOn on this hub"
	manual       = "its install strategy is Manual"
	unselected   = "none of its Placements selects this cluster"
)

// absent decides on an add-on that is not installed, and why it is not.
func absent(g *given, f *Finding) {
	f.Verdict = NotInstalled
	install, byInterlock := g.catalog.Install(g.edge.AddOn), false
	switch {
	case g.catalog.Unregistered(g.edge.AddOn):
		f.detail().Because = unregistered
	case install.Manual:
		f.detail().Because, byInterlock = manual, true
	case install.Placed && g.cluster.PlacementsUnread:
		f.detail().Unexplained = true
	case install.Placed && slices.Contains(g.cluster.Unselected, g.edge.AddOn):
		f.detail().Because, byInterlock = unselected, true
	}
	advice, denial := withoutConsent(g), denied(g)
	for _, because := range []string{advice, denial} {
		if because != "" {
			f.stop(because)
		}
	}
	waits := g.cluster.Waits[g.edge.AddOn]
	switch consents := g.catalog.Consents(g.edge.AddOn); {
	case declaration.Installs(&g.edge.Dependency) && g.catalog.Consent(g.edge.AddOn) == catalog.ConsentUnknown:
		f.detail().Unexplained = true
	case advice != "" || denial != "" || waits == NoWait || !declaration.Installs(&g.edge.Dependency):
	case waits == WaitUnknown:
		f.detail().Unexplained = true
	case waits != WaitForInterlock:
		f.stop(waits.Explanation(g.edge.AddOn) + wronglyApproved(waits, install))
	case consents && byInterlock:
		f.Detail.Because, f.Detail.Installs = waits.Explanation(g.edge.AddOn), true
	}
}

// Wait is what the installation of an add-on on a managed cluster waits for.
type Wait string

const (
	// NoWait is that Interlock installs nothing.
	NoWait Wait = ""
	// WaitUnknown is that the installation has not been planned yet, or that only addon-manager knows the plan.
	WaitUnknown Wait = "Unknown"
	// WaitForInterlock is that Interlock is about to install it.
	WaitForInterlock Wait = "Interlock"
	// WaitForApproval is that a change would install it on too many managed clusters.
	WaitForApproval Wait = "Approval"
	// WaitGivenUp is that it was removed again and again.
	WaitGivenUp Wait = "GivenUp"
	// WaitContradiction is that it would contradict or break other add-ons on the managed cluster.
	WaitContradiction Wait = "Contradiction"
	// WaitForPlacement is that its owner lists one Placement, which selects no more managed clusters.
	WaitForPlacement Wait = "Placement"
	// WaitRefused is that the API server refuses to create it.
	WaitRefused Wait = "Refused"
)

// Explanation is what a message says of it. It has no number, which could change from one message to the next.
func (w Wait) Explanation(addOn string) string {
	name := text.Name(addOn)
	switch w {
	case WaitForInterlock:
		return fmt.Sprintf("Interlock installs '%s', because of install: Auto", name)
	case WaitForApproval:
		return fmt.Sprintf("install: Auto waits for an approval, because '%s' would be installed on many clusters; annotate "+
			"ClusterManagementAddOn '%s' with %s=N, as its event InstallationUnapproved says", name, name, addonv1alpha1.ApproveInstallAnnotation)
	case WaitContradiction:
		return fmt.Sprintf("install: Auto installs nothing, because '%s' would contradict or break what is installed on this cluster; "+
			"kubectl addon install %s --plan says what", name, name)
	case WaitForPlacement:
		return fmt.Sprintf("install: Auto installs on no more clusters by one Placement; its owner must list a second one in "+
			"ClusterManagementAddOn '%s' that selects the label", name)
	case WaitRefused:
		return fmt.Sprintf("install: Auto does not succeed, because the hub refuses to create '%s' on this cluster; AddOnInstallation '%s' "+
			"says why", name, name)
	default:
		return fmt.Sprintf("install: Auto pauses, because '%s' was removed from this cluster again and again", name)
	}
}

// wronglyApproved says why an approval is none; empty: there is none.
func wronglyApproved(waits Wait, install catalog.Install) string {
	if waits != WaitForApproval || install.WrongApproval == "" {
		return ""
	}
	return fmt.Sprintf("; it says '%s', which is not a number", text.Name(install.WrongApproval))
}

// explain adds to why an add-on is not installed.
func (f *Finding) explain(more string) {
	f.detail().Because = strings.TrimPrefix(f.Detail.Because+"; "+more, "; ")
}

// stop sets why Interlock does not install the add-on, although the edge asks for it.
func (f *Finding) stop(because string) {
	f.explain(because)
	f.Detail.Stopped = true
}

// Stopped reports whether Interlock does not install the add-on, although the edge asks for it.
func (f Finding) Stopped() bool { return f.Detail != nil && f.Detail.Stopped }

// withoutConsent says what the owner of an add-on has to do, so that an edge with install Auto has it installed; empty: nothing.
func withoutConsent(g *given) string {
	addOn := g.edge.AddOn
	if !declaration.Installs(&g.edge.Dependency) || !g.catalog.Registered(addOn) || g.catalog.Consent(addOn) != catalog.NoConsent {
		return ""
	}
	name := text.Name(addOn)
	switch install := g.catalog.Install(addOn); {
	case install.Manual:
		return fmt.Sprintf("for install: Auto, its owner must annotate ClusterManagementAddOn '%s' with %s=true",
			name, addonv1alpha1.InstallOnDemandAnnotation)
	case g.catalog.Labeled(addOn).Problem != "":
		return "install: Auto has no effect, because " + g.catalog.Labeled(addOn).Problem
	case install.Placed:
		return fmt.Sprintf("for install: Auto, its owner must list two Placements in ClusterManagementAddOn '%s' that select the label '%s'",
			name, catalog.InstallLabel(name))
	}
	return "install: Auto has no effect, because another component installs it"
}

// denied names the policies that keep an edge with install Auto from having its add-on installed; empty: none does, or Interlock would
// not install it anyway.
func denied(g *given) string {
	addOn := g.edge.AddOn
	install := g.catalog.Install(addOn)
	if !declaration.Installs(&g.edge.Dependency) || !install.Manual && !install.Placed {
		return ""
	}
	policies := g.catalog.Denying(g.cluster.Labels)
	if len(policies) == 0 {
		return ""
	}
	return fmt.Sprintf("install: Auto has no effect, because installations on this cluster are denied by %s", text.Cut(policy.Named(policies...), maxReason))
}

// Unexplained reports whether it is not known yet why the dependency is not installed. The message of a condition then stays as it is.
func (f Finding) Unexplained() bool {
	return f.Detail != nil && (f.Detail.Unexplained || slices.ContainsFunc(f.Detail.Alternatives, Finding.Unexplained))
}

// progress adds since when an add-on that is not available is being installed or removed.
func progress(f *Finding, observed *Observation) {
	if !observed.Removed.IsZero() {
		f.detail().Removing = observed.Removed
	}
	if f.Available == nil && f.Degraded == nil && !observed.Created.IsZero() {
		f.detail().Installing = observed.Created
	}
}

// withProgress adds to what was found of an add-on that it is being removed.
func withProgress(f *Finding, found string) string {
	if f.Detail == nil || f.Detail.Removing.IsZero() {
		return found
	}
	return found + "; being removed since " + f.Detail.Removing.Format(time.RFC3339)
}

// notReportedYet describes an add-on that has no condition Available.
func notReportedYet(f *Finding) string {
	if f.Detail == nil || f.Detail.Installing.IsZero() {
		return "Available not reported yet"
	}
	return "being installed since " + f.Detail.Installing.Format(time.RFC3339)
}

// Pending reports whether an add-on waits for its dependency to be installed, or removed and
// installed again.
func (f Finding) Pending() bool {
	if !f.Blocks() || f.Dependency == nil {
		return false
	}
	if f.Verdict == NoAlternative && f.Detail != nil {
		return slices.ContainsFunc(f.Detail.Alternatives, Finding.Pending)
	}
	return f.Verdict == NotInstalled ||
		f.Verdict == NotAvailable && f.Detail != nil && (!f.Detail.Installing.IsZero() || !f.Detail.Removing.IsZero())
}
