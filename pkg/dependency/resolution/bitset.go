package resolution

import (
	"math/bits"
	"slices"
)

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) contains(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b *bitset) add(i int) {
	for len(*b) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b *bitset) remove(i int) {
	if b.contains(i) {
		(*b)[i/64] &^= 1 << (i % 64)
	}
}

// join adds all numbers of a second set.
func (b *bitset) join(second bitset) {
	for len(*b) < len(second) {
		*b = append(*b, 0)
	}
	for i, word := range second {
		(*b)[i] |= word
	}
}

// intersect returns the numbers that are in both sets.
func (b bitset) intersect(second bitset) bitset {
	intersection := make(bitset, min(len(b), len(second)))
	for i := range intersection {
		intersection[i] = b[i] & second[i]
	}
	return intersection
}

// without returns the numbers that are not in a second set.
func (b bitset) without(second bitset) bitset {
	difference := slices.Clone(b)
	for i := range difference {
		if i < len(second) {
			difference[i] &^= second[i]
		}
	}
	return difference
}

// numbers returns the numbers, ascending.
func (b bitset) numbers() []int {
	numbers := make([]int, 0, b.count())
	for i := range len(b) * 64 {
		if b.contains(i) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

func (b bitset) empty() bool { return b.first() < 0 }

// first returns the smallest number, or a negative one for an empty set.
func (b bitset) first() int { return b.firstWithout(nil) }

// firstWithout returns the smallest number that is not excluded, or a negative one if there is none.
func (b bitset) firstWithout(excluded bitset) int {
	for i, word := range b {
		if i < len(excluded) {
			word &^= excluded[i]
		}
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

func (b bitset) count() int {
	count := 0
	for _, word := range b {
		count += bits.OnesCount64(word)
	}
	return count
}
