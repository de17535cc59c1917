package resolution

import "slices"

// literal is a variable or its negation. Variable v is 2v, and its negation 2v+1.
type literal int

func (l literal) not() literal  { return l ^ 1 }
func (l literal) negated() bool { return l&1 == 1 }
func (l literal) variable() int { return int(l >> 1) }

// clause is a list of literals. At least one of them has to be true. sources has the declarations that it follows from. A clause
// whose literals are all false is a conflict. It becomes a Conflict, the error of Resolve, only if it rests on no decision.
type clause struct {
	literals []literal
	sources  bitset
	// levels is the number of different decisions behind a learned clause. A clause with few of them excludes much.
	levels int
	// forgotten is true for a learned clause that is no longer checked.
	forgotten bool
}

// reason explains why a literal is true: all other literals of the clause are false, or the true literal in reason excludes its
// negation. The reason of a decision has neither.
type reason struct {
	clause  *clause
	literal literal
}

const noLiteral literal = -1

// watch is a clause that has to be checked when a literal becomes false. While the blocker, a literal of the clause, is true, it
// needs no check.
type watch struct {
	clause  *clause
	blocker literal
}

// solver derives literals from clauses and decisions. When a decision leads to a conflict, it adds a clause with the cause
// (conflict-driven clause learning), so the same conflict never happens again.
type solver struct {
	// values has 1 for a true literal, -1 for a false one, and 0 for an open one.
	values []int8
	// levels has the number of decisions before a variable was assigned.
	levels  []int
	reasons []reason
	// sources has the declarations that a variable follows from, if it was assigned without any decision.
	sources []bitset
	// watches has the clauses to check when a literal becomes false. Two literals of each clause are watched.
	watches [][]watch
	// trail has the true literals, in the order in which they became true. The first propagated ones have been propagated.
	trail      []literal
	propagated int
	// decisionOffsets has the length of the trail before each decision.
	decisionOffsets []int
	// marked has the variables that learn has visited.
	marked []bool
	memory
	// work counts the operations that take most of the time: clauses that are checked, and literals that become true.
	work int
}

// newVariables adds variables, and returns the first one.
func (s *solver) newVariables(count int) int {
	first := len(s.levels)
	s.work += count
	s.values = append(s.values, make([]int8, 2*count)...)
	s.levels = append(s.levels, make([]int, count)...)
	s.reasons = append(s.reasons, make([]reason, count)...)
	s.sources = append(s.sources, make([]bitset, count)...)
	s.watches = append(s.watches, make([][]watch, 2*count)...)
	s.marked = append(s.marked, make([]bool, count)...)
	return first
}

func (s *solver) isTrue(l literal) bool  { return s.values[l] > 0 }
func (s *solver) isFalse(l literal) bool { return s.values[l] < 0 }

func (s *solver) level() int { return len(s.decisionOffsets) }

// decide makes a literal true without a reason.
func (s *solver) decide(l literal) {
	s.decisionOffsets = append(s.decisionOffsets, len(s.trail))
	s.assign(l, reason{literal: noLiteral})
}

// imply makes a literal true for a reason. If the literal is false already, it returns the clause of the conflict.
func (s *solver) imply(l literal, cause reason) *clause {
	switch {
	case s.isTrue(l):
		return nil
	case !s.isFalse(l):
		s.assign(l, cause)
		return nil
	case cause.clause != nil:
		return cause.clause
	default:
		return &clause{literals: []literal{l, cause.literal.not()}}
	}
}

func (s *solver) assign(l literal, cause reason) {
	s.values[l], s.values[l.not()] = 1, -1
	variable := l.variable()
	s.levels[variable], s.reasons[variable] = s.level(), cause
	s.trail = append(s.trail, l)
	s.work++
	if s.level() == 0 {
		s.sources[variable] = s.sourcesOf(cause)
	}
}

// sourcesOf returns the declarations behind a reason that rests on no decision.
func (s *solver) sourcesOf(cause reason) bitset {
	if cause.clause == nil {
		if cause.literal == noLiteral {
			return nil
		}
		return s.sources[cause.literal.variable()]
	}
	sources := slices.Clone(cause.clause.sources)
	for _, l := range cause.clause.literals {
		sources.join(s.sources[l.variable()])
	}
	return sources
}

// attach adds a clause. It returns the clause if all of its literals are false.
func (s *solver) attach(added *clause) *clause {
	literals := added.literals
	s.work += len(literals)
	for i := range min(2, len(literals)) { // watch literals that are not false, or became false last
		for j := i + 1; j < len(literals); j++ {
			if s.rank(literals[j]) > s.rank(literals[i]) {
				literals[i], literals[j] = literals[j], literals[i]
			}
		}
	}
	for i := range min(2, len(literals)) {
		s.watches[literals[i]] = append(s.watches[literals[i]], watch{added, literals[min(1, len(literals)-1)-i]})
	}
	if len(literals) == 1 || s.isFalse(literals[1]) {
		return s.imply(literals[0], reason{clause: added})
	}
	return nil
}

