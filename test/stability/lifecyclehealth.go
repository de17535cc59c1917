package stability

import (
	"slices"

	"open-cluster-management.io/interlock/test/stability/stock"
)

// healthWriters are the writers of Available of a bundle: OCM's registration agent, OCM's hub, and addon-agent.
func (m *lifecycleModel) healthWriters() {
	m.add("registration-agent polls the add-on's lease", func(s LifecycleState) LifecycleState {
		if m.inputs(s.Changed).Lost {
			return s // it does not run
		}
		return m.write(s, stock.AddOnLease)
	})
	m.add("hub checks the add-ons of the cluster", m.onEvent(toClusterHealth, func(s LifecycleState) LifecycleState {
		return m.write(s, stock.ClusterHealth)
	}))
	m.add("hub sets the label", m.onEvent(toFeatureDiscovery, func(s LifecycleState) LifecycleState {
		value := label(slices.Index(labels, stock.FeatureDiscovery.Decide(m.situation(s)).Label))
		if s.Label != value {
			s.Label = value
			s.Pending |= toClusterHealth | toFeatureDiscovery
		}
		return s
	}))
	if m.AddOnAgent {
		m.addonAgent()
	}
}

// addonAgent runs while the cluster is not lost. Its lease informer has no lease of a bundle.
func (m *lifecycleModel) addonAgent() {
	decides := func(s LifecycleState) LifecycleState {
		lease := seen(stock.NoLease)
		decision := m.rules.interlock.decide(healthChecks[s.Mode], lease, lease, observation{s.Available, s.Degraded, s.Memory})
		s.Memory = decision.memory
		if !decision.write {
			return s
		}
		after := s.object
		after.setAvailable(decision.available.condition())
		return m.replace(s, m.admit(s, after))
	}
	reachable := func(next func(LifecycleState) LifecycleState) func(LifecycleState) LifecycleState {
		return func(s LifecycleState) LifecycleState {
			if m.inputs(s.Changed).Lost {
				return s
			}
			return next(s)
		}
	}
	m.addByInterlock("addon-agent decides", reachable(m.onEvent(toAddOnAgent, decides)))
	m.addByInterlock("addon-agent decides after the grace period", reachable(func(s LifecycleState) LifecycleState {
		if !s.Memory.recollection().awaiting {
			return s
		}
		s.Memory = memoryOf(recollection{awaiting: true, overdue: true})
		return decides(s)
	}))
}
