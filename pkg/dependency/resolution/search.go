package resolution

import "slices"

// search makes choices, one after another, and removes what they exclude. Where none is left, it returns to the last
// choice that has to do with it: each removal has the levels of the choices that it rests on. So it misses no solution,
// and finds the one that comes first in its order.
type search struct {
	*problem
	states []state
	// byLevel are the add-ons that were chosen, in that order; none where an alternative was picked.
	byLevel []int
	// picked are the targets that were picked for needs with several.
	picked map[needKey]pick
	wished bitset
	// trail has what was found, in that order, to be undone.
	trail []step
	// queue are the add-ons that have changed since their edges were evaluated.
	queue []int
	// involved are the declarations that excluded anything.
	involved map[source]bool
	steps    int // of this search; those of the problem are of all searches before
	// deep: all releases of needed add-ons are compared before one of them is chosen. Most catalogs have a solution without
	// that, and it reads all of their declarations. stuck: there is none without.
	deep, stuck bool
}

// state is what is known of an add-on during the search.
type state struct {
	chosen int // none: not chosen
	level  int
	// alive are the releases that are not excluded, and why has for each other one the levels of the choices that exclude it.
	alive bitset
	why   []bitset
	// needed: it has to be chosen, because of the choices at these levels.
	needed   bool
	neededBy bitset
	queued   bool
}

// step is one release that was excluded; none: the add-on became needed.
type step struct{ addOn, release int }

// needKey is a constraint of a chosen release.
type needKey struct{ addOn, constraint int }

type pick struct{ target, level int }

// solution is the end of a search: the chosen releases by add-on, nil where there is no solution.
type solution struct {
	chosen map[int]int
	// assumed are the needs that an API satisfies which no release provides.
	assumed   []needKey
	involved  map[source]bool
	exhausted bool
}

// solve searches choices that satisfy the wishes. Both searches choose in the same order, so they find the same.
func (p *problem) solve(wishes []wish) solution {
	if found, stuck := p.search(wishes, false); !stuck {
		return found
	}
	found, _ := p.search(wishes, true)
	return found
}

func (p *problem) search(wishes []wish, deep bool) (found solution, stuck bool) {
	s := &search{problem: p, deep: deep, picked: map[needKey]pick{}, involved: map[source]bool{}}
	for i := range wishes {
		one := &wishes[i]
		s.keep(one.addOn, one.accepts, nil)
		if !one.OnlyIfNeeded {
			s.wished.add(one.addOn)
			s.need(one.addOn, nil)
		}
	}
	if deep {
		s.prepareAll(wishes)
	}
	done, _ := s.descend()
	found = solution{involved: s.involved, exhausted: s.gaveUp()}
	p.steps += s.steps + p.size/100 // to begin with, it looks at all releases
	if !done {
		return found, !deep
	}
	found.chosen = map[int]int{}
	for id := range s.states {
		if s.states[id].chosen != none {
			found.chosen[id] = s.states[id].chosen
		}
	}
	for key, picked := range s.picked {
		if s.candidate(key.addOn, s.state(key.addOn).chosen).constraints[key.constraint].targets[picked.target].assumed {
			found.assumed = append(found.assumed, key)
		}
	}
	return found, false
}

// gaveUp reports whether the search was ended.
func (s *search) gaveUp() bool {
	return s.stuck || s.steps > MaxSteps || s.problem.steps > stepsToExplain
}

// state returns what is known of an add-on. More add-ons become known as releases are read, which moves the states.
func (s *search) state(id int) *state {
	for len(s.states) <= id {
		of := s.addOns[len(s.states)]
		s.states = append(s.states, state{chosen: none, alive: slices.Clone(of.asked), why: make([]bitset, len(of.releases))})
	}
	return &s.states[id]
}

// descend makes the next choice and all that follow. Where they fail, it returns the levels of the choices before that
// are the cause.
func (s *search) descend() (done bool, cause bitset) {
	if cause, failed := s.propagate(); failed || s.gaveUp() {
		return false, cause
	}
	if id := s.nextNeeded(); id != none {
		return s.choose(id)
	}
	key, found := s.nextUnmet()
	if !found {
		return true, nil
	}
	return s.pick(key)
}

// nextNeeded is the add-on to choose next: what is wished first, then what choices need, by name.
func (s *search) nextNeeded() int {
	next := none
	consider := func(id int) {
		if s.state(id).chosen == none && (next == none || s.before(id, next)) {
			next = id
		}
	}
	for id := range s.states {
		if s.wished.has(id) {
			consider(id)
		}
	}
	for _, id := range s.byLevel {
		if id == none {
			continue
		}
		one := s.candidate(id, s.state(id).chosen)
		for c := range one.constraints {
			if of := &one.constraints[c]; of.need && s.direct(of) {
				consider(of.targets[0].addOn)
			}
		}
	}
	for key, picked := range s.picked {
		if on := &s.candidate(key.addOn, s.state(key.addOn).chosen).constraints[key.constraint].targets[picked.target]; !on.assumed {
			consider(on.addOn)
		}
	}
	return next
}

func (s *search) before(a, b int) bool {
	if first, second := s.wished.has(a), s.wished.has(b); first != second {
		return first
	}
	return s.addOns[a].name < s.addOns[b].name
}

// choose tries the releases of an add-on, the highest first. One that fails is excluded, and with it what it alone allows.
func (s *search) choose(id int) (done bool, cause bitset) {
	level := len(s.byLevel)
	for {
		s.steps++
		i := s.state(id).alive.first()
		if i < 0 {
			s.stuck = !s.deep
			return false, s.exhausted(id)
		}
		if !s.deep {
			s.prepare(id, i)
			if s.reviseRelease(id, i); !s.state(id).alive.has(i) {
				continue
			}
		}
		mark := len(s.trail)
		done, cause = s.try(id, i)
		s.stuck = s.stuck || !done && !s.deep
		if done || s.gaveUp() {
			return done, nil
		}
		s.state(id).chosen = none
		s.byLevel = s.byLevel[:level]
		s.undo(mark)
		if !cause.has(level) {
			return false, cause // another release would not help
		}
		cause.remove(level)
		s.exclude(id, i, cause)
		if cause, failed := s.propagate(); failed {
			return false, cause
		}
	}
}

// try chooses a release, and makes all choices that follow.
func (s *search) try(id, i int) (done bool, cause bitset) {
	level := len(s.byLevel)
	s.byLevel = append(s.byLevel, id)
	of := s.state(id)
	of.chosen, of.level = i, level
	if s.closesCycle(id, s.candidate(id, i), &cause) {
		cause.add(level)
		return false, cause
	}
	var only, because bitset
	only.add(i)
	because.add(level)
	s.keep(id, only, because)
	s.enqueue(id) // also where it is the only one
	return s.descend()
}

// undo forgets what was found since.
func (s *search) undo(mark int) {
	for _, one := range s.trail[mark:] {
		of := s.state(one.addOn)
		if one.release == none {
			of.needed, of.neededBy = false, nil
		} else {
			of.alive.add(one.release)
			of.why[one.release] = nil
		}
	}
	s.trail = s.trail[:mark]
	for _, id := range s.queue {
		s.state(id).queued = false
	}
	s.queue = s.queue[:0]
}

// because notes that a declaration of a choice excludes something.
func (s *search) because(of source, level int, cause *bitset) {
	s.involved[of] = true
	cause.add(level)
}
