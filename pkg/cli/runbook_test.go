package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// An SRE gets an alert, and has the plugin, but no repository and no network.
func TestRunbookHasEveryAlertVerdictAndReason(t *testing.T) {
	var names []string
	rules, err := os.ReadFile("../../deploy/alerts/prometheusrule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, alert := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		names = append(names, alert[1])
	}
	if len(names) < 18 {
		t.Fatalf("only the alerts %q", names)
	}
	for _, verdict := range evaluation.Verdicts {
		names = append(names, string(verdict))
	}
	helps := regexp.MustCompile("kubectl |see Interlock")
	for _, name := range append(names, condition.Reasons...) {
		if page := run(t, "runbook", name); !strings.HasPrefix(page, name+"\n\n") || !helps.MatchString(page) {
			t.Errorf("kubectl addon runbook %s prints\n%s", name, page)
		}
		if got := completed(t, "runbook", name); !strings.Contains(" "+got+" ", " "+name+" ") {
			t.Errorf("runbook %s is completed to %q", name, got)
		}
	}
	for _, args := range []string{"runbook a b", "runbook -o nothing"} {
		if got := run(t, strings.Fields(args)...); !strings.HasSuffix(got, "exit code 2\n") {
			t.Errorf("%s: %s", args, got)
		}
	}
}
