package stability

import (
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
)

// installationModel is a world of an installation with its writers.
type installationModel struct {
	InstallationWorld
	removal addonv1alpha1.DependencyRemoval
	// rule is the decision, and confirmation the reads before a step. Tests of defects replace them.
	rule         func(installation.Inputs, time.Time) installation.Decision
	confirmation func(*installation.Inputs, installation.Step, installationObjects)
	steps        []step[InstallationState]
}

func newInstallationModel(world InstallationWorld) *installationModel {
	m := &installationModel{InstallationWorld: world, removal: addonv1alpha1.DependencyRemovalKeep, rule: installation.Decide}
	if world.Removable {
		m.removal = addonv1alpha1.DependencyRemovalWithLastDependent
	}
	m.confirmation = m.confirm
	m.addonManager()
	m.openClusterManagement()
	m.users()
	m.owners()
	m.clusters()
	return m
}

func (m *installationModel) starts() []InstallationState {
	start := InstallationState{Remaining: m.Interventions}
	start.Hub.Cluster.UID = 1
	start.Cache = start.Hub
	needed := start
	needed.Hub.Dependent = present
	needed.Cache = needed.Hub
	return []InstallationState{start, needed}
}

// addonManager adds the steps of addon-manager. Another process may replace it at any time, even while it writes.
func (m *installationModel) addonManager() {
	m.decided("addon-manager decides", idle, m.decide)
	m.written("addon-manager stores the decision", storing, m.store)
	m.written("addon-manager carries it out", acting, m.act)
	m.written("addon-manager stores that it has", storingCreated, func(s InstallationState) InstallationState {
		if s.Hub.Record == s.Write.Read || s.Hub.Record == (record{}) {
			s.Hub.Record = s.Write.Desired
		}
		s.Write = installationWrite{}
		return s
	})
	m.written("addon-manager looks again after it has deleted the record", deleted, m.restore)
	m.steps = append(m.steps, step[InstallationState]{name: "its cache follows", interlock: true, next: func(s InstallationState) InstallationState {
		s.Cache = s.Hub
		return s
	}})
	// Both together are not tried: an add-on that is installed after its record is deleted may then stay without one, as
	// if it had been handed over.
	m.intervene("addon-manager ends, and another one leads", func(s *InstallationState) bool {
		ends := s.Write.Next != idle && !s.TwoLed
		if ends {
			s.Write = installationWrite{}
		}
		return ends
	})
	m.intervene("another addon-manager leads before the write of the former one", func(s *InstallationState) bool {
		may := s.Write.Next != idle && s.FormerWrite.Next == idle && !m.OneLeader
		if may {
			s.Write, s.FormerWrite, s.TwoLed = installationWrite{}, s.Write, true
		}
		return may
	})
}

// decided adds a step that the leader takes at a stage of its decision.
func (m *installationModel) decided(name string, stage installationStage, next func(InstallationState) InstallationState) {
	m.steps = append(m.steps, step[InstallationState]{name: name, interlock: true, next: func(s InstallationState) InstallationState {
		if s.Write.Next != stage {
			return s
		}
		after := next(s)
		if after.Hub.AddOn != s.Hub.AddOn {
			after.FormerWrite.Unchanged = false
		}
		return after
	}})
}

// written adds a write of the leader, and the same write of a former leader.
func (m *installationModel) written(name string, stage installationStage, next func(InstallationState) InstallationState) {
	m.decided(name, stage, next)
	written := m.steps[len(m.steps)-1].next
	m.steps = append(m.steps, step[InstallationState]{name: "the former " + name, interlock: true, next: func(s InstallationState) InstallationState {
		return written(s.asFormer()).asFormer()
	}})
}

// asFormer exchanges the writes of the leader and of the former leader.
func (s InstallationState) asFormer() InstallationState {
	s.Write, s.FormerWrite = s.FormerWrite, s.Write
	return s
}

