package resolution

// search makes choices, one after another, in the documented order. Clauses that it learns from conflicts exclude no
// solution, so its first solution is the first one in the documented order. It encodes the declaration of a release as clauses
// only when it chooses the release, or no other release of the add-on is left. Most releases of a catalog are never encoded.
type search struct {
	*problem
	solver
	// variables has the meaning of the solver's variables.
	variables []variable
	// states has the states of add-ons. It is nil for an add-on that the search has not met yet.
	states []*addOnState
	// encodedNeeds has the needs with several targets of a release, by the release's variable.
	encodedNeeds map[int][]encodedNeed
	// choices are in the order in which they were made.
	choices []choice
	// pickedTargets has the picked target of each need with several.
	pickedTargets map[needKey]int
	// wishedAddOns has the add-ons to choose first, neededAddOns the add-ons that choices need.
	wishedAddOns, neededAddOns, chosenAddOns bitset
	// probedAddOn is the add-on whose releases are tried without other choices, because one of them contradicted any. It is unset
	// most of the time.
	probedAddOn int
	rehearsal
	// involved has the declarations that exclude a solution, and involvedWishes the wishes.
	involved       map[source]bool
	involvedWishes bitset
	// conflicts counts the conflicts of the search, and budget is the work after which it gives up.
	conflicts, budget int
}

// encodedNeed is a constraint of a release. firstVariable means that its first target satisfies it. The variables of its other
// targets follow.
type encodedNeed struct{ constraint, firstVariable int }

// needKey is a constraint of a chosen release.
type needKey struct{ addOn, constraint int }

// choice is a chosen add-on, or a need with its picked target.
type choice struct {
	// addOn is unset for a need, and key identifies the need.
	addOn int
	key   needKey
	// level is the number of decisions.
	level int
	// newNeeds has the add-ons that no earlier choice needs.
	newNeeds []int
}

// solution is the result of a search.
type solution struct {
	// selection has the chosen release of each chosen add-on. It is nil if there is no solution.
	selection map[int]int
	// assumed has the needs for an API that no release provides, and that is assumed to be served.
	assumed []needKey
	// involved has the declarations that exclude a solution, and involvedWishes the wishes. exhausted is true if the search gave up.
	involved       map[source]bool
	involvedWishes bitset
	exhausted      bool
	// rehearsals is the number of rehearsed choices.
	rehearsals int
}

// outcome returns what the search has found out about its wishes.
func (s *solution) outcome() outcome {
	switch {
	case s.exhausted:
		return unknown
	case s.selection == nil:
		return conflicting
	default:
		return satisfiable
	}
}

// solve searches for choices that satisfy the wishes.
func (p *problem) solve(wishes []wish) solution {
	s := &search{
		problem: p, encodedNeeds: map[int][]encodedNeed{}, pickedTargets: map[needKey]int{}, probedAddOn: unset,
		budget: p.limit - p.work,
	}
	result := solution{}
	if s.addWishes(wishes) && s.run() {
		result.selection = map[int]int{}
		for _, c := range s.choices {
			if c.addOn != unset {
				result.selection[c.addOn] = s.states[c.addOn].selected
			} else if t := s.pickedTargets[c.key]; s.constraint(c.key).targets[t].assumed {
				result.assumed = append(result.assumed, c.key)
			}
		}
	}
	result.involved, result.exhausted = s.involved, result.selection == nil && s.involved == nil
	result.involvedWishes, result.rehearsals = s.involvedWishes, s.rehearsals
	p.work += s.solver.work
	return result
}

