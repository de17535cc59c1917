package stability

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/condition/bundle"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// lifecycles returns all worlds.
func lifecycles() []Lifecycle { return slices.Concat(gateWorlds(), upgradeWorlds(), bundleWorlds()) }

// changing returns worlds with inputs that change in each of the ways, back and forth, or stay.
func changing(inputs Inputs, ways ...func(*Inputs)) []Lifecycle {
	worlds := []Lifecycle{{Before: inputs, After: inputs}}
	for _, way := range ways {
		changed := inputs
		way(&changed)
		worlds = append(worlds,
			Lifecycle{Before: inputs, After: changed}, Lifecycle{Before: changed, After: inputs}, Lifecycle{Before: changed, After: changed})
	}
	return worlds
}

// withVariants returns the worlds with each variant.
func withVariants(worlds []Lifecycle, variants ...func(*Lifecycle)) []Lifecycle {
	var varieties []Lifecycle
	for _, world := range worlds {
		for _, vary := range variants {
			varied := world
			vary(&varied)
			varieties = append(varieties, varied)
		}
	}
	return varieties
}

func becomesAvailable(i *Inputs) { i.Available = true }
func isLost(i *Inputs)           { i.Lost = true }
func isLostLater(i *Inputs)      { i.Lost, i.Available = true, true }
func isUnordered(i *Inputs)      { i.Ordering = addonv1alpha1.OrderingNone }
func ordersLess(i *Inputs)       { i.Ordering = addonv1alpha1.OrderingInstall }
func isInvalid(i *Inputs)        { i.Declaration = invalid }
func isEmpty(i *Inputs)          { i.Declaration = empty }
func isCircular(i *Inputs)       { i.Declaration = circular }
func usesFirst(i *Inputs)        { i.Template = v1 }
func lacksTemplate(i *Inputs)    { i.Missing, i.Available = true, true }
func isNoBundle(i *Inputs)       { i.Bundle = false }
func isContradicted(i *Inputs)   { i.Review = contradicts }
func isNotReviewed(i *Inputs)    { i.Review = notReviewed }

func actingUser(user action) func(*Lifecycle) {
	return func(w *Lifecycle) { w.User, w.Rule = user, true }
}

func gateWorlds() []Lifecycle {
	ordered := Inputs{Ordering: addonv1alpha1.OrderingInstall}
	worlds := changing(ordered, becomesAvailable, isLost, isLostLater, isUnordered, isInvalid, isCircular)
	templated := ordered
	templated.Template = v2
	worlds = append(worlds, changing(templated, becomesAvailable, lacksTemplate, usesFirst)...)
	for _, inputs := range []Inputs{ordered, {}} {
		contradicted := changing(inputs, isContradicted, isNotReviewed)
		worlds = append(worlds, withVariants(contradicted, func(w *Lifecycle) { w.ForContradiction = true })...)
	}
	acted := withVariants(changing(ordered, becomesAvailable),
		actingUser(opensGate), actingUser(removesGate), actingUser(misspellsGate), actingUser(deletesAddOn))
	return slices.Concat(acted, withVariants(worlds, func(*Lifecycle) {}, actingUser(noAction)))
}

func upgradeWorlds() []Lifecycle {
	upgraded := Inputs{Ordering: addonv1alpha1.OrderingInstallAndUpgrade, Template: v2}
	worlds := changing(upgraded, becomesAvailable, isLost, isLostLater, isUnordered, ordersLess, isInvalid, usesFirst, lacksTemplate)
	acted := withVariants(changing(upgraded, becomesAvailable), actingUser(allowsUpgrade), actingUser(deletesAddOn))
	holds := func(w *Lifecycle) { w.Holder = true }
	return slices.Concat(withVariants(acted, holds), withVariants(withVariants(worlds, func(*Lifecycle) {}, actingUser(noAction)), holds))
}

func bundleWorlds() []Lifecycle {
	bundled := Inputs{Bundle: true}
	worlds := changing(bundled, becomesAvailable, isLost, isLostLater, isNoBundle, isEmpty)
	released := bundled
	released.Available = true
	undeclared := bundled
	undeclared.Declaration = empty
	ordered := bundled
	ordered.Ordering = addonv1alpha1.OrderingInstall
	worlds = slices.Concat(worlds,
		changing(released, isNoBundle)[1:], changing(undeclared, isLost)[1:], changing(ordered, becomesAvailable)[1:2])
	worlds = withVariants(worlds, func(*Lifecycle) {}, func(w *Lifecycle) { w.Guard = true })
	return withVariants(worlds, func(*Lifecycle) {}, func(w *Lifecycle) { w.AddOnAgent = true })
}

// starts returns every state from which a world may start.
func (m *lifecycleModel) starts() []LifecycleState {
	objects := []object{{}}
	expand := func(change func(o object) []object) {
		var expanded []object
		for _, o := range objects {
			expanded = append(expanded, change(o)...)
		}
		objects = expanded
	}
	expand(func(o object) []object {
		degraded := []metav1.Condition{*failing()[0].condition(), *otherDegraded()[1].condition()}
		return m.withConditions(o, degraded, func(o *object, e entry) { o.Degraded = e })
	})
	switch {
	case m.bundles():
		expand(m.health)
		expand(m.gated)
	case m.Before.ordersUpgrades() || m.After.ordersUpgrades():
		expand(m.rolloutStages)
		expand(m.upgradable)
	default:
		expand(m.gated)
	}
	expand(owned)
	var starts []LifecycleState
	for _, o := range objects {
		s := LifecycleState{object: o, Pending: m.running, Label: label(len(labels) - 1)}
		starts = append(starts, s)
		if m.AddOnAgent {
			for _, s.Memory = range m.rules.interlock.memories()[1:] {
				starts = append(starts, s)
			}
		}
	}
	return starts
}

