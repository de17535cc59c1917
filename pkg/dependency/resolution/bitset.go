package resolution

import "math/bits"

// bitset is a set of small numbers.
type bitset []uint64

func (b bitset) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b *bitset) add(i int) {
	for len(*b) <= i/64 {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b *bitset) remove(i int) {
	if b.has(i) {
		(*b)[i/64] &^= 1 << (i % 64)
	}
}

// join adds all of another set.
func (b *bitset) join(other bitset) {
	for len(*b) < len(other) {
		*b = append(*b, 0)
	}
	for i, word := range other {
		(*b)[i] |= word
	}
}

// and returns what is in both sets.
func (b bitset) and(other bitset) bitset {
	both := make(bitset, min(len(b), len(other)))
	for i := range both {
		both[i] = b[i] & other[i]
	}
	return both
}

func (b bitset) empty() bool { return b.first() < 0 }

// first is the smallest number of the set, negative where there is none.
func (b bitset) first() int { return b.firstWithout(nil) }

// firstWithout is the smallest number of the set that is not in the other one, negative where there is none.
func (b bitset) firstWithout(other bitset) int {
	for i, word := range b {
		if i < len(other) {
			word &^= other[i]
		}
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

func (b bitset) count() (count int) {
	for _, word := range b {
		count += bits.OnesCount64(word)
	}
	return count
}
