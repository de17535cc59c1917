package cause

import (
	"cmp"
	"slices"
)

// Traits are what is known of a managed cluster, such as its labels, by their names.
type Traits map[string]string

// Common is a trait that most affected managed clusters have, and most others do not have.
type Common struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Affected and Others are how many clusters of each kind have it.
	Affected int `json:"affected"`
	Others   int `json:"others"`
}

// A trait is shared if nearly all affected clusters have it, and few others.
const (
	minAffected = 0.9
	maxOthers   = 0.5
)

// Shared returns the traits by which the affected clusters differ from the others, those
// by which they differ most first. It finds nothing where there are fewer than two
// affected clusters or no other one: then they differ by everything.
func Shared(affected, others []Traits) []Common {
	if len(affected) < 2 || len(others) == 0 {
		return nil
	}
	var shared []Common
	for candidate, n := range count(affected) {
		if share(n, affected) < minAffected {
			continue
		}
		if m := candidate.countIn(others); share(m, others) <= maxOthers {
			shared = append(shared, Common{Name: candidate.name, Value: candidate.value, Affected: n, Others: m})
		}
	}
	slices.SortFunc(shared, func(a, b Common) int {
		return cmp.Or(
			-cmp.Compare(share(a.Affected, affected)-share(a.Others, others), share(b.Affected, affected)-share(b.Others, others)),
			cmp.Compare(a.Name, b.Name))
	})
	return shared
}

type trait struct{ name, value string }

func count(clusters []Traits) map[trait]int {
	counted := map[trait]int{}
	for _, traits := range clusters {
		for name, value := range traits {
			counted[trait{name, value}]++
		}
	}
	return counted
}

// countIn returns how many clusters have the trait.
func (t trait) countIn(clusters []Traits) (n int) {
	for _, traits := range clusters {
		if value, ok := traits[t.name]; ok && value == t.value {
			n++
		}
	}
	return n
}

func share(n int, of []Traits) float64 { return float64(n) / float64(len(of)) }
