package alerts

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

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
	var pages struct{ Data map[string]string }
	if err := yaml.Unmarshal([]byte(read(t, "deploy/alerts/runbook.yaml")), &pages); err != nil {
		t.Fatal(err)
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
			if !strings.HasPrefix(rule.Annotations["runbook"], "kubectl addon runbook "+rule.Alert+";") {
				t.Errorf("%s has the runbook %q", rule.Alert, rule.Annotations["runbook"])
			}
			for _, part := range []string{"Meaning.", "Look.", "Repair."} {
				if !strings.Contains(sections[strings.ToLower(rule.Alert)], "**"+part+"**") {
					t.Errorf("docs/runbook.md has no %s of %s", part, rule.Alert)
				}
				if !strings.Contains(pages.Data[rule.Alert], "\n"+part) {
					t.Errorf("deploy/alerts/runbook.yaml has no %s of %s", part, rule.Alert)
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
