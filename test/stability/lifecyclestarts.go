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

// changing returns worlds with inputs that change in each of the ways, there and back, or stay.
func changing(in Inputs, ways ...func(*Inputs)) []Lifecycle {
	all := []Lifecycle{{Before: in, After: in}}
	for _, way := range ways {
		other := in
		way(&other)
		all = append(all, Lifecycle{Before: in, After: other}, Lifecycle{Before: other, After: in}, Lifecycle{Before: other, After: other})
	}
	return all
}

// with returns the worlds with each variant.
func with(worlds []Lifecycle, variants ...func(*Lifecycle)) []Lifecycle {
	var all []Lifecycle
	for _, world := range worlds {
		for _, vary := range variants {
			varied := world
			vary(&varied)
			all = append(all, varied)
		}
	}
	return all
}

func becomesAvailable(i *Inputs) { i.Available = true }
func isLost(i *Inputs)           { i.Lost = true }
func isLostLater(i *Inputs)      { i.Lost, i.Available = true, true }
func isUnordered(i *Inputs)      { i.Ordering = addonv1alpha1.OrderingNone }
func ordersLess(i *Inputs)       { i.Ordering = addonv1alpha1.OrderingInstall }
func isInvalid(i *Inputs)        { i.Declared = invalid }
func isEmpty(i *Inputs)          { i.Declared = empty }
func isCircular(i *Inputs)       { i.Declared = circular }
func usesFirst(i *Inputs)        { i.Template = v1 }
func lacksTemplate(i *Inputs)    { i.Missing, i.Available = true, true }
func isNoBundle(i *Inputs)       { i.Bundle = false }
func isContradicted(i *Inputs)   { i.Review = contradicts }
func isNotReviewed(i *Inputs)    { i.Review = notReviewed }

func by(user action) func(*Lifecycle) {
	return func(w *Lifecycle) { w.User, w.Rule = user, true }
}

func gateWorlds() []Lifecycle {
	ordered := Inputs{Ordering: addonv1alpha1.OrderingInstall}
	worlds := changing(ordered, becomesAvailable, isLost, isLostLater, isUnordered, isInvalid, isCircular)
	templated := ordered
	templated.Template = v2
	worlds = append(worlds, changing(templated, becomesAvailable, lacksTemplate, usesFirst)...)
	for _, in := range []Inputs{ordered, {}} {
		worlds = append(worlds, with(changing(in, isContradicted, isNotReviewed), func(w *Lifecycle) { w.ForContradiction = true })...)
	}
	acted := with(changing(ordered, becomesAvailable), by(opensGate), by(removesGate), by(misspellsGate), by(deletesAddOn))
	return slices.Concat(acted, with(worlds, func(*Lifecycle) {}, by(noAction)))
}

func upgradeWorlds() []Lifecycle {
	upgraded := Inputs{Ordering: addonv1alpha1.OrderingInstallAndUpgrade, Template: v2}
	worlds := changing(upgraded, becomesAvailable, isLost, isLostLater, isUnordered, ordersLess, isInvalid, usesFirst, lacksTemplate)
	acted := with(changing(upgraded, becomesAvailable), by(allowsUpgrade), by(deletesAddOn))
	holds := func(w *Lifecycle) { w.Holder = true }
	return slices.Concat(with(acted, holds), with(with(worlds, func(*Lifecycle) {}, by(noAction)), holds))
}

func bundleWorlds() []Lifecycle {
	bundled := Inputs{Bundle: true}
	worlds := changing(bundled, becomesAvailable, isLost, isLostLater, isNoBundle, isEmpty)
	released := bundled
	released.Available = true
	without := bundled
	without.Declared = empty
	ordered := bundled
	ordered.Ordering = addonv1alpha1.OrderingInstall
	worlds = slices.Concat(worlds, changing(released, isNoBundle)[1:], changing(without, isLost)[1:], changing(ordered, becomesAvailable)[1:2])
	worlds = with(worlds, func(*Lifecycle) {}, func(w *Lifecycle) { w.Guard = true })
	return with(worlds, func(*Lifecycle) {}, func(w *Lifecycle) { w.AddOnAgent = true })
}

