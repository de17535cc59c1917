package docs

import (
	"regexp"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/agent/addonevents"
	"open-cluster-management.io/interlock/pkg/author/dependent"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/facts"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/pkg/hub/records"
	"open-cluster-management.io/interlock/pkg/hub/status"
)

// hack/alerts finds each alert on the page.
func TestRunbookHasACommandForEachVerdict(t *testing.T) {
	page := read(t, "docs/runbook.md")
	for _, verdict := range evaluation.Verdicts {
		_, section, ok := strings.Cut(page, "\n### `"+string(verdict)+"`\n")
		section, _, _ = strings.Cut(section, "\n#")
		if !ok || !strings.Contains(section, "kubectl ") {
			t.Errorf("docs/runbook.md has no command for the verdict %s", verdict)
		}
	}
}

func TestRunbookHasACommandForEachReason(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "docs/runbook.md"), "\n## Reasons\n")
	reasons := []string{
		status.EventContested, status.EventStuck, facts.EventNotServed, records.EventRestored, records.EventRemoved, dependent.ReasonWaiting,
		policies.EventWaived, policies.EventWaiverEnded, policies.EventInvalid, policies.EventConflicting,
	}
	reasons = append(append(reasons, condition.Reasons...), addonevents.Reasons...)
	for _, problem := range declaration.ProblemReasons {
		reasons = append(reasons, string(problem))
	}
	for _, reason := range reasons {
		// A link leads to the entry of an alert, which has the command.
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + reason + "`[^|]*\\|[^|]*\\|.*(?:`kubectl |\\]\\(#interlock)").MatchString(section) {
			t.Errorf("docs/runbook.md has no command for the reason %s", reason)
		}
	}
}
