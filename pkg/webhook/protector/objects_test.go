package protector

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

var widgets = dependencyv1alpha1.ObjectKind{Group: "a.io", Kind: "Widget"}

// objectFacts returns the facts of a cluster with a number of objects. It is nil if the number is not known.
func objectFacts(cluster string, count *int64) *dependencyv1alpha1.ManagedClusterFacts {
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: cluster}}
	fact := dependencyv1alpha1.ObjectsFact{ObjectKind: widgets, Count: count}
	if count == nil {
		fact.Reason = dependencyv1alpha1.ReasonForbidden
	}
	facts.Status.Objects = []dependencyv1alpha1.ObjectsFact{fact}
	return facts
}

func byAgent(facts *dependencyv1alpha1.ManagedClusterFacts) *dependencyv1alpha1.ManagedClusterFacts {
	facts.Status.AgentAddOn = names.AgentAddOn
	return facts
}

func edgeCluster(name string) *clusterv1.ManagedCluster {
	object := joined(name)
	object.Labels = map[string]string{"tier": "edge"}
	return object
}

func lost(cluster *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown}}
	return cluster
}

func stopped(cluster string) *addonv1alpha1.ManagedClusterAddOn {
	agent := addOn(names.AgentAddOn)
	agent.Namespace = cluster
	agent.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "ProbeUnavailable")}
	return agent
}

const (
	providedByBase = ", which add-on 'base' provides"
	lostObjects    = ": they are lost or left without a controller when it is removed"
)

