package declaration

import (
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// forOther returns the problem of a declaration that is for another version of Interlock.
// parent is the path of its requirements. A range that cannot be read is another problem.
func forOther(interlock string, parent *field.Path) (Problem, bool) {
	if interlock == "" || utf8.RuneCountInString(interlock) > versions.MaxRange {
		return Problem{}, false
	}
	accepted, err := versions.ParseRange(interlock, nil)
	if err != nil || accepted.Mismatch(versions.Interlock) == "" {
		return Problem{}, false
	}
	return NewProblem(ProblemInterlockVersion, interlockPath(parent).String(),
		fmt.Sprintf("%s: the declaration is for Interlock %s, and this is %s", interlockPath(parent), text.Excerpt(interlock), versions.Interlock),
		"use an Interlock in that range; until then, conditions stay as they are"), true
}

func interlockPath(parent *field.Path) *field.Path { return parent.Child("requirements", "interlock") }