// addWishes adds the wishes as clauses. It returns false if they contradict each other.
func (s *search) addWishes(wishes []wish) bool {
	add := func(w *wish, l literal) bool {
		var sources bitset
		sources.add(w.number)
		conflict := s.attach(&clause{literals: []literal{l}, sources: sources})
		if conflict != nil {
			s.setInvolved(conflict)
		}
		return conflict == nil
	}
	for i := range wishes {
		w := &wishes[i]
		if l := s.subsetLiteral(w.addOn, w.releases); l != noLiteral && !add(w, l) {
			return false
		}
		if !w.OnlyIfNeeded {
			s.wishedAddOns.add(w.addOn)
			if !add(w, s.anyLiteral(w.addOn)) {
				return false
			}
		}
	}
	return true
}

// gaveUp reports whether the search has spent its budget.
func (s *search) gaveUp() bool { return s.solver.work > s.budget }

// run makes choices until all needs are met. It returns false if there is no solution, or it gives up.
func (s *search) run() bool {
	for !s.gaveUp() {
		conflict := s.propagate()
		if conflict == nil {
			var complete bool
			if conflict, complete = s.proceed(); complete && !s.endRehearsal() {
				return true
			}
		}
		if conflict != nil && !s.resolve(conflict) {
			return false
		}
	}
	return false
}

// propagate derives all literals that follow from the true ones. It returns the first conflict, if any.
func (s *search) propagate() *clause {
	for s.propagated < len(s.trail) {
		l := s.trail[s.propagated]
		s.propagated++
		conflict := s.followVariable(l)
		if conflict == nil {
			conflict = s.checkWatches(l.not())
		}
		if conflict != nil {
			return conflict
		}
	}
	return nil
}

// resolve learns a clause from a conflict, and undoes the decisions that the clause makes useless. It returns false
// if the conflict rests on no decision. Then there is no solution.
func (s *search) resolve(conflict *clause) bool {
	s.conflicts++
	conflictLevel := s.conflictLevel(conflict)
	if conflictLevel == 0 {
		s.setInvolved(conflict)
		return false
	}
	s.undo(conflictLevel)
	learned, level := s.learn(conflict)
	s.weigh(learned)
	s.undo(level)
	s.remember(learned)
	s.attach(learned) // its first literal is open, so it contradicts nothing
	s.probedAddOn = unset
	if v := &s.variables[learned.literals[0].variable()]; len(learned.literals) == 1 && v.addOn != unset && v.subset == nil {
		s.probedAddOn = v.addOn
	}
	return true
}

// setInvolved sets the declarations and the wishes that exclude a solution.
func (s *search) setInvolved(conflict *clause) {
	s.involved = map[source]bool{}
	sources := s.sourcesOf(reason{clause: conflict})
	for i, declaring := range s.sourcesByNumber {
		switch {
		case !sources.contains(i):
		case i < len(s.wishes):
			s.involvedWishes.add(i)
		default:
			s.involved[declaring] = true
		}
	}
}

// undo undoes all decisions after a level, with the choices since.
func (s *search) undo(level int) {
	for _, l := range s.backtrack(level) {
		v := &s.variables[l.variable()]
		if v.addOn == unset || v.subset != nil || v.number == len(s.addOns[v.addOn].releases) {
			continue
		}
		if state := s.states[v.addOn]; l.negated() {
			state.possible.add(v.number)
		} else if state.selected == v.number {
			state.selected = unset
		}
	}
	s.rehearsing = s.rehearsing && level >= s.baseLevel
	for len(s.choices) > 0 && s.choices[len(s.choices)-1].level > level {
		s.dropChoice()
	}
}

// dropChoice removes the last choice.
func (s *search) dropChoice() {
	last := &s.choices[len(s.choices)-1]
	for _, id := range last.newNeeds {
		s.neededAddOns.remove(id)
	}
	if last.addOn == unset {
		delete(s.pickedTargets, last.key)
	} else {
		s.chosenAddOns.remove(last.addOn)
	}
	s.choices = s.choices[:len(s.choices)-1]
}

