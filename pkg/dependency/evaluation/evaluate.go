// Package evaluation finds the verdicts on the edges of an add-on on one managed
// cluster, from the catalog and the state of the cluster.
package evaluation

import (
	"errors"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// Evaluator evaluates the add-ons of a catalog. It does not change once built
// and is safe for concurrent use.
type Evaluator struct {
	*catalog.Catalog
	addOns map[string]prepared
	inputs input.Set // of all add-ons together
}

// prepared is what is the same for an add-on on all clusters.
type prepared struct {
	// own are the inputs of its edges, all also those of a conditional cycle.
	own, all input.Set
	subjects []Subject
	// satisfied are the findings where all edges are satisfied: the usual result.
	satisfied []Finding
}

// New prepares the evaluation of all add-ons of the catalog.
func New(declared *catalog.Catalog) *Evaluator {
	c := &Evaluator{Catalog: declared, addOns: map[string]prepared{}}
	for _, addOn := range declared.AddOns() {
		edges := declared.Declaration(addOn).Edges
		p := prepared{satisfied: allSatisfied(edges)}
		for i := range edges {
			p.own |= inputs(&edges[i])
		}
		p.all = p.own
		if conditional := declared.Conditional(addOn); conditional != nil {
			p.all |= conditional.Inputs()
		}
		p.subjects = subjects(declared, addOn, p.own)
		c.addOns[addOn] = p
		c.inputs |= p.all
	}
	return c
}

// Evaluate finds a verdict for each dependency of the named add-on on one
// cluster, in the order declared, and then for each requirement. No finding: the
// add-on declares nothing. An unusable declaration is one finding that is held,
// without a dependency. The findings may be shared: they must not be changed.
func (c *Evaluator) Evaluate(addOn string, state State) []Finding {
	declared := c.Declaration(addOn)
	if declared.Invalid {
		return []Finding{{Dependency: &noDependency, Verdict: Held}}
	}
	if len(declared.Edges) == 0 {
		return nil
	}
	if state.Cluster.Lost() {
		findings := make([]Finding, len(declared.Edges))
		for i := range findings {
			findings[i] = Finding{Dependency: &declared.Edges[i].Declared, Verdict: Held}
		}
		return findings
	}
	cycles := c.Cycles(addOn)
	if conditional := c.Conditional(addOn); conditional != nil {
		cycles = conditionalCycles(conditional, addOn, &state)
	}
	findings, shared := c.addOns[addOn].satisfied, true
	for i := range declared.Edges {
		e := &declared.Edges[i]
		finding := Finding{Dependency: &e.Declared}
		c.find(&finding, addOn, e, cycles[e.On], &state)
		if finding.Verdict == Satisfied && finding.Detail == nil {
			continue
		}
		if shared {
			findings, shared = slices.Clone(findings), false
		}
		findings[i] = finding
	}
	return findings
}

// allSatisfied are the findings on edges that are all satisfied.
func allSatisfied(edges []declaration.Edge) []Finding {
	findings := make([]Finding, len(edges))
	for i := range edges {
		findings[i] = Finding{Dependency: &edges[i].Declared, Verdict: Satisfied}
	}
	return findings
}

// find decides the verdict of one edge.
func (c *Evaluator) find(finding *Finding, addOn string, e *declaration.Edge, cycle []string, state *State) {
	if e.When != nil {
		does, err := applies(e.When, addOn, state)
		switch {
		case !does:
			finding.Verdict = NotApplicable
			return
		case errors.Is(err, errConfigUnread):
			finding.Verdict = Held
			return
		case err != nil:
			finding.Detail = &Detail{ConditionError: err.Error()}
		}
	}
	switch {
	case e.Requirement != nil:
		findRequirement(finding, e.Requirement, &state.Cluster)
	case e.On == "":
		c.findAPI(finding, &state.Cluster)
	case len(cycle) > 0 && e.Waits():
		finding.Verdict, finding.Cycle = Cycle, cycle
	default:
		c.findAddOn(finding, e, &state.Cluster, state.AddOns.Named(e.On))
	}
}
