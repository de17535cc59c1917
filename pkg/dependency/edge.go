package dependency

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// edge is one entry of a declaration, compiled: on an add-on, on an API, or a
// requirement of the platform.
type edge struct {
	declared addonv1alpha1.AddonDependency
	// on is the add-on; empty for an API and for a requirement.
	on          string
	versions    *versionRange
	when        *applicability
	requirement *requirement
}

// compileEdge reads what an entry asks beyond the proposal.
func compileEdge(entry addonv1alpha1.AddonDependency, path *field.Path) (edge, field.ErrorList) {
	compiled := edge{declared: entry, on: Target(&entry)}
	var errs field.ErrorList
	if entry.Version != "" && utf8.RuneCountInString(entry.Version) <= maxRange {
		versions, err := parseRange(entry.Version, entry.Prereleases)
		if err != nil {
			errs = append(errs, invalidRange(path.Child("version"), entry.Version))
		}
		compiled.versions = versions
	}
	when, whenErrs := compileWhen(entry.When, path.Child("when"))
	compiled.when = when
	return compiled, append(errs, whenErrs...)
}

func invalidRange(path *field.Path, value string) *field.Error {
	return field.Invalid(path, shorten(value, maxQuoted), errRange.Error())
}

// blocks reports whether the add-on cannot work while the edge is unsatisfied.
func blocks(dependencyType addonv1alpha1.DependencyType) bool {
	return dependencyType != addonv1alpha1.DependencyTypeOptional
}

func (e *edge) uses() Uses {
	var uses Uses
	if e.when != nil {
		uses |= e.when.uses()
	}
	switch {
	case e.requirement != nil:
		uses |= e.requirement.uses
	case e.declared.API != nil:
		uses |= UsesFacts
	case asksVersion(&e.declared):
		uses |= UsesVersion | UsesFacts
	}
	return uses
}

// requirement is something that the add-on requires of the platform.
type requirement struct {
	uses Uses
	// subject names it in a message.
	subject string
	// claim is the name of the cluster claim; empty for the others.
	claim    string
	versions *versionRange
	// exact is the value that a claim must have; for a claim that is no version.
	exact string
}

const (
	nameKubernetes = "requirements.kubernetes"
	nameOCM        = "requirements.ocm"
	// claimKubernetes is the claim in which OCM repeats the version of Kubernetes.
	claimKubernetes = "kubeversion.open-cluster-management.io"
)

// compileRequirements makes an edge of each requirement found at path.
func compileRequirements(required *addonv1alpha1.AddonRequirements, path *field.Path) ([]edge, field.ErrorList) {
	if required == nil {
		return nil, nil
	}
	var (
		edges []edge
		errs  field.ErrorList
	)
	add := func(name, wanted string, r requirement) {
		edges = append(edges, edge{requirement: &r, declared: addonv1alpha1.AddonDependency{
			Name: name, Type: addonv1alpha1.DependencyTypeRequired, Version: wanted,
		}})
	}
	addRange := func(name, wanted string, path *field.Path, r requirement) {
		if utf8.RuneCountInString(wanted) > maxRange {
			return // the schema's check says it
		}
		versions, err := parseRange(wanted, nil)
		if err != nil {
			errs = append(errs, invalidRange(path, wanted))
			return
		}
		r.versions = versions
		add(name, wanted, r)
	}

	if required.Kubernetes != "" {
		addRange(nameKubernetes, required.Kubernetes, path.Child("kubernetes"),
			requirement{uses: UsesKubernetes, subject: "Kubernetes version"})
	}
	if required.OCM != "" {
		addRange(nameOCM, required.OCM, path.Child("ocm"),
			requirement{uses: UsesOCM, subject: "Open Cluster Management version of the hub"})
	}
	for _, claim := range slices.Sorted(maps.Keys(required.Claims)) {
		wanted := string(required.Claims[claim])
		name := fmt.Sprintf("requirements.claims[%s]", claim)
		r := requirement{uses: UsesClaims, claim: claim, subject: fmt.Sprintf("cluster claim '%s'", displayName(claim))}
		if plainWord(wanted) {
			r.exact = wanted
			add(name, wanted, r)
			continue
		}
		addRange(name, wanted, path.Child("claims").Key(claim), r)
	}
	return edges, errs
}

// numberAndMore is what only the library takes for a version: its first hyphen
// would begin a prerelease of 2024.0.0, and a range of 2024.x it would be.
var numberAndMore = regexp.MustCompile(`^v?\d+(\.\d+)?-`)

// plainWord reports whether the value of a claim is meant literally: it is no
// range, nor does it look like one that somebody mistyped. A date or an
// identifier, such as 2024-01-31, is no range either.
func plainWord(wanted string) bool {
	for _, r := range wanted {
		switch {
		case r <= ' ', r == '<', r == '>', r == '=', r == '!', r == '~', r == '^', r == '*', r == '|', r == ',':
			return false
		}
	}
	_, err := parseRange(wanted, nil)
	return err != nil || numberAndMore.MatchString(wanted)
}
