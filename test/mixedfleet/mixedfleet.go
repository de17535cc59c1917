// Package mixedfleet makes a fleet in which each state of an add-on occurs, for tests of pages.
package mixedfleet

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// Hostile has markup, and characters that control a terminal or the direction of text.
const Hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>` + "\x1b[31m\u202e\u2066{{.}}</style></title>"

// sets are the sets of managed clusters. Clusters without a set have none.
var sets = []string{"production-eu", "production-us", "staging", "edge", ""}

// installed are the add-ons on each managed cluster.
var installed = []string{
	"managed-serviceaccount", "cluster-proxy", "cluster-gateway", "multicluster-kueue-manager", "application-portal",
	"governance-policy-framework", "config-policy-controller", "governance-standalone-hub-templating", "work-manager", "permission-user",
}

// fault is an exception on some managed clusters. Of each period of clusters, the one with that number has it.
type fault struct {
	period, number int
	change         func(c *cluster)
}

// cluster is a managed cluster under construction.
type cluster struct {
	object clusterv1.ManagedCluster
	addOns map[string]*addonv1alpha1.ManagedClusterAddOn
}

var faults = []fault{
	{10, 0, func(c *cluster) { c.stop("managed-serviceaccount", "ManagedClusterAddOnLeaseUpdateStopped") }},
	{47, 7, func(c *cluster) {
		delete(c.addOns, "governance-policy-framework")
		c.degrade("config-policy-controller", "Required addon 'governance-policy-framework' is not installed or not available. (not installed)")
	}},
	{40, 11, func(c *cluster) { c.object.Status.Conditions[0].Status = metav1.ConditionUnknown }},
	{60, 13, func(c *cluster) { c.stop("cluster-proxy", "ProbeFailed") }},
	{90, 17, func(c *cluster) { c.stop("work-manager", "ManagedClusterAddOnLeaseUpdateStopped") }},
	{100, 19, func(c *cluster) {
		c.degrade("multicluster-kueue-manager", "Required addon 'managed-serviceaccount' is not installed or not available.")
	}},
	{120, 23, func(c *cluster) {
		c.addOns["application-portal"].Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
		c.addOns["application-portal"].Status.Conditions = nil
	}},
	{150, 29, func(c *cluster) {
		c.addOns["application-portal"].DeletionTimestamp, c.addOns["application-portal"].Finalizers = &fixture.Earlier, []string{"example.com/cleanup"}
	}},
	{200, 31, func(c *cluster) { c.addOns["work-manager"].Status.Conditions = nil }},
	{250, 37, func(c *cluster) {
		c.object.DeletionTimestamp, c.object.Finalizers = &fixture.Earlier, []string{"example.com/cleanup"}
	}},
}

// Content returns a fleet with that number of managed clusters.
func Content(clusters int) snapshot.Content {
	content := snapshot.Content{
		Taken: fixture.Now.Time,
		Registrations: append(fixture.Registrations("managed-serviceaccount:, cluster-proxy:, cluster-gateway: managed-serviceaccount cluster-proxy?, "+
			"multicluster-kueue-manager: managed-serviceaccount, application-portal: cluster-gateway, governance-policy-framework:, "+
			"config-policy-controller: governance-policy-framework governance-standalone-hub-templating?, "+
			"governance-standalone-hub-templating: config-policy-controller, work-manager:"), permissionUser()),
	}
	for i := range clusters {
		c := working(i)
		for _, fault := range faults {
			if i%fault.period == fault.number {
				fault.change(c)
			}
		}
		content.Clusters = append(content.Clusters, c.object)
		for _, name := range installed {
			if addOn := c.addOns[name]; addOn != nil {
				content.AddOns = append(content.AddOns, addOn)
			}
		}
	}
	return content
}

// permissionUser returns an add-on whose dependency on an API is held everywhere but on the clusters without the label, because no agent
// has reported yet.
func permissionUser() addonv1alpha1.ClusterManagementAddOn {
	return fixture.Registration("permission-user", addonv1alpha1.AddonDependency{
		Name: "permissions", Type: addonv1alpha1.DependencyTypeRequired, Message: "Permissions cannot be granted",
		API:  &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: "rbac.open-cluster-management.io", Version: "v1alpha1", Kind: "ClusterPermission"}},
		When: &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"permissions": "yes"}}},
	})
}

// working returns a managed cluster on which all add-ons work.
func working(i int) *cluster {
	c := &cluster{addOns: map[string]*addonv1alpha1.ManagedClusterAddOn{}}
	c.object.Name = fmt.Sprintf("cluster%04d", i)
	c.object.Labels = map[string]string{"region": fmt.Sprintf("region-%d", i%3)}
	if set := sets[i%len(sets)]; set != "" {
		c.object.Labels[clusterv1beta2.ClusterSetLabel] = set
	}
	if i%80 == 41 {
		c.object.Labels["permissions"] = "yes"
	}
	c.object.Status.Version.Kubernetes = "v1.32.0"
	c.object.Status.Conditions = []metav1.Condition{{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, LastTransitionTime: fixture.Earlier,
	}}
	for _, name := range installed {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: c.object.Name, Name: name}}
		addOn.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated")}
		c.addOns[name] = addOn
	}
	return c
}

// stop stops an add-on, and breaks the add-ons that require it.
func (c *cluster) stop(name, reason string) {
	stopped := fixture.Available(metav1.ConditionFalse, reason)
	stopped.LastTransitionTime = metav1.NewTime(fixture.Earlier.Add(-time.Duration(len(c.object.Name)) * time.Minute))
	c.addOns[name].Status.Conditions = []metav1.Condition{*stopped}
	if name == "managed-serviceaccount" {
		for _, dependent := range []string{"cluster-gateway", "multicluster-kueue-manager", "application-portal"} {
			c.degrade(dependent, "Required addon '"+name+"' is not installed or not available. Cluster credentials cannot be issued ("+
				"Available=False, "+reason+")")
		}
	}
}

// degrade sets the conditions of an add-on with a Required dependency that fails.
func (c *cluster) degrade(name, message string) {
	const reason = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	available := fixture.Available(metav1.ConditionFalse, reason)
	available.Message = message
	c.addOns[name].Status.Conditions = []metav1.Condition{*available, *fixture.Degraded(metav1.ConditionTrue, reason, message)}
}

// HostileContent returns a fleet whose names, labels and messages are hostile. Messages have 32 KiB.
func HostileContent() snapshot.Content {
	long := Hostile + strings.Repeat("<b>", 32<<10/3)
	content := snapshot.Content{Taken: fixture.Now.Time}
	content.Registrations = []addonv1alpha1.ClusterManagementAddOn{
		fixture.Registration("base" + Hostile), fixture.Annotated("odd"+Hostile, "- name: ["+Hostile),
		fixture.Registration("user"+Hostile, addonv1alpha1.AddonDependency{
			Name: "base" + Hostile, Type: addonv1alpha1.DependencyTypeRequired, Message: long,
		}),
	}
	object := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster" + Hostile}}
	object.Labels = map[string]string{clusterv1beta2.ClusterSetLabel: Hostile, Hostile: Hostile}
	object.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	content.Clusters = []clusterv1.ManagedCluster{object}
	for _, name := range []string{"base", "user", "odd"} {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: object.Name, Name: name + Hostile}}
		available := fixture.Available(metav1.ConditionFalse, Hostile)
		available.Message = long
		addOn.Status.Conditions = []metav1.Condition{
			*available, *fixture.Degraded(metav1.ConditionTrue, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, long),
		}
		content.AddOns = append(content.AddOns, addOn)
	}
	return content
}
