package protection

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

var widgets = dependencyv1alpha1.ObjectKind{Group: "a.io", Kind: "Widget"}

// with are the facts of a cluster with objects; none: their number is not known.
func with(on string, count *int64) *dependencyv1alpha1.ManagedClusterFacts {
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: on, Name: on}}
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

func of(name string) *clusterv1.ManagedCluster {
	object := joined(name)
	object.Labels = map[string]string{"tier": "edge"}
	return object
}

func lost(of *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	of.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown}}
	return of
}

func stopped(on string) *addonv1alpha1.ManagedClusterAddOn {
	agent := addOn(names.AgentAddOn)
	agent.Namespace = on
	agent.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "ProbeUnavailable")}
	return agent
}

const (
	which = ", which add-on 'base' provides"
	left  = ": they are lost or left without a controller when it is removed"
)

// TestObjectsOfAnAddOn: base provides Widgets, and so does twin. leaf requires base.
func TestObjectsOfAnAddOn(t *testing.T) {
	registered := func(name, spec string) client.Object { return ptr.To(fixture.Specified(t, name, spec)) }
	policy := func(spec string) client.Object { return ptr.To(fixture.Policy(t, "p", spec)) }
	declared := []client.Object{
		registered("base", "provides: [{group: a.io, kind: Widget, version: v1}]"),
		registered("twin", "provides: [{group: a.io, kind: Widget}]"), registered("leaf", "dependencies: [{name: base}]"),
	}
	five := ptr.To[int64](5)
	usual := []client.Object{of("cluster1"), addOn("base"), with("cluster1", five)}
	const (
		warns   = "cluster1 has 5 objects of Widget.a.io" + which + left
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
		on             []client.Object
		fails          failing
		request        admissionv1.AdmissionRequest
		refuses, warns string
		removed        string
	}{
		{name: "warned of", mode: warn, on: usual, warns: warns},
		{name: "never refused", mode: enforceMode, on: usual, warns: warns},
		{name: "also by a dry run", mode: warn, on: usual, warns: warns, request: admissionv1.AdmissionRequest{DryRun: ptr.To(true)}},
		{name: "with protection off", mode: off, on: usual},
		{name: "with protection off, nothing is read", mode: off, on: usual, fails: failing{get: "facts"}},
		{name: "with protection off here", mode: warn, on: append(usual, offFor("edge"))},
		{name: "with protection off elsewhere", mode: warn, on: append(usual, offFor("core")), warns: warns},
		{name: "with a refusal", mode: enforceMode, on: append(usual, addOn("leaf")), warns: warns, refuses: refuses},
		{name: "with another warning", mode: warn, on: append(usual, addOn("leaf")), warns: breaks + "; " + warns},
		{name: "OCM reads no warnings", mode: warn, on: usual, request: byOCM},
		{name: "of an add-on that provides nothing", mode: warn, on: usual, removed: "leaf"},
		{name: "of an add-on that provides nothing, nothing is read", mode: warn, on: usual, removed: "leaf", fails: failing{get: "facts"}},
		{name: "it is being deleted", mode: warn, on: []client.Object{of("cluster1"), deleting(addOn("base")), with("cluster1", five)}},
		{name: "none", mode: warn, on: []client.Object{of("cluster1"), addOn("base"), with("cluster1", ptr.To[int64](0))}},
		{name: "nothing is reported", mode: warn, on: []client.Object{of("cluster1"), addOn("base")}},
		{
			name: "their number is not known", mode: warn, on: []client.Object{of("cluster1"), addOn("base"), with("cluster1", nil)},
			warns: "how many objects of Widget.a.io exist on cluster1" + which + ", is not known: " +
				"addon-agent may not list them. To let it count them, see " + protection.CountingPage,
		},
		{name: "another provider stays", mode: warn, on: append(usual, addOn("twin"))},
		{name: "another provider is being deleted", mode: warn, on: append(usual, deleting(addOn("twin"))), warns: warns},
		{
			name: "on a lost cluster", mode: warn, on: []client.Object{lost(of("cluster1")), addOn("base"), with("cluster1", five)},
			warns: "cluster1 last reported 5 objects of Widget.a.io" + which + left,
		},
		{
			name: "addon-agent does not run", mode: warn,
			on:    []client.Object{of("cluster1"), addOn("base"), byAgent(with("cluster1", five)), stopped("cluster1")},
			warns: "cluster1 last reported 5 objects of Widget.a.io" + which + left,
		},
		{
			name: "addon-agent runs", mode: warn,
			on: []client.Object{of("cluster1"), addOn("base"), byAgent(with("cluster1", five)), available(addOn(names.AgentAddOn))}, warns: warns,
		},
		{name: "the cluster is being detached", mode: warn, on: []client.Object{deleting(of("cluster1")), addOn("base"), with("cluster1", five)}},
		{name: "no managed cluster", mode: warn, on: []client.Object{addOn("base"), with("cluster1", five)}},
		{
			name: "facts cannot be read", mode: warn, on: usual, fails: failing{get: "facts"},
			warns: unchecked + "read ManagedClusterFacts cluster1: the hub is busy",
		},
		{
			name: "add-ons cannot be read", mode: warn, on: usual, fails: failing{get: "add-on"},
			warns: "whether other add-ons require 'base' was not checked: read managed cluster add-on cluster1/leaf: the hub is busy",
		},
		{
			name: "registrations cannot be read", mode: warn, on: usual, fails: failing{list: "registrations"},
			warns: "whether other add-ons require 'base' was not checked: list registered add-ons: the hub is busy",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			removed := "base"
			if test.removed != "" {
				removed = test.removed
			}
			response, _ := reviewed(t, test.mode, test.fails, test.request, removed, append(declared, test.on...)...)
			expect(t, response, test.refuses, test.warns)
		})
	}
}

