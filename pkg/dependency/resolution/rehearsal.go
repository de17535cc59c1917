package resolution

// stepsToRehearse is the number of conflicts after which choices are rehearsed. Most catalogs have a solution before.
const stepsToRehearse = 30

// rehearsal is a trial of a choice: it finds out whether any solution has the choice, before the search makes the later choices
// in their order. That order may be the worst one to find out. A rehearsal first chooses the add-ons that conflicts are about.
type rehearsal struct {
	// rehearsing is true during a rehearsal. Choices after baseLevel, and after the first baseChoices ones, are undone at its end.
	rehearsing             bool
	baseLevel, baseChoices int
	// rehearsals counts rehearsals.
	rehearsals int
	// solution is the result of the last successful rehearsal: a release by add-on. It has all choices before the next one.
	solution map[int]int
	// weights counts the conflicts about each add-on. weight is the weight of the next one: later ones count more.
	weights []float64
	weight  float64
	// triedReleases is the release plus one that was tried last, by add-on.
	triedReleases []int
}

// rehearse begins a rehearsal of the last choice, unless a solution with it is known.
func (s *search) rehearse(id, i int) {
	if s.conflicts < s.rehearseAfter || s.level() == 0 {
		return
	}
	if solved, ok := s.solution[id]; ok && solved == i {
		return
	}
	s.rehearsing, s.baseLevel, s.baseChoices = true, s.level(), len(s.choices)
	s.rehearsals++
}

// endRehearsal keeps the solution of the rehearsal and undoes its choices. It returns false if there is no rehearsal to end.
func (s *search) endRehearsal() bool {
	if !s.rehearsing {
		return false
	}
	s.solution = map[int]int{}
	for _, c := range s.choices {
		if c.addOn != unset {
			s.solution[c.addOn] = s.states[c.addOn].selected
		}
	}
	s.undo(s.baseLevel)
	for len(s.choices) > s.baseChoices { // choices that follow from earlier ones have no decision of their own
		s.dropChoice()
	}
	s.rehearsing = false
	return true
}

// weigh adds weight to the add-ons of a learned clause.
func (s *search) weigh(learned *clause) {
	s.weight = max(1, s.weight*1.05)
	if s.weight > 1e100 {
		for i := range s.weights {
			s.weights[i] /= 1e100
		}
		s.weight /= 1e100
	}
	for _, l := range learned.literals {
		if id := s.variables[l.variable()].addOn; id != unset {
			s.weights = append(s.weights, make([]float64, max(0, id+1-len(s.weights)))...)
			s.weights[id] += s.weight
		}
	}
}

// nextHardest returns the add-on to choose next in a rehearsal: many conflicts are about it, and few of its releases are
// left. It returns unset if all are chosen.
func (s *search) nextHardest() int {
	next, highest := unset, -1.0
	for _, queue := range []bitset{s.wishedAddOns, s.neededAddOns} {
		s.solver.work += len(queue)
		for id := range len(queue) * 64 {
			if !queue.contains(id) || s.chosenAddOns.contains(id) {
				continue
			}
			weight := 1.0
			if id < len(s.weights) {
				weight += s.weights[id] / max(1, s.weight) * 100
			}
			if weight /= float64(s.states[id].possible.count()); weight > highest {
				next, highest = id, weight
			}
		}
	}
	return next
}

// lastTried returns the release to try in a rehearsal. It prefers the release that was tried last.
func (s *search) lastTried(id int) int {
	s.triedReleases = append(s.triedReleases, make([]int, max(0, id+1-len(s.triedReleases)))...)
	if last := s.triedReleases[id] - 1; last >= 0 && s.states[id].possible.contains(last) {
		return last
	}
	s.triedReleases[id] = s.states[id].possible.first() + 1
	return s.triedReleases[id] - 1
}
