package resolution

import "slices"

// literal is a statement about the choices, or its negation. Statement v is 2v, and its negation 2v+1.
type literal int

func (l literal) not() literal  { return l ^ 1 }
func (l literal) negated() bool { return l&1 == 1 }
func (l literal) statement() int {
	return int(l >> 1)
}

// clause is a list of literals, of which one has to be true. It follows from the declarations in sources.
type clause struct {
	literals []literal
	sources  bitset
}

// reason is why a literal is true: all others of a clause are false, or another literal excludes its negation. A decision has none.
type reason struct {
	clause  *clause
	because literal
}

const noLiteral literal = -1

// watch is a clause to look at, unless another literal of it is true.
type watch struct {
	of    *clause
	other literal
}

// solver finds what follows from clauses. When a decision contradicts them, it adds a clause that is the cause of that
// (conflict-driven clause learning), so the same contradiction is met once.
type solver struct {
	values  []int8 // by literal: 1 is true, -1 false, and 0 open
	levels  []int  // by statement: how many decisions there were
	reasons []reason
	// sources of statements without any decision are the declarations that they follow from.
	sources []bitset
	// watches are the clauses to look at when a literal becomes false: two literals of each clause are watched.
	watches [][]watch
	// trail has the true literals, in the order in which they became true, and next the first one that was not followed yet.
	trail []literal
	next  int
	// decided is the length of the trail before each decision.
	decided []int
	seen    []bool
}

// add makes statements, and returns the first.
func (s *solver) add(count int) int {
	first := len(s.levels)
	s.values = append(s.values, make([]int8, 2*count)...)
	s.levels = append(s.levels, make([]int, count)...)
	s.reasons = append(s.reasons, make([]reason, count)...)
	s.sources = append(s.sources, make([]bitset, count)...)
	s.watches = append(s.watches, make([][]watch, 2*count)...)
	s.seen = append(s.seen, make([]bool, count)...)
	return first
}

func (s *solver) isTrue(l literal) bool  { return s.values[l] > 0 }
func (s *solver) isFalse(l literal) bool { return s.values[l] < 0 }

func (s *solver) level() int { return len(s.decided) }

// decide makes a literal true without a reason.
func (s *solver) decide(l literal) {
	s.decided = append(s.decided, len(s.trail))
	s.assign(l, reason{because: noLiteral})
}

// imply makes a literal true. If it is false, it returns what contradicts it.
func (s *solver) imply(l literal, why reason) *clause {
	switch {
	case s.isTrue(l):
		return nil
	case !s.isFalse(l):
		s.assign(l, why)
		return nil
	case why.clause != nil:
		return why.clause
	default:
		return &clause{literals: []literal{l, why.because.not()}}
	}
}

func (s *solver) assign(l literal, why reason) {
	s.values[l], s.values[l.not()] = 1, -1
	statement := l.statement()
	s.levels[statement], s.reasons[statement] = s.level(), why
	s.trail = append(s.trail, l)
	if s.level() == 0 {
		s.sources[statement] = s.causes(why)
	}
}

// causes are the declarations that something follows from, where no decision was made.
func (s *solver) causes(why reason) bitset {
	if why.clause == nil {
		if why.because == noLiteral {
			return nil
		}
		return s.sources[why.because.statement()]
	}
	causes := slices.Clone(why.clause.sources)
	for _, l := range why.clause.literals {
		causes.join(s.sources[l.statement()])
	}
	return causes
}

// attach adds a clause. It returns the clause if all of its literals are false.
func (s *solver) attach(of *clause) *clause {
	literals := of.literals
	for at := range min(2, len(literals)) { // watch what is not false, or became false last
		for i := at + 1; i < len(literals); i++ {
			if s.rank(literals[i]) > s.rank(literals[at]) {
				literals[at], literals[i] = literals[i], literals[at]
			}
		}
	}
	for at := range min(2, len(literals)) {
		s.watches[literals[at]] = append(s.watches[literals[at]], watch{of, literals[min(1, len(literals)-1)-at]})
	}
	if len(literals) == 1 || s.isFalse(literals[1]) {
		return s.imply(literals[0], reason{clause: of})
	}
	return nil
}

func (s *solver) rank(l literal) int {
	if s.isFalse(l) {
		return s.levels[l.statement()]
	}
	return len(s.decided) + 1
}

