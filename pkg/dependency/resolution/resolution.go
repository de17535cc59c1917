// Package resolution chooses versions of add-ons for one kind of managed cluster: the highest versions that satisfy all wishes
// of users and all declarations of the chosen versions. Package evaluation finds the dependencies of the chosen versions
// satisfied on a cluster of that kind.
package resolution

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// MaxWork is the limit of a search, and MaxExplanation that of the searches for the smallest cause of a conflict, all together. They
// count operations of the solver and not time, so the result is the same on every machine. An operation takes 20 to 60 ns.
const (
	MaxWork        = 20_000_000
	MaxExplanation = 8_000_000
)

// ErrTooManyCombinations is the error of a search that finds neither a solution nor a conflict within MaxWork.
var ErrTooManyCombinations = errors.New("gave up, because there are too many combinations of versions: want fewer versions, by narrower ranges")

// Release is a version of an add-on.
type Release struct {
	AddOn, Version string
	Registration   addonv1alpha1.ClusterManagementAddOn
	// Template is the AddOnTemplate that runs with this version. It is nil for an add-on without templates.
	Template *addonv1alpha1.AddOnTemplate
	// PlacementTemplates has the AddOnTemplates that run instead on the clusters of some Placements.
	PlacementTemplates []addonv1alpha1.AddOnTemplate
}

// Wish is an add-on that a user wants.
type Wish struct {
	AddOn string
	// Version is the range of versions that the user accepts. An empty one accepts all.
	Version     string
	Prereleases *addonv1alpha1.DependencyPrereleases
	// OnlyIfNeeded limits the versions of an add-on without choosing it. Only the need of another add-on chooses it.
	OnlyIfNeeded bool
}

// Kind is a group of managed clusters that have the same labels, claims, versions and APIs.
type Kind struct {
	Name           string
	Labels, Claims map[string]string
	// Kubernetes is the version of the clusters, and OCM the version on the hub. Either is empty if it is unknown.
	Kubernetes, OCM string
	// APIs are the APIs that the clusters serve without any add-on.
	APIs []addonv1alpha1.AddonAPI
}

// Cluster returns a managed cluster of the kind as an input of evaluation.
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
	// Because has the reasons for choosing the add-on, and this version of it.
	Because []string
	// PassedOver has the higher versions that were not chosen, the highest first.
	PassedOver []PassedOver
	// Needs has the chosen add-ons, ascending, that have to be installed before this one.
	Needs []string
}

// PassedOver is a higher version than the chosen one.
type PassedOver struct{ Version, Because string }

// Resolution is the result for one kind of clusters.
type Resolution struct {
	// Choices are sorted by the names of the add-ons.
	Choices []Choice
	// Assumptions are conditions on a cluster that the choices rely on. They cannot be checked without a cluster.
	Assumptions []string
}

// Conflict is the error for wishes that no set of releases satisfies together.
type Conflict struct {
	// Wishes is the smallest set of wishes that exclude each other.
	Wishes []Wish
	// Bounded is true if the search for the smallest sets of wishes and declarations has reached MaxExplanation. There may be smaller
	// ones then.
	Bounded bool
	// sentence is the message.
	sentence string
}

func (c *Conflict) Error() string { return c.sentence }

// Resolve chooses versions. The first wish by name gets the highest version with which all wishes can be satisfied, then the
// second wish, and so on. The add-ons that they need follow, by name. The error is a Conflict, ErrTooManyCombinations, or names a
// release or a wish that cannot be used.
func Resolve(releases []Release, wishes []Wish, kind Kind) (*Resolution, error) {
	p, err := newProblem(releases, wishes, &kind)
	if err != nil {
		return nil, err
	}
	return p.resolve()
}

func (p *problem) resolve() (*Resolution, error) {
	result := p.solve(p.wishes)
	switch {
	case result.exhausted:
		return nil, ErrTooManyCombinations
	case result.selection == nil:
		p.limit = p.work + MaxExplanation
		return nil, p.explain(result.involved)
	}
	return p.describe(p.withoutUnrequested(result)), nil
}

// problem is the compiled input of a search, with caches that all searches share.
type problem struct {
	kind    *Kind
	cluster evaluation.Cluster
	addOns  []*addOn
	ids     map[string]int
	wishes  []wish
	// acceptedReleases is a cache of the releases that a range accepts, by add-on and range.
	acceptedReleases map[string]bitset
	// providersByAPI is a cache of the releases that provide an API, by add-on.
	providersByAPI map[addonv1alpha1.AddonAPI]map[int]bitset
	// sourceNumbers and sourcesByNumber map declarations to numbers, and back. The wishes have the first numbers, and no declaration there.
	sourceNumbers   map[source]int
	sourcesByNumber []source
	// activeSources limits searches to some declarations, to find a minimal conflict. All declarations count while it is nil.
	activeSources map[source]bool
	// work counts the operations of the solver in all searches. A search gives up when they reach the limit.
	work, limit int
	// rehearseAfter is the number of conflicts in a search after which it rehearses choices.
	rehearseAfter int
}

// wish is a Wish with its number, the number of its add-on, and the releases in its range.
type wish struct {
	Wish
	number, addOn int
	releases      bitset
}

func newProblem(releases []Release, wishes []Wish, kind *Kind) (*problem, error) {
	p := &problem{
		kind:             kind,
		cluster:          kind.Cluster(),
		ids:              map[string]int{},
		acceptedReleases: map[string]bitset{},
		providersByAPI:   map[addonv1alpha1.AddonAPI]map[int]bitset{},
		sourceNumbers:    map[source]int{},
		rehearseAfter:    stepsToRehearse,
		limit:            MaxWork,
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
	p.sourcesByNumber = make([]source, len(sorted))
	for i, w := range sorted {
		compiled, err := p.compileWish(w)
		if err != nil {
			return nil, err
		}
		compiled.number = i
		p.wishes = append(p.wishes, compiled)
	}
	p.setSelectable()
	return p, nil
}

// fromLowestPrerelease is a range of all versions with all prereleases.
const fromLowestPrerelease = ">= 0.0.0-0"

func (p *problem) compileWish(w Wish) (wish, error) {
	compiled := wish{Wish: w, addOn: p.id(w.AddOn)}
	if w.Version == "" {
		w.Version = versions.Any
	}
	if w.Version == versions.Any && w.Prereleases != nil {
		w.Version = fromLowestPrerelease // versions.Any ignores the identifiers of prereleases
	}
	accepted, err := versions.ParseRange(w.Version, w.Prereleases)
	if err != nil {
		return wish{}, fmt.Errorf("add-on %q: version %q: %w", text.Name(w.AddOn), text.Excerpt(w.Version), err)
	}
	compiled.releases = p.matching(compiled.addOn, accepted)
	return compiled, nil
}
