package resolution

import "slices"

// nextUnmet returns the first need with several targets that the choices do not satisfy, in the order of the choices. It
// returns false if all are satisfied.
func (s *search) nextUnmet() (needKey, bool) {
	for i := range s.choices {
		id := s.choices[i].addOn
		if id == unset {
			continue
		}
		r := s.candidate(id, s.states[id].selected)
		for c := range r.constraints {
			key := needKey{id, c}
			if need := &r.constraints[c]; !s.direct(need) && s.isActive(need.source) && s.applies(need) && !s.met(key, need) {
				return key, true
			}
		}
	}
	return needKey{}, false
}

// applies reports whether the choices trigger a need.
func (s *search) applies(need *constraint) bool {
	return need.triggers == nil || slices.ContainsFunc(need.triggers, func(id int) bool { return s.chosenAddOns.contains(id) })
}

func (s *search) met(key needKey, need *constraint) bool {
	if t, ok := s.pickedTargets[key]; ok && need.targets[t].assumed {
		return true
	}
	return slices.ContainsFunc(need.targets, func(candidate target) bool {
		if candidate.assumed || !s.chosenAddOns.contains(candidate.addOn) {
			return false
		}
		if !candidate.releases.contains(s.states[candidate.addOn].selected) {
			return false
		}
		return !need.rejectsCycles || candidate.api != nil || s.pathToDependent(candidate.addOn, key.addOn) == nil
	})
}

// pick chooses the first possible target of a need. It returns the conflict, if any.
func (s *search) pick(key needKey) *clause {
	need := s.constraint(key)
	firstTarget := s.firstTargetVariable(key)
	for t := range need.targets {
		l := positive(firstTarget + t)
		if s.isFalse(l) {
			continue
		}
		picked := &need.targets[t]
		if need.rejectsCycles && !picked.assumed && picked.api == nil {
			if conflict := s.pathToDependent(picked.addOn, key.addOn); conflict != nil {
				conflict.literals = append(conflict.literals, l.not())
				conflict.sources.add(s.number(need.source))
				return s.attach(conflict)
			}
		}
		if !s.isTrue(l) {
			s.decide(l)
		}
		s.pickedTargets[key] = t
		s.choices = append(s.choices, choice{addOn: unset, key: key, level: s.level()})
		if !picked.assumed {
			s.addNeeded(picked.addOn)
		}
		return nil
	}
	// The clauses exclude a choice that excludes all targets, so the search does not get here. If it does, it gives up
	// instead of repeating for ever.
	s.budget = unset
	return nil
}

func (s *search) firstTargetVariable(key needKey) int {
	selected := s.releaseLiteral(key.addOn, s.states[key.addOn].selected)
	needs := s.encodedNeeds[selected.variable()]
	i := slices.IndexFunc(needs, func(need encodedNeed) bool { return need.constraint == key.constraint })
	return needs[i].firstVariable
}

// pathToDependent returns a clause against choices by which a target waits for its dependent, directly or not. Such a target
// does not satisfy the need. It returns nil if there is no such path.
func (s *search) pathToDependent(target, dependent int) *clause {
	isChosen := func(id int) bool { return s.chosenAddOns.contains(id) }
	return s.path(target, dependent, isChosen, func(r *release) []wait { return r.waitsFor })
}
