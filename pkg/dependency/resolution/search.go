package resolution

// search makes choices, one after another, in the documented order. What it learns from contradictions excludes no solution, so
// the first one that it finds comes first in its order. It reads what a release declares once it chooses it, or no other is left.
type search struct {
	*problem
	solver
	statements []statement // of the solver
	states     []*state    // by add-on; nil: nothing is known of it
	// satisfies are the needs with several targets of a release, by its statement.
	satisfies map[int][]need
	// choices are in the order in which they were made. picked are the targets that were picked for needs with several.
	choices []choice
	picked  map[needKey]int
	// wished are the add-ons to choose first, wanted those that choices need, and chosen those of choices.
	wished, wanted, chosen bitset
	// probed is the add-on whose releases are tried alone, because one of them goes with nothing; none: no add-on.
	probed int
	rehearsal
	// involved are the declarations because of which there is no solution.
	involved map[source]bool
	steps    int // of this search; those of the problem are of all searches before
}

// need is a constraint of a release, and the statement that its first target satisfies it.
type need struct{ constraint, first int }

// needKey is a constraint of a chosen release.
type needKey struct{ addOn, constraint int }

// choice is an add-on that was chosen, or a need for which a target was picked, after a number of decisions.
type choice struct {
	addOn  int // none: key counts
	key    needKey
	level  int
	wanted []int // which it was the first to want
}

// solution is the end of a search: the chosen releases by add-on, nil where there is no solution.
type solution struct {
	chosen map[int]int
	// assumed are the needs that an API satisfies which no release provides.
	assumed   []needKey
	involved  map[source]bool
	exhausted bool
	// rehearsals is how many choices were rehearsed.
	rehearsals int
}

// solve searches choices that satisfy the wishes.
func (p *problem) solve(wishes []wish) solution {
	s := &search{problem: p, satisfies: map[int][]need{}, picked: map[needKey]int{}, probed: none}
	found := solution{}
	if s.want(wishes) && s.run() {
		found.chosen = map[int]int{}
		for _, one := range s.choices {
			if one.addOn != none {
				found.chosen[one.addOn] = s.states[one.addOn].only
			} else if target := s.picked[one.key]; s.constraint(one.key).targets[target].assumed {
				found.assumed = append(found.assumed, one.key)
			}
		}
	}
	found.involved, found.exhausted = s.involved, found.chosen == nil && s.involved == nil
	found.rehearsals = s.rehearsals
	p.steps += s.steps
	return found
}

// want begins with the wishes. It returns false where they contradict each other.
func (s *search) want(wishes []wish) bool {
	add := func(l literal) bool {
		against := s.attach(&clause{literals: []literal{l}})
		if against != nil {
			s.involve(against)
		}
		return against == nil
	}
	for i := range wishes {
		one := &wishes[i]
		if within := s.within(one.addOn, one.accepts); within != noLiteral && !add(within) {
			return false
		}
		if !one.OnlyIfNeeded {
			s.wished.add(one.addOn)
			if !add(s.needed(one.addOn)) {
				return false
			}
		}
	}
	return true
}

// gaveUp reports whether the search was ended.
func (s *search) gaveUp() bool {
	return s.steps > s.limit || s.problem.steps > 2*s.limit
}

// run makes choices until all needs are met. It returns false where there is no solution, or it gives up.
func (s *search) run() bool {
	for !s.gaveUp() {
		against := s.propagate()
		if against == nil {
			var done bool
			if against, done = s.proceed(); done && !s.rehearsed() {
				return true
			}
		}
		if against != nil && !s.resolve(against) {
			return false
		}
	}
	return false
}

// propagate finds all that follows from what is true.
func (s *search) propagate() *clause {
	for s.next < len(s.trail) {
		l := s.trail[s.next]
		s.next++
		against := s.follow(l)
		if against == nil {
			against = s.visit(l.not())
		}
		if against != nil {
			return against
		}
	}
	return nil
}

// resolve learns from a contradiction, and returns to where that matters. It returns false where no decision is the cause.
func (s *search) resolve(against *clause) bool {
	s.steps++
	last := s.last(against)
	if last == 0 {
		s.involve(against)
		return false
	}
	s.undo(last)
	learned, level := s.learn(against)
	s.weigh(learned)
	s.undo(level)
	s.attach(learned) // its first literal is open, so it contradicts nothing
	s.probed = none
	if about := &s.statements[learned.literals[0].statement()]; len(learned.literals) == 1 && about.addOn != none && about.within == nil {
		s.probed = about.addOn
	}
	return true
}

// involve notes the declarations because of which there is no solution.
func (s *search) involve(against *clause) {
	s.involved = map[source]bool{}
	causes := s.causes(reason{clause: against})
	for i, one := range s.sourcesByNumber {
		if causes.has(i) {
			s.involved[one] = true
		}
	}
}

