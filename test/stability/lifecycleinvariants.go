package stability

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/condition/bundle"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
)

// The contract is written here once more, in terms of the inputs and without pkg/dependency. Decisions are compared
// with it.

// mayOpen reports whether the gate of an object may open with these inputs: its installation is not ordered any more,
// or nothing keeps it waiting.
func (i Inputs) mayOpen(o *object, forContradiction bool) bool {
	switch {
	case i.Declaration == invalid,
		i.Template != noTemplate && o.Desired == noTemplate, // OCM has not chosen yet
		forContradiction && i.Review != contradictsNothing:
		return false
	case !i.ordersInstallation():
		return true
	case i.Lost && i.Declaration != empty:
		return false
	}
	return i.Declaration == circular || i.satisfies(o.Desired) && !i.lacks(o.Desired)
}

// lacks reports whether an AddOnTemplate does not exist.
func (i Inputs) lacks(t template) bool { return i.Missing && t == i.Template && t != noTemplate }

// waits returns the reason why an add-on has to wait behind its gate. It is empty if the reason is unknown.
func (i Inputs) waits(o *object, forContradiction bool) string {
	switch {
	case i.Declaration == invalid, i.Template != noTemplate && o.Desired == noTemplate, i.Lost, forContradiction && i.Review == notReviewed:
		return ""
	case forContradiction && i.Review == contradicts:
		return gate.ReasonContradiction
	}
	return gate.ReasonWaiting
}

// mayRelease reports whether an AddOnTemplate that waits may be rolled out.
func (i Inputs) mayRelease(waiting template) bool {
	switch {
	case i.Declaration == invalid:
		return false
	case !i.ordersUpgrades(), i.Template != waiting:
		return true
	}
	return !i.Lost && i.satisfies(waiting) && !i.lacks(waiting)
}

// brokenBy names the invariant that a step breaks.
func (m *lifecycleModel) brokenBy(before, after *LifecycleState, cause *step[LifecycleState]) string {
	stored := &before.object
	cached, live := m.inputs(before.Seen), m.inputs(before.Changed)
	switch {
	case cause.interlock && stored.Gate != after.Gate && (stored.Gate != closedGate || after.Gate != openGate || cause.name != stepOpen):
		return "addon-manager changes the gate in another way than to open it after its condition"
	case cause.name == stepOpen && after.Gate == openGate && !isTrue(after.Installable):
		return "the gate is open although Installable is not True"
	case cause.name == stepReconcile && after.Opening && (!cached.mayOpen(stored, m.ForContradiction) || !live.sameDeclaration(cached)):
		return "addon-manager opens the gate although the assessment does not allow it"
	case m.Rule && stored.closed() && after.Registered:
		return "OCM begins to install an add-on whose gate is closed"
	case stored.Desired != after.Desired && m.mustHold(before, after.Desired):
		return "an AddOnTemplate is rolled out that has to wait"
	case cause.name == stepReconcile && stored.waiting() != noTemplate && after.waiting() == noTemplate && !after.Deleted &&
		stored.Desired != stored.waiting() && !cached.mayRelease(stored.waiting()) && !live.mayRelease(stored.waiting()):
		return "addon-manager lets an AddOnTemplate go on although the assessment does not allow it"
	case cause.interlock && m.removes(stored, &after.object, cached):
		return "a component of Interlock removes a condition"
	case cause.interlock && !m.bundles() && !m.Guard && stored.Available != after.Available:
		return "addon-manager changes Available of an add-on that is no bundle"
	}
	return ""
}

// sameDeclaration reports whether both inputs have the same declarations. The state of the cluster may differ.
func (i Inputs) sameDeclaration(inputs Inputs) bool {
	return i.Ordering == inputs.Ordering && i.Declaration == inputs.Declaration
}

// mustHold reports whether admission has to keep an AddOnTemplate from being rolled out.
func (m *lifecycleModel) mustHold(before *LifecycleState, desired template) bool {
	if before.Deleted || before.Allowed || before.Desired == noTemplate {
		return false
	}
	if m.Rule && before.waiting() == desired {
		return true
	}
	inputs := m.inputs(before.SeenByWebhook)
	return m.Holder && before.Upgradable != 0 && before.Applied != noTemplate && inputs.Declaration != invalid && inputs.ordersUpgrades() &&
		!inputs.Lost && (inputs.lacks(desired) || !inputs.satisfies(desired))
}

