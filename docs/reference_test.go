// Package docs checks that reference.md names all that users can see.
package docs

import (
	"maps"
	"os"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/agent/addonevents"
	agentmetrics "open-cluster-management.io/interlock/pkg/agent/metrics"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/compat/guard/installer"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/degraded"
	"open-cluster-management.io/interlock/pkg/hub/facts"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/records"
	"open-cluster-management.io/interlock/pkg/hub/webhookca"
	"open-cluster-management.io/interlock/pkg/names"
)

func TestReferenceNamesEverythingVisible(t *testing.T) {
	page, err := os.ReadFile("reference.md")
	if err != nil {
		t.Fatal(err)
	}
	visible := []string{
		addonv1alpha1.DependenciesAnnotation, addonv1alpha1.AddOnVersionAnnotation, addonv1alpha1.FormerVersionAnnotation,
		addonv1alpha1.TemplateVersionLabel, names.OCMVersion, degraded.EventContested,
		crdgraft.RecordAnnotation, crdgraft.RemovalsAnnotation, graft.MarkAnnotation,
		addonv1alpha1.RecordAnnotation, records.EventRestored, records.EventRemoved,
		facts.EventNotServed, webhookca.EventRefused,
	}
	for _, reason := range dependencyv1alpha1.FactReasons {
		visible = append(visible, string(reason))
	}
	visible = append(visible, condition.Reasons...)
	visible = append(visible, addonevents.Reasons...)
	for _, reason := range graft.Reasons {
		visible = append(visible, string(reason))
	}
	for _, verdict := range evaluation.Verdicts {
		visible = append(visible, string(verdict))
	}
	for _, problem := range declaration.ProblemReasons {
		visible = append(visible, string(problem))
	}
	for _, form := range installer.Forms {
		visible = append(visible, string(form))
	}
	for _, name := range visible {
		if !strings.Contains(string(page), name+"`") {
			t.Errorf("reference.md does not name `%s`", name)
		}
	}
	help := maps.Clone(metrics.Help)
	maps.Copy(help, agentmetrics.Help)
	help[installer.NameGuard] = installer.HelpGuard
	maps.Copy(help, graft.Help)
	maps.Copy(help, records.Help)
	for name, help := range help {
		if !strings.Contains(string(page), "| `"+name+"` |") || !strings.Contains(string(page), help) {
			t.Errorf("reference.md does not tell of the metric %s: %s", name, help)
		}
	}
}
