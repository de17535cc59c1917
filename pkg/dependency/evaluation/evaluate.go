// Package evaluation finds the verdicts on the edges and requirements of an add-on on one managed cluster. Its inputs are
// the catalog and the state of the cluster. Each kind of edge has its own file.
package evaluation

import (
	"errors"
	"slices"
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
)

// Evaluator evaluates the add-ons of a catalog. It is immutable and safe for concurrent use.
type Evaluator struct {
	*catalog.Catalog
	addOns map[string]plan
	inputs input.Set // of all add-ons together
	// tolerated has the add-ons that an edge tolerates as unavailable for a while.
	tolerated map[string]bool
	// settings has the readers of the settings of each add-on.
	settings map[string][]settingReader
}

// plan is the part of an evaluation that is equal on all clusters, or on all clusters with the same AddOnTemplate.
type plan struct {
	// unusable is true for an invalid declaration.
	unusable bool
	// templated is true if the declaration depends on the running AddOnTemplate. variants has a plan for each template.
	// Inputs and needs include all of them.
	templated bool
	variants  map[string]plan
	subjects  []subject
	// ownInputs has the inputs of its edges. allInputs also has the inputs of conditional cycles.
	ownInputs, allInputs input.Set
	needs                []Need
	// satisfied has the findings for the usual result, that everything is satisfied.
	satisfied []Finding
}

// subject is an edge or a requirement.
type subject struct {
	edge        *declaration.Edge
	requirement *declaration.Requirement
	kind        kind
}

// New prepares the evaluation of all add-ons of the catalog.
func New(c *catalog.Catalog) *Evaluator {
	e := &Evaluator{Catalog: c, addOns: map[string]plan{}, tolerated: map[string]bool{}, settings: map[string][]settingReader{}}
	for _, addOn := range c.AddOns() {
		p := prepare(c.Declaration(addOn))
		p.addVariants(c, addOn)
		if c.MayBeDenied(addOn) {
			p.ownInputs |= input.Labels
		}
		p.allInputs = p.ownInputs | cycleInputs(c, addOn)
		p.needs = p.findNeeds(c, addOn)
		e.addOns[addOn] = p
		e.inputs |= p.allInputs
		addSettingReaders(e.settings, c, addOn)
		for _, need := range p.needs {
			if need.Inputs.Any(input.Lapses) {
				e.tolerated[need.Name] = true
			}
		}
	}
	return e
}

func prepare(d declaration.Declaration) plan {
	p := plan{unusable: d.Invalid}
	for i := range d.Edges {
		edge := &d.Edges[i]
		p.subjects = append(p.subjects, subject{edge: edge, kind: dependencyKind(&edge.Dependency)})
		p.satisfied = append(p.satisfied, Finding{Dependency: &edge.Dependency, Verdict: Satisfied})
	}
	for i := range d.Platform {
		requirement := &d.Platform[i]
		p.subjects = append(p.subjects, subject{requirement: requirement, kind: requirementKind(requirement)})
		p.satisfied = append(p.satisfied, Finding{Requirement: requirement, Verdict: Satisfied})
	}
	for _, s := range p.subjects {
		p.ownInputs |= s.inputs()
	}
	return p
}

// addVariants adds the plans for the add-on's AddOnTemplates.
func (p *plan) addVariants(c *catalog.Catalog, addOn string) {
	if p.templated = c.Templated(addOn); !p.templated {
		return
	}
	p.ownInputs |= input.Template
	p.variants = map[string]plan{}
	for _, template := range c.Variants(addOn) {
		_, declaration, _ := c.Template(template)
		v := prepare(declaration)
		p.variants[template] = v
		p.ownInputs |= v.ownInputs
	}
}

// activePlan returns the plan for the declaration that is in force on a cluster. The result is false if the declaration is
// invalid, or if the running AddOnTemplate is unknown.
func (e *Evaluator) activePlan(addOn string, state *State) (plan, bool) {
	p := e.addOns[addOn]
	if !p.templated {
		return p, !p.unusable
	}
	if state.Cluster.Lost() {
		return p, false // the running template is unknown
	}
	template, ok := activeVariant(e.Catalog, addOn, state)
	if v, exists := p.variants[template]; exists {
		v.allInputs = p.allInputs
		return v, ok && !v.unusable
	}
	return p, ok && !p.unusable
}

