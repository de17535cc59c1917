package declaration

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Requirement is a requirement on the platform: a version of Kubernetes or of Open Cluster
// Management, or a cluster claim.
type Requirement struct {
	// Name is the name in metrics. Messages are ordered by it.
	Name string
	// Subject describes it in a message.
	Subject string
	// Wanted is the declared range, or the declared value of a claim.
	Wanted string
	// Versions is the compiled range. It is nil for a claim with a literal value.
	Versions *versions.Range
	// OCM is true for a requirement on the hub's version of Open Cluster Management.
	OCM bool
	// Claim is the name of the claim, or empty.
	Claim string
	// Overrides are the overrides of the requirement by policies, see Overridden.
	Overrides []*policy.Override
}

// KubernetesClaim is the claim in which OCM repeats the version of Kubernetes.
const KubernetesClaim = "kubeversion.open-cluster-management.io"

// compileRequirements compiles the requirements at a path.
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

// listRequirements returns the declared requirements, with claims in the order of their names.
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

// pathOf returns the path of a requirement.
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

// numberAndMore matches text that the library wrongly reads as a version. It reads
// 2024-01-31 as a prerelease of 2024.0.0.
var numberAndMore = regexp.MustCompile(`^v?\d+(\.\d+)?-`)

// plainWord reports whether the value of a claim is literal: neither a range nor a mistyped range. A date or an
// identifier, such as 2024-01-31, is literal, too.
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
