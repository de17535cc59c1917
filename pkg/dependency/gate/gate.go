// Package gate decides whether the first installation of an add-on on a managed cluster waits for its dependencies.
// A gate that is closed is opened once they are satisfied, and never closed again.
package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Closed is what admission warns of where it closes the gate of an add-on on a managed cluster, which then waits.
func Closed(addOn, cluster, message string) string {
	return fmt.Sprintf("add-on '%s' is not installed on %s yet: %s", text.Name(addOn), cluster, message)
}

// IsClosed reports whether a warning is that the gate of an add-on on a managed cluster is closed. It only decides what
// is shown. A warning of an API server has a text, and neither code nor reason: see NewWarningHeader in pkg/endpoints/filters/warning.go
// of apiserver 0.35. The annotation of the gate does not say which of several warnings on one creation is about it.
func IsClosed(warning, addOn, cluster string) bool {
	return strings.HasPrefix(warning, Closed(addOn, cluster, ""))
}

// Step is what is to be done about a gate that is closed.
type Step int

const (
	// Stay is to do nothing, because it is not known whether the installation has to wait.
	Stay Step = iota
	// Wait is to let the add-on wait for its dependencies.
	Wait
	// Open is to let it be installed.
	Open
)

// Decision is a step, with the reason and the message of the condition Installable.
type Decision struct {
	Step    Step
	Reason  string
	Message string
}

// OpenedByHand is the decision on a gate that a user opened while the add-on waited.
var OpenedByHand = Decision{Open, ReasonOpened, "A user opened the gate before all Required dependencies were satisfied."}

// ConditionRemoved is the decision on an add-on whose gate is open, and whose condition Installable another writer has removed.
var ConditionRemoved = Decision{Open, ReasonOpened, "The gate is open: the add-on does not wait for its dependencies any more."}

// Begun is the decision on an add-on that waited, and that OCM has begun to install nevertheless.
var Begun = Decision{Open, ReasonBegun, "Open Cluster Management has begun to install the add-on: the gate rule was not in force."}

// Unknown is the decision on an add-on that waited, and whose annotation of the gate then got a value that is none: there is no gate.
func Unknown(value string) Decision {
	return Decision{Open, ReasonOpened, fmt.Sprintf("There is no gate, because annotation %s has the unknown value %s: use %s or %s.",
		addonv1alpha1.GateAnnotation, strconv.Quote(text.Excerpt(text.OneLine(value))), addonv1alpha1.GateClosed, addonv1alpha1.GateOpen)}
}

// Removed is the decision on an add-on that waited, and whose annotation of the gate was then removed.
var Removed = Decision{Open, ReasonOpened, "There is no gate, because annotation " + addonv1alpha1.GateAnnotation + " was removed."}

// Ungated decides on an add-on that waited and has no closed gate any more. value is that of its annotation, if it has one.
func Ungated(value string, annotated bool) Decision {
	switch {
	case !annotated:
		return Removed
	case value == addonv1alpha1.GateOpen:
		return OpenedByHand
	case value == addonv1alpha1.GateClosed:
		return Begun
	}
	return Unknown(value)
}

// Ordered reports whether the installation of an add-on with that declaration waits.
func Ordered(declared declaration.Declaration) bool {
	return !declared.Invalid &&
		(declared.Ordering == addonv1alpha1.OrderingInstall || declared.Ordering == addonv1alpha1.OrderingInstallAndUpgrade)
}

// Decide decides on a gate that is closed, or about to be: when the add-on is created, only Wait closes it. A finding that is due
// keeps it closed until the agent has reported; one that is held for another reason closes nothing. An Optional dependency, a waived
// one, and one that tolerates the failure, do not keep it closed. Nor does a cycle of Required dependencies, because the members would wait for each other for ever.
func Decide(registered declaration.Declaration, findings []evaluation.Finding) Decision {
	if registered.Invalid {
		return Decision{Step: Stay}
	}
	if !Ordered(registered) {
		return Decision{Open, ReasonOpened, "The add-on does not declare ordering: Install."}
	}
	return decide(findings, "", MessageSatisfied)
}

// Missing decides on a gate where the AddOnTemplate that OCM is about to install does not exist, or not yet: what it will require is not
// known, and OCM can install nothing before. order is the decision without it.
func Missing(template string, order Decision) Decision {
	if order.Reason != ReasonSatisfied {
		return order
	}
	return Decision{Wait, ReasonWaiting, Upgrade{Template: template}.subject() + " does not exist. Create it, or name another one."}
}

// Creation is an add-on as it is created on a managed cluster.
type Creation struct {
	Findings []evaluation.Finding
	// Missing is the AddOnTemplate that is to be installed, if it does not exist, or not yet; empty: it does, or there is none.
	Missing string
	// Known is false where nothing can be said.
	Known bool
}

// DecideCreation decides on the gate of an add-on as it is created.
func DecideCreation(registered declaration.Declaration, created Creation) Decision {
	switch decided := Decide(registered, created.Findings); {
	case !created.Known:
		return Decision{Step: Stay}
	case created.Missing != "":
		return Missing(created.Missing, decided)
	default:
		return decided
	}
}

// DecideContradiction decides on a gate that was closed because the add-on contradicts add-ons that are installed. message is what it
// contradicts now, empty for nothing; known is false while that cannot be said. The order of installations is decided afterwards.
func DecideContradiction(message string, known bool, order Decision) Decision {
	switch {
	case message != "":
		return Decision{Wait, ReasonContradiction, text.Cut(message, condition.MaxMessage)}
	case !known:
		return Decision{Step: Stay}
	case order.Reason == ReasonOpened:
		return Decision{Open, ReasonSatisfied, "The add-on contradicts no installed add-on any more."}
	default:
		return order
	}
}

// decide decides on what waits for these; the message of Wait begins with a prefix.
func decide(findings []evaluation.Finding, prefix, satisfied string) Decision {
	blocking := only(findings, evaluation.Finding.Blocks)
	if at := slices.IndexFunc(blocking, func(f evaluation.Finding) bool { return f.Verdict == evaluation.Cycle }); at >= 0 {
		return Decision{Open, ReasonOpened, "The dependencies can never be satisfied: " + strings.Join(blocking[at].Cycle, " → ") + "."}
	}
	if waited := only(blocking, evaluation.Finding.KeepsWaiting); len(waited) > 0 {
		return Decision{Wait, ReasonWaiting, prefix + condition.WaitMessage(waited, condition.MaxMessage-len(prefix))}
	}
	if slices.ContainsFunc(blocking, evaluation.Finding.Held) {
		return Decision{Step: Stay}
	}
	return Decision{Open, ReasonSatisfied, satisfied}
}

func only(findings []evaluation.Finding, which func(evaluation.Finding) bool) []evaluation.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f evaluation.Finding) bool { return !which(f) })
}

// Installing returns the state in which the add-on is evaluated while it waits: with the AddOnTemplate that OCM is about
// to install. None runs before, so it would not be known what the add-on declares. known is false where OCM has not chosen
// a template yet, and it matters which one.
func Installing(declared *catalog.Catalog, state evaluation.State, addOn string) (installing evaluation.State, known bool) {
	templates := &state.AddOns.Named(addOn).Template
	if templates.Name != "" {
		return state, true
	}
	if templates.Next == "" {
		return state, !declared.Templated(addOn)
	}
	state.AddOns = slices.Clone(state.AddOns)
	templates = &state.AddOns.Named(addOn).Template
	*templates = versions.Templates{Name: templates.Next, Running: templates.RollingOut}
	return state, true
}
