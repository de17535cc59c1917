package resolution

import "slices"

// nextUnmet returns the first need with several targets that no choice satisfies: by add-on, in the order chosen.
func (s *search) nextUnmet() (needKey, bool) {
	for i := range s.choices {
		id := s.choices[i].addOn
		if id == none {
			continue
		}
		one := s.candidate(id, s.states[id].only)
		for c := range one.constraints {
			key := needKey{id, c}
			if need := &one.constraints[c]; !s.direct(need) && s.counts(need.source) && s.applies(need) && !s.met(key, need) {
				return key, true
			}
		}
	}
	return needKey{}, false
}

// applies reports whether a need is one with the choices.
func (s *search) applies(need *constraint) bool {
	return need.where == nil || slices.ContainsFunc(need.where, func(id int) bool { return s.chosen.has(id) })
}

func (s *search) met(key needKey, need *constraint) bool {
	if target, is := s.picked[key]; is && need.targets[target].assumed {
		return true
	}
	return slices.ContainsFunc(need.targets, func(on target) bool {
		if on.assumed {
			return false
		}
		return s.chosen.has(on.addOn) && on.accepts.has(s.states[on.addOn].only) && (!need.circular || on.api != nil || s.leadsBack(on.addOn, key.addOn) == nil)
	})
}

// pick takes the first target of a need that is possible. It returns what contradicts that all are excluded.
func (s *search) pick(key needKey) *clause {
	need := s.constraint(key)
	first := s.firstTarget(key)
	for t := range need.targets {
		l := yes(first + t)
		if s.isFalse(l) {
			continue
		}
		if on := &need.targets[t]; need.circular && !on.assumed && on.api == nil {
			if against := s.leadsBack(on.addOn, key.addOn); against != nil {
				against.literals = append(against.literals, l.not())
				against.sources.add(s.number(need.source))
				return s.attach(against)
			}
		}
		if !s.isTrue(l) {
			s.decide(l)
		}
		s.picked[key] = t
		s.choices = append(s.choices, choice{addOn: none, key: key, level: s.level()})
		if on := &need.targets[t]; !on.assumed {
			s.wants(on.addOn)
		}
		return nil
	}
	s.steps = s.limit + 1 // all are excluded, which the clauses contradict before; it must not go round for ever
	return nil
}

func (s *search) firstTarget(key needKey) int {
	chosen := s.release(key.addOn, s.states[key.addOn].only)
	of := s.satisfies[chosen.statement()]
	at := slices.IndexFunc(of, func(one need) bool { return one.constraint == key.constraint })
	return of[at].first
}

// leadsBack returns a clause against choices by which an add-on waits for another one, so that it can be no alternative for
// that; nil: it does not.
func (s *search) leadsBack(from, to int) *clause {
	return s.path(from, to, func(id int) bool { return s.chosen.has(id) }, func(one *release) []wait { return one.waitsFor })
}