// TestObjectsOfAnAddOn removes base. base and twin provide Widgets, and leaf requires base.
func TestObjectsOfAnAddOn(t *testing.T) {
	registered := func(name, spec string) client.Object { return ptr.To(fixture.Specified(t, name, spec)) }
	policy := func(spec string) client.Object { return ptr.To(fixture.Policy(t, "p", spec)) }
	declared := []client.Object{
		registered("base", "provides: [{group: a.io, kind: Widget, version: v1}]"),
		registered("twin", "provides: [{group: a.io, kind: Widget}]"), registered("leaf", "dependencies: [{name: base}]"),
	}
	five := ptr.To[int64](5)
	usual := []client.Object{edgeCluster("cluster1"), addOn("base"), objectFacts("cluster1", five)}
	const (
		warns   = "cluster1 has 5 objects of Widget.a.io" + providedByBase + lostObjects
		breaks  = "removing add-on 'base' would break 1 add-on on 1 cluster: leaf requires base (cluster1)"
		refuses = breaks + ". Remove first what requires it. To remove it nevertheless: " +
			"kubectl annotate managedclusteraddon base -n cluster1 dependency.addon.open-cluster-management.io/force='<why>'"
		unchecked              = "whether objects exist of the APIs that 'base' provides was not checked: "
		enforceMode, warn, off = dependencyv1alpha1.ProtectionEnforce, dependencyv1alpha1.ProtectionWarn, dependencyv1alpha1.ProtectionOff
	)
	byOCM := admissionv1.AdmissionRequest{}
	byOCM.UserInfo.Groups = []string{"system:serviceaccounts:open-cluster-management-hub"}
	offFor := func(tier string) client.Object {
		return policy(`{protection: "Off", clusterSelector: {matchLabels: {tier: ` + tier + `}}}`)
	}
	for _, test := range []struct {
		name           string
		mode           dependencyv1alpha1.Protection
		objects        []client.Object
		fails          failing
		request        admissionv1.AdmissionRequest
		refuses, warns string
		removed        string
	}{
		{name: "warned of", mode: warn, objects: usual, warns: warns},
		{name: "never refused", mode: enforceMode, objects: usual, warns: warns},
		{name: "also by a dry run", mode: warn, objects: usual, warns: warns, request: admissionv1.AdmissionRequest{DryRun: ptr.To(true)}},
		{name: "with protection off", mode: off, objects: usual},
		{name: "with protection off, nothing is read", mode: off, objects: usual, fails: failing{get: "facts"}},
		{name: "with protection off here", mode: warn, objects: append(usual, offFor("edge"))},
		{name: "with protection off elsewhere", mode: warn, objects: append(usual, offFor("core")), warns: warns},
		{name: "with a refusal", mode: enforceMode, objects: append(usual, addOn("leaf")), warns: warns, refuses: refuses},
		{name: "with another warning", mode: warn, objects: append(usual, addOn("leaf")), warns: breaks + "; " + warns},
		{name: "OCM reads no warnings", mode: warn, objects: usual, request: byOCM},
		{name: "of an add-on that provides nothing", mode: warn, objects: usual, removed: "leaf"},
		{name: "of an add-on that provides nothing, nothing is read", mode: warn, objects: usual, removed: "leaf", fails: failing{get: "facts"}},
		{
			name: "it is being deleted", mode: warn,
			objects: []client.Object{edgeCluster("cluster1"), deleting(addOn("base")), objectFacts("cluster1", five)},
		},
		{name: "none", mode: warn, objects: []client.Object{edgeCluster("cluster1"), addOn("base"), objectFacts("cluster1", ptr.To[int64](0))}},
		{name: "nothing is reported", mode: warn, objects: []client.Object{edgeCluster("cluster1"), addOn("base")}},
		{
			name: "their number is not known", mode: warn,
			objects: []client.Object{edgeCluster("cluster1"), addOn("base"), objectFacts("cluster1", nil)},
			warns: "how many objects of Widget.a.io exist on cluster1" + providedByBase + ", is not known: " +
				"addon-agent may not list them. To let it count them, see " + protection.CountingPage,
		},
		{name: "another provider stays", mode: warn, objects: append(usual, addOn("twin"))},
		{name: "another provider is being deleted", mode: warn, objects: append(usual, deleting(addOn("twin"))), warns: warns},
		{
			name: "on a lost cluster", mode: warn,
			objects: []client.Object{lost(edgeCluster("cluster1")), addOn("base"), objectFacts("cluster1", five)},
			warns:   "cluster1 last reported 5 objects of Widget.a.io" + providedByBase + lostObjects,
		},
		{
			name: "addon-agent does not run", mode: warn,
			objects: []client.Object{edgeCluster("cluster1"), addOn("base"), byAgent(objectFacts("cluster1", five)), stopped("cluster1")},
			warns:   "cluster1 last reported 5 objects of Widget.a.io" + providedByBase + lostObjects,
		},
		{
			name: "addon-agent runs", mode: warn,
			objects: []client.Object{
				edgeCluster("cluster1"), addOn("base"), byAgent(objectFacts("cluster1", five)), available(addOn(names.AgentAddOn)),
			},
			warns: warns,
		},
		{
			name: "the cluster is being detached", mode: warn,
			objects: []client.Object{deleting(edgeCluster("cluster1")), addOn("base"), objectFacts("cluster1", five)},
		},
		{name: "no managed cluster", mode: warn, objects: []client.Object{addOn("base"), objectFacts("cluster1", five)}},
		{
			name: "facts cannot be read", mode: warn, objects: usual, fails: failing{get: "facts"},
			warns: unchecked + "read ManagedClusterFacts cluster1: the hub is busy",
		},
		{
			name: "add-ons cannot be read", mode: warn, objects: usual, fails: failing{get: "add-on"},
			warns: "whether other add-ons require 'base' was not checked: read managed cluster add-on cluster1/leaf: the hub is busy",
		},
		{
			name: "registrations cannot be read", mode: warn, objects: usual, fails: failing{list: "registrations"},
			warns: "whether other add-ons require 'base' was not checked: list registered add-ons: the hub is busy",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			removed := "base"
			if test.removed != "" {
				removed = test.removed
			}
			response, _ := handleRequest(t, test.mode, test.fails, test.request, removed, append(declared, test.objects...)...)
			expect(t, response, test.refuses, test.warns)
		})
	}
}

