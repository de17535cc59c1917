package resolution

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// addOn is an add-on with its releases, the highest version first. It has no releases if only wishes or dependencies name it.
type addOn struct {
	name     string
	releases []release
	// selectable has the releases that may be chosen: all but the prereleases that nothing asks for.
	selectable bitset
	// requested has the prereleases among them for which only an edge asks, and no wish.
	requested bitset
}

// release is a Release with its constraints. These are compiled when the search first uses the release.
type release struct {
	*Release
	version *semver.Version
	// selfEvaluation is the evaluation of the release without any others. It is nil before the first use.
	selfEvaluation *selfEvaluation
	// compiled is true if the fields below are set.
	compiled bool
	// refusals has the reasons why the release cannot run on the kind of clusters.
	refusals    []refusal
	constraints []constraint
	// requires has the add-ons of Required edges. waitsFor has these, and the add-ons of alternatives of Required edges.
	requires, waitsFor []wait
}

// wait is an add-on that a release waits for, because of a declaration.
type wait struct {
	source
	dependency int
}

// selfEvaluation is the declaration that applies to a release, with the findings on it.
type selfEvaluation struct {
	declaration declaration.Declaration
	findings    []evaluation.Finding
}

// refusal is a reason why a release cannot run beside any others.
type refusal struct {
	source
	reason string
}

// source is an edge or a requirement of an add-on, in all of its releases. The name is empty for a declaration that cannot be
// used as a whole.
type source struct {
	addOn int
	name  string
}

// id returns the number of an add-on. A new add-on gets the next number.
func (p *problem) id(name string) int {
	id, ok := p.ids[name]
	if !ok {
		id = len(p.addOns)
		p.ids[name] = id
		p.addOns = append(p.addOns, &addOn{name: name})
	}
	return id
}

// addReleases adds all releases in an order that does not depend on their order in the input.
func (p *problem) addReleases(releases []Release) error {
	names := map[string]bool{}
	for i := range releases {
		names[releases[i].AddOn] = true
	}
	for _, name := range sortedNames(names) {
		p.id(name)
	}
	for i := range releases {
		r := &releases[i]
		version, err := semver.NewVersion(r.Version)
		if err != nil {
			return fmt.Errorf("add-on %q: version %q is no semantic version", text.Name(r.AddOn), text.Excerpt(r.Version))
		}
		addOn := p.addOns[p.ids[r.AddOn]]
		addOn.releases = append(addOn.releases, release{Release: r, version: version})
	}
	for _, addOn := range p.addOns {
		slices.SortStableFunc(addOn.releases, func(a, b release) int {
			return cmp.Or(
				b.version.Compare(a.version), cmp.Compare(b.version.Metadata(), a.version.Metadata()), cmp.Compare(b.Version, a.Version))
		})
		for i := 1; i < len(addOn.releases); i++ {
			if versions.IsSame(addOn.releases[i].version, addOn.releases[i-1].version) {
				return fmt.Errorf("add-on %q has version %q twice", text.Name(addOn.name), text.Excerpt(addOn.releases[i].Version))
			}
		}
	}
	return nil
}

func compareWishes(a, b Wish) int {
	return cmp.Or(cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Version, b.Version))
}

// matching returns the releases of an add-on that a range accepts. A nil range accepts all.
func (p *problem) matching(id int, accepted *versions.Range) bitset {
	var matches bitset
	for i := range p.addOns[id].releases {
		if accepted == nil || accepted.Mismatch(p.addOns[id].releases[i].version) == "" {
			matches.add(i)
		}
	}
	return matches
}

// candidate returns a release with its constraints on the kind of clusters.
func (p *problem) candidate(id, i int) *release {
	r := &p.addOns[id].releases[i]
	if !r.compiled {
		r.compiled = true
		p.compile(id, r)
	}
	return r
}

