package evaluation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// addOnRule is the rule of an edge on an add-on in any version. It is the rule of the proposal.
var addOnRule = rule{sentence: addOnSentence, describe: describeAddOn}

func evaluateAddOn(g *grounds, f *Finding) {
	evaluateInstalled(g, f, g.state.AddOns.Named(g.edge.AddOn))
}

// evaluateInstalled sets the verdict by the observed state of the add-on.
func evaluateInstalled(g *grounds, f *Finding, observed *Observation) {
	ifInstalled := g.edge.Dependency.Type == addonv1alpha1.DependencyTypeIfInstalled
	switch {
	case ifInstalled: // the dependent also works without the add-on, and beside an unavailable one
		f.Verdict = Satisfied
	case !observed.Installed:
		evaluateAbsent(g, f)
	case availability.RequiredFails(observed.Degraded):
		// Available follows this condition a moment later. The finding does not change when Available changes.
		f.Verdict, f.Degraded = NotAvailable, observed.Degraded
	case observed.Available == nil:
		f.Verdict = NotAvailable
	case observed.Available.Status == metav1.ConditionTrue:
		f.Verdict = Satisfied
	case g.cluster.settling(observed):
		f.Verdict, f.Until = Held, g.cluster.settled(observed)
	default:
		f.Verdict, f.Available = NotAvailable, observed.Available
	}
	if f.Verdict == NotAvailable {
		setProgress(f, observed)
		tolerate(g, f, observed)
	}
}

func addOnSentence(f *Finding) string {
	return fmt.Sprintf("%s addon '%s' is not installed or not available.", f.Type(), text.Name(declaration.Target(f.Dependency)))
}

// ownDependencyFails describes a dependency whose Degraded or Available reports a failing Required dependency. One
// condition changes after the other. The text is the same for both, because each new text is written to every add-on of a
// chain.
const ownDependencyFails = "a Required dependency of its own is not satisfied"

func describeAddOn(f *Finding) string {
	switch {
	case f.Verdict == NotInstalled && f.Detail != nil:
		return join("not installed", f.Detail.Because)
	case f.Verdict == NotInstalled:
		return "not installed"
	case f.Follows(), f.Degraded != nil:
		return withProgress(f, ownDependencyFails)
	case f.Available != nil:
		return withProgress(f, conditionText(f.Available))
	default:
		return withProgress(f, describeUnreported(f))
	}
}

// conditionText returns a description of the condition Available.
func conditionText(condition *metav1.Condition) string {
	described := addonv1alpha1.ManagedClusterAddOnConditionAvailable + "=" + string(condition.Status)
	if condition.Reason != "" {
		described += ", " + text.Cut(text.OneLine(condition.Reason), maxReason)
	}
	if !condition.LastTransitionTime.IsZero() {
		described += ", since " + condition.LastTransitionTime.UTC().Format(time.RFC3339)
	}
	return described
}
