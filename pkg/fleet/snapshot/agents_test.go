package snapshot

import (
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

var widgets = dependencyv1alpha1.API{Group: "a.io", Kind: "Widget"}

// reporting returns a cluster that serves the API that add-on "a" needs. Its agent has reported that.
func reporting(t *testing.T) Content {
	t.Helper()
	long := metav1.NewTime(fixture.Now.Add(-time.Hour))
	available := func(kind string) []metav1.Condition {
		return []metav1.Condition{{Type: kind, Status: metav1.ConditionTrue, Reason: "Tested", LastTransitionTime: long}}
	}
	installed := func(name string) *addonv1alpha1.ManagedClusterAddOn {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
		addOn.Status.Conditions = available("Available")
		return addOn
	}
	cluster := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
	cluster.Status.Conditions = available(clusterv1.ManagedClusterConditionAvailable)
	facts := dependencyv1alpha1.ManagedClusterFacts{}
	facts.Namespace, facts.Name, facts.CreationTimestamp = "cluster1", "cluster1", long
	facts.Spec.APIs = []dependencyv1alpha1.APIRequest{{API: widgets}}
	facts.Status.AgentAddOn = "interlock-agent"
	facts.Status.APIs = []dependencyv1alpha1.APIFact{{API: widgets, Served: metav1.ConditionTrue}}
	return Content{
		Taken: fixture.Now.Time,
		Registrations: []addonv1alpha1.ClusterManagementAddOn{
			fixture.Specified(t, "a", `dependencies: [{name: widgets, api: {group: a.io, kind: Widget}}]`),
		},
		AddOns:   []*addonv1alpha1.ManagedClusterAddOn{installed("a"), installed("interlock-agent")},
		Clusters: []clusterv1.ManagedCluster{cluster}, Facts: []dependencyv1alpha1.ManagedClusterFacts{facts},
	}
}

// TestFactsNeedRunningAgent tests the use of facts. They are used as in addon-manager, and pkg/hub/facts tests all cases.
func TestFactsNeedRunningAgent(t *testing.T) {
	agent := func(c *Content) *metav1.Condition { return &c.AddOns[1].Status.Conditions[0] }
	for name, test := range map[string]struct {
		change  func(*Content)
		want    evaluation.Verdict
		finding string
	}{
		"running": {func(*Content) {}, evaluation.Satisfied, ""},
		"not running": {
			func(c *Content) { agent(c).Status, agent(c).Reason = "False", "Stopped" }, evaluation.APINotServed,
			"not known: the managed cluster's addon-agent does not run (interlock-agent: Available=False, Stopped, since 2026-08-01T09:05:00Z)",
		},
		"stopped a moment ago": {
			func(c *Content) { agent(c).Status, agent(c).LastTransitionTime = "False", metav1.NewTime(c.Taken) }, evaluation.Held, "",
		},
		"held because the leader has led for a moment": {
			func(c *Content) { agent(c).Status, c.Manager = "False", &Manager{Leads: c.Taken.Add(-time.Second)} }, evaluation.Held, "",
		},
		"not held with the strict policy": {
			func(c *Content) {
				agent(c).Status, agent(c).LastTransitionTime = "False", metav1.NewTime(c.Taken)
				c.Manager = &Manager{Offline: evaluation.OfflineStrict}
			}, evaluation.APINotServed, "does not run",
		},
		"removed": {func(c *Content) { c.AddOns = c.AddOns[:1] }, evaluation.APINotServed, "no addon-agent any more"},
		"facts not served": {
			func(c *Content) { c.Facts, c.FactsNotServed = nil, true }, evaluation.APINotServed, "the hub does not serve the CRD",
		},
		"not requested yet": {func(c *Content) { c.Facts = nil }, evaluation.Held, ""},
		"more requests than an object has room for": {
			func(c *Content) {
				c.Facts[0].Spec.APIs, c.Facts[0].Status.APIs = nil, nil
				for i := range dependencyv1alpha1.MaxRequests {
					api := dependencyv1alpha1.API{Group: "a.io", Kind: "K" + strconv.Itoa(i)}
					c.Facts[0].Spec.APIs = append(c.Facts[0].Spec.APIs, dependencyv1alpha1.APIRequest{API: api})
				}
			}, evaluation.APINotServed, "Interlock requests at most 512 APIs of a managed cluster",
		},
	} {
		t.Run(name, func(t *testing.T) {
			content := reporting(t)
			test.change(&content)
			findings := New(content).Evaluated("cluster1")("a")
			if len(findings) != 1 || findings[0].Verdict != test.want {
				t.Fatalf("got %+v", findings)
			}
			if finding := findings[0].Reason(); test.finding != "" && !strings.Contains(finding, test.finding) {
				t.Errorf("found %q", finding)
			}
		})
	}
}

func TestPolicyAppliesToLostCluster(t *testing.T) {
	for policy, want := range map[evaluation.OfflinePolicy]evaluation.Verdict{
		"": evaluation.Held, evaluation.OfflineHold: evaluation.Held, evaluation.OfflineStrict: evaluation.NotAvailable,
	} {
		content := reporting(t)
		content.Registrations = fixture.Registrations("a: interlock-agent, interlock-agent")
		content.Clusters[0].Status.Conditions[0].Status, content.AddOns[1].Status.Conditions[0].Status = "Unknown", "Unknown"
		content.Manager = &Manager{Offline: policy}
		taken := New(content)
		if findings := taken.Evaluated("cluster1")("a"); findings[0].Verdict != want || taken.Lost("cluster1") != (want == evaluation.Held) {
			t.Errorf("%q: got %+v", policy, findings)
		}
	}
}
