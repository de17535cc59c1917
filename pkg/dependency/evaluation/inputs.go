package evaluation

import (
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/expression"
	"open-cluster-management.io/interlock/pkg/dependency/input"
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

func (p *prepared) findNeeds(declared *catalog.Catalog, addOn string) []Need {
	read := map[string]input.Set{}
	p.readTargets(declared, read)
	for _, v := range p.variants {
		v.readTargets(declared, read)
	}
	if p.own.Any(ofItself) {
		read[addOn] |= p.own & ofItself
	}
	if inCycle := cycleInputs(declared, addOn) & ofItself; inCycle != 0 {
		for _, member := range declared.Tied(addOn).Members() {
			read[member] |= inCycle
		}
	}
	if tied := declared.Tied(addOn); tied != nil {
		for _, other := range tied.Reads() {
			read[other] |= input.Config
		}
	}
	needs := make([]Need, 0, len(read))
	for _, name := range slices.Sorted(maps.Keys(read)) {
		needs = append(needs, Need{name, read[name]})
	}
	return needs
}

// ownAddOnInputs are the inputs from the add-on's own ManagedClusterAddOn.
const ofItself = input.AddOn | input.Config | input.Template | input.Version | input.Hosting

// readTargets adds the inputs from the add-ons of edges.
func (p *prepared) readTargets(declared *catalog.Catalog, read map[string]input.Set) {
	for i := range p.subjects {
		s := &p.subjects[i]
		if s.edge == nil {
			continue
		}
		for j := range s.edge.Alternatives {
			alternative := subject{edge: &s.edge.Alternatives[j], kind: dependencyKind(&s.edge.Alternatives[j].Dependency)}
			alternative.readTarget(declared, read)
		}
		s.readTarget(declared, read)
		for _, other := range s.edge.Reads() {
			read[other.AddOn] |= input.Config
		}
	}
}

func (s *subject) readTarget(declared *catalog.Catalog, read map[string]input.Set) {
	target := s.edge.AddOn
	if target == "" {
		return
	}
	read[target] |= s.inputs() & input.Versions
	if s.edge.Config != nil {
		read[target] |= input.Config
	}
	if s.edge.Tolerate > 0 {
		read[target] |= input.Lapses
	}
	if s.edge.MayExplain() && declared.Install(target).Placed {
		read[target] |= input.Placements
	}
	if declaration.Installs(&s.edge.Dependency) && declared.Install(target).Placed {
		read[target] |= input.Consents
	}
	if declaration.Installs(&s.edge.Dependency) && declared.Consents(target) {
		read[target] |= input.Installations
	}
}

// Tolerates reports whether an edge tolerates that an add-on is unavailable for a while.
func (e *Evaluator) Tolerates(addOn string) bool { return e.tolerated[addOn] }

// OwnInputs returns the inputs of the edges of an add-on.
func (e *Evaluator) OwnInputs(addOn string) input.Set { return e.addOns[addOn].own }

// Inputs returns the inputs of the verdicts of an add-on in addition to its dependencies. They are the inputs of its
// edges, and of the conditions of all edges that can make a cycle with it.
func (e *Evaluator) Inputs(addOn string) input.Set { return e.addOns[addOn].all }

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
func (e *Evaluator) Readers(addOn string, own input.Set) []string {
	var readers []string
	switch {
	case cycleInputs(e.Catalog, addOn).Any(own):
		readers = e.Tied(addOn).Members()
	case e.OwnInputs(addOn).Any(own):
		readers = []string{addOn}
	}
	if !own.Any(input.Config) || len(e.settings[addOn]) == 0 {
		return readers
	}
	readers = slices.Clone(readers)
	for _, checked := range e.settings[addOn] {
		readers = append(readers, checked.dependent)
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
	for _, checked := range e.settings[addOn] {
		keys = keys.With(checked.keys)
	}
	return keys
}

func (p *prepared) keys() expression.Keys {
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
			if from := edge.Settings[j].From; from != nil {
				keys = keys.With(from.Keys())
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
