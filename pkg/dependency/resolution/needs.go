package resolution

import "slices"

// nextUnmet returns the first need with several targets that no choice satisfies: by add-on, in the order chosen.
func (s *search) nextUnmet() (needKey, bool) {
	for _, id := range s.byLevel {
		if id == none {
			continue
		}
		one := s.candidate(id, s.state(id).chosen)
		for c := range one.constraints {
			key := needKey{id, c}
			if need := &one.constraints[c]; need.need && !need.single() && !s.ignored[need.source] && s.counts(need) && !s.met(key, need) {
				return key, true
			}
		}
	}
	return needKey{}, false
}

// counts reports whether a need counts for the choices.
func (s *search) counts(need *constraint) bool {
	return need.where == nil || slices.ContainsFunc(need.where, func(id int) bool { return s.state(id).chosen != none })
}

func (s *search) met(key needKey, need *constraint) bool {
	if picked, is := s.picked[key]; is && need.targets[picked.target].assumed {
		return true
	}
	var unused bitset
	return slices.ContainsFunc(need.targets, func(on target) bool { return s.satisfies(key.addOn, need, &on, &unused) })
}

// satisfies reports whether a target is chosen that satisfies the need. Else it joins the levels of the choices
// because of which the target, where its add-on is chosen, does not.
func (s *search) satisfies(id int, need *constraint, on *target, cause *bitset) bool {
	if on.assumed {
		return false
	}
	of := s.state(on.addOn)
	switch {
	case of.chosen == none:
		return false
	case !on.accepts.has(of.chosen):
		s.because(need.source, of.level, cause)
		return false
	default:
		return !need.circular || on.api != nil || !s.leadsBack(on.addOn, id, cause)
	}
}

// pick tries the targets of a need, in the order declared.
func (s *search) pick(key needKey) (done bool, cause bitset) {
	need := &s.candidate(key.addOn, s.state(key.addOn).chosen).constraints[key.constraint]
	s.because(need.source, s.state(key.addOn).level, &cause)
	for _, id := range need.where {
		if of := s.state(id); of.chosen != none {
			cause.add(of.level)
			break
		}
	}
	if before, is := s.picked[key]; is { // it waits for the dependent, by choices since
		cause.add(before.level)
		s.satisfies(key.addOn, need, &need.targets[before.target], &cause)
		return false, cause
	}
	for t := range need.targets {
		s.steps++
		done, why, isCause := s.pickTarget(key, need, t)
		if done || s.gaveUp() {
			return done, nil
		}
		if !isCause {
			return false, why
		}
		cause.join(why)
	}
	return false, cause
}

// pickTarget tries one target. isCause is false where another target would not help.
func (s *search) pickTarget(key needKey, need *constraint, t int) (done bool, cause bitset, isCause bool) {
	on, level, mark := &need.targets[t], len(s.byLevel), len(s.trail)
	if !on.assumed && s.state(on.addOn).chosen != none { // it is chosen, and does not satisfy the need
		s.satisfies(key.addOn, need, on, &cause)
		return false, cause, true
	}
	s.byLevel = append(s.byLevel, none)
	s.picked[key] = pick{t, level}
	if !on.assumed {
		var because bitset
		because.add(level)
		s.keep(on.addOn, on.accepts, because)
		s.need(on.addOn, because)
	}
	if done, cause = s.descend(); done || s.gaveUp() {
		return done, nil, true
	}
	delete(s.picked, key)
	s.byLevel = s.byLevel[:level]
	s.undo(mark)
	if !cause.has(level) {
		return false, cause, false
	}
	cause.remove(level)
	return false, cause, true
}

// leadsBack reports whether an add-on waits for another one, by choices: then it can be no alternative for that.
func (s *search) leadsBack(from, to int, cause *bitset) bool {
	return s.path(from, to, func(one *release) []wait { return one.waitsFor }, cause)
}

// closesCycle reports whether the Required edges of a release close a cycle with the choices.
func (s *search) closesCycle(id int, one *release, cause *bitset) bool {
	return slices.ContainsFunc(one.requires, func(w wait) bool {
		if s.ignored[w.source] || !s.path(w.on, id, func(of *release) []wait { return of.requires }, cause) {
			return false
		}
		s.involved[w.source] = true
		return true
	})
}

// path reports whether edges of choices lead from an add-on to another one, and joins the levels of the choices on
// the way.
func (s *search) path(from, to int, edges func(*release) []wait, cause *bitset) bool {
	var seen bitset
	var walk func(id int) bool
	walk = func(id int) bool {
		if id == to {
			return true
		}
		of := s.state(id)
		if seen.has(id) || of.chosen == none {
			return false
		}
		seen.add(id)
		level := of.level
		for _, w := range edges(s.candidate(id, of.chosen)) {
			if !s.ignored[w.source] && walk(w.on) {
				s.because(w.source, level, cause)
				return true
			}
		}
		return false
	}
	return walk(from)
}