// activeVariant returns the AddOnTemplate whose declaration of the add-on is in force on the cluster. It is empty if the
// declaration of the registration is in force. The second result is false if the template is unknown.
func activeVariant(c *catalog.Catalog, addOn string, state *State) (string, bool) {
	running := &state.AddOns.Named(addOn).Template
	return c.TemplateInForce(addOn, running.Name, running.Unknown && running.Name == "")
}

// Variant returns the AddOnTemplate whose declaration of the add-on is in force in a state. It is empty if the declaration
// of the registration is in force.
func (e *Evaluator) Variant(addOn string, state State) string {
	template, _ := activeVariant(e.Catalog, addOn, &state)
	return template
}

// Declares reports whether the add-on declares an edge or a requirement on any cluster.
func (e *Evaluator) Declares(addOn string) bool {
	p := e.addOns[addOn]
	return p.templated || len(p.subjects) > 0 && !p.unusable
}

// Evaluate finds a verdict for each dependency of an add-on on one cluster, in the
// declared order, and then for each requirement. If the declaration is unknown, the
// result is a Held finding without a dependency. The findings may be shared and must
// not be changed.
func (e *Evaluator) Evaluate(addOn string, state State) []Finding {
	p, ok := e.activePlan(addOn, &state)
	if !ok {
		return []Finding{{Verdict: Held}}
	}
	if len(p.subjects) == 0 {
		return nil
	}
	if state.Cluster.Lost() {
		return p.held(&state.Cluster)
	}
	// The edges of other add-ons have budgets of their own.
	var cycleSearch, waiterSearch search
	cycles := findCycles(e.Catalog, addOn, &state, &cycleSearch)
	g := grounds{
		catalog: e.Catalog,
		addOn:   addOn,
		cluster: &state.Cluster,
		state:   &state,
		waiters: findWaiters(e.Catalog, addOn, &state, &waiterSearch),
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
	return withNextChange(findings, shared, earliest(cycleSearch.nextChange, waiterSearch.nextChange))
}

// withNextChange returns the findings with the time of the next evaluation: a cycle may begin when a waiver ends. The
// findings do not change if the time is zero.
func withNextChange(findings []Finding, shared bool, until time.Time) []Finding {
	if until.IsZero() {
		return findings
	}
	if shared {
		findings = slices.Clone(findings)
	}
	findings[0].Until = earliest(findings[0].Until, until)
	return findings
}

// held returns the findings for a lost cluster. Their types are those after overrides.
func (p *plan) held(cluster *Cluster) []Finding {
	findings := slices.Clone(p.satisfied)
	for i := range findings {
		findings[i].Verdict = Held
		if effective, _ := p.subjects[i].applyPolicies(cluster); effective.edge != nil {
			findings[i].Dependency = &effective.edge.Dependency
		}
	}
	return findings
}

// evaluate finds the verdict by the edge's condition, then by policies, then by
// cycles, and then by the rule of its kind.
func (s *subject) evaluate(addOn string, cycles map[string][]string, g *grounds, f *Finding) {
	effective, effect := s.applyPolicies(g.cluster)
	if effective != s {
		f.Dependency = &effective.edge.Dependency // also for a held verdict, because the type of a held edge decides on the condition
	}
	if s.edge != nil && s.edge.When != nil {
		ok, err := applies(g.catalog, s.edge.When, addOn, g.state, &g.budget)
		switch {
		case !ok:
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
	if effective != s {
		f.detail().Policies = effect.Policies
	}
	g.edge = effective.edge
	if effective.edge != nil && evaluateCycle(effective.edge, cycles, f) {
		return
	}
	if effective.kind == kindAnyOf {
		evaluateAnyOf(g, effective.edge, f)
		return
	}
	effective.kind.evaluate(g, f)
	evaluateSetting(g, f)
	requestSettings(addOn, g, f)
}

// inputs returns the inputs of the verdict.
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
		inputs |= settingInputs(s.edge)
	}
	return inputs
}