// removes reports whether a condition is removed that has to stay. Server-side apply hands two conditions over by
// removing them. Without a gate, the add-on's own manager may own Installable, so the next write leaves it out. And
// Available of a former bundle reports a failing dependency until OCM's agent sets it.
func (m *lifecycleModel) removes(before, after *object, inputs Inputs) bool {
	removed := func(stored, desired entry) bool { return stored != 0 && desired == 0 }
	return removed(before.Degraded, after.Degraded) || removed(before.Upgradable, after.Upgradable) ||
		removed(before.Installable, after.Installable) && m.User != removesGate ||
		removed(before.Available, after.Available) && (inputs.Bundle || !m.bundles())
}

func isTrue(e entry) bool {
	condition := e.condition()
	return condition != nil && condition.Status == metav1.ConditionTrue
}

// broken names the invariant that does not hold in a quiet state.
func (m *lifecycleModel) broken(s *LifecycleState) string {
	inputs := m.inputs(s.Changed)
	if s.Deleted {
		if !m.bundles() && !s.Registered {
			return "ends where OCM cannot finish the deletion"
		}
		return ""
	}
	for _, broken := range []func(*LifecycleState, Inputs) string{m.brokenGate, m.brokenUpgrade, m.brokenDegraded, m.brokenBundle} {
		if text := broken(s, inputs); text != "" {
			return "ends where " + text
		}
	}
	return ""
}

func (m *lifecycleModel) brokenGate(s *LifecycleState, inputs Inputs) string {
	installable := s.Installable.condition()
	switch reason := inputs.waits(&s.object, m.ForContradiction); {
	case !s.closed() && gate.Waits(installable) && (s.Gate != noGate || s.owns(gate.ConditionInstallable)):
		return "Installable says that the add-on waits, and its gate is not closed"
	case !s.closed() && !m.bundles() && !s.Registered:
		return "OCM does not install the add-on although its gate is not closed"
	case !s.closed():
		return ""
	case inputs.mayOpen(&s.object, m.ForContradiction):
		return "the gate is closed although nothing keeps it so"
	case reason != "" && (!gate.Waits(installable) || installable.Reason != reason):
		return "Installable does not say that the add-on waits behind its gate"
	}
	return ""
}

func (m *lifecycleModel) brokenUpgrade(s *LifecycleState, inputs Inputs) string {
	waiting := s.waiting()
	if inputs.Template == noTemplate || !s.Registered {
		return ""
	}
	switch {
	case inputs.Template != s.Desired && inputs.Template != waiting:
		return "OCM does not roll an AddOnTemplate out that does not wait"
	case s.Desired != s.Applied:
		return "OCM does not complete the rollout"
	case waiting != noTemplate && waiting == s.Desired:
		return "Upgradable says that the AddOnTemplate waits that runs"
	case waiting != noTemplate && inputs.mayRelease(waiting):
		return "an AddOnTemplate waits although nothing keeps it waiting"
	case inputs.ordersUpgrades() && inputs.Declaration != invalid && s.Upgradable == 0:
		return "Upgradable is not set although upgrades are ordered"
	}
	return ""
}

func (m *lifecycleModel) brokenDegraded(s *LifecycleState, inputs Inputs) string {
	if inputs.Lost || inputs.Declaration == invalid || inputs.Template != noTemplate && s.Applied == noTemplate {
		return ""
	}
	if fails := availability.RequiredFails(s.Degraded.condition()); fails == inputs.works(s.Applied) {
		return "Degraded does not follow the dependency"
	}
	return ""
}

func (m *lifecycleModel) brokenBundle(s *LifecycleState, inputs Inputs) string {
	available := s.Available.condition()
	switch {
	case !m.bundles():
		return ""
	case inputs.Lost && !availability.ClusterLost(available):
		return "Available does not say that the cluster is lost"
	case inputs.Lost:
		return ""
	case !inputs.Bundle && bundle.Owned(available):
		return "Available is still that of a bundle"
	case !inputs.Bundle:
		return ""
	case healthChecks[s.Mode] != "Customized" && !availability.Follows(available, s.Degraded.condition()): // the next write sets it
		return "OCM checks the health of a bundle"
	case inputs.works(noTemplate) && (available == nil || available.Reason != bundle.ReasonAvailable):
		return "Available of a bundle is not True although all that it requires is"
	case !inputs.works(noTemplate) &&
		(available == nil || available.Reason != required || available.Message != s.Degraded.condition().Message):
		return "Available of a bundle does not follow Degraded"
	}
	return ""
}
