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
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// addOn is an add-on with its releases, the highest version first. One that is only named has none.
type addOn struct {
	name     string
	releases []release
	// asked are the releases that are no prereleases, or are asked for.
	asked bitset
}

// release is a Release, compiled when the search first looks at it.
type release struct {
	*Release
	version *semver.Version
	// alone is what evaluation finds of the release by itself; nil: not evaluated yet.
	alone *alone
	// judged: what follows is known.
	judged bool
	// refusals are why it cannot run on the kind of clusters.
	refusals    []refusal
	constraints []constraint
	// requires are the add-ons of Required edges, waitsFor also those that are alternatives of one.
	requires, waitsFor []wait
}

// wait is an add-on that a release waits for.
type wait struct {
	source
	on int
}

// alone has the declaration of a release that counts, and the findings on it.
type alone struct {
	declared declaration.Declaration
	findings []evaluation.Finding
}

// refusal is why a release cannot run, whatever else is chosen.
type refusal struct {
	source
	because string
}

// source is what declares: an edge or a requirement of an add-on, in all of its releases. The name is
// empty where the declaration as a whole cannot be used.
type source struct {
	addOn int
	name  string
}

// id returns the number of an add-on. One that has no release yet gets one.
func (p *problem) id(name string) int {
	id, known := p.ids[name]
	if !known {
		id = len(p.addOns)
		p.ids[name] = id
		p.addOns = append(p.addOns, &addOn{name: name})
	}
	return id
}

// addReleases sorts releases, so that their order does not matter.
func (p *problem) addReleases(releases []Release) error {
	names := map[string]bool{}
	for i := range releases {
		names[releases[i].AddOn] = true
	}
	for _, name := range sortedNames(names) {
		p.id(name)
	}
	for i := range releases {
		one := &releases[i]
		version, err := semver.NewVersion(one.Version)
		if err != nil {
			return fmt.Errorf("add-on %q: version %q is no semantic version", text.Name(one.AddOn), text.Excerpt(one.Version))
		}
		of := p.addOns[p.ids[one.AddOn]]
		of.releases = append(of.releases, release{Release: one, version: version})
	}
	for _, of := range p.addOns {
		slices.SortStableFunc(of.releases, func(a, b release) int {
			return cmp.Or(b.version.Compare(a.version), cmp.Compare(b.Version, a.Version))
		})
		for i := 1; i < len(of.releases); i++ {
			if of.releases[i].Version == of.releases[i-1].Version {
				return fmt.Errorf("add-on %q has version %q twice", text.Name(of.name), text.Excerpt(of.releases[i].Version))
			}
		}
	}
	return nil
}

func compareWishes(a, b Wish) int {
	return cmp.Or(cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Version, b.Version))
}

// matching returns the releases of an add-on that a range accepts; nil is a range that accepts all.
func (p *problem) matching(id int, accepted *versions.Range) bitset {
	var found bitset
	for i := range p.addOns[id].releases {
		if accepted == nil || accepted.Mismatch(p.addOns[id].releases[i].version) == "" {
			found.add(i)
		}
	}
	return found
}

// candidate returns a release, with what it declares on the kind of clusters.
func (p *problem) candidate(id, i int) *release {
	one := &p.addOns[id].releases[i]
	if !one.judged {
		one.judged = true
		p.judge(id, one)
	}
	return one
}

// evaluate evaluates a release by itself on a cluster of the kind: which of its edges apply there, and
// whether its requirements are met.
func (p *problem) evaluate(one *release) *alone {
	if one.alone != nil {
		return one.alone
	}
	declared := read(one.Release)
	one.alone = &alone{declared: declared}
	if declared.Invalid || len(declared.Platform) == 0 && !slices.ContainsFunc(declared.Edges, conditional) {
		return one.alone // all edges apply on all clusters
	}
	var templates []addonv1alpha1.AddOnTemplate
	observed := evaluation.Observation{Name: one.AddOn, Installed: true}
	if one.Template != nil {
		templates = []addonv1alpha1.AddOnTemplate{*one.Template}
		observed.Template = versions.Templates{
			Name: one.Template.Name, Running: versions.OfTemplate(one.Template.Annotations, one.Template.Labels),
		}
	}
	evaluator := evaluation.New(catalog.Some([]addonv1alpha1.ClusterManagementAddOn{one.Registration}, templates...))
	one.alone.findings = evaluator.Evaluate(one.AddOn, evaluation.State{Cluster: p.cluster, AddOns: evaluation.AddOns{observed}})
	return one.alone
}

// read returns the declaration that counts where the release runs, as the catalog of a hub does.
func read(one *Release) declaration.Declaration {
	if one.Template != nil && declaration.UsesTemplates(&one.Registration) {
		if declared, declares := declaration.ReadTemplate(one.Template); declares {
			return declared
		}
	}
	return declaration.Read(&one.Registration)
}

func conditional(edge declaration.Edge) bool { return edge.When != nil }

// judge finds what a release needs, and why it cannot run.
func (p *problem) judge(id int, one *release) {
	found := p.evaluate(one)
	if found.declared.Invalid {
		one.refusals = []refusal{{source{addOn: id}, "it has a declaration that cannot be used: " + problems(&found.declared)}}
		return
	}
	for i := range found.declared.Edges {
		if found.findings == nil || found.findings[i].Verdict != evaluation.NotApplicable {
			one.constraints = append(one.constraints, p.constraintsOf(id, &found.declared.Edges[i])...)
			p.addWaits(id, one, &found.declared.Edges[i])
		}
	}
	for i := range found.findings {
		if finding := &found.findings[i]; finding.Requirement != nil && finding.Unsatisfied() {
			one.refusals = append(one.refusals, refusal{
				source{id, finding.Name()},
				fmt.Sprintf("it requires %s '%s', which is %s",
					finding.Requirement.Subject, text.Excerpt(finding.Requirement.Wanted), isInstead(finding)),
			})
		}
	}
}

// addWaits adds the add-ons that a Required edge is on.
func (p *problem) addWaits(id int, one *release, edge *declaration.Edge) {
	of := source{id, edge.Dependency.Name}
	if edge.Waits() {
		one.requires = append(one.requires, wait{of, p.id(edge.AddOn)})
	}
	if !edge.Waits() && !edge.MayWaitForAny() {
		return
	}
	for end := range edge.Ends() {
		if end.AddOn != "" {
			one.waitsFor = append(one.waitsFor, wait{of, p.id(end.AddOn)})
		}
	}
}

// isInstead is what was found instead of what is required.
func isInstead(finding *evaluation.Finding) string {
	if finding.Detail.Version.Number == "" {
		return "not known"
	}
	return text.Excerpt(finding.Detail.Version.Number)
}

func problems(declared *declaration.Declaration) string {
	var all []string
	for _, problem := range declared.Problems {
		all = append(all, problem.Finding)
	}
	return strings.Join(all, "; ")
}
