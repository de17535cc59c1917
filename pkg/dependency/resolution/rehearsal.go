package resolution

// stepsToRehearse is after how many contradictions a choice is rehearsed. Most catalogs have a solution before.
const stepsToRehearse = 30

// rehearsal finds out whether a choice belongs to any solution, before the choices after it are made in their order: these may
// be the worst order to find that out. It makes the choices first that contradictions are about.
type rehearsal struct {
	// rehearses: the choices after the level base, and after the first ones, are tried, and forgotten.
	rehearses   bool
	base, first int
	// rehearsals is how many there were.
	rehearsals int
	// solution is the last one that was found, by add-on. All choices before the next one are in it.
	solution map[int]int
	// weights are how often contradictions were about an add-on, the last ones more than those before. tried are the last tried
	// releases, plus one.
	weights []float64
	weight  float64
	tried   []int
}

// rehearse begins to rehearse the last choice, unless a solution with it is known.
func (s *search) rehearse(id, i int) {
	if known, is := s.solution[id]; s.steps < s.rehearseAfter || is && known == i || s.level() == 0 {
		return
	}
	s.rehearses, s.base, s.first = true, s.level(), len(s.choices)
	s.rehearsals++
}

// rehearsed ends a rehearsal. It returns false where there was none.
func (s *search) rehearsed() bool {
	if !s.rehearses {
		return false
	}
	s.solution = map[int]int{}
	for _, one := range s.choices {
		if one.addOn != none {
			s.solution[one.addOn] = s.states[one.addOn].only
		}
	}
	s.undo(s.base)
	for len(s.choices) > s.first { // what follows from the choices before needs no decision
		s.dropChoice()
	}
	s.rehearses = false
	return true
}

// weigh notes what a contradiction is about.
func (s *search) weigh(learned *clause) {
	s.weight = max(1, s.weight*1.05)
	if s.weight > 1e100 {
		for i := range s.weights {
			s.weights[i] /= 1e100
		}
		s.weight /= 1e100
	}
	for _, l := range learned.literals {
		if id := s.statements[l.statement()].addOn; id != none {
			s.weights = append(s.weights, make([]float64, max(0, id+1-len(s.weights)))...)
			s.weights[id] += s.weight
		}
	}
}

// nextHardest is the add-on to choose next in a rehearsal: contradictions were about it, and few of its releases are left.
func (s *search) nextHardest() int {
	next, highest := none, -1.0
	for _, from := range []bitset{s.wished, s.wanted} {
		for i := range len(from) * 64 {
			if !from.has(i) || s.chosen.has(i) {
				continue
			}
			weight := 1.0
			if i < len(s.weights) {
				weight += s.weights[i] / max(1, s.weight) * 100
			}
			if weight /= float64(s.states[i].alive.count()); weight > highest {
				next, highest = i, weight
			}
		}
	}
	return next
}

// lastTried is the release to try in a rehearsal: the one that was tried last, if it is possible.
func (s *search) lastTried(id int) int {
	s.tried = append(s.tried, make([]int, max(0, id+1-len(s.tried)))...)
	if last := s.tried[id] - 1; last >= 0 && s.states[id].alive.has(last) {
		return last
	}
	s.tried[id] = s.states[id].alive.first() + 1
	return s.tried[id] - 1
}
