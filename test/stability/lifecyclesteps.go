package stability

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/test/stability/stock"
)

// lifecycleModel is a world of a lifecycle with its writers.
type lifecycleModel struct {
	Lifecycle
	rules *lifecycleRules
	// stockWrites are the writes of OCM's controllers.
	stockWrites map[writeKey]object
	outcomes    map[outcomeKey]reconciliation
	updates     map[updateKey]bool
	admitted    map[admissionKey]object
	running     events
	steps       []step[LifecycleState]
}

func newLifecycleModel(w Lifecycle, rules *lifecycleRules) *lifecycleModel {
	m := &lifecycleModel{
		Lifecycle: w, rules: rules, stockWrites: map[writeKey]object{},
		outcomes: map[outcomeKey]reconciliation{}, updates: map[updateKey]bool{}, admitted: map[admissionKey]object{},
	}
	m.environment()
	m.addonManager()
	if w.bundles() {
		m.healthWriters()
	} else {
		m.installers()
	}
	return m
}

// bundles reports whether the add-on is a bundle at any time.
func (w Lifecycle) bundles() bool { return w.Before.Bundle || w.After.Bundle }

func (m *lifecycleModel) add(name string, next func(LifecycleState) LifecycleState) {
	m.steps = append(m.steps, step[LifecycleState]{name: name, next: next})
}

// onEvent returns a step that is triggered by an event, and handles it.
func (m *lifecycleModel) onEvent(event events, next func(LifecycleState) LifecycleState) func(LifecycleState) LifecycleState {
	m.running |= event
	return func(s LifecycleState) LifecycleState {
		if s.Pending&event == 0 {
			return s
		}
		s.Pending &^= event
		return next(s)
	}
}

// environment adds the changes of inputs, caches and leaders, and the actions of a user.
func (m *lifecycleModel) environment() {
	if m.Before != m.After {
		m.addToEnvironment("the inputs change", func(s LifecycleState) LifecycleState {
			if !s.Changed {
				s.Changed = true
				s.Pending |= m.running & (toConfiguration | toClusterHealth)
			}
			return s
		})
		m.add("addon-manager receives the change", func(s LifecycleState) LifecycleState {
			if s.Changed && !s.Seen {
				s.Seen = true
				s.Pending |= toAddOnManager
			}
			return s
		})
		m.add("the webhook receives the change", func(s LifecycleState) LifecycleState {
			s.SeenByWebhook = s.Changed
			return s
		})
	}
	replaces := func(seen func(LifecycleState) bool) func(LifecycleState) LifecycleState {
		return func(s LifecycleState) LifecycleState {
			if !s.Replaced {
				s.Replaced, s.Opening, s.Seen = true, false, seen(s)
				s.Pending |= toAddOnManager
			}
			return s
		}
	}
	m.addToEnvironment(stepReplace, replaces(func(s LifecycleState) bool { return s.Seen }))
	if m.Before != m.After {
		m.addToEnvironment("an addon-manager leads with caches that are behind", replaces(func(LifecycleState) bool { return false }))
	}
	if m.User != noAction {
		m.addToEnvironment(actions[m.User], func(s LifecycleState) LifecycleState {
			if s.Acted {
				return s
			}
			s.Acted = true
			return m.replace(s, m.act(s.object))
		})
	}
}

func (m *lifecycleModel) act(o object) object {
	switch m.User {
	case opensGate:
		o.Gate = openGate
	case removesGate:
		o.Gate = noGate
	case misspellsGate:
		o.Gate = unknownGate
	case allowsUpgrade:
		o.Allowed = true
	case deletesAddOn:
		o.Deleted = true
	case noAction:
	}
	return o
}

// replace stores the object. A write that changes it is an event for all watchers of add-ons. The second write of
// addon-manager then has an old resourceVersion.
func (m *lifecycleModel) replace(s LifecycleState, after object) LifecycleState {
	before := s.object
	if after == before {
		return s
	}
	s.object = after
	s.Pending |= m.running & (toFeatureDiscovery | toAddOnAgent | toRegistration | toConfiguration | toProgressing)
	if s.Opening || m.enqueues(before, after, m.inputs(s.Seen)) {
		s.Pending |= toAddOnManager
	}
	s.Opening = false
	return s
}

