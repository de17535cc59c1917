package report

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// formatWaits returns a line for each wait of a report.
func formatWaits(report *DependencyReport) string {
	if report == nil {
		return ""
	}
	var lines []string
	for _, wait := range report.Waiting {
		line := fmt.Sprintf("%s %s from %s to %s since %s", wait.AddOn, wait.Kind, Templated(wait.RunningTemplate, wait.RunningVersion),
			Templated(wait.Template, wait.Version), wait.Since.Format("15:04"))
		for _, edge := range wait.Dependencies {
			line += fmt.Sprintf("; %s wants %s: %s, %s", edge.Dependency, edge.Wanted, edge.Verdict, edge.Found)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// waitingUpgrade returns a cluster on which gateway runs v1 while v2 waits. v2 needs base >= 2 and other.
func waitingUpgrade() (*whatif.Evaluation, whatif.Cluster, fleet.Waiting) {
	evaluator := whatif.New(evaluation.New(catalog.New(
		[]addonv1alpha1.ClusterManagementAddOn{
			fixture.Deployed(fixture.Registration("gateway", fixture.Required("base"))), fixture.Registration("base"),
		},
		fixture.Template("gateway", "v2", `[{name: base, version: ">= 2"}, {name: other}, {name: nice, type: Optional}]`),
	)))
	cluster := managed("gateway base")
	gateway := cluster.AddOns["gateway"]
	gateway.Template = versions.Templates{Name: "v1", Running: "1.0.0"}
	cluster.AddOns["gateway"] = gateway
	return evaluator, cluster, fleet.Waiting{
		AddOn: "gateway", Kind: dependencyv1alpha1.WaitUpgrade, Since: fixture.Earlier,
		Running: fleet.Template{Name: "v1", Version: "1.0.0"}, Template: fleet.Template{Name: "v2", Version: "2.0.0"},
	}
}

func TestWaits(t *testing.T) {
	upgrading, upgradingCluster, upgrade := waitingUpgrade()
	chain := settled(fixture.Registrations("a: b c?, b, c")...)
	installation := fleet.Waiting{AddOn: "a", Kind: dependencyv1alpha1.WaitInstallation, Since: fixture.Earlier}
	for name, test := range map[string]struct {
		declared  *whatif.Evaluation
		cluster   whatif.Cluster
		waiting   []fleet.Waiting
		want      string
		summaries string // failing, waiting, unsatisfied and pending
	}{
		"Nothing": {chain, managed("a b c"), nil, "", ""},
		"Installation": {
			chain, managed("a"),
			[]fleet.Waiting{installation},
			"a Installation from  to  since 10:00; b wants add-on b: NotInstalled, not installed", "1 1 2 0",
		},
		"InstallationAboutToBegin": {
			chain, managed("a b c"),
			[]fleet.Waiting{installation},
			"a Installation from  to  since 10:00", "0 1 0 0",
		},
		"Upgrade": {
			upgrading, upgradingCluster,
			[]fleet.Waiting{upgrade},
			"gateway Upgrade from v1 (1.0.0) to v2 (2.0.0) since 10:00; " +
				"base wants add-on base >= 2: VersionMismatch, version 1.0 from its ManagedClusterAddOn; " +
				"other wants add-on other: NotInstalled, not installed: it has no ClusterManagementAddOn on this hub", "0 1 0 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			evaluatedCluster := EvaluateCluster(test.declared, test.cluster)
			evaluatedCluster.Waiting = test.waiting
			report := evaluatedCluster.Report(onlyUnsatisfied, nil)
			if got := formatWaits(report); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			summaries := ""
			if report != nil {
				summary := report.Summary
				summaries = fmt.Sprint(summary.Failing, summary.Waiting, summary.Unsatisfied, summary.Pending)
			}
			if summaries != test.summaries {
				t.Errorf("counted %q, want %q", summaries, test.summaries)
			}
		})
	}
}

// While a cluster is lost, a report keeps the edges that were last waited for.
func TestHeldWaits(t *testing.T) {
	evaluator, cluster, waiting := waitingUpgrade()
	report := func(cluster whatif.Cluster, stored *DependencyReport) *DependencyReport {
		evaluatedCluster := EvaluateCluster(evaluator, cluster)
		evaluatedCluster.Waiting = []fleet.Waiting{waiting}
		return evaluatedCluster.Report(allEdges, stored)
	}
	stored := report(cluster, nil)
	cluster.Available = metav1.ConditionUnknown
	if got, want := formatWaits(report(cluster, stored)), formatWaits(stored); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := formatWaits(report(cluster, nil)); !strings.Contains(got, ": Held, ") {
		t.Errorf("without a report before:\n%s", got)
	}
}
