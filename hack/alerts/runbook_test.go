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
	for _, at := range headings.FindAllStringSubmatchIndex(page, -1) {
		body, _, _ := strings.Cut(page[at[1]:], "\n### ")
		body, _, _ = strings.Cut(body, "\n## ")
		sections[strings.ToLower(page[at[2]:at[3]])] = body
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
			anchor, found := strings.CutPrefix(rule.Annotations["runbook_url"], runbook)
			if !found || anchor != strings.ToLower(rule.Alert) {
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

// The verdicts are those of docs/reference.md, which a test of docs compares with the code.
func TestEveryVerdictIsInTheRunbook(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/reference.md"), "#### Verdicts and messages")
	table, _, _ = strings.Cut(table, "\n#### ")
	page := read(t, "docs/runbook.md")
	found := verdict.FindAllStringSubmatch(table, -1)
	for _, match := range found {
		if !strings.Contains(page, "### `"+match[1]+"`\n") {
			t.Errorf("docs/runbook.md has no entry for the verdict %s", match[1])
		}
	}
	if len(found) < 10 {
		t.Errorf("found the verdicts %v", found)
	}
}
