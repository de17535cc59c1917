package deployment

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Whoever gets an alert may not reach a link. Alertmanager's message then has the command that prints the page.
func TestEveryAlertNamesThePageThatIsInstalled(t *testing.T) {
	release, _, err := Render("elsewhere", "alerts: {enabled: true}")
	if err != nil {
		t.Fatal(err)
	}
	rendered := objects{}
	for _, document := range release {
		rendered.add(t, document)
	}
	pages, _ := rendered["ConfigMap/elsewhere/interlock-runbook"]["data"].(object)
	content, err := yaml.Marshal(rendered["PrometheusRule/elsewhere/interlock"])
	if err != nil {
		t.Fatal(err)
	}
	var rule struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert       string
					Annotations struct{ Runbook string }
				}
			}
		}
	}
	if err := yaml.Unmarshal(content, &rule); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, group := range rule.Spec.Groups {
		for _, alert := range group.Rules {
			if alert.Alert == "" {
				continue
			}
			checked++
			if page, _ := pages[alert.Alert].(string); !strings.Contains(page, "\nRepair. ") {
				t.Errorf("the page of %s is %q", alert.Alert, page)
			}
			want := fmt.Sprintf("kubectl addon runbook %[1]s; without the plugin, on the hub: "+
				"kubectl -n elsewhere get configmap interlock-runbook -o jsonpath='{.data.%[1]s}'", alert.Alert)
			if alert.Annotations.Runbook != want {
				t.Errorf("%s has the runbook %q, expected %q", alert.Alert, alert.Annotations.Runbook, want)
			}
		}
	}
	if checked < 18 {
		t.Errorf("only %d alerts", checked)
	}
}

// A link is there only if an administrator names a page that exists.
func TestAlertsAndDashboardLinkOnlyTheRunbookOfTheValues(t *testing.T) {
	for values, want := range map[string]int{
		"":                                     0,
		"https://wiki.example.com/interlock":   19,
		"http://wiki.example.com:8080/runbook": 19,
	} {
		release, _ := chart(t, "{dashboard: {enabled: true}, alerts: {enabled: true, runbook: '"+values+"'}}")
		content, err := yaml.Marshal([]object{release["PrometheusRule/"+namespace+"/interlock"], release["ConfigMap/"+namespace+"/interlock-dashboard"]})
		if err != nil {
			t.Fatal(err)
		}
		links := regexp.MustCompile(`https?://[^\s"#]+`).FindAllString(string(content), -1)
		for _, link := range links {
			if link != values {
				t.Errorf("with %q, there is a link to %s", values, link)
			}
		}
		if len(links) != want {
			t.Errorf("with %q, there are %d links, expected %d", values, len(links), want)
		}
	}
}
