package manifest

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/report"
)

// Errors returns the errors that lint finds in add-ons, each add-on judged by itself: its ClusterManagementAddOn, and the AddOnTemplates
// that name it.
func Errors(objects []Object) []report.LintFinding {
	var addOns []string
	byAddOn := map[string][]Object{}
	for i := range objects {
		name := addOnOf(&objects[i])
		if byAddOn[name] == nil {
			addOns = append(addOns, name)
		}
		byAddOn[name] = append(byAddOn[name], objects[i])
	}
	var findings []report.LintFinding
	for _, name := range addOns {
		findings = append(findings, slices.DeleteFunc(lintOf(byAddOn[name]), func(finding report.LintFinding) bool {
			return finding.Severity != report.SeverityError
		})...)
	}
	return findings
}

// Warnings returns what else lint finds in add-ons that have no errors by themselves, such as a cycle of several add-ons. It leaves out
// dependencies that are registered elsewhere, and advice on messages.
func Warnings(objects []Object) []report.LintFinding {
	ignored := []review.Rule{review.Rule(declaration.ProblemNotRegistered), review.RuleNoMessage}
	return slices.DeleteFunc(lintOf(objects), func(finding report.LintFinding) bool { return slices.Contains(ignored, finding.Rule) })
}

// lintOf returns the findings on objects together.
func lintOf(objects []Object) []report.LintFinding {
	var files Files
	for i := range objects {
		read := &objects[i]
		raw, err := read.MarshalJSON()
		if err != nil {
			return []report.LintFinding{broken(read.Path, 0, err)}
		}
		typeMeta := metav1.TypeMeta{APIVersion: read.GetAPIVersion(), Kind: read.GetKind()}
		if isJudged(typeMeta) {
			origin := read.origin
			origin.path = read.Path
			files.decodeObject(object{typeMeta, raw}, origin)
		}
	}
	return files.Lint(nil, false).Items
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
