package declaration

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Requirement is something that the add-on requires of the platform.
type Requirement struct {
	Input input.Set
	// Subject names it in a message.
	Subject string
	// Claim is the name of the cluster claim; empty for the others.
	Claim    string
	Versions *versions.Range
	// Exact is the value that a claim must have; for a claim that is no version.
	Exact string
}

const (
	nameKubernetes = "requirements.kubernetes"
	nameOCM        = "requirements.ocm"
)

// KubernetesClaim is the claim in which OCM repeats the version of Kubernetes.
const KubernetesClaim = "kubeversion.open-cluster-management.io"

// compileRequirements makes an edge of each requirement found at path.
func compileRequirements(required *addonv1alpha1.AddonRequirements, path *field.Path) ([]Edge, field.ErrorList) {
	if required == nil {
		return nil, nil
	}
	var (
		edges []Edge
		errs  field.ErrorList
	)
	add := func(name, wanted string, r Requirement) {
		edges = append(edges, Edge{Requirement: &r, Declared: addonv1alpha1.AddonDependency{
			Name: name, Type: addonv1alpha1.DependencyTypeRequired, Version: wanted,
		}})
	}
	addRange := func(name, wanted string, path *field.Path, r Requirement) {
		if utf8.RuneCountInString(wanted) > maxRange {
			return // the schema's check reports it
		}
		accepted, err := versions.ParseRange(wanted, nil)
		if err != nil {
			errs = append(errs, invalidRange(path, wanted, err))
			return
		}
		r.Versions = accepted
		add(name, wanted, r)
	}

	if required.Kubernetes != "" {
		addRange(nameKubernetes, required.Kubernetes, path.Child("kubernetes"),
			Requirement{Input: input.Kubernetes, Subject: "Kubernetes version"})
	}
	if required.OCM != "" {
		addRange(nameOCM, required.OCM, path.Child("ocm"),
			Requirement{Input: input.OCM, Subject: "Open Cluster Management version of the hub"})
	}
	for _, claim := range slices.Sorted(maps.Keys(required.Claims)) {
		wanted := string(required.Claims[claim])
		name := fmt.Sprintf("requirements.claims[%s]", claim)
		r := Requirement{Input: input.Claims, Claim: claim, Subject: fmt.Sprintf("cluster claim '%s'", text.Name(claim))}
		if plainWord(wanted) {
			r.Exact = wanted
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
// range, nor does it look like a mistyped one. A date or an
// identifier, such as 2024-01-31, is no range either.
func plainWord(wanted string) bool {
	for _, r := range wanted {
		switch {
		case r <= ' ', r == '<', r == '>', r == '=', r == '!', r == '~', r == '^', r == '*', r == '|', r == ',':
			return false
		}
	}
	_, err := versions.ParseRange(wanted, nil)
	return err != nil || numberAndMore.MatchString(wanted)
}