// addonManager adds the controller of pkg/hub/status. An old copy of the add-on leads to a conflict, so it changes
// nothing.
func (m *lifecycleModel) addonManager() {
	m.running |= toAddOnManager
	m.addByInterlock(stepReconcile, func(s LifecycleState) LifecycleState {
		if s.Pending&toAddOnManager == 0 || s.Opening {
			return s
		}
		result := m.reconcile(s)
		if result.unconfirmed {
			return s // until the cache has the change
		}
		s.Pending &^= toAddOnManager
		opening := result.opens
		if opening && m.rules.manager.opensFirst {
			s, opening = m.replace(s, opened(s.object)), false
		}
		if result.writes {
			s = m.replace(s, m.admit(s, result.after))
		}
		s.Opening = opening
		return s
	})
	m.addByInterlock(stepOpen, func(s LifecycleState) LifecycleState {
		if !s.Opening {
			return s
		}
		s.Opening = false
		return m.replace(s, opened(s.object))
	})
}

// The steps of addon-manager.
const (
	stepReplace   = "another addon-manager leads"
	stepReconcile = "addon-manager reconciles"
	stepOpen      = "addon-manager opens the gate"
)

func opened(o object) object {
	o.Gate = openGate
	return o
}

func (m *lifecycleModel) addByInterlock(name string, next func(LifecycleState) LifecycleState) {
	m.add(name, next)
	m.steps[len(m.steps)-1].interlock = true
}

func (m *lifecycleModel) addToEnvironment(name string, next func(LifecycleState) LifecycleState) {
	m.add(name, next)
	m.steps[len(m.steps)-1].environment = true
}

// installers adds OCM's controllers that install the add-on and roll AddOnTemplates out. Their writes carry the
// resourceVersion, too.
func (m *lifecycleModel) installers() {
	m.add("OCM registers the add-on", m.onEvent(toRegistration, func(s LifecycleState) LifecycleState {
		return m.write(s, stock.Registration)
	}))
	if m.Before.Template == noTemplate && m.After.Template == noTemplate {
		return
	}
	m.add("OCM sets the template", m.onEvent(toConfiguration, func(s LifecycleState) LifecycleState {
		return m.write(s, stock.Configuration)
	}))
	m.add("OCM completes the rollout", m.onEvent(toProgressing, func(s LifecycleState) LifecycleState {
		return m.write(s, stock.Progressing)
	}))
}

// writeKey holds all inputs of a write of one of OCM's controllers.
type writeKey struct {
	rule    *stock.Rule
	before  object
	changed bool
}

// write follows the rule, through admission.
func (m *lifecycleModel) write(s LifecycleState, rule *stock.Rule) LifecycleState {
	key := writeKey{rule, s.object, s.Changed}
	after, ok := m.stockWrites[key]
	if !ok {
		after = m.objectAfter(s, rule.Decide(m.situation(s)))
		m.stockWrites[key] = after
	}
	if after == s.object {
		return s
	}
	return m.replace(s, m.admit(s, after))
}

// objectAfter returns the object after a write of one of OCM's controllers.
func (m *lifecycleModel) objectAfter(s LifecycleState, write stock.Write) object {
	after := s.object
	if write.Available != nil {
		after.setAvailable(write.Available)
	}
	switch {
	case write.Registered != nil:
		after.Registered = true
	case write.Reference != "":
		after.Desired, after.Applied = m.inputs(s.Changed).Template, noTemplate
	case write.Rollout != "":
		after.Applied = after.Desired
	}
	return after
}

func (m *lifecycleModel) situation(s LifecycleState) stock.Situation {
	inputs := m.inputs(s.Changed)
	situation := stock.Situation{
		Mode: healthChecks[s.Mode], AddOnLease: stock.NoLease, Cluster: clusterStatus(inputs.Lost),
		Reference: stock.AnotherReference, Rollout: stock.RolloutPending,
	}
	if available := s.Available.condition(); available != nil {
		situation.Available = available.Status
	}
	if s.Registered {
		situation.Registered = metav1.ConditionTrue
	}
	switch s.Desired {
	case noTemplate:
		situation.Reference = stock.NoReference
	case inputs.Template:
		situation.Reference = stock.ThisReference
	default: // it stays AnotherReference
	}
	if s.Desired == s.Applied {
		situation.Rollout = stock.RolloutCompleted
	}
	return situation
}