// TestObjectsOfARegistration deletes a registration, so that the add-on is removed from all managed clusters.
func TestObjectsOfARegistration(t *testing.T) {
	installed := func(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	}
	registered := func(name, spec string) client.Object { return ptr.To(fixture.Specified(t, name, spec)) }
	counted := func(name string, count int64) []client.Object {
		return []client.Object{edgeCluster(name), installed(name, "base"), objectFacts(name, &count)}
	}
	const provides = "provides: [{group: a.io, kind: Widget}]"
	declared := []client.Object{registered("base", provides), registered("twin", provides), registered("plain", "{}")}
	offForEdge := ptr.To(fixture.Policy(t, "p", `{protection: "Off", clusterSelector: {matchLabels: {tier: edge}}}`))
	var fleetObjects []client.Object
	for _, objects := range [][]client.Object{
		declared, counted("c1", 5), counted("c2", 10), counted("c3", 0), counted("twins", 7),
		{installed("twins", "twin")},
		{edgeCluster("without"), objectFacts("without", ptr.To[int64](9))},
		{
			lost(edgeCluster("lost")), installed("lost", "base"), byAgent(objectFacts("lost", ptr.To[int64](3))),
			available(installed("lost", names.AgentAddOn)),
		},
		{edgeCluster("silent"), installed("silent", "base"), byAgent(objectFacts("silent", ptr.To[int64](1))), stopped("silent")},
		{deleting(edgeCluster("leaving")), installed("leaving", "base"), objectFacts("leaving", ptr.To[int64](9))},
		{edgeCluster("unknown"), installed("unknown", "base"), objectFacts("unknown", nil)},
	} {
		fleetObjects = append(fleetObjects, objects...)
	}
	const (
		countedWarning = "4 clusters have 19 objects of Widget.a.io (c1, c2 and 2 more; last reported by 2 of them)" +
			providedByBase + lostObjects
		uncountedWarning = "how many objects of Widget.a.io exist on unknown" + providedByBase + ", is not known: " +
			"addon-agent may not list them. To let it count them, see " + protection.CountingPage
		unchecked = "whether objects exist of the APIs that 'base' provides was not checked: "
	)
	for _, test := range []struct {
		name, removed  string
		mode           dependencyv1alpha1.Protection
		options, warns string
		objects        []client.Object
		fails          failing
	}{
		{name: "warned of", mode: dependencyv1alpha1.ProtectionWarn, objects: fleetObjects, warns: countedWarning + "; " + uncountedWarning},
		{
			name: "never refused", mode: dependencyv1alpha1.ProtectionEnforce, objects: fleetObjects,
			warns: countedWarning + "; " + uncountedWarning,
		},
		{name: "with protection off", mode: dependencyv1alpha1.ProtectionOff, objects: fleetObjects},
		{
			name: "with protection off on some clusters", mode: dependencyv1alpha1.ProtectionWarn,
			objects: append([]client.Object{offForEdge}, fleetObjects...),
		},
		{name: "what it owns stays", mode: dependencyv1alpha1.ProtectionWarn, objects: fleetObjects, options: `{"propagationPolicy":"Orphan"}`},
		{
			name: "it provides nothing", removed: "plain", mode: dependencyv1alpha1.ProtectionWarn, objects: fleetObjects,
			fails: failing{list: "facts"},
		},
		{name: "none", mode: dependencyv1alpha1.ProtectionWarn, objects: append(counted("c1", 0), declared...)},
		{
			name: "facts cannot be read", mode: dependencyv1alpha1.ProtectionWarn, objects: fleetObjects, fails: failing{list: "facts"},
			warns: unchecked + "list ManagedClusterFacts: the hub is busy",
		},
		{
			name: "clusters cannot be read", mode: dependencyv1alpha1.ProtectionWarn, objects: fleetObjects, fails: failing{list: "clusters"},
			warns: unchecked + "list managed clusters: the hub is busy",
		},
		{
			name: "add-ons cannot be read", mode: dependencyv1alpha1.ProtectionWarn, objects: fleetObjects, fails: failing{list: "add-ons"},
			warns: unchecked + "list add-on interlock-agent of the fleet: the hub is busy",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			removed := "base"
			if test.removed != "" {
				removed = test.removed
			}
			request := admissionv1.AdmissionRequest{Resource: metav1.GroupVersionResource{Resource: "clustermanagementaddons"}}
			request.Options.Raw = []byte(test.options)
			response, _ := handleRequest(t, test.mode, test.fails, request, removed, test.objects...)
			expect(t, response, "", test.warns)
		})
	}
}
