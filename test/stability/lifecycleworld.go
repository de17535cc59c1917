package stability

import (
	"fmt"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Lifecycle holds all inputs of an add-on with a gate, upgrades or a bundle. Its registration agent runs while the cluster is not lost.
type Lifecycle struct {
	// Before are the inputs at the start. Once, at any time, After replaces them. Each cache receives that later.
	Before, After Inputs
	// Rule, Holder and Guard report whether the gate rule, the webhook that lets AddOnTemplates wait, and the guard are in force.
	Rule, Holder, Guard bool
	// AddOnAgent reports whether addon-agent runs.
	AddOnAgent bool
	// ForContradiction is true if admission closed the gate because of a contradiction.
	ForContradiction bool
	// User acts once, at any time.
	User action
}

// Inputs are the objects beside the add-on that its assessment depends on.
type Inputs struct {
	Ordering addonv1alpha1.Ordering
	// Declaration is the state of the add-on's declaration.
	Declaration declarationState
	// Available is true if the add-on that it depends on is available.
	Available bool
	// Template is the AddOnTemplate that OCM rolls out. Missing is true if it does not exist.
	Template template
	Missing  bool
	Bundle   bool
	// Lost is true if the managed cluster is lost.
	Lost bool
	// Review is the review of contradictions.
	Review review
}

type declarationState uint8

// The states of a declaration. A circular declaration depends on itself, and an empty declaration has no
// dependencies.
const (
	usable declarationState = iota
	empty
	invalid
	circular
)

type review uint8

// The reviews of contradictions.
const (
	contradictsNothing review = iota
	contradicts
	notReviewed
)

// action is an action of a user on the add-on.
type action uint8

// The actions of users.
const (
	noAction action = iota
	opensGate
	removesGate
	misspellsGate
	allowsUpgrade
	deletesAddOn
)

var actions = []string{
	"no user", "a user opens the gate", "a user removes the gate's annotation", "a user misspells the gate's annotation",
	"a user lets the upgrade pass", "a user deletes the add-on",
}

// template is an AddOnTemplate. The first one declares nothing, and the second one the dependency.
type template uint8

// The AddOnTemplates.
const (
	noTemplate template = iota
	v1
	v2
)

var templates = []string{"", "v1", "v2"}

func (t template) String() string { return templates[t] }

func templateOf(name string) template { return template(slices.Index(templates, name)) }

func (i Inputs) String() string {
	parts := []string{"ordering " + string(i.Ordering)}
	add := func(applies bool, text string) {
		if applies {
			parts = append(parts, text)
		}
	}
	add(i.Declaration == invalid, "invalid")
	add(i.Declaration == circular, "circular")
	add(i.Declaration == empty, "empty")
	add(i.Available, "dependency available")
	add(!i.Available, "dependency missing")
	add(i.Template != noTemplate, "template "+i.Template.String())
	add(i.Missing, "which does not exist")
	add(i.Bundle, "bundle")
	add(i.Lost, "cluster lost")
	add(i.Review == contradicts, "contradicts")
	add(i.Review == notReviewed, "not reviewed")
	return strings.Join(parts, ", ")
}

func (w Lifecycle) String() string {
	parts := []string{w.Before.String()}
	if w.After != w.Before {
		parts = append(parts, "then "+w.After.String())
	}
	for _, part := range []struct {
		applies bool
		text    string
	}{{w.Rule, "rule"}, {w.Holder, "holder"}, {w.Guard, "guard"}, {w.AddOnAgent, "addon-agent"}, {w.ForContradiction, "for contradiction"}} {
		if part.applies {
			parts = append(parts, part.text)
		}
	}
	return strings.Join(append(parts, actions[w.User]), "; ")
}

func (w Lifecycle) inputs(changed bool) Inputs {
	if changed {
		return w.After
	}
	return w.Before
}

// ordersInstallation reports whether the installation of the add-on waits.
func (i Inputs) ordersInstallation() bool {
	return i.Ordering == addonv1alpha1.OrderingInstall || i.ordersUpgrades()
}

func (i Inputs) ordersUpgrades() bool { return i.Ordering == addonv1alpha1.OrderingInstallAndUpgrade }

// satisfies reports whether all Required dependencies are satisfied with an AddOnTemplate.
func (i Inputs) satisfies(t template) bool {
	return i.Available || t == v1 || i.Declaration == empty
}

// works reports whether no Required dependency fails.
func (i Inputs) works(t template) bool { return i.satisfies(t) && i.Declaration != circular }

// LifecycleState is the part of a world that changes.
type LifecycleState struct {
	object
	// Changed is true once the inputs have changed. Seen and SeenByWebhook are true once the caches have received the
	// change.
	Changed, Seen, SeenByWebhook bool
	// Opening is true between the two writes with which addon-manager opens the gate.
	Opening bool
	// Acted is true once the user has acted, and Replaced once another addon-manager has begun to lead.
	Acted, Replaced bool
	// Label is the ManagedCluster's label for the add-on.
	Label label
	// Memory is the memory of addon-agent.
	Memory memory
	// Pending are the components with an event to handle.
	Pending events
}

func (s LifecycleState) String() string {
	return fmt.Sprintf("%s, changed %t, received %t, %t", s.object, s.Changed, s.Seen, s.SeenByWebhook)
}
