package resolution

// outcome is the result of a trial: whether a set of elements excludes all solutions.
type outcome int

const (
	unknown outcome = iota // the search has reached its limit
	conflicting
	satisfiable
)

// trial is the result of a search with a set of elements. If they conflict, set has those of them that are enough for that. If not,
// set has these elements, and further ones that the solution satisfies as well.
type trial struct {
	outcome
	set bitset
}

// reduction searches for the smallest set of elements, wishes or declarations, that exclude each other.
type reduction struct {
	*problem
	try func(bitset) trial
	// bounded is true if a limit was reached, so that there may be a smaller set.
	bounded bool
}

// smallest returns the smallest subset that conflicts. A conflict has an element of each correction, which is a set that leaves something
// satisfiable when it is taken away. So the smallest set that has an element of each known correction is either a conflict, and then
// there is no smaller one, or it shows another correction.
func (r *reduction) smallest(universe bitset) bitset {
	conflict := r.minimal(universe)
	var corrections []bitset
	for size := 1; size < conflict.count(); {
		candidate, ok := r.hittingSet(nil, corrections, size)
		if !ok && r.spent() {
			break
		}
		if !ok {
			size++
			continue
		}
		tried := r.try(candidate)
		switch tried.outcome {
		case conflicting:
			return tried.set
		case satisfiable:
			corrections = append(corrections, universe.without(r.grow(tried.set, universe)))
		case unknown:
			r.bounded = true
			return conflict
		}
	}
	return conflict
}

// minimal returns a conflicting subset from which no element can be left out.
func (r *reduction) minimal(conflict bitset) bitset {
	for _, element := range conflict.numbers() {
		if !conflict.contains(element) {
			continue
		}
		var single bitset
		single.add(element)
		switch tried := r.try(conflict.without(single)); tried.outcome {
		case conflicting:
			conflict = tried.set
		case unknown:
			r.bounded = true
		case satisfiable:
		}
	}
	return conflict
}

// grow adds elements of the universe to a satisfiable set while it stays satisfiable.
func (r *reduction) grow(set, universe bitset) bitset {
	for _, element := range universe.without(set).numbers() {
		var larger bitset
		larger.join(set)
		larger.add(element)
		if tried := r.try(larger); tried.outcome == satisfiable {
			set = tried.set
		}
	}
	return set
}

// hittingSet adds up to a number of elements to a set, until it has an element of each correction.
func (r *reduction) hittingSet(set bitset, corrections []bitset, size int) (bitset, bool) {
	r.work++
	for _, correction := range corrections {
		if !set.intersect(correction).empty() {
			continue
		}
		if size == 0 || r.spent() {
			return nil, false
		}
		for _, element := range correction.numbers() {
			var larger bitset
			larger.join(set)
			larger.add(element)
			if hitting, ok := r.hittingSet(larger, corrections, size-1); ok {
				return hitting, true
			}
		}
		return nil, false
	}
	return set, true
}

// spent reports whether the searches have reached their limit.
func (r *reduction) spent() bool {
	spent := r.work > r.limit
	r.bounded = r.bounded || spent
	return spent
}