// proceed makes the next choice. It returns the conflict, if any, and true if no choice is left to make.
func (s *search) proceed() (*clause, bool) {
	if s.probedAddOn != unset {
		s.probe()
		return nil, false
	}
	if s.rehearsing {
		if id := s.nextHardest(); id >= 0 {
			s.choose(id, s.lastTried(id))
			return nil, false
		}
	} else if id := s.nextNeeded(); id >= 0 {
		i := s.states[id].possible.first()
		s.choose(id, i)
		s.rehearse(id, i)
		return nil, false
	}
	key, ok := s.nextUnmet()
	if !ok {
		return nil, true
	}
	return s.pick(key), false
}

// probe tries the highest release of an add-on without other choices. If nothing contradicts it, the search continues.
func (s *search) probe() {
	id, highest := s.probedAddOn, s.states[s.probedAddOn].possible.first()
	if s.level() > 0 || highest < 0 || s.states[id].selected != unset {
		s.undo(0)
		s.probedAddOn = unset
		return
	}
	s.decide(s.releaseLiteral(id, highest))
}

// nextNeeded returns the add-on to choose next: add-ons of wishes come first, then add-ons that choices need, by name. The numbers
// of add-ons with releases have the order of their names, and add-ons without releases cannot be chosen.
func (s *search) nextNeeded() int {
	if next := s.wishedAddOns.firstWithout(s.chosenAddOns); next >= 0 {
		return next
	}
	return s.neededAddOns.firstWithout(s.chosenAddOns)
}

// choose chooses a possible release.
func (s *search) choose(id, i int) {
	if l := s.releaseLiteral(id, i); !s.isTrue(l) {
		s.decide(l)
	}
	s.chosenAddOns.add(id)
	s.choices = append(s.choices, choice{addOn: id, level: s.level()})
	r := s.candidate(id, i)
	for n := range r.constraints {
		if c := &r.constraints[n]; c.need && s.direct(c) && s.isActive(c.source) {
			s.addNeeded(c.targets[0].addOn)
		}
	}
}

// addNeeded adds an add-on that the last choice needs.
func (s *search) addNeeded(id int) {
	if !s.neededAddOns.contains(id) {
		s.neededAddOns.add(id)
		last := &s.choices[len(s.choices)-1]
		last.newNeeds = append(last.newNeeds, id)
	}
}

// direct reports whether a constraint is about one add-on.
func (s *search) direct(c *constraint) bool { return !c.need || c.single() }

// constraint returns a constraint of a chosen release.
func (s *search) constraint(key needKey) *constraint {
	return &s.candidate(key.addOn, s.states[key.addOn].selected).constraints[key.constraint]
}

// closedCycle returns a clause against a release whose Required edges close a cycle with other selected releases. It returns nil
// if they close none.
func (s *search) closedCycle(id int) *clause {
	isSelected := func(id int) bool { return s.state(id).selected != unset }
	return s.path(id, id, isSelected, func(r *release) []wait { return r.requires })
}

// path returns a clause against releases whose edges lead from a start to a goal. It returns nil if there is no such path.
func (s *search) path(start, goal int, include func(id int) bool, edges func(*release) []wait) *clause {
	path := &clause{}
	var visited bitset
	var walk func(id int) bool
	walk = func(id int) bool {
		if visited.contains(id) || !include(id) {
			return false
		}
		visited.add(id)
		s.solver.work++
		i := s.states[id].selected
		for _, w := range edges(s.candidate(id, i)) {
			if s.isActive(w.source) && (w.dependency == goal || walk(w.dependency)) {
				path.sources.add(s.number(w.source))
				path.literals = append(path.literals, s.releaseLiteral(id, i).not())
				return true
			}
		}
		return false
	}
	if !walk(start) {
		return nil
	}
	return path
}

// number returns the number of a declaration in the sources of clauses. A new declaration gets the next number.
func (p *problem) number(declaring source) int {
	number, ok := p.sourceNumbers[declaring]
	if !ok {
		number = len(p.sourcesByNumber)
		p.sourceNumbers[declaring], p.sourcesByNumber = number, append(p.sourcesByNumber, declaring)
	}
	return number
}
