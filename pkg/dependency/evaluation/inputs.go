package evaluation

import (
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/expression"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// Need is an add-on whose state on the same cluster a verdict rests on.
type Need struct {
	Name string
	// Inputs are what is read of it beyond its conditions: input.Versions, input.Lapses, and
	// input.Placements and input.Installations where it is not installed; for the conditions of its own edges
	// input.AddOn, input.Config and input.Version; input.Template for which of its
	// declarations counts; and input.Hosting for which cluster runs its agent.
	Inputs input.Set
}

// Needs returns the add-ons that the verdicts of the named add-on rest on, ascending:
// those that its edges are on, itself where conditions of its edges read it, and the
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

// ofItself are the inputs that are of the add-on's own ManagedClusterAddOn.
const ofItself = input.AddOn | input.Config | input.Template | input.Version | input.Hosting

// readTargets adds what is read of the add-ons that edges are on.
func (p *prepared) readTargets(declared *catalog.Catalog, read map[string]input.Set) {
	for i := range p.subjects {
		s := &p.subjects[i]
		if s.edge == nil {
			continue
		}
		for j := range s.edge.Alternatives {
			one := subject{edge: &s.edge.Alternatives[j], kind: dependencyKind(&s.edge.Alternatives[j].Dependency)}
			one.readTarget(declared, read)
		}
		s.readTarget(declared, read)
		for _, other := range s.edge.Reads() {
			read[other.AddOn] |= input.Config
		}
	}
}

func (s *subject) readTarget(declared *catalog.Catalog, read map[string]input.Set) {
	on := s.edge.AddOn
	if on == "" {
		return
	}
	read[on] |= s.inputs() & input.Versions
	if s.edge.Config != nil {
		read[on] |= input.Config
	}
	if s.edge.Tolerate > 0 {
		read[on] |= input.Lapses
	}
	if s.edge.MayExplain() && declared.Install(on).Placed {
		read[on] |= input.Placements
	}
	if declaration.Installs(&s.edge.Dependency) && declared.Consent(on) != catalog.NoConsent {
		read[on] |= input.Installations
	}
}

// Tolerates reports whether an edge tolerates that the named add-on is not available.
func (e *Evaluator) Tolerates(addOn string) bool { return e.tolerated[addOn] }

// OwnInputs are what the edges of the named add-on read.
func (e *Evaluator) OwnInputs(addOn string) input.Set { return e.addOns[addOn].own }

// Inputs are what the verdicts of the named add-on depend on, beyond the add-ons
// that its edges are on: what its own edges read, and the conditions of all
// edges that can tie it into a cycle.
func (e *Evaluator) Inputs(addOn string) input.Set { return e.addOns[addOn].all }

// AnyInput reports whether the verdicts of any add-on depend on one of the given.
func (e *Evaluator) AnyInput(of input.Set) bool { return e.inputs.Any(of) }

// WithInput returns the names, ascending, of the registered add-ons whose
// verdicts depend on one of the given.
func (e *Evaluator) WithInput(of input.Set) []string {
	var names []string
	for _, addOn := range e.AddOns() {
		if e.Inputs(addOn).Any(of) {
			names = append(names, addOn)
		}
	}
	return names
}

// Readers returns the add-ons, ascending, whose verdicts on a cluster can depend
// on these inputs of the named add-on there: itself, those that a condition of its edges
// can tie into a cycle with it, and those that check its settings. The inputs are some of
// AddOn, Config, Template, Version and Hosting.
func (e *Evaluator) Readers(addOn string, own input.Set) (readers []string) {
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

// Keys are the entries of labels, annotations and variables of the named add-on that the
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

func (p *prepared) keys() (keys expression.Keys) {
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

// ReadsTemplates reports whether AddOnTemplates are read: for the versions that edges or
// conditions use, or because some of them may declare something.
func (e *Evaluator) ReadsTemplates() bool {
	return e.AnyInput(input.Versions|input.Version) || e.UsesTemplates()
}
