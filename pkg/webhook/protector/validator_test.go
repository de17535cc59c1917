package protector

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	operatorv1 "open-cluster-management.io/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

var now = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// failing names the kinds whose lists or single reads fail.
type failing struct{ list, get string }

// handleRequest returns the response to a request, and its events. Without an operation, the request deletes the named object.
func handleRequest(
	t *testing.T, mode dependencyv1alpha1.Protection, fails failing,
	request admissionv1.AdmissionRequest, name string, objects ...client.Object,
) (admission.Response, []string) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(fleet.AddToScheme(scheme), operatorv1.Install(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	built := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, "metadata.name", byName).Build()
	hub := interceptor.NewClient(built, interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if fails.list != "" && kindOf(list) == fails.list {
				return errors.New("the hub is busy")
			}
			return inner.List(ctx, list, options...)
		},
		Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if fails.get != "" && kindOf(object) == fails.get {
				return errors.New("the hub is busy")
			}
			return inner.Get(ctx, key, object, options...)
		},
	})
	recorder := events.NewFakeRecorder(10)
	validators := New(Options{
		Live: hub, Cache: hub, Discovery: hubOf("Tunnel"), Clock: clocktesting.NewFakePassiveClock(now), Recorder: recorder, Mode: mode,
	})
	var v admission.Handler
	var object any
	switch request.Resource.Resource {
	case "clustermanagementaddons":
		v, object = validators.Registrations, &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	case "placements":
		v, object = validators.Placements, &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	case "clustermanagers":
		v = validators.Upgrades
	case "managedclusters":
		v = validators.Clusters
	case "addontemplates":
		v = validators.Templates
	default:
		v, object = validators.AddOns, addOn(name)
	}
	if request.Operation == "" {
		for _, stored := range objects {
			if _, deleted := object.(*addonv1alpha1.ManagedClusterAddOn); deleted && isAddOn(name, "cluster1")(stored) {
				object = stored
			}
		}
		request.Operation, request.OldObject.Raw = admissionv1.Delete, raw(t, object)
	}
	var response admission.Response
	for range 2 { // as a client that tries again
		response = v.Handle(t.Context(), admission.Request{AdmissionRequest: request})
	}
	close(recorder.Events)
	var emitted []string
	for event := range recorder.Events {
		emitted = append(emitted, event)
	}
	return response, emitted
}

func expect(t *testing.T, response admission.Response, refuses, warns string) {
	t.Helper()
	refused := ""
	if !response.Allowed {
		refused = response.Result.Message
	}
	if got := strings.Join(response.Warnings, "; "); refused != refuses || got != warns {
		t.Errorf("refused %q\n warned %q\nwant %q\n and %q", refused, got, refuses, warns)
	}
}

func raw(t *testing.T, object any) []byte {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func byName(object client.Object) []string { return []string{object.GetName()} }

// hubOf serves one kind of the core group. The kind Elsewhere cannot be discovered.
type hubOf string

func (h hubOf) Discover(_ context.Context, requests []dependencyv1alpha1.APIRequest) []dependencyv1alpha1.APIFact {
	facts := make([]dependencyv1alpha1.APIFact, len(requests))
	for i, request := range requests {
		facts[i] = dependencyv1alpha1.APIFact{API: request.API, Served: metav1.ConditionFalse}
		switch request.Kind {
		case string(h):
			facts[i].Served, facts[i].Versions = metav1.ConditionTrue, []string{"v1"}
		case "Elsewhere":
			facts[i].Served = metav1.ConditionUnknown
		}
	}
	return facts
}

func kindOf(object any) string {
	switch object.(type) {
	case *addonv1alpha1.ClusterManagementAddOnList:
		return "registrations"
	case *addonv1alpha1.AddOnTemplateList:
		return "templates"
	case *addonv1alpha1.ManagedClusterAddOnList:
		return "add-ons"
	case *addonv1alpha1.ManagedClusterAddOn:
		return "add-on"
	case *dependencyv1alpha1.AddOnDependencyPolicyList:
		return "policies"
	case *clusterv1.ManagedCluster:
		return "cluster"
	case *dependencyv1alpha1.ManagedClusterFacts, *dependencyv1alpha1.ManagedClusterFactsList:
		return "facts"
	case *addonv1alpha1.AddOnDeploymentConfig:
		return "settings"
	case *clusterv1.ManagedClusterList:
		return "clusters"
	case *clusterv1beta1.PlacementDecisionList:
		return "decisions"
	case *metav1.PartialObjectMetadataList:
		return "metadata"
	}
	return ""
}

func addOn(name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name, UID: "uid-of-base"}}
}

