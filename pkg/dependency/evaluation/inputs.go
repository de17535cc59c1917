package evaluation

import (
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// inputs are what the verdict on an edge depends on.
func inputs(e *declaration.Edge) input.Set {
	var inputs input.Set
	if e.When != nil {
		inputs |= e.When.Inputs()
	}
	switch {
	case e.Requirement != nil:
		inputs |= e.Requirement.Input
	case e.Declared.API != nil:
		inputs |= input.Facts
	case declaration.ComparesVersion(&e.Declared):
		inputs |= input.Versions | input.Facts
	}
	return inputs
}

// Subject is an add-on whose state a verdict rests on, on the same cluster.
type Subject struct {
	Name string
	// Inputs are what is read of it beyond its conditions: input.Versions, and for
	// the conditions of its own edges input.AddOn and input.Config.
	Inputs input.Set
}

// Subjects returns the add-ons that the verdicts of the named add-on rest on,
// ascending: those that its edges are on, itself where conditions of its edges read
// it, and the members of a conditional cycle whose conditions read them.
func (c *Evaluator) Subjects(addOn string) []Subject { return c.addOns[addOn].subjects }

func subjects(declared *catalog.Catalog, addOn string, own input.Set) []Subject {
	const ofItself = input.AddOn | input.Config
	read := map[string]input.Set{}
	edges := declared.Declaration(addOn).Edges
	for i := range edges {
		if on := edges[i].On; on != "" {
			read[on] |= inputs(&edges[i]) & input.Versions
		}
	}
	if own.Any(ofItself) {
		read[addOn] |= own & ofItself
	}
	if conditional := declared.Conditional(addOn); conditional != nil && conditional.Inputs().Any(ofItself) {
		for _, member := range conditional.Members() {
			read[member] |= conditional.Inputs() & ofItself
		}
	}
	all := make([]Subject, 0, len(read))
	for _, name := range slices.Sorted(maps.Keys(read)) {
		all = append(all, Subject{name, read[name]})
	}
	return all
}

// OwnInputs are what the edges of the named add-on read.
func (c *Evaluator) OwnInputs(addOn string) input.Set { return c.addOns[addOn].own }

// Inputs are what the verdicts of the named add-on depend on, beyond the add-ons
// that its edges are on: what its own edges read, and the conditions of all
// edges that can tie it into a cycle.
func (c *Evaluator) Inputs(addOn string) input.Set { return c.addOns[addOn].all }

// AnyInput reports whether the verdicts of any add-on depend on one of the given.
func (c *Evaluator) AnyInput(of input.Set) bool { return c.inputs.Any(of) }

// WithInput returns the names, ascending, of the registered add-ons whose
// verdicts depend on one of the given.
func (c *Evaluator) WithInput(of input.Set) []string {
	var names []string
	for _, addOn := range c.AddOns() {
		if c.Inputs(addOn).Any(of) {
			names = append(names, addOn)
		}
	}
	return names
}

// Readers returns the add-ons, ascending, whose verdicts on a cluster can depend
// on labels, annotations or configuration of the named add-on there: itself,
// and those that a condition of its edges can tie into a cycle with it.
func (c *Evaluator) Readers(addOn string) []string {
	const own = input.AddOn | input.Config
	if conditional := c.Conditional(addOn); conditional != nil && conditional.Inputs().Any(own) {
		return conditional.Members()
	}
	if c.OwnInputs(addOn).Any(own) {
		return []string{addOn}
	}
	return nil
}
