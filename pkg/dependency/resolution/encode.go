package resolution

import (
	"encoding/binary"
	"slices"
)

// variable is the meaning of a variable of the solver. There are four kinds:
//   - a release of an add-on is chosen: number is the release.
//   - any release of an add-on is chosen: number is the count of its releases.
//   - no release outside of a subset of an add-on's releases is chosen: subset is not nil.
//   - a target satisfies a need: addOn is unset.
type variable struct {
	addOn, number int
	subset        bitset
}

// addOnState is the state of an add-on during a search.
type addOnState struct {
	// firstRelease is the variable of its first release. The variables of the others follow.
	firstRelease int
	// possible has the releases that no clause excludes.
	possible bitset
	// selected is the release that is chosen, by a decision or because clauses leave no other. It is unset before.
	selected int
	// subsets has the literals of subsets of the releases, and subsetByKey their index by the releases in the subset.
	subsets     []literal
	subsetByKey map[string]int
	// encoded has the releases whose declarations are clauses already.
	encoded bitset
}

func positive(variable int) literal { return literal(2 * variable) }

// state returns the state of an add-on. The first call for an add-on creates its variables.
func (s *search) state(id int) *addOnState {
	for len(s.states) <= id {
		s.states = append(s.states, nil)
	}
	if s.states[id] == nil {
		count := len(s.addOns[id].releases)
		s.states[id] = &addOnState{
			firstRelease: s.newVariables(count + 1),
			possible:     slices.Clone(s.addOns[id].selectable),
			selected:     unset,
			subsetByKey:  map[string]int{},
		}
		for i := range count + 1 {
			s.variables = append(s.variables, variable{addOn: id, number: i})
		}
		s.attach(&clause{literals: s.appendReleases(id, s.addOns[id].selectable, s.anyLiteral(id).not())})
	}
	return s.states[id]
}

// releaseLiteral returns the literal for: the release is chosen.
func (s *search) releaseLiteral(id, i int) literal { return positive(s.state(id).firstRelease + i) }

// anyLiteral returns the literal for: any release of the add-on is chosen.
func (s *search) anyLiteral(id int) literal {
	return positive(s.state(id).firstRelease + len(s.addOns[id].releases))
}

// appendReleases appends the literals of releases to literals.
func (s *search) appendReleases(id int, releases bitset, literals ...literal) []literal {
	for i := range s.addOns[id].releases {
		if releases.contains(i) {
			literals = append(literals, s.releaseLiteral(id, i))
		}
	}
	return literals
}