func forced(addOn *addonv1alpha1.ManagedClusterAddOn, reason string) *addonv1alpha1.ManagedClusterAddOn {
	addOn.Annotations = map[string]string{addonv1alpha1.ForceAnnotation: reason}
	return addOn
}

// withMode returns the AddOnDeploymentConfig of an add-on that configured has changed.
func withMode(mode string) *addonv1alpha1.AddOnDeploymentConfig {
	config := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "settings"}}
	config.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{{Name: "mode", Value: mode}}
	return config
}

func configured(addOn *addonv1alpha1.ManagedClusterAddOn, hash string) *addonv1alpha1.ManagedClusterAddOn {
	referent := ocmv1alpha1.ConfigReferent{Namespace: "cluster1", Name: "settings"}
	addOn.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{{
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addondeploymentconfigs"},
		DesiredConfig:       &ocmv1alpha1.ConfigSpecHash{ConfigReferent: referent, SpecHash: hash},
	}}
	return addOn
}

func deleting[T client.Object](object T) T {
	object.SetDeletionTimestamp(ptr.To(metav1.NewTime(now)))
	object.SetFinalizers([]string{"example.com/x"})
	return object
}

func available(addOn *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	addOn.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionTrue, "Fine")}
	return addOn
}

func cluster() *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1", Labels: map[string]string{"tier": "edge"}}}
}

