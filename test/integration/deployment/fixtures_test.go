package deployment

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/guard"
	"open-cluster-management.io/interlock/pkg/hub/agentaddon"
	"open-cluster-management.io/interlock/test/ocmstandin"
)

const required = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied

// Add-ons on cluster1, and what of them is there before Interlock.
var (
	// gateway is that of docs/install.md, and has been reported on by OCM's agent.
	gateway = types.NamespacedName{Namespace: "cluster1", Name: "gateway"}
	// fresh has no status at all.
	fresh = types.NamespacedName{Namespace: "cluster1", Name: "fresh"}
	// mixed was reported on through v1beta1: without a conversion webhook the API
	// server then refuses server-side apply; and so was independent, which has no
	// dependencies, so that nobody but the agent writes it: its lease is not
	// renewed any more.
	mixed       = types.NamespacedName{Namespace: "cluster1", Name: "mixed"}
	independent = types.NamespacedName{Namespace: "cluster1", Name: "independent"}
	// asking depends on its configurations, and has been reported on as gateway has; where nobody knows of a lease of
	// it, the agent says so in OCM's words.
	asking = types.NamespacedName{Namespace: "cluster1", Name: "asking"}
	// alone depends on nothing and has a Degraded of its own.
	alone = types.NamespacedName{Namespace: "cluster2", Name: "alone"}
)

// furnish makes a hub with add-ons as it is without Interlock.
func furnish(ctx context.Context) {
	GinkgoHelper()
	const agents = "open-cluster-management-agent-addon"
	for _, name := range []string{"cluster1", "cluster2", agents} {
		Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	died := metav1.NewMicroTime(time.Now().Add(-time.Hour))
	Expect(admin.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: agents, Name: independent.Name}, Spec: coordinationv1.LeaseSpec{RenewTime: &died},
	})).To(Succeed())
	ungraft(ctx)
	// The one CRD of the test environment that is not OCM's.
	Expect(admin.Delete(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: dependencyv1alpha1.CRDName}})).To(Succeed())
	Expect(ocmstandin.InstallCRDs(ctx, hub.Config)).To(Succeed())
	example, err := os.ReadFile("../../../docs/examples/gateway.yaml")
	Expect(err).NotTo(HaveOccurred())
	for document := range strings.SplitSeq(string(example), "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.UnmarshalStrict([]byte(document), &object.Object)).To(Succeed())
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
	for _, key := range []types.NamespacedName{fresh, mixed, independent, asking, alone} {
		registered := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: key.Name}}
		registered.Spec.InstallStrategy.Type = "Manual"
		if key != alone && key != independent {
			registered.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "[{name: missing}]"}
		}
		if key == asking {
			registered.Annotations = map[string]string{
				addonv1alpha1.DependenciesAnnotation: `[{name: missing, when: {expression: "config.?mode.orValue('') == 'proxy'"}}]`,
			}
		}
		Expect(admin.Create(ctx, registered)).To(Succeed())
		installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		Expect(admin.Create(ctx, installed)).To(Succeed())
	}
	runTemplate(ctx, independent)
	reportAvailable(ctx)
	say(ctx, alone, metav1.Condition{Type: "Degraded", Status: metav1.ConditionTrue, Reason: "DiskFull", Message: "no space left"})
}

// runTemplate has an add-on run an AddOnTemplate, which names its version.
func runTemplate(ctx context.Context, key types.NamespacedName) {
	GinkgoHelper()
	template := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"addonName": key.Name, "agentSpec": map[string]any{}},
	}}
	template.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("AddOnTemplate"))
	template.SetName(key.Name)
	template.SetAnnotations(map[string]string{addonv1alpha1.AddOnVersionAnnotation: "1.0.0"})
	Expect(admin.Create(ctx, template)).To(Succeed())
	installed := &addonv1alpha1.ManagedClusterAddOn{}
	Expect(admin.Get(ctx, key, installed)).To(Succeed())
	config := &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: key.Name}, SpecHash: "tested"}
	installed.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{{
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"},
		ConfigReferent:      config.ConfigReferent, DesiredConfig: config, LastAppliedConfig: config,
	}}
	Expect(admin.Status().Update(ctx, installed)).To(Succeed())
}

// reportAvailable is what OCM's agent does within 30 seconds.
func reportAvailable(ctx context.Context) {
	GinkgoHelper()
	for key, version := range map[types.NamespacedName]string{gateway: "v1alpha1", asking: "v1alpha1", mixed: "v1beta1", independent: "v1beta1"} {
		sayThrough(ctx, version, key, metav1.Condition{
			Type: "Available", Status: metav1.ConditionTrue, Reason: "ManagedClusterAddOnLeaseUpdated", Message: key.Name + " add-on is available.",
		})
	}
}

func say(ctx context.Context, key types.NamespacedName, condition metav1.Condition) {
	GinkgoHelper()
	sayThrough(ctx, "v1alpha1", key, condition)
}

// sayThrough writes a condition as stock controllers do: the whole list in a
// merge patch, with the version that it was read in.
func sayThrough(ctx context.Context, version string, key types.NamespacedName, condition metav1.Condition) {
	GinkgoHelper()
	Eventually(func() error {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		if err := admin.Get(ctx, key, addOn); err != nil {
			return err
		}
		meta.SetStatusCondition(&addOn.Status.Conditions, condition)
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": addOn.ResourceVersion},
			"status":   map[string]any{"conditions": addOn.Status.Conditions},
		})
		Expect(err).NotTo(HaveOccurred())
		written := &unstructured.Unstructured{}
		written.SetAPIVersion(addonv1alpha1.GroupVersion.Group + "/" + version)
		written.SetKind("ManagedClusterAddOn")
		written.SetNamespace(key.Namespace)
		written.SetName(key.Name)
		return admin.Status().Patch(ctx, written, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("registration-agent"))
	}).Should(Succeed())
}