// subsetLiteral returns the literal for: no release of the add-on outside of the accepted ones is chosen. It returns noLiteral if
// all are accepted.
func (s *search) subsetLiteral(id int, accepted bitset) literal {
	selectable := s.addOns[id].selectable
	subset := accepted.intersect(selectable)
	var key []byte
	excludesAny := false
	for i, selectableWord := range selectable {
		var word uint64
		if i < len(subset) {
			word = subset[i]
		}
		excludesAny = excludesAny || word != selectableWord
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	if !excludesAny {
		return noLiteral
	}
	state := s.state(id)
	if i, ok := state.subsetByKey[string(key)]; ok {
		return state.subsets[i]
	}
	l := positive(s.newVariables(1))
	s.variables = append(s.variables, variable{addOn: id, subset: subset})
	state.subsetByKey[string(key)] = len(state.subsets)
	state.subsets = append(state.subsets, l)
	s.attach(&clause{literals: s.appendReleases(id, subset, l.not(), s.anyLiteral(id).not())})
	if state.selected != unset && !subset.contains(state.selected) {
		s.imply(l.not(), reason{literal: s.releaseLiteral(id, state.selected)})
	}
	return l
}

// followVariable derives literals from the meaning of a true literal. Clauses do not have these implications: there would be a
// clause for each pair of releases. It returns the conflict, if any.
func (s *search) followVariable(l literal) *clause {
	v := &s.variables[l.variable()]
	switch {
	case v.addOn == unset:
		return nil
	case v.subset != nil:
		if l.negated() {
			return nil
		}
		return s.excludeOthers(v.addOn, v.subset, l)
	case v.number == len(s.addOns[v.addOn].releases):
		return nil
	case l.negated():
		s.states[v.addOn].possible.remove(v.number)
		return nil
	default:
		return s.followRelease(v.addOn, v.number, l)
	}
}

// followRelease derives literals from a chosen release, and encodes its declaration.
func (s *search) followRelease(id, i int, l literal) *clause {
	state := s.states[id]
	state.selected = i
	var selected bitset
	selected.add(i)
	conflict := s.excludeOthers(id, selected, l)
	if conflict == nil {
		conflict = s.imply(s.anyLiteral(id), reason{literal: l})
	}
	if conflict == nil {
		conflict = s.excludeSubsets(state, i, l)
	}
	if !state.encoded.contains(i) { // even after a conflict, because each release is encoded only once
		state.encoded.add(i)
		if encodingConflict := s.encodeRelease(id, i, l); conflict == nil {
			conflict = encodingConflict
		}
	}
	if conflict == nil {
		if cycle := s.closedCycle(id); cycle != nil {
			conflict = s.attach(cycle)
		}
	}
	return conflict
}

// excludeOthers excludes all releases of an add-on but the accepted ones.
func (s *search) excludeOthers(id int, accepted bitset, cause literal) *clause {
	state := s.states[id]
	for i := range s.addOns[id].releases {
		if state.possible.contains(i) && !accepted.contains(i) {
			if conflict := s.imply(positive(state.firstRelease+i).not(), reason{literal: cause}); conflict != nil {
				return conflict
			}
		}
	}
	return nil
}

// excludeSubsets excludes all subsets that do not have the release.
func (s *search) excludeSubsets(state *addOnState, i int, cause literal) *clause {
	s.solver.work += len(state.subsets)
	for _, l := range state.subsets {
		if !s.variables[l.variable()].subset.contains(i) {
			if conflict := s.imply(l.not(), reason{literal: cause}); conflict != nil {
				return conflict
			}
		}
	}
	return nil
}

// encodeRelease adds the declaration of a release as clauses. It returns the first one that contradicts the true literals.
func (s *search) encodeRelease(id, i int, chosen literal) *clause {
	var conflict *clause
	add := func(declaring source, literals ...literal) {
		var sources bitset
		sources.add(s.number(declaring))
		if added := s.attach(&clause{literals: literals, sources: sources}); conflict == nil {
			conflict = added
		}
	}
	r := s.candidate(id, i)
	for _, refused := range r.refusals {
		if s.isActive(refused.source) {
			add(refused.source, chosen.not())
		}
	}
	for n := range r.constraints {
		c := &r.constraints[n]
		switch {
		case !s.isActive(c.source):
		case s.direct(c):
			s.encodeTarget(c.source, &c.targets[0], c.need, chosen, add)
		default:
			s.encodeTargets(needKey{id, n}, c, chosen, add)
		}
	}
	return conflict
}

// encodeTarget adds clauses that hold if the condition is true: no other release of the target's add-on is chosen, and for a
// need, one of its releases is.
func (s *search) encodeTarget(declaring source, t *target, need bool, condition literal, add func(source, ...literal)) {
	if l := s.subsetLiteral(t.addOn, t.releases); l != noLiteral {
		add(declaring, condition.not(), l)
	}
	if need {
		add(declaring, condition.not(), s.anyLiteral(t.addOn))
	}
}

// encodeTargets adds clauses by which one target of a need has to satisfy it.
func (s *search) encodeTargets(key needKey, c *constraint, chosen literal, add func(source, ...literal)) {
	firstTarget := s.newVariables(len(c.targets))
	s.encodedNeeds[chosen.variable()] = append(s.encodedNeeds[chosen.variable()], encodedNeed{key.constraint, firstTarget})
	var alternatives []literal
	for t := range c.targets {
		s.variables = append(s.variables, variable{addOn: unset})
		alternatives = append(alternatives, positive(firstTarget+t))
	}
	for t := range c.targets {
		if candidate := &c.targets[t]; !candidate.assumed {
			s.encodeTarget(c.source, candidate, true, positive(firstTarget+t), add)
		}
	}
	if c.triggers == nil {
		add(c.source, append(alternatives, chosen.not())...)
		return
	}
	for _, trigger := range c.triggers {
		add(c.source, append(slices.Clone(alternatives), chosen.not(), s.anyLiteral(trigger).not())...)
	}
}
