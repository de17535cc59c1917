package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// hub returns a fleet of 50 managed clusters. On the 30 clusters on AWS, managed-serviceaccount
// is silent. cluster-gateway and multicluster-kueue-manager fail there because of it, and
// on cluster01 application-portal because of cluster-gateway. On cluster40, the dependency
// of config-policy-controller is missing. cluster50 cannot be reached.
func hub() snapshot.Content {
	content := snapshot.Content{Taken: fixture.Now.Time, Registrations: fixture.Registrations(
		"managed-serviceaccount, cluster-gateway: managed-serviceaccount cluster-proxy?, multicluster-kueue-manager: managed-serviceaccount, " +
			"application-portal: cluster-gateway, config-policy-controller: governance-policy-framework, governance-policy-framework")}
	for i := 1; i <= 50; i++ {
		name, onAWS := fmt.Sprintf("cluster%02d", i), i <= 30
		content.Clusters = append(content.Clusters, managedCluster(name, onAWS, i < 50))
		add := func(addOn string, available bool, reason string) {
			content.AddOns = append(content.AddOns, installed(name, addOn, available, reason, i))
		}
		if onAWS {
			add("managed-serviceaccount", false, "ManagedClusterAddOnLeaseUpdateStopped")
		} else {
			add("managed-serviceaccount", true, "ManagedClusterAddOnLeaseUpdated")
		}
		for _, addOn := range []string{"cluster-gateway", "multicluster-kueue-manager"} {
			if onAWS {
				add(addOn, false, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied)
			} else {
				add(addOn, true, "ManagedClusterAddOnLeaseUpdated")
			}
		}
		add("cluster-proxy", true, "ManagedClusterAddOnLeaseUpdated")
	}
	content.AddOns = append(content.AddOns,
		installed("cluster01", "application-portal", false, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, 1),
		installed("cluster40", "config-policy-controller", false, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, 40))
	return content
}

func managedCluster(name string, onAWS, reached bool) clusterv1.ManagedCluster {
	cluster := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	cluster.Labels = map[string]string{"name": name, "vendor": "OpenShift"}
	platform, status := "Azure", metav1.ConditionUnknown
	if onAWS {
		platform = "AWS"
	}
	if reached {
		status = metav1.ConditionTrue
	}
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{
		{Name: "id.k8s.io", Value: name}, {Name: "platform.open-cluster-management.io", Value: platform},
	}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
	return cluster
}

// installed returns an add-on whose condition has changed this number of seconds ago.
func installed(cluster, name string, available bool, reason string, seconds int) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	status := metav1.ConditionFalse
	if available {
		status = metav1.ConditionTrue
	}
	changed := metav1.NewTime(fixture.Now.Add(-10*time.Minute - time.Duration(seconds)*time.Second))
	addOn.Status.Conditions = []metav1.Condition{{Type: "Available", Status: status, Reason: reason, LastTransitionTime: changed}}
	if reason == condition.Reasons[0] {
		addOn.Status.Conditions = append(addOn.Status.Conditions,
			metav1.Condition{Type: "Degraded", Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: changed})
	}
	return addOn
}

// file writes a snapshot for --from.
func file(t *testing.T, content snapshot.Content) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fleet.json")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := content.Write(out); err != nil {
		t.Fatal(err)
	}
	return path
}
