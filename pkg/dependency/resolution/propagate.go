package resolution

import "slices"

// propagate finds what follows from what was found: which releases are excluded, and which add-ons are needed. Where a needed
// add-on has no release left, it returns the levels of the choices that are the cause.
func (s *search) propagate() (cause bitset, failed bool) {
	for len(s.queue) > 0 {
		id := s.queue[0]
		s.queue = s.queue[1:]
		s.state(id).queued = false
		if of := s.state(id); of.needed && of.alive.empty() {
			return s.exhausted(id), true
		}
		s.revise(id)
		for _, dependent := range s.dependents[id] {
			s.revise(dependent)
		}
	}
	return nil, false
}

// exhausted joins all that excludes the releases of a needed add-on.
func (s *search) exhausted(id int) bitset {
	of := s.state(id)
	cause := slices.Clone(of.neededBy)
	for _, why := range of.why {
		cause.join(why)
	}
	return cause
}

func (s *search) enqueue(id int) {
	if of := s.state(id); !of.queued {
		of.queued = true
		s.queue = append(s.queue, id)
	}
}

// exclude removes a release, because of the choices at these levels.
func (s *search) exclude(id, i int, because bitset) {
	of := s.state(id)
	if !of.alive.has(i) {
		return
	}
	of.alive.remove(i)
	of.why[i] = because
	s.trail = append(s.trail, step{id, i})
	s.enqueue(id)
}

// keep removes all other releases.
func (s *search) keep(id int, accepted, because bitset) {
	for i := range s.addOns[id].releases {
		if !accepted.has(i) {
			s.exclude(id, i, because)
		}
	}
}

// need makes an add-on one that has to be chosen.
func (s *search) need(id int, because bitset) {
	of := s.state(id)
	if of.needed {
		return
	}
	of.needed, of.neededBy = true, because
	s.trail = append(s.trail, step{id, none})
	s.enqueue(id)
}

// prepareAll judges all releases that wishes can reach.
func (s *search) prepareAll(wishes []wish) {
	var seen bitset
	var queue []int
	reach := func(id int) {
		if id != none && !seen.has(id) {
			seen.add(id)
			queue = append(queue, id)
		}
	}
	for i := range wishes {
		reach(wishes[i].addOn)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		for i := range s.addOns[id].releases {
			s.prepare(id, i)
			one := s.candidate(id, i)
			for c := range one.constraints {
				for _, on := range one.constraints[c].targets {
					reach(on.addOn)
				}
			}
		}
		s.enqueue(id)
	}
}

// prepare judges a release, and excludes it where it cannot run whatever is chosen.
func (s *search) prepare(id, i int) {
	one := s.candidate(id, i)
	for _, refused := range one.refusals {
		if !s.ignored[refused.source] {
			s.involved[refused.source] = true
			s.exclude(id, i, nil)
		}
	}
	for c := range one.constraints {
		constraint := &one.constraints[c]
		if s.direct(constraint) && constraint.targets[0].addOn == id && !constraint.targets[0].accepts.has(i) {
			s.involved[constraint.source] = true
			s.exclude(id, i, nil)
		}
	}
}

// direct reports whether a constraint is about one add-on, so that it is propagated.
func (s *search) direct(of *constraint) bool {
	return (!of.need || of.single()) && !s.ignored[of.source]
}

// revise compares an add-on with those that its edges are on.
func (s *search) revise(id int) {
	if !s.deep && s.state(id).chosen == none {
		return
	}
	for i := range s.addOns[id].releases {
		if s.state(id).alive.has(i) {
			s.reviseRelease(id, i)
		}
	}
	first := s.state(id).alive.first()
	if first < 0 || !s.state(id).needed {
		return
	}
	one := s.candidate(id, first)
	for c := range one.constraints {
		if constraint := &one.constraints[c]; s.direct(constraint) && constraint.targets[0].addOn != id {
			s.reviseTarget(id, constraint.targets[0].addOn)
		}
	}
}