// add adds a step of a component of OCM, of the API server or of time.
func (m *installationModel) add(name string, next func(*InstallationState) bool) {
	m.steps = append(m.steps, step[InstallationState]{name: name, next: applied(next)})
}

// intervene adds a step that is taken a limited number of times, and need not be.
func (m *installationModel) intervene(name string, next func(*InstallationState) bool) {
	change := applied(next)
	m.steps = append(m.steps, step[InstallationState]{name: name, environment: true, next: func(s InstallationState) InstallationState {
		if s.Remaining == 0 {
			return s
		}
		after := change(s)
		if after != s {
			after.Remaining--
		}
		return after
	}})
}

// applied returns the state after a step, or the same state if the step has nothing to do. A changed
// ManagedClusterAddOn has a new version.
func applied(next func(*InstallationState) bool) func(InstallationState) InstallationState {
	return func(s InstallationState) InstallationState {
		after := s
		if !next(&after) {
			return s
		}
		if after.Hub.AddOn != s.Hub.AddOn {
			after.Write.Unchanged, after.FormerWrite.Unchanged = false, false
		}
		return after
	}
}

// openClusterManagement adds the steps of OCM and the garbage collector, and time.
func (m *installationModel) openClusterManagement() {
	m.add("OCM installs the add-on", func(s *InstallationState) bool {
		selected := m.Labeled && s.Hub.Owner == consenting && s.Hub.Cluster.UID != 0 && s.Hub.Cluster.labeled()
		if !selected || s.Hub.AddOn.UID != 0 {
			return false
		}
		s.Hub.AddOn = addOnObject{UID: unusedUID(s)}
		return true
	})
	m.add("OCM removes the add-on", func(s *InstallationState) bool {
		unselected := m.Labeled && (s.Hub.Owner == withdrawn || s.Hub.Owner == consenting && !s.Hub.Cluster.labeled())
		if s.Hub.AddOn.UID == 0 || s.Hub.AddOn.Deleting || s.Hub.Cluster.UID != 0 && s.Hub.Owner != unregistered && !unselected {
			return false
		}
		s.Hub.AddOn.Deleting = true
		return true
	})
	m.add("the deletion of the add-on ends", func(s *InstallationState) bool {
		deleting := s.Hub.AddOn.Deleting
		if deleting {
			s.Hub.AddOn = addOnObject{}
		}
		return deleting
	})
	m.add("the deletion of the dependent ends", func(s *InstallationState) bool {
		ends := s.Hub.Dependent == leaving
		if ends {
			s.Hub.Dependent = absent
		}
		return ends
	})
	m.add("time passes", func(s *InstallationState) bool {
		for _, stored := range []*record{
			&s.Hub.Record, &s.Cache.Record, &s.Write.Read, &s.Write.Desired, &s.FormerWrite.Read, &s.FormerWrite.Desired,
		} {
			stored.grow()
		}
		return true
	})
}

// grow lets time pass.
func (r *record) grow() {
	for _, stored := range []*age{&r.Unused, &r.Since, &r.UndoneUntil} {
		if *stored == ahead || *stored == recent {
			*stored++
		}
	}
}

// unusedUID returns the UID of a new ManagedClusterAddOn.
func unusedUID(s *InstallationState) uint8 {
	isUsed := func(uid uint8) bool {
		for _, existing := range []uint8{
			s.Hub.AddOn.UID, s.Cache.AddOn.UID, s.Hub.Record.AddOn, s.Cache.Record.AddOn, s.Write.AddOn, s.Write.Read.AddOn, s.Write.Desired.AddOn,
			s.FormerWrite.AddOn, s.FormerWrite.Read.AddOn, s.FormerWrite.Desired.AddOn,
		} {
			if existing == uid {
				return true
			}
		}
		return false
	}
	uid := uint8(1)
	for isUsed(uid) {
		uid++
	}
	return uid
}
