// Package evaluation finds the verdicts on the edges and requirements of an add-on
// on one managed cluster, from the catalog and the state of the cluster. What is
// true of each kind of edge is in a file of its own.
package evaluation

import (
	"errors"
	"slices"
	"time"

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
	// tolerated are the add-ons that may be unavailable for a while.
	tolerated map[string]bool
	// settings are the edges that check the settings of an add-on, by its name.
	settings map[string][]checkedSetting
}

// prepared is what is the same for an add-on on all clusters, or on those where the same
// AddOnTemplate runs.
type prepared struct {
	// unusable: it is not known what is declared.
	unusable bool
	// templated: what is declared depends on the AddOnTemplate that runs. variants are the
	// declarations of such templates. Inputs and needs are those of all together.
	templated bool
	variants  map[string]prepared
	subjects  []subject
	// own are the inputs of its edges, all also those of a conditional cycle.
	own, all input.Set
	needs    []Need
	// satisfied are the findings where all is satisfied: the usual result.
	satisfied []Finding
}

// subject is an edge or a requirement.
type subject struct {
	edge        *declaration.Edge
	requirement *declaration.Requirement
	kind        kind
}

// New prepares the evaluation of all add-ons of the catalog.
func New(declared *catalog.Catalog) *Evaluator {
	e := &Evaluator{Catalog: declared, addOns: map[string]prepared{}, tolerated: map[string]bool{}, settings: map[string][]checkedSetting{}}
	for _, addOn := range declared.AddOns() {
		p := prepare(declared.Declaration(addOn))
		p.addVariants(declared, addOn)
		if declared.MayBeDenied(addOn) {
			p.own |= input.Labels
		}
		p.all = p.own | cycleInputs(declared, addOn)
		p.needs = p.findNeeds(declared, addOn)
		e.addOns[addOn] = p
		e.inputs |= p.all
		addSettings(e.settings, declared, addOn)
		for _, need := range p.needs {
			if need.Inputs.Any(input.Lapses) {
				e.tolerated[need.Name] = true
			}
		}
	}
	return e
}

func prepare(declared declaration.Declaration) prepared {
	p := prepared{unusable: declared.Invalid}
	for i := range declared.Edges {
		edge := &declared.Edges[i]
		p.subjects = append(p.subjects, subject{edge: edge, kind: dependencyKind(&edge.Dependency)})
		p.satisfied = append(p.satisfied, Finding{Dependency: &edge.Dependency, Verdict: Satisfied})
	}
	for i := range declared.Platform {
		required := &declared.Platform[i]
		p.subjects = append(p.subjects, subject{requirement: required, kind: requirementKind(required)})
		p.satisfied = append(p.satisfied, Finding{Requirement: required, Verdict: Satisfied})
	}
	for _, s := range p.subjects {
		p.own |= s.inputs()
	}
	return p
}

// addVariants prepares what AddOnTemplates of the add-on declare.
func (p *prepared) addVariants(declared *catalog.Catalog, addOn string) {
	if p.templated = declared.Templated(addOn); !p.templated {
		return
	}
	p.own |= input.Template
	p.variants = map[string]prepared{}
	for _, template := range declared.Variants(addOn) {
		_, declaration, _ := declared.Template(template)
		v := prepare(declaration)
		p.variants[template] = v
		p.own |= v.own
	}
}

// counting returns the declaration that counts on a cluster. known is false where it is not
// known which one does, or what it declares.
func (e *Evaluator) counting(addOn string, state *State) (p prepared, known bool) {
	p = e.addOns[addOn]
	if !p.templated {
		return p, !p.unusable
	}
	if state.Cluster.Lost() {
		return p, false // nor is it known which template runs
	}
	template, known := variantOf(e.Catalog, addOn, state)
	if v, ofTemplate := p.variants[template]; ofTemplate {
		v.all = p.all
		return v, known && !v.unusable
	}
	return p, known && !p.unusable
}

// variantOf returns the AddOnTemplate whose declaration of the add-on counts on the cluster,
// empty for that of the registration, and whether that is known.
func variantOf(c *catalog.Catalog, addOn string, state *State) (template string, known bool) {
	runs := &state.AddOns.Named(addOn).Template
	return c.Counting(addOn, runs.Name, runs.Unknown && runs.Name == "")
}

// Variant returns the AddOnTemplate whose declaration of the add-on counts in a state; empty:
// that of the registration does.
func (e *Evaluator) Variant(addOn string, state State) string {
	template, _ := variantOf(e.Catalog, addOn, &state)
	return template
}

