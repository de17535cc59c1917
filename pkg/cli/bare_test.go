package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/picture"
)

// bareHub returns the fleet of hub as OCM alone reports it: no add-on is Degraded because of its dependencies, and add-ons whose
// dependencies fail are available, because their agents work.
func bareHub() snapshot.Content {
	content := hub()
	content.WithoutInterlock = true
	for i := range content.AddOns {
		conditions := content.AddOns[i].Status.Conditions
		conditions = slices.DeleteFunc(conditions, func(c metav1.Condition) bool { return c.Type == "Degraded" })
		if conditions[0].Reason == condition.Reasons[0] {
			conditions[0].Status, conditions[0].Reason = metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated"
		}
		content.AddOns[i].Status.Conditions = conditions
	}
	return content
}

// TestWhyOnHubWithoutInterlock tests the output and the picture that the README shows.
func TestWhyOnHubWithoutInterlock(t *testing.T) {
	fleet := file(t, bareHub())
	compare(t, strings.ReplaceAll(run(t, "why", "--from", fleet), fleet, "fleet.json"), filepath.Join("testdata", "bare", "why.txt"))
	colored := runOn(t, terminal.Screen{Width: 80, Colored: true}, "why", "--from", fleet)
	picture.Compare(t, "../../docs/terminal/why-bare-80.svg", picture.SVG("kubectl addon why", fileNote.ReplaceAllString(colored, ""), 80))
}

// TestNotKnownWithoutInterlock tests that verdicts on the reports of addon-agent are held, and are no failures.
func TestNotKnownWithoutInterlock(t *testing.T) {
	content := bareHub()
	api := `[{"name": "widgets", "api": {"group": "example.com", "kind": "Widget"}}]`
	content.Registrations[0].Annotations = map[string]string{"addon.open-cluster-management.io/dependencies": api}
	addOn, fleet := content.Registrations[0].Name, file(t, content)
	got := run(t, "why", addOn, "--from", fleet)
	for _, want := range []string{
		"No root cause of " + addOn + " is known", "verdicts on dependencies are not known, such as " + addOn, ": widgets\n",
		"Interlock is not installed on this hub",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestNoDeclarations(t *testing.T) {
	content := bareHub()
	for i := range content.Registrations {
		content.Registrations[i].Annotations, content.Registrations[i].Spec.Dependencies = nil, nil
	}
	expectRun(t, "why --from "+file(t, content), "No add-on declares dependencies on 49 managed clusters (without ",
		"run   kubectl addon suggest")
}