// starts returns every state that a world may be found in.
func (m *lifecycleModel) starts() []LifecycleState {
	objects := []object{{}}
	each := func(change func(o object) []object) {
		var all []object
		for _, o := range objects {
			all = append(all, change(o)...)
		}
		objects = all
	}
	each(func(o object) []object {
		degraded := []metav1.Condition{*failing()[0].condition(), *otherDegraded()[1].condition()}
		return m.each(o, degraded, func(o *object, e entry) { o.Degraded = e })
	})
	switch {
	case m.bundles():
		each(m.health)
		each(m.gated)
	case m.Before.ordersUpgrades() || m.After.ordersUpgrades():
		each(m.rolledOut)
		each(m.upgradable)
	default:
		each(m.gated)
	}
	each(owned)
	var all []LifecycleState
	for _, o := range objects {
		s := LifecycleState{object: o, Pending: m.running, Label: label(len(labels) - 1)}
		all = append(all, s)
		if m.AddOnAgent {
			for _, s.Memory = range m.rules.interlock.memories()[1:] {
				all = append(all, s)
			}
		}
	}
	return all
}

// each returns the object without a condition, and with each of these.
func (m *lifecycleModel) each(o object, conditions []metav1.Condition, set func(*object, entry)) []object {
	all := []object{o}
	for i := range conditions {
		one := o
		set(&one, entry(0).written(&conditions[i]))
		all = append(all, one)
	}
	return all
}

// owned returns the object as if addon-manager had applied all conditions, or none.
func owned(o object) []object {
	applied := o
	for i, one := range o.entries() {
		condition := one.condition()
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

// gated returns the object with each gate. Without one, the add-on's own manager has Installable.
func (m *lifecycleModel) gated(o object) []object {
	all := []object{o}
	if !m.bundles() {
		installed := o
		installed.Registered = true
		all = append(all, installed)
	}
	conditions := []metav1.Condition{
		conditionOf(gate.ConditionInstallable, metav1.ConditionFalse, gate.ReasonWaiting),
		conditionOf(gate.ConditionInstallable, metav1.ConditionFalse, gate.ReasonContradiction),
		conditionOf(gate.ConditionInstallable, metav1.ConditionTrue, gate.ReasonSatisfied),
		conditionOf(gate.ConditionInstallable, metav1.ConditionTrue, gate.ReasonOpened),
	}
	if m.bundles() {
		if !m.Before.ordersInstallation() {
			return all
		}
		o.Gate = closedGate
		return append(all, m.each(o, conditions[:1], func(o *object, e entry) { o.Installable = e })[1:]...)
	}
	for _, one := range all[:len(all):len(all)] {
		for _, one.Gate = range []gateValue{closedGate, openGate} {
			all = append(all, m.each(one, conditions, func(o *object, e entry) { o.Installable = e })...)
		}
	}
	if m.Before.Template == noTemplate {
		return all
	}
	for _, one := range all[:len(all):len(all)] {
		one.Desired = m.Before.Template
		all = append(all, one)
	}
	return all
}

// rolledOut returns the object in each stage of a rollout.
func (m *lifecycleModel) rolledOut(o object) []object {
	o.Gate = closedGate
	all := []object{o}
	o.Registered, o.Gate = true, openGate
	for _, stage := range [][2]template{{v1, v1}, {v1, noTemplate}, {v2, v2}, {v2, noTemplate}} {
		o.Desired, o.Applied = stage[0], stage[1]
		all = append(all, o)
	}
	return all
}

func (m *lifecycleModel) upgradable(o object) []object {
	if !o.Registered {
		return []object{o}
	}
	all := m.each(o, []metav1.Condition{
		conditionOf(gate.ConditionUpgradable, metav1.ConditionTrue, gate.ReasonNothingWaits),
		conditionOf(gate.ConditionUpgradable, metav1.ConditionFalse, gate.ReasonWaiting),
		conditionOf(gate.ConditionUpgradable, metav1.ConditionTrue, gate.ReasonSatisfied),
	}, func(o *object, e entry) { o.Upgradable = e })
	for i := range all[2:] {
		all[2+i].Related = v2
	}
	return all
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
	all := m.each(o, append(available, follows), func(o *object, e entry) { o.Available = e })
	for _, one := range all[:len(all):len(all)] {
		if condition := one.Available.condition(); condition != nil && condition.Reason == bundle.ReasonReleased {
			continue // is written with the other mode
		}
		one.Mode = healthCheck(slices.Index(healthChecks, "Customized"))
		all = append(all, one)
	}
	return all
}
