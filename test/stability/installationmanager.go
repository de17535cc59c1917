package stability

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
)

// installationWrite is a decision that addon-manager is about to carry out, one write after the other.
type installationWrite struct {
	// Next is the next write.
	Next installationStage
	// Read is the record that the decision was made on, and Desired the one to store.
	Read, Desired record
	Step          installation.Step
	// AddOn and Cluster are the UIDs of the objects that the decision is about. Unchanged is true until another
	// writer changes the ManagedClusterAddOn.
	AddOn, Cluster uint8
	Unchanged      bool
	// HubAtDecision are the objects that the API server stored at the moment of the decision.
	HubAtDecision installationObjects
}

type installationStage uint8

// The stages: a decision is stored, then carried out, and then the created object is stored. After a record is deleted,
// addon-manager looks once more whether a former leader has carried its decision out.
const (
	idle installationStage = iota
	storing
	acting
	storingCreated
	deleted
)

// noon is the moment of each decision. Stored moments are relative to it.
var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

const graceOfRemoval = time.Hour

var moments = map[age]time.Time{
	ahead: noon.Add(time.Hour), recent: noon, due: noon.Add(-24 * time.Hour),
}

func ageOf(moment time.Time) age {
	switch {
	case moment.IsZero():
		return never
	case moment.After(noon):
		return ahead
	case noon.Sub(moment) < graceOfRemoval:
		return recent
	}
	return due
}

func uidOf(number uint8) types.UID {
	if number == 0 {
		return ""
	}
	return types.UID(strconv.Itoa(int(number)))
}

func numberOf(uid types.UID) uint8 {
	number, _ := strconv.Atoi(string(uid)) // an empty one is 0
	return uint8(number)
}

// stored returns the record in the form that decisions read.
func (r record) stored(removal addonv1alpha1.DependencyRemoval) *installation.Installation {
	if r == (record{}) {
		return nil
	}
	stored := &installation.Installation{
		Phase: r.Phase, UID: uidOf(r.AddOn), Generation: 1, ClusterUID: uidOf(r.Cluster), Since: moments[r.Since], UnusedSince: moments[r.Unused],
		Undone: installation.Undone{Count: int(r.Undone), Retry: moments[r.UndoneUntil]},
	}
	if r.Labeled {
		stored.LabeledSince = noon
	}
	if r.Requested {
		stored.Requests = requests(removal)
	}
	return stored
}

func recordOf(stored *installation.Installation) record {
	if stored == nil {
		return record{}
	}
	return record{
		Phase: stored.Phase, AddOn: numberOf(stored.UID), Cluster: numberOf(stored.ClusterUID), Requested: len(stored.Requests) > 0,
		Unused: ageOf(stored.UnusedSince), Since: ageOf(stored.Since), Labeled: !stored.LabeledSince.IsZero(),
		Undone: uint8(min(stored.Undone.Count, 3)), UndoneUntil: ageOf(stored.Undone.Retry),
	}
}

func requests(removal addonv1alpha1.DependencyRemoval) []dependencyv1alpha1.InstallationRequest {
	return []dependencyv1alpha1.InstallationRequest{{AddOn: "dependent", Removal: removal}}
}

// present returns the add-on in the form that decisions read.
func (a addOnObject) present() *installation.Present {
	if a.UID == 0 {
		return nil
	}
	generation := int64(1)
	if a.Changed {
		generation = 2
	}
	return &installation.Present{UID: uidOf(a.UID), Generation: generation, Ours: a.Own, Deleted: a.Deleting}
}

func (c clusterObject) labeled() bool { return c.OwnLabel || c.OtherLabel }

func (c clusterObject) state() installation.Cluster {
	switch {
	case c.UID == 0:
		return installation.ClusterDetached
	case c.Lost:
		return installation.ClusterUncertain
	}
	return installation.ClusterReady
}

// facts returns the inputs that addon-manager loads from its caches. It reads the absence of an add-on that it
// installed from the API server.
func (m *installationModel) facts(cached, hub installationObjects) installation.Inputs {
	facts := installation.Inputs{
		Stored: cached.Record.stored(m.removal), AddOn: cached.AddOn.present(), Cluster: cached.Cluster.state(), ClusterUID: uidOf(cached.Cluster.UID),
		Missing: cached.AddOn.UID == 0, Use: used(cached), Consents: cached.Owner == consenting, Keep: !m.Removable && cached.Owner != unregistered,
		Approved: true, RemovalApproved: true, Delay: graceOfRemoval, Labeled: cached.Cluster.labeled(),
	}
	if cached.Record.Labeled && !facts.Labeled {
		facts.Labeled = hub.Cluster.labeled()
	}
	facts.ByLabel = m.Labeled && (facts.Consents || facts.Labeled)
	if cached.Dependent == present {
		facts.Requests = requests(m.removal)
	}
	if facts.Stored != nil && facts.AddOn == nil {
		facts.AddOn = hub.AddOn.present()
	}
	return facts
}

