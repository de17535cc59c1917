// Package resolution chooses versions of add-ons: the highest ones that satisfy all that
// users want and all that the chosen versions declare, on one kind of managed cluster.
// What it accepts, evaluation finds satisfied on a cluster of that kind.
package resolution

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// MaxSteps bounds the search. It counts contradictions and not time, so that the result is the same on
// any machine.
const MaxSteps = 30_000

// ErrTooManySteps is returned where neither an answer nor a conflict was found within MaxSteps.
var ErrTooManySteps = errors.New("gave up, because there are too many combinations of versions: want fewer versions, by narrower ranges")

// Release is one version of an add-on.
type Release struct {
	AddOn, Version string
	Registration   addonv1alpha1.ClusterManagementAddOn
	// Template is the AddOnTemplate that runs with this version; nil: it has none.
	Template *addonv1alpha1.AddOnTemplate
}

// Wish is an add-on that a user wants.
type Wish struct {
	AddOn string
	// Version is the range of versions that the user accepts; empty: all.
	Version     string
	Prereleases *addonv1alpha1.DependencyPrereleases
	// OnlyIfNeeded: the wish limits the versions of an add-on that another one needs.
	OnlyIfNeeded bool
}

// Kind is what is the same for managed clusters of one kind.
type Kind struct {
	Name           string
	Labels, Claims map[string]string
	// Kubernetes is the version of the clusters, OCM that of the hub; empty: not known.
	Kubernetes, OCM string
	// APIs are those that the clusters serve by themselves.
	APIs []addonv1alpha1.AddonAPI
}

// Cluster is a managed cluster of the kind as evaluation knows it.
func (k *Kind) Cluster() evaluation.Cluster {
	claims := map[string]string{}
	if k.Kubernetes != "" {
		claims[declaration.KubernetesClaim] = k.Kubernetes
	}
	maps.Copy(claims, k.Claims)
	return evaluation.Cluster{
		Name: k.Name, Available: metav1.ConditionTrue, Offline: evaluation.OfflineHold,
		Labels: k.Labels, Claims: claims, KubernetesVersion: k.Kubernetes, OCMVersion: k.OCM,
	}
}

// Choice is a chosen release.
type Choice struct {
	AddOn, Version string
	// Because are the reasons for which the add-on, and this version of it, is chosen.
	Because []string
	// PassedOver are higher versions, the highest first.
	PassedOver []PassedOver
	// Needs are the chosen add-ons, ascending, that come first.
	Needs []string
}

// PassedOver is a higher version than the chosen one.
type PassedOver struct{ Version, Because string }

// Resolution is what was chosen for a kind of clusters.
type Resolution struct {
	// Choices are ascending by the names of add-ons.
	Choices []Choice
	// Assumptions are what has to be true of a cluster besides, and cannot be known here.
	Assumptions []string
}

// Conflict is the error where nothing satisfies all wishes.
type Conflict struct {
	// Wishes are those that exclude each other: without any of them, the others can be satisfied.
	Wishes []Wish
	// sentence explains it.
	sentence string
}

func (c *Conflict) Error() string { return c.sentence }

// Resolve chooses versions. The first wish by name gets the highest version with which all wishes
// can be satisfied, then the second one, and so on; after them the add-ons that they need, by name.
// Its error is a Conflict, ErrTooManySteps, or about a release or a wish that cannot be used.
func Resolve(releases []Release, wishes []Wish, kind Kind) (*Resolution, error) {
	p, err := newProblem(releases, wishes, &kind)
	if err != nil {
		return nil, err
	}
	return p.resolve()
}

func (p *problem) resolve() (*Resolution, error) {
	found := p.solve(p.wishes)
	switch {
	case found.exhausted:
		return nil, ErrTooManySteps
	case found.chosen == nil:
		return nil, p.explain(found.involved)
	}
	return p.describe(found), nil
}

// problem is what is to be solved.
type problem struct {
	kind    *Kind
	cluster evaluation.Cluster
	addOns  []*addOn
	ids     map[string]int
	wishes  []wish
	// accepted caches which releases of an add-on a range accepts.
	accepted map[string]bitset
	// provided caches which releases provide an API.
	provided map[addonv1alpha1.AddonAPI]map[int]bitset
	// sourceNumbers and sourcesByNumber number declarations.
	sourceNumbers   map[source]int
	sourcesByNumber []source
	// counted are the only declarations that count, to find which of them exclude each other; nil: all of them.
	counted map[source]bool
	// steps are those of all searches. A search rehearses after some, and ends at the limit; all together end at twice that.
	steps, rehearseAfter, limit int
}

// wish is a Wish, compiled.
type wish struct {
	Wish
	addOn   int
	accepts bitset
}

func newProblem(releases []Release, wishes []Wish, kind *Kind) (*problem, error) {
	p := &problem{
		kind: kind, cluster: kind.Cluster(), ids: map[string]int{}, accepted: map[string]bitset{},
		provided: map[addonv1alpha1.AddonAPI]map[int]bitset{}, sourceNumbers: map[source]int{}, rehearseAfter: stepsToRehearse, limit: MaxSteps,
	}
	for _, platform := range [][2]string{{"kubernetes", kind.Kubernetes}, {"ocm", kind.OCM}} {
		if _, err := versions.ParsePlatform(platform[1]); platform[1] != "" && err != nil {
			return nil, fmt.Errorf("kind %q: %s: %w; 1.36.0 is one", text.Name(kind.Name), platform[0], err)
		}
	}
	if err := p.addReleases(releases); err != nil {
		return nil, err
	}
	sorted := slices.Clone(wishes)
	slices.SortStableFunc(sorted, compareWishes)
	for _, one := range sorted {
		compiled, err := p.compileWish(one)
		if err != nil {
			return nil, err
		}
		p.wishes = append(p.wishes, compiled)
	}
	p.askForPrereleases()
	return p, nil
}

// lowest is the range of all versions, with the lowest prerelease of all.
const lowest = ">= 0.0.0-0"

func (p *problem) compileWish(one Wish) (wish, error) {
	id := p.id(one.AddOn)
	compiled := wish{Wish: one, addOn: id}
	if one.Version == "" {
		one.Version = versions.Any
	}
	if one.Version == versions.Any && one.Prereleases != nil {
		one.Version = lowest // a range that accepts everything has no identifiers
	}
	accepts, err := versions.ParseRange(one.Version, one.Prereleases)
	if err != nil {
		return wish{}, fmt.Errorf("add-on %q: version %q: %w", text.Name(one.AddOn), text.Excerpt(one.Version), err)
	}
	compiled.accepts = p.matching(id, accepts)
	return compiled, nil
}

// askForPrereleases leaves out the prereleases that no wish asks for. A range that accepts
// everything asks for none.
func (p *problem) askForPrereleases() {
	for id, of := range p.addOns {
		of.asked = bitset{}
		for i := range of.releases {
			if of.releases[i].version.Prerelease() == "" {
				of.asked.add(i)
			}
		}
		for i := range p.wishes {
			if one := &p.wishes[i]; one.addOn == id && (one.Prereleases != nil || one.Version != "" && one.Version != versions.Any) {
				of.asked.join(one.accepts)
			}
		}
	}
}