// visit looks at the clauses that watch a literal, which has become false.
func (s *solver) visit(l literal) *clause {
	watching := s.watches[l]
	kept := watching[:0]
	for n, one := range watching {
		if s.isTrue(one.other) {
			kept = append(kept, one)
			continue
		}
		literals := one.of.literals
		if len(literals) > 1 && literals[0] == l {
			literals[0], literals[1] = literals[1], l
		}
		if !s.isTrue(literals[0]) && s.rewatch(one.of) {
			continue
		}
		kept = append(kept, watch{one.of, literals[0]})
		if against := s.imply(literals[0], reason{clause: one.of}); against != nil {
			s.watches[l] = append(kept, watching[n+1:]...)
			return against
		}
	}
	s.watches[l] = kept
	return nil
}

// rewatch watches another literal than the second one, if one is not false.
func (s *solver) rewatch(of *clause) bool {
	for i := 2; i < len(of.literals); i++ {
		if other := of.literals[i]; !s.isFalse(other) {
			of.literals[1], of.literals[i] = other, of.literals[1]
			s.watches[other] = append(s.watches[other], watch{of, of.literals[0]})
			return true
		}
	}
	return false
}

// last is the level of the last decision that a contradiction rests on.
func (s *solver) last(against *clause) int {
	last := 0
	for _, l := range against.literals {
		last = max(last, s.levels[l.statement()])
	}
	return last
}

// learn returns the clause that is the cause of a contradiction, and the level at which its first literal follows from it. It
// replaces what follows from the last decision by its reasons, until one literal of that level is left.
func (s *solver) learn(against *clause) (learned *clause, level int) {
	learned = &clause{literals: []literal{noLiteral}}
	var marked []int
	open, at := 0, len(s.trail)
	mark := func(l literal) {
		statement := l.statement()
		if s.seen[statement] {
			return
		}
		s.seen[statement] = true
		marked = append(marked, statement)
		switch s.levels[statement] {
		case 0:
			learned.sources.join(s.sources[statement])
		case s.level():
			open++
		default:
			learned.literals = append(learned.literals, l)
		}
	}
	for why := (reason{clause: against}); ; why = s.reasons[s.trail[at].statement()] {
		if why.clause == nil {
			mark(why.because.not())
		} else {
			learned.sources.join(why.clause.sources)
			for _, l := range why.clause.literals {
				mark(l)
			}
		}
		for at--; !s.seen[s.trail[at].statement()] || s.levels[s.trail[at].statement()] < s.level(); {
			at--
		}
		if open--; open == 0 {
			break
		}
	}
	learned.literals[0] = s.trail[at].not()
	s.shorten(learned)
	for _, statement := range marked {
		s.seen[statement] = false
	}
	for _, l := range learned.literals[1:] {
		level = max(level, s.levels[l.statement()])
	}
	return learned, level
}

// shorten leaves out the literals that follow from the others. These are seen.
func (s *solver) shorten(learned *clause) {
	kept := learned.literals[:1]
	for _, l := range learned.literals[1:] {
		why := s.reasons[l.statement()]
		if !s.follows(l, why) {
			kept = append(kept, l)
			continue
		}
		if why.clause != nil {
			learned.sources.join(why.clause.sources)
			for _, other := range why.clause.literals {
				if s.levels[other.statement()] == 0 {
					learned.sources.join(s.sources[other.statement()])
				}
			}
		}
	}
	learned.literals = kept
}

func (s *solver) follows(l literal, why reason) bool {
	if why.clause == nil {
		return why.because != noLiteral && s.seen[why.because.statement()]
	}
	for _, other := range why.clause.literals {
		if statement := other.statement(); statement != l.statement() && !s.seen[statement] && s.levels[statement] > 0 {
			return false
		}
	}
	return true
}

// forget undoes all decisions after a level, and returns the literals that are open again.
func (s *solver) forget(level int) []literal {
	if level >= s.level() {
		return nil
	}
	undone := s.trail[s.decided[level]:]
	for _, l := range undone {
		s.values[l], s.values[l.not()] = 0, 0
	}
	s.trail, s.decided = s.trail[:s.decided[level]], s.decided[:level]
	s.next = len(s.trail)
	return undone
}
