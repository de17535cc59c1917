package evaluation

import (
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
)

// Need is an add-on whose state on the same cluster is an input of a verdict.
type Need struct {
	Name string
	// Inputs are the inputs of that add-on in addition to its conditions. For a dependency they are input.Versions,
	// input.Lapses and, if it is not installed, input.Placements and input.Installations. For the conditions of its own
	// edges they are input.AddOn, input.Config and input.Version. input.Template chooses its declaration, and input.Hosting
	// the cluster that runs its agent.
	Inputs input.Set
}

// Needs returns the add-ons whose states are inputs of the verdicts of an add-on, in ascending order:
// its dependencies, the add-on itself if conditions of its edges read it, and the
// members of a conditional cycle whose conditions read them.
func (e *Evaluator) Needs(addOn string) []Need { return e.addOns[addOn].needs }

func (p *plan) findNeeds(c *catalog.Catalog, addOn string) []Need {
	inputs := map[string]input.Set{}
	p.readTargets(c, inputs)
	for _, v := range p.variants {
		v.readTargets(c, inputs)
	}
	if p.ownInputs.Any(ownAddOnInputs) {
		inputs[addOn] |= p.ownInputs & ownAddOnInputs
	}
	if memberInputs := cycleInputs(c, addOn) & ownAddOnInputs; memberInputs != 0 {
		for _, member := range c.WidestCycle(addOn).Members() {
			inputs[member] |= memberInputs
		}
	}
	if cycle := c.WidestCycle(addOn); cycle != nil {
		for _, target := range cycle.Reads() {
			inputs[target] |= input.Config
		}
	}
	needs := make([]Need, 0, len(inputs))
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		needs = append(needs, Need{name, inputs[name]})
	}
	return needs
}

// ownAddOnInputs are the inputs from the add-on's own ManagedClusterAddOn.
const ownAddOnInputs = input.AddOn | input.Config | input.Template | input.Version | input.Hosting

// readTargets adds the inputs from the add-ons of edges.
func (p *plan) readTargets(c *catalog.Catalog, inputs map[string]input.Set) {
	for i := range p.subjects {
		s := &p.subjects[i]
		if s.edge == nil {
			continue
		}
		for j := range s.edge.Alternatives {
			alternative := subject{edge: &s.edge.Alternatives[j], kind: dependencyKind(&s.edge.Alternatives[j].Dependency)}
			alternative.readTarget(c, inputs)
		}
		s.readTarget(c, inputs)
		for _, target := range s.edge.Reads() {
			inputs[target.AddOn] |= input.Config
		}
	}
}

func (s *subject) readTarget(c *catalog.Catalog, inputs map[string]input.Set) {
	target := s.edge.AddOn
	if target == "" {
		return
	}
	inputs[target] |= s.inputs() & input.Versions
	if s.edge.Config != nil {
		inputs[target] |= input.Config
	}
	if s.edge.Tolerate > 0 {
		inputs[target] |= input.Lapses
	}
	if s.edge.MayExplain() && c.Install(target).Placed {
		inputs[target] |= input.Placements
	}
	if declaration.Installs(&s.edge.Dependency) && c.Install(target).Placed {
		inputs[target] |= input.Consents
	}
	if declaration.Installs(&s.edge.Dependency) && c.Consents(target) {
		inputs[target] |= input.Installations
	}
	if len(s.edge.Settings) > 0 {
		inputs[target] |= input.Outcomes
	}
}

// Tolerates reports whether an edge tolerates that an add-on is unavailable for a while.
func (e *Evaluator) Tolerates(addOn string) bool { return e.tolerated[addOn] }

// OwnInputs returns the inputs of the edges of an add-on.
func (e *Evaluator) OwnInputs(addOn string) input.Set { return e.addOns[addOn].ownInputs }

// Inputs returns the inputs of the verdicts of an add-on in addition to its dependencies. They are the inputs of its
// edges, and of the conditions of all edges that can make a cycle with it.
func (e *Evaluator) Inputs(addOn string) input.Set { return e.addOns[addOn].allInputs }

// AnyInput reports whether the verdicts of any add-on have one of these inputs.
func (e *Evaluator) AnyInput(inputs input.Set) bool { return e.inputs.Any(inputs) }

// WithInput returns the registered add-ons whose verdicts have one of these inputs, in ascending order.
func (e *Evaluator) WithInput(inputs input.Set) []string {
	var names []string
	for _, addOn := range e.AddOns() {
		if e.Inputs(addOn).Any(inputs) {
			names = append(names, addOn)
		}
	}
	return names
}

// Readers returns the add-ons whose verdicts on a cluster can depend on these inputs of an add-on there, in ascending
// order: the add-on itself, the members of a conditional cycle with it, and the add-ons that check its settings. The inputs
// are some of AddOn, Config, Template, Version and Hosting.
func (e *Evaluator) Readers(addOn string, inputs input.Set) []string {
	var readers []string
	switch {
	case cycleInputs(e.Catalog, addOn).Any(inputs):
		readers = e.WidestCycle(addOn).Members()
	case e.OwnInputs(addOn).Any(inputs):
		readers = []string{addOn}
	}
	if !inputs.Any(input.Config) || len(e.settings[addOn]) == 0 {
		return readers
	}
	readers = slices.Clone(readers)
	for _, reader := range e.settings[addOn] {
		readers = append(readers, reader.dependent)
	}
	slices.Sort(readers)
	return slices.Compact(readers)
}

// Keys returns the keys of labels, annotations and variables of an add-on that the
// conditions of its edges read, and the variables that edges on it check.
func (e *Evaluator) Keys(addOn string) expression.Keys {
	p := e.addOns[addOn]
	keys := p.keys()
	for _, v := range p.variants {
		keys = keys.With(v.keys())
	}
	for _, reader := range e.settings[addOn] {
		keys = keys.With(reader.keys)
	}
	return keys
}

func (p *plan) keys() expression.Keys {
	var keys expression.Keys
	for i := range p.subjects {
		edge := p.subjects[i].edge
		if edge == nil {
			continue
		}
		if edge.When != nil && edge.When.Expression != nil {
			keys = keys.With(edge.When.Expression.Keys())
		}
		for j := range edge.Settings {
			if valueFrom := edge.Settings[j].From; valueFrom != nil {
				keys = keys.With(valueFrom.Keys())
			}
		}
	}
	return keys
}

// ReadsTemplates reports whether AddOnTemplates are an input, because edges or conditions need versions, or because a
// template may have a declaration.
func (e *Evaluator) ReadsTemplates() bool {
	return e.AnyInput(input.Versions|input.Version) || e.UsesTemplates()
}
