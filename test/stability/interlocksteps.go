package stability

import "open-cluster-management.io/interlock/pkg/availability"

// addonManager is Interlock's controller on the hub.
func (m *model) addonManager() {
	m.running |= toAddOnManager
	evaluate := func(s State, lost bool) State {
		degraded := m.evaluate(lost, s.Degraded)
		stored := conditions{s.Available, degraded}
		if degraded == s.Degraded && m.Guard && cachedResult(m.needGuard, stored, stored.needsGuard) {
			return m.write(s, stored) // for a guard that is installed later
		}
		return m.store(s, conditions{s.Available, degraded})
	}
	m.add("addon-manager evaluates", m.onEvent(toAddOnManager, func(s State) State { return evaluate(s, s.Lost) }))
	m.steps[len(m.steps)-1].interlock = true
	if m.Resync {
		return // with events that never end, an old copy would never end either
	}
	m.add("addon-manager evaluates with an old ManagedCluster", func(s State) State {
		if s.Pending&toAddOnManager == 0 {
			return s
		}
		return evaluate(s, !s.Lost) // the event of the new one still comes
	})
	m.steps[len(m.steps)-1].interlock = true
}

func (m *model) evaluate(lost bool, degraded entry) entry {
	key := degradeKey{m.Dependency, lost, degraded}
	result, ok := m.degradations[key]
	if !ok {
		result = m.interlock.evaluate(m.Dependency, lost, degraded)
		m.degradations[key] = result
	}
	return result
}

// addonAgent is Interlock's agent. Its writes carry the resourceVersion too, so
// an old copy of the add-on can only mislead its memory.
func (m *model) addonAgent() {
	m.running |= toAddOnAgent
	m.add("addon-agent receives the lease", func(s State) State {
		if actual := seen(m.AddOnLease); !m.customized() && s.AddOnLeaseSeen != actual {
			s.AddOnLeaseSeen = actual
			s.Pending |= toAddOnAgent
		}
		return s
	})
	decides := func(s State) State {
		d := m.decide(s.AddOnLeaseSeen, observation{s.Available, s.Degraded, s.Memory})
		s.DegradedSeen = s.Degraded
		if d.write {
			s = m.store(s, conditions{d.available, s.Degraded})
		}
		s.Memory = d.memory
		return s
	}
	m.add("addon-agent decides", m.onEvent(toAddOnAgent, decides))
	m.steps[len(m.steps)-1].interlock = true
	m.add("addon-agent decides after the grace period", func(s State) State {
		if !s.Memory.recollection().awaiting {
			return s
		}
		s.Memory = memoryOf(recollection{awaiting: true, overdue: true})
		return decides(s)
	})
	m.steps[len(m.steps)-1].interlock = true
	for i, available := range m.available() {
		if i > 0 && available.condition().Reason != required {
			continue // either condition stands for all that Interlock did not write
		}
		m.add("addon-agent reads an old copy of the add-on", func(s State) State {
			if s.Pending&toAddOnAgent == 0 || m.Resync && s.Memory.recollection().awaiting {
				return s // with events that never end, an old copy would interrupt the wait each time
			}
			if d := m.decide(s.AddOnLeaseSeen, observation{available, s.DegradedSeen, s.Memory}); !d.write {
				s.Memory = d.memory
			}
			return s
		})
	}
}

func (m *model) decide(lease leaseSeen, observation observation) agentDecision {
	key := agentKey{mode: m.Mode, lease: lease, observation: observation}
	result, ok := m.agent[key]
	if !ok {
		result = m.interlock.decide(m.Mode, lease, seen(m.AddOnLease), observation)
		m.agent[key] = result
	}
	return result
}

// needsGuard reports whether the guard would correct Available with the next write.
func (c conditions) needsGuard() bool {
	return !availability.LeftByGuard(c.available.condition(), c.degraded.condition())
}