// reviseRelease excludes a release that goes with no release of an add-on that it needs, or that is needed.
func (s *search) reviseRelease(id, i int) {
	one := s.candidate(id, i)
	for c := range one.constraints {
		constraint := &one.constraints[c]
		if s.ignored[constraint.source] || constraint.where != nil || s.possible(id, i, constraint) {
			continue
		}
		var because bitset
		for t := range constraint.targets {
			on := &constraint.targets[t]
			for j, why := range s.state(on.addOn).why {
				if on.accepts.has(j) {
					because.join(why)
				}
			}
			if !constraint.need {
				because.join(s.state(on.addOn).neededBy)
			}
		}
		s.involved[constraint.source] = true
		s.exclude(id, i, because)
		return
	}
}

// possible reports whether a constraint of a release may be satisfied by what is not excluded.
func (s *search) possible(id, i int, of *constraint) bool {
	for t := range of.targets {
		on := &of.targets[t]
		switch {
		case on.assumed:
			return true
		case on.addOn == id:
			if on.accepts.has(i) {
				return true
			}
		case on.accepts.meets(s.state(on.addOn).alive) || !of.need && !s.state(on.addOn).needed:
			return true
		}
	}
	return false
}

// demand is what a release asks of another add-on.
type demand struct {
	accepts       bitset
	limits, needs bool
}

func (s *search) demandOf(id, i, on int) (asks demand) {
	one := s.candidate(id, i)
	for c := range one.constraints {
		constraint := &one.constraints[c]
		if !s.direct(constraint) || constraint.targets[0].addOn != on {
			continue
		}
		if asks.limits {
			asks.accepts = asks.accepts.and(constraint.targets[0].accepts)
		} else {
			asks.accepts = constraint.targets[0].accepts
		}
		asks.limits, asks.needs = true, asks.needs || constraint.need
	}
	return asks
}

// reviseTarget excludes the releases of an add-on that go with no release of a needed one. Where all of those need it, it
// is needed too.
func (s *search) reviseTarget(id, on int) {
	var supported bitset
	needs := true
	of := s.state(id)
	for i := range s.addOns[id].releases {
		if !of.alive.has(i) {
			continue
		}
		asks := s.demandOf(id, i, on)
		of = s.state(id) // judging may have moved it
		if !asks.limits {
			return
		}
		supported.join(asks.accepts)
		needs = needs && asks.needs
	}
	changed := false
	for j := range s.addOns[on].releases {
		if s.state(on).alive.has(j) && !supported.has(j) {
			s.exclude(on, j, s.removedThat(id, func(i int) bool {
				asks := s.demandOf(id, i, on)
				return !asks.limits || asks.accepts.has(j)
			}))
			changed = true
		}
	}
	if needs && !s.state(on).needed {
		s.need(on, s.removedThat(id, func(i int) bool { return !s.demandOf(id, i, on).needs }))
		changed = true
	}
	if changed {
		s.involve(id, on)
	}
}

// involve notes all edges between two add-ons.
func (s *search) involve(id, on int) {
	for i := range s.addOns[id].releases {
		if !s.state(id).alive.has(i) {
			continue
		}
		one := s.candidate(id, i)
		for c := range one.constraints {
			if constraint := &one.constraints[c]; s.direct(constraint) && constraint.targets[0].addOn == on {
				s.involved[constraint.source] = true
			}
		}
	}
}

// removedThat joins why an add-on is needed, and why those of its excluded releases are excluded which are not as the others.
func (s *search) removedThat(id int, differs func(i int) bool) bitset {
	if !s.deep {
		return nil // it has no use for causes
	}
	because := slices.Clone(s.state(id).neededBy)
	for i, why := range s.state(id).why {
		if !s.state(id).alive.has(i) && len(why) > 0 && differs(i) {
			because.join(why)
		}
	}
	return because
}
