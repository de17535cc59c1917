// Package gate decides whether the first installation of an add-on on a managed cluster waits for its dependencies. A
// closed gate opens when they are satisfied, and never closes again.
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
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// Closed returns the warning of admission that the gate of an add-on on a managed cluster is closed.
func Closed(addOn, cluster, message string) string {
	return fmt.Sprintf("add-on '%s' is not installed on %s yet: %s", text.Name(addOn), cluster, message)
}

// Step is the action on a closed gate.
type Step int

const (
	// Stay means that the gate does not change, because it is unknown whether the installation has to wait.
	Stay Step = iota
	// Wait means that the add-on waits for its dependencies.
	Wait
	// Open means that the add-on may be installed.
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

// ConditionRemoved is the decision on an add-on whose gate is open, and whose condition Installable was removed by another
// writer.
var ConditionRemoved = Decision{Open, ReasonOpened, "The gate is open: the add-on does not wait for its dependencies any more."}

// Begun is the decision on an add-on that waited, and that OCM nevertheless began to install.
var Begun = Decision{Open, ReasonBegun, "Open Cluster Management has begun to install the add-on: the gate rule was not in force."}

// Unknown returns the decision on an add-on that waited, and whose gate annotation was changed to an invalid value. It has
// no gate then.
func Unknown(value string) Decision {
	return Decision{Open, ReasonOpened, fmt.Sprintf("There is no gate, because annotation %s has the unknown value %s: use %s or %s.",
		addonv1alpha1.GateAnnotation, strconv.Quote(text.Excerpt(text.OneLine(value))), addonv1alpha1.GateClosed, addonv1alpha1.GateOpen)}
}

// Removed is the decision on an add-on that waited, and whose gate annotation was removed.
var Removed = Decision{Open, ReasonOpened, "There is no gate, because annotation " + addonv1alpha1.GateAnnotation + " was removed."}

// Ungated decides on an add-on that waited and no longer has a closed gate. value is the value of its annotation, if there
// is any.
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

// Ordered reports whether the installation of an add-on with this declaration waits.
func Ordered(d declaration.Declaration) bool {
	return !d.Invalid &&
		(d.Ordering == addonv1alpha1.OrderingInstall || d.Ordering == addonv1alpha1.OrderingInstallAndUpgrade)
}

// Decide decides on a gate that is closed, or about to be. When the add-on is created, only Wait closes it. A due finding
// keeps it closed until the agent has reported. Other held findings do not close it. Dependencies that are Optional,
// waived or tolerated do not keep it closed. A cycle of Required dependencies does not either, because its members would
// wait for each other forever.
func Decide(registered declaration.Declaration, findings []evaluation.Finding) Decision {
	if registered.Invalid {
		return Decision{Step: Stay}
	}
	if !Ordered(registered) {
		return Decision{Open, ReasonOpened, "The add-on does not declare ordering: Install."}
	}
	return decide(findings, "", MessageSatisfied)
}

// Missing decides on a gate if the AddOnTemplate that OCM is about to install does not exist, or not yet. Its dependencies
// are unknown, and OCM cannot install it yet. order is the decision without a missing template.
func Missing(template string, order Decision) Decision {
	if order.Reason != ReasonSatisfied {
		return order
	}
	return Decision{Wait, ReasonWaiting, Upgrade{Template: template}.subject() + " does not exist. Create it, or name another one."}
}

// Creation is the evaluation of an add-on during its creation on a managed cluster.
type Creation struct {
	Findings []evaluation.Finding
	// Missing is the AddOnTemplate that is to be installed, if it does not exist yet. It is empty otherwise.
	Missing string
	// Evaluated is false if no evaluation was possible.
	Evaluated bool
}

// DecideCreation decides on the gate of an add-on during its creation.
func DecideCreation(registered declaration.Declaration, created Creation) Decision {
	switch decision := Decide(registered, created.Findings); {
	case !created.Evaluated:
		return Decision{Step: Stay}
	case created.Missing != "":
		return Missing(created.Missing, decision)
	default:
		return decision
	}
}

// DecideContradiction decides on a gate that was closed because the add-on contradicts installed add-ons. message has the
// current contradiction, or is empty without one. known is false while that is unknown. The order of installations is
// decided afterwards.
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

// decide decides by the findings on an add-on that waits. The message of Wait begins with a prefix.
func decide(findings []evaluation.Finding, prefix, satisfied string) Decision {
	blocking := filter(findings, evaluation.Finding.Blocks)
	if i := slices.IndexFunc(blocking, func(f evaluation.Finding) bool { return f.Verdict == evaluation.Cycle }); i >= 0 {
		return Decision{Open, ReasonOpened, "The dependencies can never be satisfied: " + strings.Join(blocking[i].Cycle, " → ") + "."}
	}
	if waiting := filter(blocking, evaluation.Finding.KeepsWaiting); len(waiting) > 0 {
		return Decision{Wait, ReasonWaiting, prefix + condition.WaitMessage(waiting, condition.MaxMessage-len(prefix))}
	}
	if slices.ContainsFunc(blocking, evaluation.Finding.Held) {
		return Decision{Step: Stay}
	}
	return Decision{Open, ReasonSatisfied, satisfied}
}

func filter(findings []evaluation.Finding, match func(evaluation.Finding) bool) []evaluation.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f evaluation.Finding) bool { return !match(f) })
}

// Installing returns the state in which the add-on is evaluated while it waits: with the AddOnTemplate that OCM is about
// to install. No template runs before, so the declaration of the add-on would be unknown. The second result is false if
// OCM has not chosen a template yet, and the declaration depends on it.
func Installing(c *catalog.Catalog, state evaluation.State, addOn string) (evaluation.State, bool) {
	templates := &state.AddOns.Named(addOn).Template
	if templates.Name != "" {
		return state, true
	}
	if templates.Next == "" {
		return state, !c.Templated(addOn)
	}
	state.AddOns = slices.Clone(state.AddOns)
	templates = &state.AddOns.Named(addOn).Template
	*templates = versions.Templates{Name: templates.Next, Running: templates.RollingOut}
	return state, true
}