func TestReview(t *testing.T) {
	registered := func(name, spec string) client.Object { return ptr.To(fixture.Specified(t, name, spec)) }
	policy := func(name, spec string) client.Object { return ptr.To(fixture.Policy(t, name, spec)) }
	declared := []client.Object{registered("leaf", "dependencies: [{name: base}]"), registered("base", "{}")}
	conditional := []client.Object{
		registered("leaf", `dependencies: [{name: base, when: {expression: "config.?mode.orValue('') != 'alone'"}}]`),
		registered("base", "{}"),
	}
	ofVersion := []client.Object{
		registered("leaf", `dependencies: [{name: base, when: {expression: "addOn.?version.orValue('').semverMatches('>= 2.0')"}}]`),
		registered("base", "{}"),
	}
	alternatives := []client.Object{
		registered("leaf", "dependencies: [{name: either, anyOf: [{addOn: base}, {addOn: other}]}]"),
		registered("base", "{}"), registered("other", "{}"),
	}
	orOfHub := func(kind string) []client.Object {
		return []client.Object{registered("base", "{}"), registered("leaf",
			"dependencies: [{name: either, anyOf: [{addOn: base}, {api: {kind: "+kind+", servedBy: Hub}}]}]")}
	}
	usual := []client.Object{cluster(), addOn("base"), addOn("leaf")}
	const (
		breaks  = "removing add-on 'base' would break 1 add-on on 1 cluster: leaf requires base (cluster1)"
		refusal = ". Remove first what requires it. To remove it nevertheless: " +
			"kubectl annotate managedclusteraddon base -n cluster1 dependency.addon.open-cluster-management.io/force='<why>'"
		enforce, warn, off = dependencyv1alpha1.ProtectionEnforce, dependencyv1alpha1.ProtectionWarn, dependencyv1alpha1.ProtectionOff
	)
	byOCM := admissionv1.AdmissionRequest{UserInfo: authenticationv1.UserInfo{
		Username: "system:serviceaccount:open-cluster-management-hub:sa", Groups: []string{"system:serviceaccounts:open-cluster-management-hub"},
	}}
	dryRun := admissionv1.AdmissionRequest{DryRun: ptr.To(true)}
	for _, test := range []struct {
		name     string
		mode     dependencyv1alpha1.Protection
		objects  []client.Object
		fails    failing
		request  admissionv1.AdmissionRequest
		refuses  string
		warns    string
		emits    string
		declared []client.Object
	}{
		{name: "refused", mode: enforce, objects: usual, refuses: breaks + refusal},
		{name: "warned of", mode: warn, objects: usual, warns: breaks},
		{name: "not looked at", mode: off, objects: usual},
		{name: "not even read", mode: off, objects: usual, fails: failing{get: "add-on"}},
		{name: "nobody declares anything of it", mode: enforce, objects: usual, declared: []client.Object{registered("leaf", "{}")}},
		{
			name: "the dependent's settings make it independent", mode: enforce, declared: conditional,
			objects: []client.Object{cluster(), addOn("base"), configured(addOn("leaf"), "alone"), withMode("alone")},
		},
		{
			name: "the dependent's settings do not", mode: enforce, declared: conditional, refuses: breaks + refusal,
			objects: []client.Object{cluster(), addOn("base"), configured(addOn("leaf"), "shared"), withMode("shared")},
		},
		{
			name: "the dependent's settings cannot be read", mode: enforce, declared: conditional, fails: failing{get: "settings"},
			objects: []client.Object{cluster(), addOn("base"), configured(addOn("leaf"), "alone"), withMode("alone")},
			warns: "whether other add-ons require 'base' was not checked: load what leaf rests on: " +
				"read AddOnDeploymentConfig cluster1/settings: the hub is busy",
		},
		{
			name: "its agent's lease makes the dependent independent", mode: enforce, declared: ofVersion,
			objects: []client.Object{cluster(), addOn("base"), versioned(addOn("leaf"), "2.0"), reportedOf("leaf", "1.9")},
		},
		{
			name: "its agent's lease makes the dependent depend", mode: enforce, declared: ofVersion, refuses: breaks + refusal,
			objects: []client.Object{cluster(), addOn("base"), versioned(addOn("leaf"), "1.0"), reportedOf("leaf", "2.1")},
		},
		{name: "the dependent is not there", mode: enforce, objects: []client.Object{cluster(), addOn("base")}},
		{
			name: "the dependent is being deleted", mode: enforce,
			objects: []client.Object{cluster(), addOn("base"), deleting(addOn("leaf"))},
		},
		{
			name: "another alternative stays", mode: enforce, declared: alternatives,
			objects: []client.Object{cluster(), available(addOn("base")), addOn("leaf"), available(addOn("other"))},
		},
		{
			name: "another alternative is being deleted", mode: enforce, declared: alternatives,
			objects: []client.Object{cluster(), available(addOn("base")), addOn("leaf"), deleting(available(addOn("other")))},
			refuses: strings.Replace(breaks, "requires base", "requires base or other", 1) + refusal,
		},
		{
			name: "the hub serves another alternative", mode: enforce, declared: orOfHub("Tunnel"),
			objects: []client.Object{cluster(), available(addOn("base")), addOn("leaf")},
		},
		{
			name: "the hub does not serve another alternative", mode: enforce, declared: orOfHub("Bridge"),
			objects: []client.Object{cluster(), available(addOn("base")), addOn("leaf")},
			refuses: strings.Replace(breaks, "requires base", "requires base or Bridge on the hub", 1) + refusal,
		},
		{
			name: "whether the hub serves another alternative is not known", mode: enforce, declared: orOfHub("Elsewhere"),
			objects: []client.Object{cluster(), available(addOn("base")), addOn("leaf")},
		},
		{
			name: "it is an alternative that is not available", mode: enforce, declared: alternatives,
			objects: []client.Object{cluster(), addOn("base"), addOn("leaf")},
		},
		{
			name: "the cluster is being detached", mode: enforce,
			objects: []client.Object{deleting(cluster()), addOn("base"), addOn("leaf")},
		},
		{name: "no managed cluster", mode: enforce, objects: []client.Object{addOn("base"), addOn("leaf")}},
		{
			name: "it is gone meanwhile, so that there is nothing for an event", mode: enforce, objects: []client.Object{cluster(), addOn("leaf")},
			request: byOCM,
		},
		{
			name: "it is being deleted", mode: enforce, objects: []client.Object{cluster(), deleting(addOn("base")), addOn("leaf")},
			request: byOCM,
		},
		{
			name: "many may require it", mode: enforce, objects: usual, refuses: breaks + refusal, declared: append([]client.Object{
				registered("leaf2", "dependencies: [{name: base}]"), registered("leaf3", "dependencies: [{name: base}]"),
				registered("leaf4", "dependencies: [{name: base}]"), registered("leaf5", "dependencies: [{name: base}]"),
			}, declared...),
		},
		{
			name: "where its dependent is not there, the cluster is not read", mode: enforce, objects: []client.Object{cluster(), addOn("base")},
			fails: failing{get: "cluster"},
		},
		{
			name: "a policy is stricter", mode: off,
			objects: append(usual, policy("edge", "{protection: Enforce}")), refuses: breaks + " (AddOnDependencyPolicy 'edge')" + refusal,
		},
		{
			name: "a policy is for other clusters", mode: enforce, refuses: breaks + refusal,
			objects: append(usual, policy("core", `{protection: "Off", clusterSelector: {matchLabels: {tier: core}}}`)),
		},
		{
			name: "a policy waives it", mode: enforce,
			objects: append(usual, policy("edge", "{overrides: [{addOn: leaf, dependency: base, type: Optional}]}")),
		},
		{
			name: "with a reason", mode: enforce, objects: []client.Object{cluster(), forced(addOn("base"), "moving"), addOn("leaf")},
			warns:   breaks + ". It is removed nevertheless: moving",
			emits:   "Warning RemovalForced alice: " + breaks + ". It is removed nevertheless: moving",
			request: admissionv1.AdmissionRequest{UserInfo: authenticationv1.UserInfo{Username: "alice"}},
		},
		{
			name: "with a reason that is none", mode: enforce,
			objects: []client.Object{cluster(), forced(addOn("base"), " "), addOn("leaf")}, refuses: breaks + refusal,
		},
		{
			name: "only tried", mode: enforce, objects: []client.Object{cluster(), forced(addOn("base"), "moving"), addOn("leaf")}, request: dryRun,
			warns: breaks + ". It is removed nevertheless: moving",
		},
		{
			name: "by OCM", mode: enforce, objects: usual, request: byOCM, warns: breaks + ". OCM removes it nevertheless",
			emits: "Warning RemovalNotRefused system:serviceaccount:open-cluster-management-hub:sa: " + breaks + ". OCM removes it nevertheless",
		},
		{
			name: "registrations cannot be read", mode: enforce, objects: usual, fails: failing{list: "registrations"},
			warns: "whether other add-ons require 'base' was not checked: list registered add-ons: the hub is busy",
		},
		{
			name: "policies cannot be read", mode: enforce, objects: usual, fails: failing{list: "policies"},
			warns: "whether other add-ons require 'base' was not checked: list policies: the hub is busy",
		},
		{
			name: "the cluster cannot be read", mode: enforce, objects: usual, fails: failing{get: "cluster"},
			warns: "whether other add-ons require 'base' was not checked: read managed cluster cluster1: the hub is busy",
		},
		{
			name: "its add-ons cannot be read", mode: enforce, objects: usual, fails: failing{get: "add-on"},
			warns: "whether other add-ons require 'base' was not checked: read managed cluster add-on cluster1/leaf: the hub is busy",
		},
		{
			name: "AddOnTemplates cannot be read", mode: enforce, objects: usual, fails: failing{list: "templates"},
			declared: []client.Object{ptr.To(fixture.Deployed(fixture.Specified(t, "leaf", "dependencies: [{name: base}]")))},
			warns:    "whether other add-ons require 'base' was not checked: list AddOnTemplates: the hub is busy",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.declared == nil {
				test.declared = declared
			}
			response, emitted := handleRequest(t, test.mode, test.fails, test.request, "base", append(test.declared, test.objects...)...)
			expect(t, response, test.refuses, test.warns)
			if got := strings.Join(emitted, "; "); got != test.emits {
				t.Errorf("emitted %q, want %q", got, test.emits)
			}
		})
	}
}

