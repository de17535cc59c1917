package doctor

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestInstallations(t *testing.T) {
	labeled := func(c *snapshot.Content) {
		base := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "base"}}
		base.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyPlacements
		base.Spec.InstallStrategy.Placements = []ocmv1alpha1.PlacementStrategy{
			{PlacementRef: ocmv1alpha1.PlacementRef{Namespace: "p", Name: "p"}},
		}
		c.Registrations = append(c.Registrations, base)
		c.Placements, c.PlacementsRead = []clusterv1beta1.Placement{fixture.Consenting("p", "p", "base")}, true
		if c.Clusters[0].Labels == nil {
			c.Clusters[0].Labels = map[string]string{}
		}
		c.Clusters[0].Labels[catalog.InstallLabel("base")] = "true"
	}
	runCases(t, "installations", map[string]testCase{
		"a label of another writer, or of an add-on that was taken over": {func(_ objects, c *snapshot.Content) { labeled(c) }, []string{
			"- Labels of ManagedClusters that install add-ons, and that Interlock does not withdraw, because they have no AddOnInstallation: 1, " +
				"such as base on cluster1" +
				" → kubectl get managedcluster cluster1 -o yaml --show-managed-fields",
		}},
	})
	own := diagnoseChanged(t, func(_ objects, c *snapshot.Content) {
		labeled(c)
		c.Installations = []dependencyv1alpha1.AddOnInstallation{{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "base"}}}
	})
	if got := resultsOf(own, "installations"); got != "" {
		t.Errorf("Interlock's own label: %s", got)
	}
}
