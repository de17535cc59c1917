package review

import (
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// maxConflicts is how many conflicts are reported: an API server passes on 4 KiB of warnings.
	maxConflicts = 10
	// maxRead is how many edges of other add-ons are read, and maxCompared how many characters
	// of ranges are compared: a long range has many versions to try.
	maxRead     = 20_000
	maxCompared = 20_000
)

// comparison finds the edges of an add-on whose range of versions excludes that of another
// edge on the same add-on: where both apply, one of them always fails. What it does is
// bounded, whatever is declared, so there may be more conflicts than it finds.
type comparison struct {
	addOn    string
	declared declaration.Declaration
	judged   []Judgement
	// read and compared count against maxRead and maxCompared.
	read, compared int
	// excludes has what was compared, by two ranges.
	excludes map[[2]ranged]bool
}

// ranged is a range as declared.
type ranged struct {
	version     string
	prereleases bool
}

func conflicts(addOn string, declared declaration.Declaration, others *catalog.Outline) []Judgement {
	c := comparison{addOn: addOn, declared: declared, excludes: map[[2]ranged]bool{}}
	for i := range declared.Edges {
		if declared.Edges[i].WantsVersion() && !c.compareAll(i, others) {
			break
		}
	}
	return c.judged
}

// compareAll compares one edge of the add-on with those after it, and with those of other
// add-ons. It reports whether there may be more.
func (c *comparison) compareAll(i int, others *catalog.Outline) bool {
	edge := &c.declared.Edges[i]
	for j := i + 1; j < len(c.declared.Edges); j++ {
		if other := &c.declared.Edges[j]; other.AddOn == edge.AddOn && other.WantsVersion() && !c.compare(i, c.addOn, other) {
			return false
		}
	}
	for _, other := range others.WantingVersions(edge.AddOn) {
		// What is stored of the add-on itself is replaced.
		if c.read++; c.read > maxRead || other.Dependent != c.addOn && !c.compare(i, other.Dependent, other.Edge) {
			return false
		}
	}
	return true
}

// compare compares an edge of the add-on with one of a dependent, and reports whether there
// may be more.
func (c *comparison) compare(i int, dependent string, other *declaration.Edge) bool {
	edge := &c.declared.Edges[i]
	pair := [2]ranged{rangeOf(edge), rangeOf(other)}
	excludes, known := c.excludes[pair]
	if !known {
		if c.compared += len(pair[0].version) + len(pair[1].version); c.compared > maxCompared {
			return false
		}
		accepted, err := versions.ParseRange(other.Dependency.Version, other.Dependency.Prereleases)
		excludes = err == nil && edge.Versions.Excludes(accepted)
		c.excludes[pair] = excludes
	}
	if excludes {
		c.judged = append(c.judged, conflict(c.declared.EdgePath(i), edge, other, dependent))
	}
	return len(c.judged) < maxConflicts
}

// rangeOf is the range of an edge. Identifiers of prereleases decide nothing: two ranges
// that may have prereleases are not compared.
func rangeOf(edge *declaration.Edge) ranged {
	return ranged{edge.Dependency.Version, edge.Dependency.Prereleases != nil}
}

func conflict(field string, edge, other *declaration.Edge, dependent string) Judgement {
	where := "on a cluster with both"
	if edge.When != nil || other.When != nil {
		where = "on a cluster where both apply"
	}
	return Judgement{RuleConflict, false, field, fmt.Sprintf(
		"%q is needed in version %s here, and in %s by %q: no version matches both, so one of them fails %s",
		text.Name(edge.AddOn), shown(edge.Dependency.Version), shown(other.Dependency.Version), text.Name(dependent), where)}
}

// shown is a range on one line, as far as a warning has room for it.
func shown(accepted string) string { return text.Excerpt(text.OneLine(accepted)) }