// Declares reports whether the add-on declares anything on any cluster.
func (e *Evaluator) Declares(addOn string) bool {
	p := e.addOns[addOn]
	return p.templated || len(p.subjects) > 0 && !p.unusable
}

// Evaluate finds a verdict for each dependency of the named add-on on one
// cluster, in the order declared, and then for each requirement. No finding: the
// add-on declares nothing. If it is not known what it declares, there is one
// finding, which is held, of no dependency. The findings may be shared: they must
// not be changed.
func (e *Evaluator) Evaluate(addOn string, state State) []Finding {
	p, known := e.counting(addOn, &state)
	if !known {
		return []Finding{{Verdict: Held}}
	}
	if len(p.subjects) == 0 {
		return nil
	}
	if state.Cluster.Lost() {
		return p.held(&state.Cluster)
	}
	// What other add-ons declare takes nothing from the budget of the add-on's own conditions.
	var straight, circular search
	cycles := cyclesOn(e.Catalog, addOn, &state, &straight)
	g := given{
		catalog: e.Catalog, addOn: addOn, cluster: &state.Cluster, state: &state,
		circles: circlesOn(e.Catalog, addOn, &state, &circular),
	}
	findings, shared := p.satisfied, true
	for i := range p.subjects {
		s := &p.subjects[i]
		g.edge, g.requirement = s.edge, s.requirement
		finding := Finding{Dependency: p.satisfied[i].Dependency, Requirement: s.requirement}
		s.evaluate(addOn, cycles, &g, &finding)
		if finding.Verdict == Satisfied && finding.Detail == nil {
			continue
		}
		if shared {
			findings, shared = slices.Clone(findings), false
		}
		findings[i] = finding
	}
	return waiting(findings, shared, earliest(straight.closes, circular.closes))
}

// waiting returns findings that are to be found again at a moment: a waiver ends then, and with it may begin a
// cycle. Zero: there is none.
func waiting(findings []Finding, shared bool, until time.Time) []Finding {
	if until.IsZero() {
		return findings
	}
	if shared {
		findings = slices.Clone(findings)
	}
	findings[0].Until = earliest(findings[0].Until, until)
	return findings
}

// held are the findings where nothing new is known. Their types are those that count on the cluster.
func (p *prepared) held(cluster *Cluster) []Finding {
	findings := slices.Clone(p.satisfied)
	for i := range findings {
		findings[i].Verdict = Held
		if counts, _ := p.subjects[i].under(cluster); counts.edge != nil {
			findings[i].Dependency = &counts.edge.Dependency
		}
	}
	return findings
}

// evaluate finds the verdict: whether the edge applies, then what policies say of it, then
// whether it is on a cycle, then by the rule of its kind.
func (s *subject) evaluate(addOn string, cycles map[string][]string, g *given, f *Finding) {
	counts, effect := s.under(g.cluster)
	if counts != s {
		f.Dependency = &counts.edge.Dependency // also while the verdict is held: its type decides what that keeps
	}
	if s.edge != nil && s.edge.When != nil {
		does, err := applies(g.catalog, s.edge.When, addOn, g.state, &g.budget)
		switch {
		case !does:
			f.Verdict = NotApplicable
			return
		case errors.Is(err, errUnread):
			f.Verdict = Held
			if s.edge.When.Inputs().Any(input.Version) {
				f.Until, f.Due = g.cluster.factsDue()
			}
			return
		case err != nil:
			f.detail().ConditionError = err.Error()
		}
	}
	if settle(&effect, f) {
		return
	}
	if counts != s {
		f.detail().Policies = effect.Policies
	}
	g.edge = counts.edge
	if counts.edge != nil && evaluateCycle(counts.edge, cycles, f) {
		return
	}
	if counts.kind == kindAnyOf {
		evaluateAnyOf(g, counts.edge, f)
		return
	}
	counts.kind.evaluate(g, f)
	evaluateSetting(g, f)
	evaluateWishes(addOn, g, f)
}

// inputs are what the verdict depends on.
func (s *subject) inputs() input.Set {
	inputs := rules[s.kind].inputs | s.overriddenInputs()
	if s.kind == kindAnyOf {
		for end := range s.edge.Ends() {
			inputs |= rules[dependencyKind(&end.Dependency)].inputs
		}
	}
	if s.edge != nil && s.edge.When != nil {
		inputs |= s.edge.When.Inputs()
	}
	if s.edge != nil && s.edge.Config != nil {
		inputs |= s.edge.Config.Inputs()&^input.Config | input.Settings
	}
	if s.edge != nil {
		inputs |= wishInputs(s.edge)
	}
	return inputs
}
