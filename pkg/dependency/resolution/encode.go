package resolution

import (
	"encoding/binary"
	"slices"
)

// statement is what a statement of the solver says: that a release is chosen, that any of its add-on is (number is their
// count), or with within that none outside of a set of releases is. Without an add-on it is that a target satisfies a need.
type statement struct {
	addOn, number int
	within        bitset
}

// state is what is known of an add-on during the search.
type state struct {
	// first is the statement that its first release is chosen.
	first int
	// alive are the releases that are not excluded, and only is the one that is left by the clauses.
	alive bitset
	only  int
	// within are the literals that its release is one of some, and known is where they are, by these releases.
	within []literal
	known  map[string]int
	// read are the releases with clauses.
	read bitset
}

func yes(statement int) literal { return literal(2 * statement) }

// state returns what is known of an add-on.
func (s *search) state(id int) *state {
	for len(s.states) <= id {
		s.states = append(s.states, nil)
	}
	if s.states[id] == nil {
		count := len(s.addOns[id].releases)
		s.states[id] = &state{
			first: s.add(count + 1), alive: slices.Clone(s.addOns[id].asked), only: none, known: map[string]int{},
		}
		for i := range count + 1 {
			s.statements = append(s.statements, statement{addOn: id, number: i})
		}
		s.attach(&clause{literals: s.anyOf(id, s.addOns[id].asked, s.needed(id).not())})
	}
	return s.states[id]
}

// release is the literal that a release is chosen.
func (s *search) release(id, i int) literal { return yes(s.state(id).first + i) }

// needed is the literal that any release of an add-on is chosen.
func (s *search) needed(id int) literal {
	return yes(s.state(id).first + len(s.addOns[id].releases))
}

// anyOf are the literals that one of some releases is chosen, after others.
func (s *search) anyOf(id int, releases bitset, others ...literal) []literal {
	for i := range s.addOns[id].releases {
		if releases.has(i) {
			others = append(others, s.release(id, i))
		}
	}
	return others
}

// within is the literal that no other release of an add-on than some is chosen. It is no literal where there is no other.
func (s *search) within(id int, accepts bitset) literal {
	asked := s.addOns[id].asked
	accepted := accepts.and(asked)
	var key []byte
	others := false
	for i, word := range asked {
		var own uint64
		if i < len(accepted) {
			own = accepted[i]
		}
		others = others || own != word
		key = binary.LittleEndian.AppendUint64(key, own)
	}
	if !others {
		return noLiteral
	}
	of := s.state(id)
	if at, known := of.known[string(key)]; known {
		return of.within[at]
	}
	l := yes(s.add(1))
	s.statements = append(s.statements, statement{addOn: id, within: accepted})
	of.known[string(key)] = len(of.within)
	of.within = append(of.within, l)
	s.attach(&clause{literals: s.anyOf(id, accepted, l.not(), s.needed(id).not())})
	if of.only != none && !accepted.has(of.only) {
		s.imply(l.not(), reason{because: s.release(id, of.only)})
	}
	return l
}

// follow finds what a true literal excludes.
func (s *search) follow(l literal) *clause {
	about := &s.statements[l.statement()]
	switch {
	case about.addOn == none:
		return nil
	case about.within != nil:
		if l.negated() {
			return nil
		}
		return s.keep(about.addOn, about.within, l)
	case about.number == len(s.addOns[about.addOn].releases):
		return nil
	case l.negated():
		s.states[about.addOn].alive.remove(about.number)
		return nil
	default:
		return s.followRelease(about.addOn, about.number, l)
	}
}

// followRelease finds what a chosen release excludes, and reads what it declares.
func (s *search) followRelease(id, i int, l literal) *clause {
	of := s.states[id]
	of.only = i
	var only bitset
	only.add(i)
	against := s.keep(id, only, l)
	if against == nil {
		against = s.imply(s.needed(id), reason{because: l})
	}
	if against == nil {
		against = s.leave(of, i, l)
	}
	if !of.read.has(i) { // also then, as it is read once
		of.read.add(i)
		if found := s.read(id, i, l); against == nil {
			against = found
		}
	}
	if against == nil {
		if cycle := s.closesCycle(id); cycle != nil {
			against = s.attach(cycle)
		}
	}
	return against
}

// keep excludes all other releases.
func (s *search) keep(id int, accepts bitset, because literal) *clause {
	of := s.states[id]
	for i := range s.addOns[id].releases {
		if of.alive.has(i) && !accepts.has(i) {
			if against := s.imply(yes(of.first+i).not(), reason{because: because}); against != nil {
				return against
			}
		}
	}
	return nil
}

// leave excludes all sets of releases that a release is not in.
func (s *search) leave(of *state, i int, because literal) *clause {
	for _, within := range of.within {
		if !s.statements[within.statement()].within.has(i) {
			if against := s.imply(within.not(), reason{because: because}); against != nil {
				return against
			}
		}
	}
	return nil
}

// read adds what a release declares as clauses. It returns one that contradicts what is true.
func (s *search) read(id, i int, chosen literal) (against *clause) {
	add := func(of source, literals ...literal) {
		var sources bitset
		sources.add(s.number(of))
		if found := s.attach(&clause{literals, sources}); against == nil {
			against = found
		}
	}
	one := s.candidate(id, i)
	for _, refused := range one.refusals {
		if s.counts(refused.source) {
			add(refused.source, chosen.not())
		}
	}
	for c := range one.constraints {
		of := &one.constraints[c]
		switch {
		case !s.counts(of.source):
		case s.direct(of):
			s.accept(of.source, &of.targets[0], of.need, chosen, add)
		default:
			s.readAlternatives(needKey{id, c}, of, chosen, add)
		}
	}
	return against
}

// accept adds that a target is within what is accepted, and as a need that it is chosen, where a literal is true.
func (s *search) accept(of source, on *target, need bool, where literal, add func(source, ...literal)) {
	if within := s.within(on.addOn, on.accepts); within != noLiteral {
		add(of, where.not(), within)
	}
	if need {
		add(of, where.not(), s.needed(on.addOn))
	}
}

// readAlternatives adds that one target of a need has to satisfy it.
func (s *search) readAlternatives(key needKey, of *constraint, chosen literal, add func(source, ...literal)) {
	first := s.add(len(of.targets))
	s.satisfies[chosen.statement()] = append(s.satisfies[chosen.statement()], need{key.constraint, first})
	var either []literal
	for t := range of.targets {
		s.statements = append(s.statements, statement{addOn: none})
		either = append(either, yes(first+t))
	}
	for t := range of.targets {
		if on := &of.targets[t]; !on.assumed {
			s.accept(of.source, on, true, yes(first+t), add)
		}
	}
	if of.where == nil {
		add(of.source, append(either, chosen.not())...)
		return
	}
	for _, where := range of.where {
		add(of.source, append(slices.Clone(either), chosen.not(), s.needed(where).not())...)
	}
}
