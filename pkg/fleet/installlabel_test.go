package fleet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/fleet"
)

func TestInstallLabels(t *testing.T) {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		"tier": "edge",
		"install.dependency.addon.open-cluster-management.io/tunnel": "true",
		"install.dependency.addon.open-cluster-management.io/base":   "",
		"dependency.addon.open-cluster-management.io/base":           "true",
	}}}
	if diff := cmp.Diff([]string{"base", "tunnel"}, fleet.InstallLabels(cluster)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