func used(objects installationObjects) installation.Use {
	if objects.Dependent != absent || objects.User {
		return installation.Used
	}
	return installation.Unused
}

// confirm reads the inputs of a step again from the API server.
func (m *installationModel) confirm(facts *installation.Inputs, step installation.Step, hub installationObjects) {
	facts.AddOn, facts.Stored = hub.AddOn.present(), hub.Record.stored(m.removal)
	facts.Consents = facts.Consents && hub.Owner == consenting
	m.confirmCluster(facts, hub)
	if step == installation.Install {
		return
	}
	if used(hub) == installation.Used {
		facts.Use = installation.Used
	}
	if facts.AddOn != nil {
		facts.AddOn.TakenOver = hub.AddOn.Changed
	}
}

func (m *installationModel) confirmCluster(facts *installation.Inputs, hub installationObjects) {
	facts.Cluster, facts.ClusterUID, facts.Labeled = hub.Cluster.state(), uidOf(hub.Cluster.UID), hub.Cluster.labeled()
	facts.ByLabel = facts.ByLabel || m.Labeled && facts.Labeled
}

// decide decides like addon-manager: by its caches first, and before it acts, by the API server.
func (m *installationModel) decide(s InstallationState) InstallationState {
	facts := m.facts(s.Cache, s.Hub)
	decision := m.rule(facts, noon)
	read := s.Cache.Record
	switch forgets := facts.Stored != nil && decision.Desired == nil; {
	case decision.Step == installation.Rest && forgets:
		m.confirmCluster(&facts, s.Hub)
		facts.AddOn = s.Hub.AddOn.present()
		if decision = m.rule(facts, noon); decision.Step != installation.Rest {
			return s // the cache is behind
		}
	case decision.Step != installation.Rest:
		m.confirmation(&facts, decision.Step, s.Hub)
		decision, read = m.rule(facts, noon), recordOf(facts.Stored)
	}
	desired := recordOf(decision.Desired)
	if desired == read && decision.Step == installation.Rest {
		return s
	}
	s.Write = installationWrite{
		Next:          storing,
		Read:          read,
		Desired:       desired,
		Step:          decision.Step,
		Cluster:       numberOf(facts.ClusterUID),
		Unchanged:     true,
		HubAtDecision: s.Hub,
	}
	if facts.AddOn != nil {
		s.Write.AddOn = numberOf(facts.AddOn.UID)
	}
	return s
}

// store stores the record. An update or a deletion conflicts if the record changed since it was read.
func (m *installationModel) store(s InstallationState) InstallationState {
	switch {
	case s.Write.Desired == s.Write.Read: // no write
	case s.Hub.Record != s.Write.Read:
		s.Write = installationWrite{}
		return s
	default:
		s.Hub.Record = s.Write.Desired
	}
	switch {
	case s.Write.Step != installation.Rest:
		s.Write.Next = acting
	case s.Write.Desired == record{} && s.Write.Read != record{}:
		s.Write.Next = deleted
	default:
		s.Write = installationWrite{}
	}
	return s
}

// restore stores a deleted record again if it is needed after all.
func (m *installationModel) restore(s InstallationState) InstallationState {
	facts := m.facts(s.Cache, s.Hub)
	facts.Stored, facts.AddOn = s.Write.Read.stored(m.removal), s.Hub.AddOn.present()
	m.confirmCluster(&facts, s.Hub)
	if m.rule(facts, noon).Desired != nil && s.Hub.Record == (record{}) {
		s.Hub.Record = s.Write.Read
	}
	s.Write = installationWrite{}
	return s
}

// act carries a decision out.
func (m *installationModel) act(s InstallationState) InstallationState {
	write := s.Write
	s.Write = installationWrite{}
	switch {
	case m.Labeled && s.Hub.Cluster.UID != write.Cluster: // a conflict
	case m.Labeled && write.Step == installation.Install:
		s.Hub.Cluster.OwnLabel = true
		return created(s, write, write.Desired.stored(m.removal).Labeled(noon))
	case m.Labeled:
		if s.Hub.Cluster.OwnLabel = false; s.Hub.Cluster.OtherLabel {
			return created(s, write, write.Desired.stored(m.removal).Kept(noon))
		}
	case write.Step == installation.Install:
		if s.Hub.AddOn.UID == 0 && s.Hub.Cluster.UID != 0 {
			s.Hub.AddOn = addOnObject{UID: unusedUID(&s), Own: true}
			return created(s, write, write.Desired.stored(m.removal).Created(uidOf(s.Hub.AddOn.UID), noon))
		}
	case write.Unchanged && s.Hub.AddOn.UID == write.AddOn:
		s.Hub.AddOn.Deleting = true
	}
	return s
}

// created continues with the write of the record after a step.
func created(s InstallationState, write installationWrite, desired installation.Installation) InstallationState {
	s.Write = installationWrite{Next: storingCreated, Read: write.Desired, Desired: recordOf(&desired), HubAtDecision: write.HubAtDecision}
	return s
}
