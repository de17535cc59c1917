package metrics

import (
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// edges is the list of edges of an add-on. All managed clusters share it.
type edges struct {
	addOn string
	edges []edge
}

// edge is a declared edge, or an alternative. The alternatives of an edge follow it in the list.
type edge struct {
	dependency, target, kind string
	alternative              bool
}

// verdicts has the last verdicts on the edges of an add-on on one managed cluster. The zero
// value has no edges. Values can be compared with ==.
type verdicts struct {
	*edges
	// codes has a code for each edge.
	codes string
	// blockers are the platforms whose upgrade would break the add-on.
	blockers protection.Blockers
}

// code is an index of evaluation.Verdicts, with flags.
type code byte

const (
	// codeHeld flags a verdict that is held. Without any earlier verdict, the verdict is Held.
	codeHeld code = 1 << 7
	// codeFollows flags a dependency that fails because of its own dependency.
	codeFollows code = 1 << 6
	// codeBlocks flags an edge that is necessary for the add-on to work.
	codeBlocks code = 1 << 5
)

func (c code) verdict() evaluation.Verdict { return evaluation.Verdicts[c&(codeBlocks-1)] }

func indexOf(verdict evaluation.Verdict) code {
	return code(slices.Index(evaluation.Verdicts, verdict)) //nolint:gosec // there are fewer than codeBlocks
}

func (c code) hasFlag(flag code) bool { return c&flag != 0 }

// verdictsOf returns the verdicts of the findings. Held findings keep their previous verdict.
// shared has the lists of edges of each add-on.
func verdictsOf(addOn string, findings []evaluation.Finding, previous verdicts, shared map[string][]*edges) verdicts {
	codes := make([]byte, 0, 16)
	switch {
	case len(findings) == 0:
		return verdicts{}
	case len(findings) == 1 && findings[0].Name() == "": // its declaration is unknown, so all edges are held
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

// maxShared is the number of lists of edges that are shared for one add-on. Its AddOnTemplates may declare
// other edges, and policies may override edges on some managed clusters.
const maxShared = 8

// sharedEdges returns the shared list of the edges of the findings. If there is none, it adds one.
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
		lists = slices.Delete(lists, 0, 1) // the oldest list is most likely stale
	}
	shared[addOn] = append(lists, list)
	return list
}

// entry is the finding on an edge or on an alternative.
type entry struct {
	finding     *evaluation.Finding
	alternative bool
}

// entriesOf returns the entries of the findings and their alternatives. An alternative without its own finding gets the verdict of
// its edge.
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

// isCause reports whether a verdict can be, or lead to, a root cause. For an edge without a satisfied alternative, the causes are
// its alternatives, except alternatives in a cycle with the add-on itself.
func (e edge) isCause(verdict evaluation.Verdict) bool {
	if e.alternative {
		return verdict != evaluation.Cycle
	}
	return verdict != evaluation.NoAlternative
}

// codeOf returns the code of a finding. A held finding keeps its previous verdict.
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