// condition reads status and reason of a condition, "" where it is not there.
func condition(ctx context.Context, key types.NamespacedName, conditionType string) func() (string, error) {
	return func() (string, error) {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		if err := admin.Get(ctx, key, addOn); err != nil {
			return "", err
		}
		found := meta.FindStatusCondition(addOn.Status.Conditions, conditionType)
		if found == nil {
			return "", nil
		}
		return string(found.Status) + "/" + found.Reason, nil
	}
}

// ungraft makes the CRD of ClusterManagementAddOns as OCM ships it, converted by its webhook and without
// Interlock's fields.
func ungraft(ctx context.Context) {
	GinkgoHelper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(admin.Get(ctx, types.NamespacedName{Name: crdName}, crd)).To(Succeed())
	for i := range crd.Spec.Versions {
		spec := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"]
		for _, field := range addonv1alpha1.GraftedSpecFields() {
			delete(spec.Properties, field)
		}
	}
	lasting, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	conversion, err := ocmstandin.ServeConversion(lasting)
	Expect(err).NotTo(HaveOccurred())
	conversion.Apply(crd)
	Expect(admin.Update(ctx, crd)).To(Succeed())
}

// guards reads whether the guard's object of a kind is there.
func guards(ctx context.Context, kind string) func() (bool, error) {
	version := map[string]string{guard.KindWebhook: "v1", guard.KindPolicy: "v1beta1"}[kind]
	return func() (bool, error) {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion(guard.Group + "/" + version)
		object.SetKind(kind)
		err := admin.Get(ctx, types.NamespacedName{Name: guard.Name}, object)
		return err == nil, client.IgnoreNotFound(err)
	}
}

// leavePolicy makes the guard's other form, as an addon-manager with another
// mode leaves it.
func leavePolicy(ctx context.Context) {
	GinkgoHelper()
	policy, err := guard.Policy("v1beta1")
	Expect(err).NotTo(HaveOccurred())
	for _, object := range policy {
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
}

// register makes an add-on with dependencies, and installs it on cluster1.
func register(ctx context.Context, name string, change func(*addonv1alpha1.ClusterManagementAddOn)) (remove func()) {
	GinkgoHelper()
	registered := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registered.Spec.InstallStrategy.Type = "Manual"
	change(registered)
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
	Expect(admin.Create(ctx, registered)).To(Succeed())
	Expect(admin.Create(ctx, installed)).To(Succeed())
	return func() {
		GinkgoHelper()
		Expect(admin.Delete(ctx, installed)).To(Succeed())
		Expect(admin.Delete(ctx, registered)).To(Succeed())
	}
}

// factsOf reads what cluster1 is asked and has answered.
func factsOf(ctx context.Context) func() (*dependencyv1alpha1.ManagedClusterFacts, error) {
	return func() (*dependencyv1alpha1.ManagedClusterFacts, error) {
		found := &dependencyv1alpha1.ManagedClusterFacts{}
		return found, admin.Get(ctx, types.NamespacedName{Namespace: "cluster1", Name: "cluster1"}, found)
	}
}

// installAgentAddOn makes what addon-manager and OCM make of addon-agent as an
// add-on of cluster2, in hosted mode.
func installAgentAddOn(ctx context.Context) {
	GinkgoHelper()
	labels := map[string]string{ocmv1alpha1.AddonLabelKey: agentaddon.Name}
	registered := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: agentaddon.Name}}
	registered.Spec.InstallStrategy.Type = "Manual"
	work := &unstructured.Unstructured{}
	work.SetAPIVersion("work.open-cluster-management.io/v1")
	work.SetKind("ManifestWork")
	work.SetNamespace("cluster2")
	work.SetName("addon-interlock-agent-deploy-0")
	work.SetLabels(labels)
	for _, object := range []client.Object{
		registered, work,
		&addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
			Namespace: "cluster2", Name: agentaddon.Name, Finalizers: []string{ocmv1alpha1.AddonHostingManifestFinalizer},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "cluster2", Name: "interlock-addon-agent", Labels: labels},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "interlock-addon-agent-hub"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "agents"}},
		},
	} {
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
}

// grantAgent binds the roles of deploy/agent: on the hub in its cluster's
// namespace only. Hub and managed cluster are the same API server here.
func grantAgent(ctx context.Context) {
	GinkgoHelper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: agentUser}}
	var role rbacv1.Role
	read("agent/hub-role.yaml", &role)
	role.Namespace = "cluster1"
	var clusterRole rbacv1.ClusterRole
	read("agent/managed-clusterrole.yaml", &clusterRole)
	for _, object := range []client.Object{
		&role, &clusterRole,
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: role.Name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: clusterRole.Name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
		},
	} {
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
}

// serveOnLoopback has the Service of the webhook be a name of the loopback
// interface, where its process listens: so the API server reaches it.
func serveOnLoopback(objects []*unstructured.Unstructured, address string) {
	GinkgoHelper()
	_, text, err := net.SplitHostPort(address)
	Expect(err).NotTo(HaveOccurred())
	port, err := strconv.ParseInt(text, 10, 32)
	Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		switch object.GetKind() {
		case "Service":
			object.Object["spec"] = map[string]any{"type": string(corev1.ServiceTypeExternalName), "externalName": "localhost"}
		case "ValidatingWebhookConfiguration":
			for _, webhook := range object.Object["webhooks"].([]any) {
				Expect(unstructured.SetNestedField(webhook.(map[string]any), port, "clientConfig", "service", "port")).To(Succeed())
			}
		}
	}
}
