package report

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// DependencyReports are the reports on all managed clusters that have something to report.
type DependencyReports = dependencyv1alpha1.AddOnDependencyReportList

// OnClusters reports on the edges of a managed cluster, or of all without a name. What a
// hub stores of a cluster that is lost is not known here: its verdicts are Held.
func OnClusters(of *snapshot.Snapshot, cluster string, scope dependencyv1alpha1.ReportScope) *DependencyReports {
	all := &DependencyReports{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: dependencyv1alpha1.ReportKind.Kind + "List"},
		Items:    []DependencyReport{},
	}
	names := []string{cluster}
	if cluster == "" {
		names = of.Names()
	}
	for _, name := range names {
		evaluated := EvaluateCluster(of.Evaluation(), of.Whole(name))
		evaluated.Waiting = of.Waiting(name)
		if found := evaluated.Report(scope, nil); found != nil {
			all.Items = append(all.Items, *found)
		}
	}
	return all
}
