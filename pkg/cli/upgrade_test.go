package cli

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

func writeWishes(t *testing.T, addOns string) {
	t.Helper()
	wishes := "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\n" + addOns
	if err := os.WriteFile("addons.yaml", []byte(wishes), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestUpgradeShowsMoves(t *testing.T) {
	resolvable(t)
	expectRun(t, "upgrade",
		"kubectl addon upgrade: addons.lock: there is no lock yet: kubectl addon resolve writes it", "exit code 2")
	writeWishes(t, "addOns: [{name: gateway}, {name: proxy, version: < 3}]\n")
	expectRun(t, "resolve", "CLUSTERS")
	original, err := os.ReadFile("addons.lock")
	if err != nil {
		t.Fatal(err)
	}
	expectRun(t, "upgrade", "0 changes.\naddons.lock is current.\n")

	writeWishes(t, "addOns: [{name: proxy}]\n")
	want := "CLUSTERS   ADD-ON    FROM    TO      BECAUSE\n" +
		"default    gateway   1.0.0   -       no wish and no chosen add-on needs it\n" +
		"default    proxy     2.0.0   3.0.0   wanted\n" +
		"2 changes.\n"
	expectRun(t, "upgrade", want+"addons.lock stays as it is: --write writes it.\n")
	if current, err := os.ReadFile("addons.lock"); err != nil || string(current) != string(original) {
		t.Errorf("the lock was written without --write: %v", err)
	}
	expectRun(t, "upgrade -o jsonpath={.moves[1].to}{.items}", "3.0.0[]")
	expectRun(t, "upgrade --write", want+"addons.lock was written.\n")
	expectRun(t, "upgrade --write", "0 changes.\naddons.lock is current.\n")

	writeWishes(t, "addOns: [{name: gateway}, {name: proxy, version: < 3}]\n")
	expectRun(t, "upgrade", "CLUSTERS", "default    gateway   -       1.0.0   wanted\n",
		"default    proxy     3.0.0   2.0.0   3.0.0 is passed over: it is wanted in version '< 3'; wanted in version '< 3'")
	writeWishes(t, "addOns: [{name: gateway}, {name: proxy, version: < 2}]\n")
	expectRun(t, "upgrade --write", "kubectl addon upgrade: on clusters of kind default, this wish cannot be satisfied", "exit code 1")
}

// tiers has two kinds of clusters.
const tiers = "clusterKinds: [{name: edge, labels: {tier: edge}}, {name: core, labels: {tier: core}}]\n"

// upgradable writes a lock with proxy 2.0.0 for clusters of two kinds, and requests 3.0.0. It returns a fleet.
func upgradable(t *testing.T) snapshot.Content {
	t.Helper()
	resolvable(t)
	writeWishes(t, tiers+"addOns: [{name: proxy, version: < 3}]\n")
	expectRun(t, "resolve", "CLUSTERS")
	writeWishes(t, tiers+"addOns: [{name: proxy, version: < 3, clusterKinds: [core]}, {name: proxy, clusterKinds: [edge]}]\n")
	edge := fixture.Required("proxy")
	edge.Version = "< 3"
	content := snapshot.Content{
		Taken: fixture.Now.Time,
		Registrations: []addonv1alpha1.ClusterManagementAddOn{
			fixture.Registration("old-user", edge), fixture.Versioned(fixture.Registration("proxy"), "2.0.0"),
		},
		Clusters: []clusterv1.ManagedCluster{
			cluster("cluster1", "edge", metav1.ConditionTrue), cluster("cluster2", "core", metav1.ConditionTrue),
			cluster("cluster3", "test", metav1.ConditionTrue), cluster("cluster4", "edge", metav1.ConditionUnknown),
			cluster("cluster5", "edge", metav1.ConditionTrue),
		},
	}
	for _, name := range []string{"cluster1", "cluster2", "cluster3", "cluster4", "cluster5"} {
		for _, addOn := range []string{"proxy", "old-user"} {
			if name != "cluster5" || addOn == "proxy" {
				content.AddOns = append(content.AddOns, installed(name, addOn, true, "Running", 1))
			}
		}
	}
	return content
}

func TestUpgradeTriesFleet(t *testing.T) {
	fleet := upgradable(t)
	original, err := os.ReadFile("addons.lock")
	if err != nil {
		t.Fatal(err)
	}
	expectRun(t, "upgrade --write --from "+file(t, fleet), "CLUSTERS   ADD-ON   FROM    TO      BECAUSE\n"+
		"edge       proxy    2.0.0   3.0.0   wanted\n\n"+
		"These dependencies would become unsatisfied:\n"+
		"KIND   ADD-ON     DEPENDENCY   NOW         THEN              CLUSTERS\n"+
		"edge   old-user   proxy        Satisfied   VersionMismatch   1: cluster1\n"+
		"1 change, tried on 4 managed clusters, 1 that cannot be reached, 1 of no kind in the lock.\n"+
		"kubectl addon upgrade: addons.lock: dependencies would become unsatisfied, so it stays as it is\n", "exit code 1")
	if current, err := os.ReadFile("addons.lock"); err != nil || string(current) != string(original) {
		t.Errorf("the lock was written nevertheless: %v", err)
	}
	// If all kinds have a release, clusters without a kind also get it.
	writeWishes(t, tiers+"addOns: [{name: proxy}]\n")
	expectRun(t, "upgrade --from "+file(t, fleet)+" -o jsonpath={range.items[*]}{.clusterKind}:{.clusters}:{.breaks},{end}",
		`:["cluster3"]:true,core:["cluster2"]:true,edge:["cluster1"]:true,`, "exit code 1")
	expectRun(t, "upgrade --live --server http://127.0.0.1:1", "kubectl addon upgrade: ", "connection refused", "exit code 3")

	fleet.AddOns = fleet.AddOns[8:]
	expectRun(t, "upgrade --write --from "+file(t, fleet), "CLUSTERS", "2 changes, tried on 4 managed clusters", "addons.lock was written.\n")
}

// TestUpgradeTriesDeclarationsOfTemplates tests that the declaration of a new AddOnTemplate replaces the old one on clusters where the
// new AddOnTemplate would run.
func TestUpgradeTriesDeclarationsOfTemplates(t *testing.T) {
	resolvable(t)
	for version, declares := range map[string]string{"1.0.0": "[]", "2.0.0": "[{name: proxy}]"} {
		content := "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\nmetadata: {name: agent}\nspec:\n" +
			"  installStrategy: {type: Manual}\n  supportedConfigs:\n  - {group: addon.open-cluster-management.io, resource: addontemplates}\n" +
			"---\napiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\nmetadata:\n  name: agent-" + version +
			"\n  annotations:\n    dependency.addon.open-cluster-management.io/version: " + version +
			"\n    dependency.addon.open-cluster-management.io/dependencies: '" + declares + "'\nspec: {addonName: agent}\n"
		if err := os.WriteFile("agent.yaml", []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		expectRun(t, "index build agent.yaml", "agent "+version+" was added\n")
	}
	writeWishes(t, "addOns: [{name: agent, version: < 2}]\n")
	expectRun(t, "resolve", "CLUSTERS")
	writeWishes(t, "addOns: [{name: agent}]\n")
	fleet := snapshot.Content{
		Taken:         fixture.Now.Time,
		Registrations: []addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("agent")), fixture.Registration("other")},
		Clusters:      []clusterv1.ManagedCluster{cluster("cluster1", "edge", metav1.ConditionTrue)},
		AddOns:        []*addonv1alpha1.ManagedClusterAddOn{installed("cluster1", "agent", true, "Running", 1)},
	}
	// proxy would be installed too, so nothing breaks.
	expectRun(t, "upgrade --from "+file(t, fleet), "CLUSTERS", "default    agent    1.0.0   2.0.0   wanted\n",
		"default    proxy    -       3.0.0   agent 2.0.0 requires proxy\n",
		"2 changes, tried on 1 managed cluster.\n")
	expectRun(t, "upgrade -o jsonpath={.items[*].edge}:{.items[*].after} --from "+file(t, fleet), "proxy:Satisfied")
}
