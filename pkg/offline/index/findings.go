package index

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// Findings judges the objects of releases: an API server has to take each of them, and a release has each of them once. It ignores objects
// that belong to no add-on, or to one of several. Declarations are judged elsewhere.
func Findings(objects []manifest.Object) []report.LintFinding {
	isOther := func(object manifest.Object) bool { return !isKind(object.Object, registrationKind) }
	registrations := slices.DeleteFunc(slices.Clone(objects), isOther)
	var findings []report.LintFinding
	first := map[[2]string]*manifest.Object{}
	for i := range objects {
		object := &objects[i]
		if isKind(object.Object, registrationKind) {
			continue // lint judges it, and Build refuses two
		}
		owner, err := ownerOf(*object, registrations)
		if err != nil || owner == "" {
			continue // Build reports the error
		}
		wrong := wrongIn(object)
		if key := [2]string{owner, identityOf(object.Object)}; first[key] == nil {
			first[key] = object
		} else if isChanged(first[key], object) {
			wrong = append(wrong, twice(first[key], object))
		}
		for _, finding := range wrong {
			finding.Path, finding.Line, finding.AddOn = object.Path, object.Line(finding.Field), owner
			findings = append(findings, finding)
		}
	}
	return findings
}

// isChanged reports whether two objects have different contents, apart from the fields that a hub adds.
func isChanged(a, b *manifest.Object) bool {
	return !reflect.DeepEqual(withoutHubFields(a.DeepCopy()).Object, withoutHubFields(b.DeepCopy()).Object)
}

// twice is the finding for an object that a release has with two contents. An object without a name is found for that.
func twice(first, second *manifest.Object) report.LintFinding {
	return report.LintFinding{
		Severity: report.SeverityError,
		Rule:     report.RuleDuplicateObject,
		Field:    "metadata.name",
		Message: fmt.Sprintf("%s %s is in %s too, with another content: a release has it once, so remove or rename one of them",
			text.Name(second.GetKind()), cmp.Or(text.Name(second.GetName()), "without a name"), text.OneLine(first.Location("metadata.name"))),
	}
}
