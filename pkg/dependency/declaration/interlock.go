package declaration

import (
	stdjson "encoding/json"
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"

	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// forOther returns the problem of a declaration that is for another version of Interlock.
// parent is the path of its requirements. A range that cannot be read is another problem.
func forOther(interlock string, parent *field.Path) (Problem, bool) {
	if interlock == "" || utf8.RuneCountInString(interlock) > maxRange {
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

// interlockIn finds the range of versions of Interlock in an annotation, which may have
// fields that this version does not know. It is empty where there is none.
func interlockIn(annotation string) string {
	var object struct {
		Requirements struct {
			Interlock string `json:"interlock"`
		} `json:"requirements"`
	}
	var raw stdjson.RawMessage
	if tooLarge(annotation) != nil || hasAlias(annotation) || yaml.Unmarshal([]byte(annotation), &raw) != nil ||
		stdjson.Unmarshal(raw, &object) != nil {
		return "" // what is wrong with it is reported
	}
	return object.Requirements.Interlock
}
