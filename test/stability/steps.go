package stability

import (
	"slices"

	"open-cluster-management.io/interlock/test/stability/stock"
)

// step is a change that may happen next. If it has nothing to do, next returns the same state.
type step[S comparable] struct {
	name string
	// interlock reports whether the step is taken by a component of Interlock.
	interlock bool
	// environment reports whether the step need not be taken.
	environment bool
	next        func(S) S
}

// model is the world with its writers.
type model struct {
	World
	interlock      *interlock
	guardResults   map[guardKey]conditions
	stockDecisions map[stockKey]entry
	labels         map[entry]label
	degradations   map[degradeKey]entry
	// needGuard reports whether the guard would correct stored conditions.
	needGuard map[conditions]bool
	agent     map[agentKey]agentDecision
	running   events
	steps     []step[State]
}

// guardKey holds the stored conditions before a write, and the conditions that the write asks for.
type guardKey struct{ before, after conditions }

type conditions struct{ available, degraded entry }

type stockKey struct {
	rule                *stock.Rule
	available, degraded entry
	lost                bool
}

func newModel(w World, i *interlock) *model {
	m := &model{
		World: w, interlock: i, guardResults: map[guardKey]conditions{}, stockDecisions: map[stockKey]entry{}, labels: map[entry]label{},
		degradations: map[degradeKey]entry{}, agent: map[agentKey]agentDecision{},
		needGuard: map[conditions]bool{},
	}
	m.hub()
	if w.RegistrationAgent {
		m.registrationAgent()
	}
	if w.customized() && w.Prober != "" {
		m.addOnsManager()
	}
	if !w.NoInterlock {
		m.addonManager()
		if w.AddOnAgent {
			m.addonAgent()
		}
	}
	return m
}

func (m *model) add(name string, next func(State) State) {
	m.steps = append(m.steps, step[State]{name: name, next: next})
}

// store writes the add-on's conditions if they change.
func (m *model) store(s State, after conditions) State {
	if after == (conditions{s.Available, s.Degraded}) {
		return s
	}
	return m.write(s, after)
}

// write writes the add-on's conditions, through the guard if Guard is set. A write that changes something is an
// event for all watchers of add-ons.
func (m *model) write(s State, after conditions) State {
	before := conditions{s.Available, s.Degraded}
	if m.Guard && !m.NoInterlock {
		key := guardKey{before, after}
		result, ok := m.guardResults[key]
		if !ok {
			result = m.interlock.guard(before, after)
			m.guardResults[key] = result
		}
		after = result
	}
	if after == before {
		return s
	}
	s.Available, s.Degraded = after.available, after.degraded
	s.Pending |= m.running & (toFeatureDiscovery | toHealthCheck | toAddOnManager | toAddOnAgent)
	return s
}

// follow applies the rule to the add-on's Available.
func (m *model) follow(s State, rule *stock.Rule, lost bool) State {
	key := stockKey{rule: rule, available: s.Available, degraded: s.Degraded, lost: lost}
	after, ok := m.stockDecisions[key]
	if !ok {
		after = s.Available
		if write := rule.Decide(m.situation(s, lost)); write.Available != nil {
			after = s.Available.set(write.Available)
		}
		m.stockDecisions[key] = after
	}
	return m.store(s, conditions{after, s.Degraded})
}

func (m *model) situation(s State, lost bool) stock.Situation {
	situation := stock.Situation{
		Mode: m.Mode, AddOnLease: m.AddOnLease, Cluster: clusterStatus(lost), Prober: m.Prober, Work: m.Work,
	}
	if s.ClusterLeaseSeen != unobserved {
		situation.ClusterLease = leases[s.ClusterLeaseSeen]
	}
	if available := s.Available.condition(); available != nil {
		situation.Available = available.Status
	}
	if degraded := s.Degraded.condition(); requiredFails(degraded) {
		situation.Degraded = degraded.Reason
	}
	return situation
}

// onEvent returns a step that is triggered by an event, and handles it. With resync the events never end.
func (m *model) onEvent(event events, next func(State) State) func(State) State {
	if m.Resync {
		return next
	}
	return func(s State) State {
		if s.Pending&event == 0 {
			return s
		}
		s.Pending &^= event
		return next(s)
	}
}

// registrationAgent adds the agent that polls on the managed cluster. A stock writer that reads an old copy of its
// object gets a conflict, because its patches carry the resourceVersion. Nothing changes then, so no step models it.
func (m *model) registrationAgent() {
	m.add("registration-agent polls the add-on's lease", func(s State) State {
		return m.follow(s, stock.AddOnLease, s.Lost)
	})
	m.add("registration-agent reports the cluster's health", func(s State) State {
		return m.setLost(s, false) // stock.ClusterStatus
	})
}

// setLost sets the ManagedCluster's condition. A change of it triggers Interlock's addon-manager.
func (m *model) setLost(s State, lost bool) State {
	if s.Lost != lost {
		s.Lost = lost
		s.Pending |= m.running & toAddOnManager
	}
	return s
}

// hub adds OCM's registration controller on the hub.
func (m *model) hub() {
	m.running |= toClusterHealth | toFeatureDiscovery
	expired := seen(stock.StoppedLease)
	m.add("hub's cache receives the ManagedCluster", func(s State) State {
		if s.LostOnHub != s.Lost {
			s.LostOnHub = s.Lost
			s.Pending |= toClusterHealth | toFeatureDiscovery
		}
		return s
	})
	m.add("hub's cache receives the cluster's lease", func(s State) State {
		s.ClusterLeaseSeen = seen(m.clusterLease())
		return s
	})
	m.add("hub checks the cluster's lease", func(s State) State {
		// If the hub's copy of the ManagedCluster is old, there is a conflict.
		if s.LostOnHub != s.Lost || s.Lost || s.ClusterLeaseSeen != expired {
			return s
		}
		return m.setLost(s, true)
	})
	m.add("hub checks the add-ons of the cluster", m.onEvent(toClusterHealth, func(s State) State {
		return m.follow(s, stock.ClusterHealth, s.LostOnHub)
	}))
	m.add("hub checks an old copy of the add-on, which is Unknown already", func(s State) State {
		if s.Pending&toFeatureDiscovery != 0 { // it has an event to receive
			s.Pending &^= toClusterHealth
		}
		return s
	})
	m.add("hub sets the label", m.onEvent(toFeatureDiscovery, func(s State) State {
		if value := m.labelOf(s.Available); s.Label != value {
			s.Label = value
			s.Pending |= toClusterHealth | toFeatureDiscovery
		}
		return s
	}))
}

// addOnsManager adds the manager of an add-on in Customized mode.
func (m *model) addOnsManager() {
	m.running |= toHealthCheck
	m.add("add-on's manager receives the ManagedCluster", func(s State) State {
		s.LostInAddOnManager = s.Lost // no event follows
		return s
	})
	m.add("add-on's manager probes", m.onEvent(toHealthCheck, func(s State) State {
		return m.follow(s, stock.HealthCheck, s.LostInAddOnManager)
	}))
}

// labelOf returns the label that the hub sets.
func (m *model) labelOf(available entry) label {
	value, ok := m.labels[available]
	if !ok {
		write := stock.FeatureDiscovery.Decide(m.situation(State{Available: available}, false))
		value = label(slices.Index(labels, write.Label))
		m.labels[available] = value
	}
	return value
}
