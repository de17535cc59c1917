package stability

// users adds the changes that users and GitOps make on the managed cluster.
func (m *installationModel) users() {
	m.intervene("a user installs the dependent", func(s *InstallationState) bool {
		may := s.Hub.Dependent == absent && s.Hub.Cluster.UID != 0
		if may {
			s.Hub.Dependent = present
		}
		return may
	})
	m.intervene("a user removes the dependent", func(s *InstallationState) bool {
		may := s.Hub.Dependent == present
		if may {
			s.Hub.Dependent = leaving
		}
		return may
	})
	m.intervene("a user installs or removes an add-on that uses it", func(s *InstallationState) bool {
		s.Hub.User = !s.Hub.User && s.Hub.Cluster.UID != 0
		return s.Hub.Cluster.UID != 0
	})
	m.intervene("a user deletes the add-on", func(s *InstallationState) bool {
		may := s.Hub.AddOn.UID != 0 && !s.Hub.AddOn.Deleting
		s.Hub.AddOn.Deleting = s.Hub.AddOn.Deleting || may
		return may
	})
	m.intervene("a user changes the add-on", func(s *InstallationState) bool {
		may := s.Hub.AddOn.UID != 0 && !s.Hub.AddOn.Changed
		s.Hub.AddOn.Changed = s.Hub.AddOn.Changed || may
		return may
	})
	m.intervene("a user creates the add-on", func(s *InstallationState) bool {
		may := s.Hub.AddOn.UID == 0 && s.Hub.Cluster.UID != 0
		if may {
			s.Hub.AddOn = addOnObject{UID: unusedUID(s), Changed: true}
		}
		return may
	})
	m.intervene("a user deletes the AddOnInstallation", func(s *InstallationState) bool {
		may := s.Hub.Record != record{}
		s.Hub.Record, s.HandedOver = record{}, s.HandedOver || may
		return may
	})
	m.intervene("another writer takes the labels away", func(s *InstallationState) bool {
		labeled := s.Hub.Cluster.labeled()
		s.Hub.Cluster.OwnLabel, s.Hub.Cluster.OtherLabel = false, false
		return labeled
	})
	m.intervene("another writer sets the label, too", func(s *InstallationState) bool {
		may := m.Labeled && s.Hub.Cluster.UID != 0 && !s.Hub.Cluster.OtherLabel
		s.Hub.Cluster.OtherLabel = s.Hub.Cluster.OtherLabel || may
		return may
	})
}

// owners adds the changes that the owner of the add-on makes to its registration.
func (m *installationModel) owners() {
	for owner, name := range map[ownership]string{
		consenting: "the owner consents", paused: "the owner pauses", withdrawn: "the owner withdraws the Placements", unregistered: "the owner deletes the registration",
	} {
		m.intervene(name, func(s *InstallationState) bool {
			may := s.Hub.Owner != owner && (m.Labeled || owner != withdrawn)
			if may {
				s.Hub.Owner = owner
			}
			return may
		})
	}
}

// clusters adds the changes of the managed cluster.
func (m *installationModel) clusters() {
	m.intervene("the cluster is lost, or returns", func(s *InstallationState) bool {
		s.Hub.Cluster.Lost = !s.Hub.Cluster.Lost
		return s.Hub.Cluster.UID != 0
	})
	m.intervene("the cluster is detached", func(s *InstallationState) bool {
		may := s.Hub.Cluster.UID != 0
		s.Hub.Cluster, s.Hub.User = clusterObject{}, false
		if s.Hub.Dependent == present {
			s.Hub.Dependent = leaving
		}
		return may
	})
	// Its namespace is empty by then, and no write is left from before.
	m.intervene("a cluster is imported under this name", func(s *InstallationState) bool {
		may := s.Hub.Cluster.UID == 0 && s.Hub.AddOn.UID == 0 && s.Hub.Dependent == absent &&
			s.Write.Next == idle && s.FormerWrite.Next == idle
		if may {
			s.Hub.Cluster.UID = 2
		}
		return may
	})
}
