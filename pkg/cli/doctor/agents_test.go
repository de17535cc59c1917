package doctor

import (
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestAgents(t *testing.T) {
	needed := func(_ objects, c *snapshot.Content) {
		c.AddOns[0].Name = "a"
		c.Registrations = append(c.Registrations, fixture.Annotated("a", "- name: api\n  api: {group: g.io, kind: K}\n"))
	}
	runCases(t, "agents", map[string]testCase{
		"available": {nil, []string{"✔ addon-agent is available on all managed clusters that have it: 1"}},
		"silent": {func(_ objects, c *snapshot.Content) { c.AddOns[0].Status.Conditions[0].Status = "Unknown" }, []string{
			"✖ addon-agent is not available on 1 of 1 managed clusters, such as cluster1",
			"→ kubectl describe managedclusteraddon interlock-agent -n cluster1",
		}},
		"not needed": {func(_ objects, c *snapshot.Content) { c.AddOns = nil }, []string{
			"- addon-agent is installed on no managed cluster",
			"→ docs/install.md#addon-agent",
		}},
		"a lost cluster": {func(_ objects, c *snapshot.Content) {
			c.AddOns[0].Status.Conditions[0].Status, c.Clusters[0].Status.Conditions[0].Status = "Unknown", "Unknown"
		}, []string{"- addon-agent is installed on no managed cluster"}},
		"needed and missing": {needed, []string{
			"✖ Managed clusters without addon-agent where add-ons depend on APIs or running versions: 1, such as cluster1. " +
				"There, APIs are not known, and versions only from objects on the hub",
			"→ docs/install.md#addon-agent-on-managed-clusters",
		}},
		"needed and missing on a cluster that is being detached": {func(o objects, c *snapshot.Content) {
			needed(o, c)
			c.Clusters[0].DeletionTimestamp = &fixture.Now
		}, []string{"- addon-agent is installed on no managed cluster"}},
		"needed, registered and missing": {func(o objects, c *snapshot.Content) {
			needed(o, c)
			c.Registrations = append(c.Registrations, fixture.Registrations("interlock-agent")...)
		}, []string{"→ clusteradm addon enable --names interlock-agent --clusters cluster1"}},
		"needed, and reporting without an add-on": {
			func(o objects, c *snapshot.Content) { needed(o, c); c.Facts = factsRequested(2, 2, 0) },
			[]string{"- addon-agent is installed on no managed cluster"},
		},
	})
}

func TestFacts(t *testing.T) {
	request := func(generation, observed int64, seconds int) func(objects, *snapshot.Content) {
		return func(_ objects, c *snapshot.Content) {
			c.Registrations = append(c.Registrations, fixture.Annotated("c", "- name: api\n  api: {group: g.io, kind: K}\n"))
			c.Facts = factsRequested(generation, observed, seconds)
		}
	}
	runCases(t, "facts", map[string]testCase{
		"not needed": {nil, []string{"✔ No dependency needs what addon-agent reports"}},
		"answered": {
			request(2, 2, 3600),
			[]string{"✔ addon-agent has answered all requests of addon-manager on managed clusters that can be reached: 1"},
		},
		"requested a moment ago": {request(2, 1, 10), []string{"✔"}},
		"overdue": {request(2, 1, 60), []string{
			"✖ Requests of addon-manager that addon-agent has not answered within 30s: on 1 of 1 managed clusters, such as cluster1",
			"→ kubectl describe managedclusterfacts cluster1 -n cluster1",
		}},
		"the cluster came back a moment ago": {func(o objects, c *snapshot.Content) {
			request(2, 1, 60)(o, c)
			c.Clusters[0].Status.Conditions[0].LastTransitionTime.Time = fixture.Now.Time
		}, []string{"✔"}},
		"no CRD": {func(o objects, c *snapshot.Content) {
			request(2, 2, 60)(o, c)
			delete(o, "CustomResourceDefinition managedclusterfacts.dependency.addon.open-cluster-management.io")
		}, []string{
			"✖ The hub does not serve ManagedClusterFacts, so APIs of managed clusters are not known, " +
				"and versions only from objects on the hub",
		}},
	})
}

func TestHeld(t *testing.T) {
	runCases(t, "held", map[string]testCase{
		"nothing": {nil, []string{"✔ All managed clusters can be reached", "✔ No verdict is held"}},
		"a lost cluster": {
			func(_ objects, c *snapshot.Content) { c.Clusters[0].Status.Conditions[0].Status = "Unknown" },
			[]string{"- 1 of 1 managed clusters cannot be reached: their verdicts are held → kubectl get managedclusters"},
		},
		"a report that is awaited": {func(_ objects, c *snapshot.Content) {
			c.AddOns[0].Name = "a"
			c.Registrations = []addonv1alpha1.ClusterManagementAddOn{fixture.Annotated("a", "- name: api\n  api: {group: g.io, kind: K}\n")}
			c.Facts = factsRequested(1, 0, 1)
		}, []string{
			"- Verdicts that are held on managed clusters that can be reached: 1, on 1 cluster, such as cluster1",
			"→ kubectl addon report -n cluster1 --all",
		}},
	})
	if strings.Count(resultsOf(diagnoseChanged(t, nil), "held"), "\n") != 1 {
		t.Error("both are said")
	}
}
