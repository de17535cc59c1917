package evaluation

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// apiFields is the state of the fields that an edge requires of a served API.
type apiFields struct {
	// pending is true until the agent has reported all fields.
	pending bool
	// unknownReason is the agent's reason for a field that it could not look up.
	unknownReason string
	// missing has the fields that the schema of version lacks, in ascending order. Of several versions, version is the one
	// that lacks the fewest fields.
	missing []string
	version string
}

// satisfied reports whether one version certainly has all fields.
func (f *apiFields) satisfied() bool {
	return !f.pending && f.unknownReason == "" && len(f.missing) == 0
}

// lookUpFields returns the reported state of the required fields.
func lookUpFields(api *addonv1alpha1.DependencyAPI, fact *APIFact) apiFields {
	var fields apiFields
	if len(api.Fields) == 0 || fact.Served != metav1.ConditionTrue {
		return fields
	}
	for _, path := range api.Fields {
		field, reported := fact.Fields[path]
		switch {
		case !reported:
			fields.pending = true
		case field.Exists == metav1.ConditionUnknown:
			fields.unknownReason = field.Message
		}
	}
	versions := fact.Versions
	if api.Version != "" || len(versions) == 0 {
		versions = []string{api.Version}
	}
	for i, version := range versions {
		if missing := fact.missingIn(version, api.Fields); i == 0 || len(missing) < len(fields.missing) {
			fields.missing, fields.version = missing, version
		}
	}
	return fields
}

// missingIn returns the fields that the schema of a version certainly lacks, in ascending order.
func (f *APIFact) missingIn(version string, paths []string) []string {
	var missing []string
	for _, path := range paths {
		field, reported := f.Fields[path]
		if reported && field.Exists != metav1.ConditionUnknown && !slices.Contains(field.Versions, version) {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// explain returns the reason why the fields of a served API do not satisfy the edge. evaluateReported describes
// unreported.
func (f *apiFields) explain(api *addonv1alpha1.DependencyAPI, fact *APIFact, unreported string) string {
	absence := "no field "
	if len(f.missing) > 1 {
		absence = "no fields "
	}
	absence += strings.Join(f.missing, ", ")
	switch multiple := api.Version == "" && len(fact.Versions) > 1; {
	case len(f.missing) > 0 && multiple:
		return "served in " + strings.Join(fact.Versions, ", ") + ", but no version has all fields: the schema of " + f.version +
			" has " + absence
	case len(f.missing) > 0:
		return "served, but its schema has " + absence
	case f.unknownReason != "":
		return "served, but its fields are not known: " + f.unknownReason
	default:
		return "served, but its fields are not known: " + unreported
	}
}
