package manifest

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/report"
)

// Errors returns the errors that lint finds in add-ons, each add-on judged by itself: its ClusterManagementAddOn, and the AddOnTemplates
// that name it.
func Errors(objects []Object) []report.LintFinding {
	var addOns []string
	byAddOn := map[string]*Files{}
	for i := range objects {
		read := &objects[i]
		raw, err := read.MarshalJSON()
		if err != nil {
			return []report.LintFinding{broken(read.Path, 0, err)}
		}
		typeMeta := metav1.TypeMeta{APIVersion: read.GetAPIVersion(), Kind: read.GetKind()}
		if !isJudged(typeMeta) {
			continue
		}
		name := addOnOf(read)
		if byAddOn[name] == nil {
			byAddOn[name] = &Files{}
			addOns = append(addOns, name)
		}
		origin := read.origin
		origin.path = read.Path
		byAddOn[name].decodeObject(object{typeMeta, raw}, origin)
	}
	var findings []report.LintFinding
	for _, name := range addOns {
		for _, finding := range byAddOn[name].Lint(nil, false).Items {
			if finding.Severity == report.SeverityError {
				findings = append(findings, finding)
			}
		}
	}
	return findings
}

// addOnOf returns the add-on of a ClusterManagementAddOn or of an AddOnTemplate.
func addOnOf(object *Object) string {
	if owner, ok, _ := unstructured.NestedString(object.Object, "spec", "addonName"); ok && object.GetKind() == templateKind {
		return owner
	}
	return object.GetName()
}

// serverRules are the rules for which only an API server refuses an object, by its version of the CRD.
var serverRules = []string{string(report.RuleUnknownField), string(report.RuleInvalidValue)}

// IsServers reports whether a finding is about what an API server accepts. What a hub has stored, it accepts.
func IsServers(finding report.LintFinding) bool {
	return slices.Contains(serverRules, string(finding.Rule))
}
