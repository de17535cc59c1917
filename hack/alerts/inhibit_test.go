package alerts

import (
	"regexp"
	"testing"

	alertmanager "github.com/prometheus/alertmanager/config"
	"github.com/prometheus/common/model"
)

// Alertmanager accepts the rules of the runbook. They hide alerts that follow from an
// Interlock that does not run, and no alerts of others.
func TestInhibitRulesOfTheRunbook(t *testing.T) {
	block := regexp.MustCompile("(?s)```yaml\n(inhibit_rules:.*?)```").FindStringSubmatch(read(t, "docs/runbook.md"))
	if block == nil {
		t.Fatal("docs/runbook.md has no inhibit_rules")
	}
	loaded, err := alertmanager.Load("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n" + block[1])
	if err != nil {
		t.Fatal(err)
	}
	_, groups := ruleFile(t)
	hiding, hidden := 0, 0
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			labels := model.LabelSet{"alertname": model.LabelValue(rule.Alert), "severity": model.LabelValue(rule.Labels["severity"])}
			for _, inhibit := range loaded.InhibitRules {
				if matches(inhibit.SourceMatchers, labels) {
					hiding++
				}
				if matches(inhibit.TargetMatchers, labels) {
					hidden++
				}
				if matches(inhibit.TargetMatchers, model.LabelSet{"alertname": "KubePodCrashLooping", "severity": "warning"}) {
					t.Error("they hide alerts of others")
				}
			}
		}
	}
	if hiding < 2 || hidden == 0 {
		t.Errorf("%d alerts hide others, and %d are hidden", hiding, hidden)
	}
}

func matches(matchers alertmanager.Matchers, labels model.LabelSet) bool {
	for _, matcher := range matchers {
		if !matcher.Matches(string(labels[model.LabelName(matcher.Name)])) {
			return false
		}
	}
	return true
}