// evaluate evaluates a release on a cluster of the kind that has no other add-ons: which of its edges apply there, and whether
// its requirements are met.
func (p *problem) evaluate(r *release) *selfEvaluation {
	if r.selfEvaluation != nil {
		return r.selfEvaluation
	}
	declared := readDeclaration(r.Release)
	r.selfEvaluation = &selfEvaluation{declaration: declared}
	if declared.Invalid || len(declared.Platform) == 0 && !slices.ContainsFunc(declared.Edges, conditional) {
		return r.selfEvaluation // all edges apply on all clusters
	}
	var templates []addonv1alpha1.AddOnTemplate
	observed := evaluation.Observation{Name: r.AddOn, Installed: true}
	if r.Template != nil {
		templates = []addonv1alpha1.AddOnTemplate{*r.Template}
		observed.Template = versions.Templates{
			Name: r.Template.Name, Running: versions.OfTemplate(r.Template.Annotations, r.Template.Labels),
		}
	}
	evaluator := evaluation.New(catalog.NewPartial([]addonv1alpha1.ClusterManagementAddOn{r.Registration}, templates...))
	r.selfEvaluation.findings = evaluator.Evaluate(r.AddOn, evaluation.State{Cluster: p.cluster, AddOns: evaluation.AddOns{observed}})
	return r.selfEvaluation
}

// readDeclaration returns the declaration that applies to the release. The catalog of a hub applies the same rule.
func readDeclaration(r *Release) declaration.Declaration {
	if r.Template != nil && declaration.UsesTemplates(&r.Registration) {
		if declared, ok := declaration.ReadTemplate(r.Template); ok {
			return declared
		}
	}
	return declaration.Read(&r.Registration)
}

func conditional(edge declaration.Edge) bool { return edge.When != nil }

// compile sets the constraints of a release, and the reasons why it cannot run.
func (p *problem) compile(id int, r *release) {
	result := p.evaluate(r)
	if result.declaration.Invalid {
		r.refusals = []refusal{{source{addOn: id}, "it has a declaration that cannot be used: " + problems(&result.declaration)}}
		return
	}
	for i := range result.declaration.Edges {
		if result.findings == nil || result.findings[i].Verdict != evaluation.NotApplicable {
			r.constraints = append(r.constraints, p.constraintsOf(id, &result.declaration.Edges[i])...)
			p.addWaits(id, r, &result.declaration.Edges[i])
		}
	}
	for i := range result.findings {
		if finding := &result.findings[i]; finding.Requirement != nil && finding.Unsatisfied() {
			r.refusals = append(r.refusals, refusal{
				source{id, finding.Name()},
				fmt.Sprintf("it requires %s '%s', and %s",
					finding.Requirement.Subject, text.Excerpt(finding.Requirement.Wanted), actualVersion(finding)),
			})
		}
	}
}

// addWaits adds the add-ons that the release waits for because of an edge.
func (p *problem) addWaits(id int, r *release, edge *declaration.Edge) {
	declaring := source{id, edge.Dependency.Name}
	if edge.Waits() {
		r.requires = append(r.requires, wait{declaring, p.id(edge.AddOn)})
	}
	if !edge.Waits() && !edge.MayWaitForAny() {
		return
	}
	for end := range edge.Ends() {
		if end.AddOn != "" {
			r.waitsFor = append(r.waitsFor, wait{declaring, p.id(end.AddOn)})
		}
	}
}

// actualVersion describes the version on the clusters, for a message.
func actualVersion(finding *evaluation.Finding) string {
	if finding.Detail.Version.Number == "" {
		return "the wishes do not say what the clusters have: their clusterKinds have the fields kubernetes, ocm and claims for it"
	}
	return "the clusters have " + text.Excerpt(finding.Detail.Version.Number)
}

func problems(declared *declaration.Declaration) string {
	var messages []string
	for _, problem := range declared.Problems {
		messages = append(messages, problem.Finding)
	}
	return strings.Join(messages, "; ")
}
