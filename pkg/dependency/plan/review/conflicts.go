package review

import (
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
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

// comparison compares the version range of each edge of an add-on with the ranges of other
// edges on the same dependency. If two ranges have no version in common, one of the edges
// always fails where both apply. The work is bounded, so there may be more conflicts than
// it reports.
type comparison struct {
	addOn      string
	declared   declaration.Declaration
	judgements []Judgement
	// read and compared count against maxRead and maxCompared.
	read, compared int
	// excludes has the results of comparisons, by pairs of ranges.
	excludes map[[2]versionRange]bool
}

// versionRange is a version range in a declaration.
type versionRange struct {
	version     string
	prereleases bool
}

func conflicts(addOn string, declared declaration.Declaration, others *catalog.Outline) []Judgement {
	c := comparison{addOn: addOn, declared: declared, excludes: map[[2]versionRange]bool{}}
	for i := range declared.Edges {
		if declared.Edges[i].WantsVersion() && !c.compareAll(i, others) {
			break
		}
	}
	return c.judgements
}

// compareAll compares one edge of the add-on with its later edges, and with the edges of
// other add-ons. It returns false if a bound is reached.
func (c *comparison) compareAll(i int, others *catalog.Outline) bool {
	edge := &c.declared.Edges[i]
	for j := i + 1; j < len(c.declared.Edges); j++ {
		later := &c.declared.Edges[j]
		if later.AddOn == edge.AddOn && later.WantsVersion() && !c.compare(i, c.addOn, later) {
			return false
		}
	}
	for _, stored := range others.EdgesOnVersions(edge.AddOn) {
		if c.read++; c.read > maxRead {
			return false
		}
		// The stored edges of the add-on itself are about to be replaced.
		if stored.Dependent != c.addOn && !c.compare(i, stored.Dependent, stored.Edge) {
			return false
		}
	}
	return true
}

// compare compares an edge of the add-on with the edge of a dependent on the same add-on.
// It returns false if a bound is reached.
func (c *comparison) compare(i int, dependent string, compared *declaration.Edge) bool {
	edge := &c.declared.Edges[i]
	pair := [2]versionRange{rangeOf(edge), rangeOf(compared)}
	excludes, ok := c.excludes[pair]
	if !ok {
		if c.compared += len(pair[0].version) + len(pair[1].version); c.compared > maxCompared {
			return false
		}
		accepted, err := versions.ParseRange(compared.Dependency.Version, compared.Dependency.Prereleases)
		excludes = err == nil && edge.Versions.Excludes(accepted)
		c.excludes[pair] = excludes
	}
	if excludes {
		c.judgements = append(c.judgements, conflict(c.declared.EdgePath(i), edge, compared, dependent))
	}
	return len(c.judgements) < maxConflicts
}

// rangeOf returns the range of an edge. It leaves out the identifiers of prereleases,
// because two ranges that may have prereleases are not compared.
func rangeOf(edge *declaration.Edge) versionRange {
	return versionRange{edge.Dependency.Version, edge.Dependency.Prereleases != nil}
}

func conflict(field string, edge, conflicting *declaration.Edge, dependent string) Judgement {
	clusters := "on a cluster with both"
	if edge.When != nil || conflicting.When != nil {
		clusters = "on a cluster where both apply"
	}
	return Judgement{RuleConflict, false, field, fmt.Sprintf(
		"%q is needed in version %s here, and in %s by %q: no version matches both, so one of them fails %s",
		text.Name(edge.AddOn), excerpt(edge.Dependency.Version), excerpt(conflicting.Dependency.Version), text.Name(dependent), clusters)}
}

// excerpt returns the start of a range on one line, as much as a warning has room for.
func excerpt(accepted string) string { return text.Excerpt(text.OneLine(accepted)) }
