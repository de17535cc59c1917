package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/report"
)

func TestReferenceHasTheRulesOfLint(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "docs/reference.md"), "\n### Rules of lint\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, rule := range report.LintRules {
		if row := fmt.Sprintf("| `%s` | %s | %s |\n", rule.Name, rule.Severity, rule.Description); !strings.Contains(section, row) {
			t.Errorf("reference.md has no row %s", row)
		}
	}
	if rows := strings.Count(section, "\n| `"); rows != len(report.LintRules) {
		t.Errorf("reference.md has %d rules, the code %d", rows, len(report.LintRules))
	}
	for _, problem := range declaration.ProblemReasons {
		if !slices.ContainsFunc(report.LintRules, func(rule report.LintRule) bool { return rule.Name == review.Rule(problem) }) {
			t.Errorf("no rule describes the problem %s", problem)
		}
	}
}