// TestEvents forces removals: each emits an event, and a retry emits none.
func TestEvents(t *testing.T) {
	recorder, passing := events.NewFakeRecorder(10), clocktesting.NewFakePassiveClock(now)
	responds := newResponder(Options{Clock: passing, Recorder: recorder})
	review := outcome{words: removalWords, object: addOn("base"), subject: removalSubject("base"), message: "breaks", forceReason: "moving"}
	change := func(user string) {
		request := admission.Request{}
		request.UserInfo.Username = user
		responds.respond(request, review, "", nil)
	}
	for _, user := range []string{"alice", "alice", "bob", "alice"} {
		change(user)
	}
	if got := len(recorder.Events); got != 2 {
		t.Errorf("%d events of alice and bob", got)
	}
	passing.SetTime(now.Add(retryPeriod + time.Second))
	change("alice")
	if got := len(recorder.Events); got != 3 {
		t.Errorf("%d events after alice's next change", got)
	}
}

// TestItsOwnAddOn removes Interlock's agent: Interlock can be uninstalled even if an add-on requires the agent.
func TestItsOwnAddOn(t *testing.T) {
	response, _ := handleRequest(t, dependencyv1alpha1.ProtectionEnforce, failing{}, admissionv1.AdmissionRequest{}, names.AgentAddOn,
		ptr.To(fixture.Specified(t, "leaf", "dependencies: [{name: "+names.AgentAddOn+"}]")), cluster(), addOn(names.AgentAddOn), addOn("leaf"))
	if !response.Allowed || len(response.Warnings) > 0 {
		t.Error(response)
	}
}
