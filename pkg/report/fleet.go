package report

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// DependencyReports are the reports on managed clusters. A cluster without edges has no report.
type DependencyReports = dependencyv1alpha1.AddOnDependencyReportList

// OnClusters reports on the edges of a managed cluster, or of all without a name. It does not have the stored reports, so the verdicts
// on a lost cluster are Held.
func OnClusters(hub *snapshot.Snapshot, cluster string, scope dependencyv1alpha1.ReportScope) *DependencyReports {
	reports := &DependencyReports{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: dependencyv1alpha1.ReportKind.Kind + "List"},
		Items:    []DependencyReport{},
	}
	names := []string{cluster}
	if cluster == "" {
		names = hub.Names()
	}
	for _, name := range names {
		evaluatedCluster := EvaluateCluster(hub.Evaluation(), hub.Whole(name))
		evaluatedCluster.Waiting = hub.Waiting(name)
		if report := evaluatedCluster.Report(scope, nil); report != nil {
			reports.Items = append(reports.Items, *report)
		}
	}
	return reports
}