// TestObjectsOfARegistration: with the registration, the add-on is removed from all managed clusters.
func TestObjectsOfARegistration(t *testing.T) {
	on := func(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	}
	registered := func(name, spec string) client.Object { return ptr.To(fixture.Specified(t, name, spec)) }
	counted := func(name string, count int64) []client.Object {
		return []client.Object{of(name), on(name, "base"), with(name, &count)}
	}
	const provides = "provides: [{group: a.io, kind: Widget}]"
	declared := []client.Object{registered("base", provides), registered("twin", provides), registered("plain", "{}")}
	offForEdge := ptr.To(fixture.Policy(t, "p", `{protection: "Off", clusterSelector: {matchLabels: {tier: edge}}}`))
	var all []client.Object
	for _, some := range [][]client.Object{
		declared, counted("c1", 5), counted("c2", 10), counted("c3", 0), counted("twins", 7),
		{on("twins", "twin")},
		{of("without"), with("without", ptr.To[int64](9))},
		{lost(of("lost")), on("lost", "base"), byAgent(with("lost", ptr.To[int64](3))), available(on("lost", names.AgentAddOn))},
		{of("silent"), on("silent", "base"), byAgent(with("silent", ptr.To[int64](1))), stopped("silent")},
		{deleting(of("leaving")), on("leaving", "base"), with("leaving", ptr.To[int64](9))},
		{of("unknown"), on("unknown", "base"), with("unknown", nil)},
	} {
		all = append(all, some...)
	}
	const (
		known   = "4 clusters have 19 objects of Widget.a.io (c1, c2 and 2 more; last reported by 2 of them)" + which + left
		unknown = "how many objects of Widget.a.io exist on unknown" + which + ", is not known: " +
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
		{name: "warned of", mode: dependencyv1alpha1.ProtectionWarn, objects: all, warns: known + "; " + unknown},
		{name: "never refused", mode: dependencyv1alpha1.ProtectionEnforce, objects: all, warns: known + "; " + unknown},
		{name: "with protection off", mode: dependencyv1alpha1.ProtectionOff, objects: all},
		{
			name: "with protection off on some clusters", mode: dependencyv1alpha1.ProtectionWarn,
			objects: append([]client.Object{offForEdge}, all...),
		},
		{name: "what it owns stays", mode: dependencyv1alpha1.ProtectionWarn, objects: all, options: `{"propagationPolicy":"Orphan"}`},
		{name: "it provides nothing", removed: "plain", mode: dependencyv1alpha1.ProtectionWarn, objects: all, fails: failing{list: "facts"}},
		{name: "none", mode: dependencyv1alpha1.ProtectionWarn, objects: append(counted("c1", 0), declared...)},
		{
			name: "facts cannot be read", mode: dependencyv1alpha1.ProtectionWarn, objects: all, fails: failing{list: "facts"},
			warns: unchecked + "list ManagedClusterFacts: the hub is busy",
		},
		{
			name: "clusters cannot be read", mode: dependencyv1alpha1.ProtectionWarn, objects: all, fails: failing{list: "clusters"},
			warns: unchecked + "list managed clusters: the hub is busy",
		},
		{
			name: "add-ons cannot be read", mode: dependencyv1alpha1.ProtectionWarn, objects: all, fails: failing{list: "add-ons"},
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
			response, _ := reviewed(t, test.mode, test.fails, request, removed, test.objects...)
			expect(t, response, "", test.warns)
		})
	}
}
