package catalog

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp/cmpopts"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

type list = []addonv1alpha1.AddonDependency

// exported ignores the compiled parts of a declaration in comparisons.
var exported = cmpopts.IgnoreFields(declaration.Declaration{}, "Edges", "Platform")

func catalogOf(text string) *Catalog { return New(fixture.Registrations(text)) }

// reasonsOf lists the reasons of problems in their order.
func reasonsOf(problems []declaration.Problem) []declaration.ProblemReason {
	var reasons []declaration.ProblemReason
	for _, problem := range problems {
		reasons = append(reasons, problem.Reason)
	}
	return reasons
}

func checkProblems(t *testing.T, problems []declaration.Problem) {
	t.Helper()
	for _, problem := range problems {
		text := problem.Message
		if len(text) > declaration.MaxProblem || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\t") {
			t.Errorf("a problem's text must be valid, on one line, at most %d bytes: %d bytes: %q", declaration.MaxProblem, len(text), text)
		}
	}
}
