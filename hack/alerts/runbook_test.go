package alerts

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

const runbook = "https://github.com/open-cluster-management-io/interlock/blob/main/docs/runbook.md#"

var (
	headings = regexp.MustCompile("(?m)^### `?([A-Za-z]+)`?$")
	verdict  = regexp.MustCompile("(?m)^\\| `([A-Z][A-Za-z]+)` \\|.*\\|$")
)

func TestEveryAlertIsComplete(t *testing.T) {
	sections := map[string]string{}
	page := read(t, "docs/runbook.md")
	for _, match := range headings.FindAllStringSubmatchIndex(page, -1) {
		body, _, _ := strings.Cut(page[match[1]:], "\n### ")
		body, _, _ = strings.Cut(body, "\n## ")
		sections[strings.ToLower(page[match[2]:match[3]])] = body
	}
	_, groups := ruleFile(t)
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				continue
			}
			if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) {
				t.Errorf("%s has severity %q", rule.Alert, rule.Labels["severity"])
			}
			for _, annotation := range []string{"summary", "description"} {
				if rule.Annotations[annotation] == "" {
					t.Errorf("%s has no %s", rule.Alert, annotation)
				}
			}
			anchor, ok := strings.CutPrefix(rule.Annotations["runbook_url"], runbook)
			if !ok || anchor != strings.ToLower(rule.Alert) {
				t.Errorf("%s has the runbook %q", rule.Alert, rule.Annotations["runbook_url"])
			}
			for _, part := range []string{"**Meaning.**", "**Look.**", "**Repair.**"} {
				if !strings.Contains(sections[anchor], part) {
					t.Errorf("docs/runbook.md has no %s of %s", part, rule.Alert)
				}
			}
		}
	}
}

// The list of verdicts is in docs/reference.md. A test of docs compares it with the code.
func TestEveryVerdictIsInTheRunbook(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/reference.md"), "#### Verdicts and messages")
	table, _, _ = strings.Cut(table, "\n#### ")
	page := read(t, "docs/runbook.md")
	verdicts := verdict.FindAllStringSubmatch(table, -1)
	for _, match := range verdicts {
		if !strings.Contains(page, "### `"+match[1]+"`\n") {
			t.Errorf("docs/runbook.md has no entry for the verdict %s", match[1])
		}
	}
	if len(verdicts) < 10 {
		t.Errorf("found the verdicts %v", verdicts)
	}
}