// undo forgets all decisions after a level, with the choices since.
func (s *search) undo(level int) {
	for _, l := range s.forget(level) {
		about := &s.statements[l.statement()]
		if about.addOn == none || about.within != nil || about.number == len(s.addOns[about.addOn].releases) {
			continue
		}
		if of := s.states[about.addOn]; l.negated() {
			of.alive.add(about.number)
		} else if of.only == about.number {
			of.only = none
		}
	}
	s.rehearses = s.rehearses && level >= s.base
	for len(s.choices) > 0 && s.choices[len(s.choices)-1].level > level {
		s.dropChoice()
	}
}

// dropChoice forgets the last choice.
func (s *search) dropChoice() {
	last := &s.choices[len(s.choices)-1]
	for _, id := range last.wanted {
		s.wanted.remove(id)
	}
	if last.addOn == none {
		delete(s.picked, last.key)
	} else {
		s.chosen.remove(last.addOn)
	}
	s.choices = s.choices[:len(s.choices)-1]
}

// proceed makes the next choice. It returns what contradicts it, and whether none is left to make.
func (s *search) proceed() (against *clause, done bool) {
	if s.probed != none {
		s.probe()
		return nil, false
	}
	if s.rehearses {
		if id := s.nextHardest(); id >= 0 {
			s.choose(id, s.lastTried(id))
			return nil, false
		}
	} else if id := s.nextNeeded(); id >= 0 {
		i := s.states[id].alive.first()
		s.choose(id, i)
		s.rehearse(id, i)
		return nil, false
	}
	key, found := s.nextUnmet()
	if !found {
		return nil, true
	}
	return s.pick(key), false
}

// probe tries the highest release of an add-on alone. If it contradicts nothing, the choices go on.
func (s *search) probe() {
	id, first := s.probed, s.states[s.probed].alive.first()
	if s.level() > 0 || first < 0 || s.states[id].only != none {
		s.undo(0)
		s.probed = none
		return
	}
	s.decide(s.release(id, first))
}

// nextNeeded is the add-on to choose next: what is wished first, then what choices need, by name. Add-ons with releases have
// numbers in the order of their names, and others cannot be chosen.
func (s *search) nextNeeded() int {
	if next := s.wished.firstWithout(s.chosen); next >= 0 {
		return next
	}
	return s.wanted.firstWithout(s.chosen)
}

// choose takes a release that is possible.
func (s *search) choose(id, i int) {
	if l := s.release(id, i); !s.isTrue(l) {
		s.decide(l)
	}
	s.chosen.add(id)
	s.choices = append(s.choices, choice{addOn: id, level: s.level()})
	one := s.candidate(id, i)
	for c := range one.constraints {
		if on := &one.constraints[c]; on.need && s.direct(on) && s.counts(on.source) {
			s.wants(on.targets[0].addOn)
		}
	}
}

// wants notes that the last choice needs an add-on.
func (s *search) wants(id int) {
	if !s.wanted.has(id) {
		s.wanted.add(id)
		last := &s.choices[len(s.choices)-1]
		last.wanted = append(last.wanted, id)
	}
}

// direct reports whether a constraint is about one add-on.
func (s *search) direct(of *constraint) bool { return !of.need || of.single() }

// constraint returns the one of a chosen release.
func (s *search) constraint(key needKey) *constraint {
	return &s.candidate(key.addOn, s.states[key.addOn].only).constraints[key.constraint]
}

// closesCycle returns what contradicts a release whose Required edges close a cycle with the others.
func (s *search) closesCycle(id int) *clause {
	return s.path(id, id, func(id int) bool { return s.state(id).only != none }, func(one *release) []wait { return one.requires })
}

// path returns a clause against releases whose edges lead from an add-on to another one; nil: none do.
func (s *search) path(from, to int, counts func(id int) bool, edges func(*release) []wait) *clause {
	found := &clause{}
	var seen bitset
	var walk func(id int) bool
	walk = func(id int) bool {
		if seen.has(id) || !counts(id) {
			return false
		}
		seen.add(id)
		i := s.states[id].only
		for _, w := range edges(s.candidate(id, i)) {
			if s.counts(w.source) && (w.on == to || walk(w.on)) {
				found.sources.add(s.number(w.source))
				found.literals = append(found.literals, s.release(id, i).not())
				return true
			}
		}
		return false
	}
	if !walk(from) {
		return nil
	}
	return found
}

// number is that of a declaration in the sources of clauses.
func (p *problem) number(of source) int {
	number, known := p.sourceNumbers[of]
	if !known {
		number = len(p.sourcesByNumber)
		p.sourceNumbers[of], p.sourcesByNumber = number, append(p.sourcesByNumber, of)
	}
	return number
}
