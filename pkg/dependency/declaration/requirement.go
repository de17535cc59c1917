package declaration

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Requirement is something that the add-on requires of the platform: a version of
// Kubernetes, of Open Cluster Management, or a claim.
type Requirement struct {
	// Name is its name in metrics and in the order of messages.
	Name string
	// Subject describes it in a message.
	Subject string
	// Wanted is the range, or the value of a claim, as declared.
	Wanted string
	// Versions is the range; nil for a claim whose value is meant literally.
	Versions *versions.Range
	// OCM: it is about the hub's version of Open Cluster Management.
	OCM bool
	// Claim is the name of the claim; empty for the others.
	Claim string
	// Overrides are what policies say of it, see Overridden.
	Overrides []*policy.Override
}

// KubernetesClaim is the claim in which OCM repeats the version of Kubernetes.
const KubernetesClaim = "kubeversion.open-cluster-management.io"

// compileRequirements compiles each requirement found at path.
func compileRequirements(required *addonv1alpha1.AddonRequirements, path *field.Path) ([]Requirement, field.ErrorList) {
	if required == nil {
		return nil, nil
	}
	listed := listRequirements(required)
	compiled := make([]Requirement, 0, len(listed))
	var errs field.ErrorList
	if _, err := versions.ParseRange(required.Interlock, nil); required.Interlock != "" && err != nil {
		errs = append(errs, invalidRange(path.Child("interlock"), required.Interlock, err))
	}
	for _, r := range listed {
		if r.Claim == "" || !plainWord(r.Wanted) {
			accepted, err := versions.ParseRange(r.Wanted, nil)
			if err != nil {
				errs = append(errs, invalidRange(pathOf(r, path), r.Wanted, err))
				continue
			}
			r.Versions = accepted
		}
		compiled = append(compiled, r)
	}
	return compiled, errs
}

// listRequirements lists what is declared, claims by name.
func listRequirements(required *addonv1alpha1.AddonRequirements) []Requirement {
	var listed []Requirement
	if required.Kubernetes != "" {
		listed = append(listed, Requirement{
			Name: "requirements.kubernetes", Subject: "Kubernetes version", Wanted: required.Kubernetes,
		})
	}
	if required.OCM != "" {
		listed = append(listed, Requirement{
			Name: "requirements.ocm", Subject: "Open Cluster Management version of the hub", Wanted: required.OCM, OCM: true,
		})
	}
	for _, claim := range slices.Sorted(maps.Keys(required.Claims)) {
		listed = append(listed, Requirement{
			Name: fmt.Sprintf("requirements.claims[%s]", claim), Subject: fmt.Sprintf("cluster claim '%s'", text.Name(claim)),
			Wanted: string(required.Claims[claim]), Claim: claim,
		})
	}
	return listed
}

// pathOf is where the requirement is declared.
func pathOf(r Requirement, requirements *field.Path) *field.Path {
	switch {
	case r.Claim != "":
		return requirements.Child("claims").Key(r.Claim)
	case r.OCM:
		return requirements.Child("ocm")
	default:
		return requirements.Child("kubernetes")
	}
}

// numberAndMore matches what only the library takes for a version: it reads
// 2024-01-31 as a prerelease of 2024.0.0.
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
