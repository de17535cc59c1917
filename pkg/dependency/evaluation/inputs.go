package evaluation

import (
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

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
// on labels, annotations or configuration of the named add-on there: itself,
// and those that a condition of its edges can tie into a cycle with it.
func (e *Evaluator) Readers(addOn string) []string {
	const own = input.AddOn | input.Config
	if cycleInputs(e.Catalog, addOn).Any(own) {
		return e.Conditional(addOn).Members()
	}
	if e.OwnInputs(addOn).Any(own) {
		return []string{addOn}
	}
	return nil
}
