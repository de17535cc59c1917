package resolution

import (
	"cmp"
	"slices"
)

// firstMemory is the number of learned clauses that are kept at first. moreMemory is the number by which it grows.
const (
	firstMemory = 1000
	moreMemory  = 300
)

// memory has the learned clauses. Each of them has to be checked again and again, so the solver forgets those that help least. It can
// learn them again, and the result of a search does not depend on them.
type memory struct {
	learned []*clause
	// forgets counts how often clauses were forgotten.
	forgets int
}

// remember keeps a learned clause, and forgets half of the clauses if there are too many.
func (s *solver) remember(learned *clause) {
	levels := map[int]bool{}
	for _, l := range learned.literals {
		levels[s.levels[l.variable()]] = true
	}
	learned.levels = len(levels)
	if len(s.learned) >= firstMemory+moreMemory*s.forgets {
		s.forget()
	}
	s.learned = append(s.learned, learned)
}

// forget forgets half of the learned clauses.
func (s *solver) forget() {
	s.forgets++
	slices.SortStableFunc(s.learned, func(a, b *clause) int {
		return cmp.Or(cmp.Compare(a.levels, b.levels), cmp.Compare(len(a.literals), len(b.literals)))
	})
	for _, forgotten := range s.learned[len(s.learned)/2:] {
		forgotten.forgotten = true
	}
	s.learned = s.learned[:len(s.learned)/2]
	for l := range s.watches {
		s.work += len(s.watches[l])
		s.watches[l] = slices.DeleteFunc(s.watches[l], func(w watch) bool { return w.clause.forgotten })
	}
}
