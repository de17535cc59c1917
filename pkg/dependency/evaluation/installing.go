package evaluation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/text"
)

// Reasons that the hub shows for an add-on that is not installed.
const (
	reasonUnregistered = "it has no ClusterManagementAddOn on this hub"
	reasonManual       = "its install strategy is Manual"
	reasonUnselected   = "none of its Placements selects this cluster"
)

// evaluateAbsent sets the finding on an add-on that is not installed, with its reason.
func evaluateAbsent(g *grounds, f *Finding) {
	f.Verdict = NotInstalled
	install, installable := g.catalog.Install(g.edge.AddOn), false
	switch {
	case g.catalog.Unregistered(g.edge.AddOn):
		f.detail().Because = reasonUnregistered
	case install.Manual:
		f.detail().Because, installable = reasonManual, true
	case install.Placed && g.cluster.PlacementsUnread:
		f.detail().Unexplained = true
	case install.Placed && slices.Contains(g.cluster.Unselected, g.edge.AddOn):
		f.detail().Because, installable = reasonUnselected, true
	}
	advice, denied := consentAdvice(g), denial(g)
	for _, because := range []string{advice, denied} {
		if because != "" {
			f.stop(because)
		}
	}
	wait := g.cluster.Waits[g.edge.AddOn]
	switch consents := g.catalog.Consents(g.edge.AddOn); {
	case declaration.Installs(&g.edge.Dependency) && g.catalog.Consent(g.edge.AddOn) == catalog.ConsentUnknown:
		f.detail().Unexplained = true
	case advice != "" || denied != "" || wait == NoWait || !declaration.Installs(&g.edge.Dependency):
	case wait == WaitUnknown:
		f.detail().Unexplained = true
	case wait != WaitForInterlock:
		f.stop(wait.Explanation(g.edge.AddOn, g.cluster.Name) + wrongApproval(wait, install))
	case consents && installable:
		f.Detail.Because, f.Detail.Installs = wait.Explanation(g.edge.AddOn, g.cluster.Name), true
	}
}

// Wait is the reason why the installation of an add-on on a managed cluster waits.
type Wait string

const (
	// NoWait means that Interlock does not install the add-on.
	NoWait Wait = ""
	// WaitUnknown means that the installation is not planned yet, or that only addon-manager knows the plan.
	WaitUnknown Wait = "Unknown"
	// WaitForInterlock means that Interlock is about to install the add-on.
	WaitForInterlock Wait = "Interlock"
	// WaitForApproval means that a change would install the add-on on too many managed clusters.
	WaitForApproval Wait = "Approval"
	// WaitGivenUp means that the add-on was removed again and again.
	WaitGivenUp Wait = "GivenUp"
	// WaitContradiction means that the add-on would contradict or break other add-ons on the managed cluster.
	WaitContradiction Wait = "Contradiction"
	// WaitForPlacement means that its owner lists one Placement, which selects no more managed clusters.
	WaitForPlacement Wait = "Placement"
	// WaitRefused means that the API server refuses a write that installs the add-on: its AddOnInstallation, the add-on itself, or the
	// label of the managed cluster.
	WaitRefused Wait = "Refused"
)

// Explanation returns the text about the wait on a managed cluster for messages. It contains no number, because a number could change from one
// message to the next.
func (w Wait) Explanation(addOn, cluster string) string {
	name := text.Name(addOn)
	switch w {
	case WaitForInterlock:
		return fmt.Sprintf("Interlock installs '%s', because of install: Auto", name)
	case WaitForApproval:
		return fmt.Sprintf("install: Auto waits for an approval, because '%s' would be installed on many clusters; annotate "+
			"ClusterManagementAddOn '%s' with %s=N, as its event InstallationUnapproved says", name, name, addonv1alpha1.ApproveInstallAnnotation)
	case WaitContradiction:
		return fmt.Sprintf("install: Auto installs nothing, because '%s' would contradict or break what is installed on this cluster; "+
			"kubectl addon install %s --cluster %s --plan says what", name, name, text.Name(cluster))
	case WaitForPlacement:
		return fmt.Sprintf("install: Auto installs on no more clusters by one Placement; its owner must list a second one in "+
			"ClusterManagementAddOn '%s' that selects the label", name)
	case WaitRefused:
		return fmt.Sprintf("install: Auto does not succeed, because the hub refuses what installs '%s' on this cluster; AddOnInstallation '%s' "+
			"says why, or else the log of addon-manager", name, name)
	default:
		return fmt.Sprintf("install: Auto pauses, because '%s' was removed from this cluster again and again", name)
	}
}

// wrongApproval returns the text about an approval that is not a number. It is empty without such an approval.
func wrongApproval(wait Wait, install catalog.Install) string {
	if wait != WaitForApproval || install.WrongApproval == "" {
		return ""
	}
	return fmt.Sprintf("; it says '%s', which is not a number", text.Name(install.WrongApproval))
}

// explain appends to the reason why an add-on is not installed.
func (f *Finding) explain(explanation string) {
	f.detail().Because = strings.TrimPrefix(f.Detail.Because+"; "+explanation, "; ")
}

// stop appends the reason why Interlock does not install the add-on although the edge requests it.
func (f *Finding) stop(because string) {
	f.explain(because)
	f.Detail.Stopped = true
}

// Stopped reports whether Interlock does not install the add-on although the edge requests it.
func (f Finding) Stopped() bool { return f.Detail != nil && f.Detail.Stopped }

// consentAdvice returns the step that the owner of the add-on has to take before an edge with install Auto has an effect.
// It is empty if no step is needed.
func consentAdvice(g *grounds) string {
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

// denial returns the text about policies that deny the installation of the add-on to an edge with install Auto. It is
// empty without such a policy, and if Interlock would not install the add-on anyway.
func denial(g *grounds) string {
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

// Unexplained reports whether the reason why the dependency is not installed is still unknown. The message of a condition
// then does not change.
func (f Finding) Unexplained() bool {
	return f.Detail != nil && (f.Detail.Unexplained || slices.ContainsFunc(f.Detail.Alternatives, Finding.Unexplained))
}

// setProgress sets the time since when an unavailable add-on is being installed or removed.
func setProgress(f *Finding, observed *Observation) {
	if !observed.Removed.IsZero() {
		f.detail().Removing = observed.Removed
	}
	if f.Available == nil && f.Degraded == nil && !observed.Created.IsZero() {
		f.detail().Installing = observed.Created
	}
}

// withProgress appends the time since when the add-on is being removed.
func withProgress(f *Finding, description string) string {
	if f.Detail == nil || f.Detail.Removing.IsZero() {
		return description
	}
	return description + "; being removed since " + f.Detail.Removing.Format(time.RFC3339)
}

// describeUnreported describes an add-on that has no condition Available.
func describeUnreported(f *Finding) string {
	if f.Detail == nil || f.Detail.Installing.IsZero() {
		return "Available not reported yet"
	}
	return "being installed since " + f.Detail.Installing.Format(time.RFC3339)
}

// Pending reports whether the add-on waits for the installation or the reinstallation of its dependency.
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