// withConditions returns the object without a condition, and with each of the conditions.
func (m *lifecycleModel) withConditions(o object, conditions []metav1.Condition, set func(*object, entry)) []object {
	objects := []object{o}
	for i := range conditions {
		variant := o
		set(&variant, entry(0).write(&conditions[i]))
		objects = append(objects, variant)
	}
	return objects
}

// owned returns the object twice: as if addon-manager had applied none of its conditions, and all of them.
func owned(o object) []object {
	applied := o
	for i, stored := range o.entries() {
		condition := stored.condition()
		if condition != nil && (kinds[i] != availability.ConditionAvailable || bundle.Owned(condition) || condition.Reason == required) {
			applied.Owned |= 1 << i
		}
	}
	if healthChecks[o.Mode] == "Customized" {
		applied.Owned |= fieldMode
	}
	if applied.Owned == 0 {
		return []object{o}
	}
	return []object{o, applied}
}

func conditionOf(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "Before."}
}

// gated returns the object with each gate. Without a gate, the add-on's own manager owns Installable.
func (m *lifecycleModel) gated(o object) []object {
	objects := []object{o}
	if !m.bundles() {
		installed := o
		installed.Registered = true
		objects = append(objects, installed)
	}
	conditions := []metav1.Condition{
		conditionOf(gate.ConditionInstallable, metav1.ConditionFalse, gate.ReasonWaiting),
		conditionOf(gate.ConditionInstallable, metav1.ConditionFalse, gate.ReasonContradiction),
		conditionOf(gate.ConditionInstallable, metav1.ConditionTrue, gate.ReasonSatisfied),
		conditionOf(gate.ConditionInstallable, metav1.ConditionTrue, gate.ReasonOpened),
	}
	if m.bundles() {
		if !m.Before.ordersInstallation() {
			return objects
		}
		o.Gate = closedGate
		return append(objects, m.withConditions(o, conditions[:1], func(o *object, e entry) { o.Installable = e })[1:]...)
	}
	for _, variant := range objects[:len(objects):len(objects)] {
		for _, variant.Gate = range []gateValue{closedGate, openGate} {
			objects = append(objects, m.withConditions(variant, conditions, func(o *object, e entry) { o.Installable = e })...)
		}
	}
	if m.Before.Template == noTemplate {
		return objects
	}
	for _, variant := range objects[:len(objects):len(objects)] {
		variant.Desired = m.Before.Template
		objects = append(objects, variant)
	}
	return objects
}

// rolloutStages returns the object in each stage of a rollout.
func (m *lifecycleModel) rolloutStages(o object) []object {
	o.Gate = closedGate
	objects := []object{o}
	o.Registered, o.Gate = true, openGate
	for _, stage := range [][2]template{{v1, v1}, {v1, noTemplate}, {v2, v2}, {v2, noTemplate}} {
		o.Desired, o.Applied = stage[0], stage[1]
		objects = append(objects, o)
	}
	return objects
}

func (m *lifecycleModel) upgradable(o object) []object {
	if !o.Registered {
		return []object{o}
	}
	objects := m.withConditions(o, []metav1.Condition{
		conditionOf(gate.ConditionUpgradable, metav1.ConditionTrue, gate.ReasonNothingWaits),
		conditionOf(gate.ConditionUpgradable, metav1.ConditionFalse, gate.ReasonWaiting),
		conditionOf(gate.ConditionUpgradable, metav1.ConditionTrue, gate.ReasonSatisfied),
	}, func(o *object, e entry) { o.Upgradable = e })
	for i := range objects[2:] {
		objects[2+i].Related = v2
	}
	return objects
}

// health returns the object with Available from each writer.
func (m *lifecycleModel) health(o object) []object {
	available := []metav1.Condition{
		*stock.AddOnLease.Decide(stock.Situation{AddOnLease: stock.NoLease}).Available,
		*stock.ClusterHealth.Decide(stock.Situation{Cluster: metav1.ConditionUnknown}).Available,
		conditionOf(availability.ConditionAvailable, metav1.ConditionTrue, bundle.ReasonAvailable),
		conditionOf(availability.ConditionAvailable, metav1.ConditionUnknown, bundle.ReasonUnknown),
		conditionOf(availability.ConditionAvailable, metav1.ConditionUnknown, bundle.ReasonReleased),
	}
	follows := conditionOf(availability.ConditionAvailable, metav1.ConditionFalse, required)
	follows.Message = failing()[0].condition().Message
	objects := m.withConditions(o, append(available, follows), func(o *object, e entry) { o.Available = e })
	for _, variant := range objects[:len(objects):len(objects)] {
		if condition := variant.Available.condition(); condition != nil && condition.Reason == bundle.ReasonReleased {
			continue // another variant has it with the other mode
		}
		variant.Mode = healthCheck(slices.Index(healthChecks, "Customized"))
		objects = append(objects, variant)
	}
	return objects
}
