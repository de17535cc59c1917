package metrics

import (
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/text"
)

// edges are those of an add-on, shared by all managed clusters.
type edges struct {
	addOn string
	edges []edge
}

// edge is one that is declared, or, after the edge that it is of, an alternative.
type edge struct {
	dependency, target, kind string
	alternative              bool
}

// verdicts are the last ones on the edges of an add-on on one managed cluster. The zero
// value is that of an add-on without edges. Equal values are equal by ==.
type verdicts struct {
	*edges
	// codes has a code for each edge.
	codes string
	// blockers are the platforms whose upgrade would break the add-on.
	blockers protection.Blockers
}

// code is an index of evaluation.Verdicts, with marks.
type code byte

const (
	// codeHeld marks a verdict that is kept; one that was never known is Held.
	codeHeld code = 1 << 7
	// codeFollows marks that the dependency fails because of one of its own.
	codeFollows code = 1 << 6
	// codeBlocks marks that the add-on cannot work without the edge.
	codeBlocks code = 1 << 5
)

func (c code) verdict() evaluation.Verdict { return evaluation.Verdicts[c&(codeBlocks-1)] }

func indexOf(verdict evaluation.Verdict) code {
	return code(slices.Index(evaluation.Verdicts, verdict)) //nolint:gosec // there are fewer than codeBlocks
}

func (c code) hasFlag(flag code) bool { return c&flag != 0 }

// verdictsOf are those of the findings. What is held has the verdict of before. shared
// has the edges of each add-on.
func verdictsOf(addOn string, findings []evaluation.Finding, previous verdicts, shared map[string][]*edges) verdicts {
	codes := make([]byte, 0, 16)
	switch {
	case len(findings) == 0:
		return verdicts{}
	case len(findings) == 1 && findings[0].Name() == "": // it is not known what it declares: all of it is held
		for i := range len(previous.codes) {
			codes = append(codes, previous.codes[i]|byte(codeHeld))
		}
		return verdicts{edges: previous.edges, codes: string(codes), blockers: previous.blockers}
	}
	entries := entriesOf(findings)
	addOnEdges := sharedEdges(addOn, entries, shared)
	for i := range entries {
		codes = append(codes, byte(codeOf(entries[i].finding, addOnEdges.edges[i], previous)))
	}
	if string(codes) == previous.codes {
		return verdicts{edges: addOnEdges, codes: previous.codes, blockers: previous.blockers}
	}
	return verdicts{edges: addOnEdges, codes: string(codes), blockers: previous.blockers}
}

// maxShared is how many lists of edges are shared of one add-on. Its AddOnTemplates may declare others,
// and policies may override some on some managed clusters.
const maxShared = 8

// sharedEdges returns the edges that the findings are on, from those that are shared if they are there.
func sharedEdges(addOn string, entries []entry, shared map[string][]*edges) *edges {
	sameEdge := func(existing edge, e entry) bool { return existing == e.edge() }
	lists := shared[addOn]
	if i := slices.IndexFunc(lists, func(list *edges) bool { return slices.EqualFunc(list.edges, entries, sameEdge) }); i >= 0 {
		return lists[i]
	}
	list := &edges{addOn: addOn}
	for i := range entries {
		list.edges = append(list.edges, entries[i].edge())
	}
	if len(lists) == maxShared {
		lists = slices.Delete(lists, 0, 1) // what was declared first is most likely the past
	}
	shared[addOn] = append(lists, list)
	return list
}

// entry is what was found of an edge, or of an alternative.
type entry struct {
	finding     *evaluation.Finding
	alternative bool
}

// entriesOf are those of the findings. An alternative without a finding is like its edge.
func entriesOf(findings []evaluation.Finding) []entry {
	entries := make([]entry, 0, len(findings))
	for i := range findings {
		f := &findings[i]
		entries = append(entries, entry{finding: f})
		if f.Dependency == nil || !declaration.HasAlternatives(f.Dependency) {
			continue
		}
		if f.Verdict == evaluation.NoAlternative {
			for end := range f.Ends() {
				entries = append(entries, entry{end, true})
			}
			continue
		}
		named := evaluation.Named(f.Dependency)
		for j := range named {
			named[j].Verdict = f.Verdict
			entries = append(entries, entry{&named[j], true})
		}
	}
	return entries
}

func (e entry) edge() edge {
	return edge{text.Name(e.finding.Name()), e.finding.Target(), string(e.finding.Type()), e.alternative}
}

// isCause reports whether what was found can be, or lead to, a root cause: of an edge without a satisfied alternative, its
// alternatives are, but for those that wait for the add-on itself.
func (e edge) isCause(verdict evaluation.Verdict) bool {
	if e.alternative {
		return verdict != evaluation.Cycle
	}
	return verdict != evaluation.NoAlternative
}

// codeOf is the code of a finding; of one that is held it is that of before.
func codeOf(finding *evaluation.Finding, e edge, previous verdicts) code {
	if finding.Held() {
		if previous.edges != nil {
			sameEdge := func(candidate edge) bool {
				return candidate.dependency == e.dependency && candidate.alternative == e.alternative && (!e.alternative || candidate.target == e.target)
			}
			if i := slices.IndexFunc(previous.edges.edges, sameEdge); i >= 0 {
				return code(previous.codes[i]) | codeHeld
			}
		}
		return indexOf(evaluation.Held) | codeHeld
	}
	result := indexOf(finding.Verdict)
	if finding.Follows() {
		result |= codeFollows
	}
	if finding.Unsatisfied() && finding.Blocks() {
		result |= codeBlocks
	}
	return result
}