func (s *solver) rank(l literal) int {
	if s.isFalse(l) {
		return s.levels[l.variable()]
	}
	return s.level() + 1
}

// checkWatches checks the clauses that watch a literal, after it has become false. It returns the conflict, if any.
func (s *solver) checkWatches(l literal) *clause {
	watches := s.watches[l]
	s.work += len(watches)
	kept := watches[:0]
	for n, w := range watches {
		if s.isTrue(w.blocker) {
			kept = append(kept, w)
			continue
		}
		literals := w.clause.literals
		if len(literals) > 1 && literals[0] == l {
			literals[0], literals[1] = literals[1], l
		}
		if !s.isTrue(literals[0]) && s.rewatch(w.clause) {
			continue
		}
		kept = append(kept, watch{w.clause, literals[0]})
		if conflict := s.imply(literals[0], reason{clause: w.clause}); conflict != nil {
			s.watches[l] = append(kept, watches[n+1:]...)
			return conflict
		}
	}
	s.watches[l] = kept
	return nil
}

// rewatch replaces the second watched literal by a literal that is not false. It returns false if there is none.
func (s *solver) rewatch(watched *clause) bool {
	for i := 2; i < len(watched.literals); i++ {
		if l := watched.literals[i]; !s.isFalse(l) {
			watched.literals[1], watched.literals[i] = l, watched.literals[1]
			s.watches[l] = append(s.watches[l], watch{watched, watched.literals[0]})
			return true
		}
	}
	return false
}

// conflictLevel returns the level of the last decision that a conflict rests on.
func (s *solver) conflictLevel(conflict *clause) int {
	level := 0
	for _, l := range conflict.literals {
		level = max(level, s.levels[l.variable()])
	}
	return level
}

// learn returns the clause that is the cause of a conflict, and the level at which its first literal follows from the clause.
// It replaces the literals that follow from the last decision by their reasons, until one literal of that level is left.
func (s *solver) learn(conflict *clause) (*clause, int) {
	learned := &clause{literals: []literal{noLiteral}}
	var markedVariables []int
	open, position := 0, len(s.trail)
	mark := func(l literal) {
		variable := l.variable()
		if s.marked[variable] {
			return
		}
		s.marked[variable] = true
		markedVariables = append(markedVariables, variable)
		switch s.levels[variable] {
		case 0:
			learned.sources.join(s.sources[variable])
		case s.level():
			open++
		default:
			learned.literals = append(learned.literals, l)
		}
	}
	for cause := (reason{clause: conflict}); ; cause = s.reasons[s.trail[position].variable()] {
		if cause.clause == nil {
			mark(cause.literal.not())
		} else {
			learned.sources.join(cause.clause.sources)
			s.work += len(cause.clause.literals)
			for _, l := range cause.clause.literals {
				mark(l)
			}
		}
		for position--; !s.marked[s.trail[position].variable()] || s.levels[s.trail[position].variable()] < s.level(); {
			position--
		}
		if open--; open == 0 {
			break
		}
	}
	learned.literals[0] = s.trail[position].not()
	s.shorten(learned)
	for _, variable := range markedVariables {
		s.marked[variable] = false
	}
	level := 0
	for _, l := range learned.literals[1:] {
		level = max(level, s.levels[l.variable()])
	}
	return learned, level
}

// shorten leaves out the literals that follow from the other ones. All variables of the clause are marked.
func (s *solver) shorten(learned *clause) {
	kept := learned.literals[:1]
	for _, l := range learned.literals[1:] {
		cause := s.reasons[l.variable()]
		if !s.isRedundant(l, cause) {
			kept = append(kept, l)
			continue
		}
		if cause.clause != nil {
			learned.sources.join(cause.clause.sources)
			for _, antecedent := range cause.clause.literals {
				if s.levels[antecedent.variable()] == 0 {
					learned.sources.join(s.sources[antecedent.variable()])
				}
			}
		}
	}
	learned.literals = kept
}

// isRedundant reports whether a literal follows from marked variables only.
func (s *solver) isRedundant(l literal, cause reason) bool {
	if cause.clause == nil {
		return cause.literal != noLiteral && s.marked[cause.literal.variable()]
	}
	for _, antecedent := range cause.clause.literals {
		if variable := antecedent.variable(); variable != l.variable() && !s.marked[variable] && s.levels[variable] > 0 {
			return false
		}
	}
	return true
}

// backtrack undoes all decisions after a level, and returns the literals that are open again.
func (s *solver) backtrack(level int) []literal {
	if level >= s.level() {
		return nil
	}
	offset := s.decisionOffsets[level]
	reopened := s.trail[offset:]
	for _, l := range reopened {
		s.values[l], s.values[l.not()] = 0, 0
	}
	s.trail, s.decisionOffsets = s.trail[:offset], s.decisionOffsets[:level]
	s.propagated = len(s.trail)
	return reopened
}
