package deployment

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/gaterule"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/hub/setup/agentaddon"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const required = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied

// Add-ons on cluster1, with their state before Interlock.
var (
	// gateway is the add-on of docs/install.md. It renews its lease.
	gateway = types.NamespacedName{Namespace: cluster, Name: "gateway"}
	// neverLeased has never had a lease, and was written through v1beta1. So while OCM's webhook is unavailable, the API server refuses
	// server-side apply. The same holds for independent, which has no dependencies and no longer renews its lease.
	neverLeased = types.NamespacedName{Namespace: cluster, Name: "fresh"}
	independent = types.NamespacedName{Namespace: cluster, Name: "independent"}
	// configured depends on its configurations, and renews its lease.
	configured = types.NamespacedName{Namespace: cluster, Name: "asking"}
	// templated runs an AddOnTemplate, which names its version.
	templated = types.NamespacedName{Namespace: cluster, Name: "templated"}
	// unjoined has no dependencies and a Degraded of its own. Its cluster has not joined.
	unjoined = types.NamespacedName{Namespace: "cluster2", Name: "alone"}
)

// leaseDurationSeconds is long enough for OCM's agent to consider the lease of gateway fresh throughout.
const leaseDurationSeconds = 3600

// stockAvailable has the values to which OCM's registration agent sets Available.
var stockAvailable = map[types.NamespacedName]string{
	gateway:     "True/ManagedClusterAddOnLeaseUpdated",
	neverLeased: "Unknown/ManagedClusterAddOnLeaseNotFound",
	configured:  "True/ManagedClusterAddOnLeaseUpdated",
	independent: "False/ManagedClusterAddOnLeaseUpdateStopped",
}

// reportedByOCM waits until OCM's agent has set Available of every add-on.
func reportedByOCM(ctx context.Context) {
	GinkgoHelper()
	for key, available := range stockAvailable {
		Eventually(condition(ctx, key, "Available")).Should(Equal(available), key.String())
	}
}

// furnish creates a hub with add-ons as it is without Interlock.
func furnish(ctx context.Context) {
	GinkgoHelper()
	Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: unjoined.Namespace}})).To(Succeed())
	for key, age := range map[types.NamespacedName]time.Duration{gateway: 0, configured: 0, independent: expiredAge} {
		renew(ctx, key, age)
	}
	example, err := os.ReadFile("../../../docs/examples/gateway.yaml")
	Expect(err).NotTo(HaveOccurred())
	for document := range strings.SplitSeq(string(example), "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.UnmarshalStrict([]byte(document), &object.Object)).To(Succeed())
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
	for _, key := range []types.NamespacedName{neverLeased, independent, configured, unjoined} {
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: key.Name}}
		registration.Spec.InstallStrategy.Type = "Manual"
		if key != unjoined && key != independent {
			registration.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "[{name: missing}]"}
		}
		if key == configured {
			registration.Annotations = map[string]string{
				addonv1alpha1.DependenciesAnnotation: `[{name: missing, when: {expression: "config.?mode.orValue('') == 'proxy'"}}]`,
			}
		}
		Expect(admin.Create(ctx, registration)).To(Succeed())
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		Expect(admin.Create(ctx, addOn)).To(Succeed())
	}
	for _, key := range []types.NamespacedName{neverLeased, independent} {
		addOn := &ocmv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"written": "through-v1beta1"}}}`))
		Expect(hub.Client.Patch(ctx, addOn, patch)).To(Succeed())
	}
	runTemplate(ctx)
	reportedByOCM(ctx)
	setAsOwnManager(ctx, unjoined, metav1.Condition{
		Type: "Degraded", Status: metav1.ConditionTrue,
		Reason: "DiskFull", Message: "no space left",
	})
}

// runTemplate installs templated, and waits until its AddOnTemplate runs on the cluster.
func runTemplate(ctx context.Context) {
	GinkgoHelper()
	content, err := json.Marshal(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: templated.Name},
	})
	Expect(err).NotTo(HaveOccurred())
	template := &ocmv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{
		Name: templated.Name, Annotations: map[string]string{addonv1alpha1.AddOnVersionAnnotation: "1.0.0"},
	}}
	template.Spec.AddonName = templated.Name
	template.Spec.AgentSpec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: content}}}
	registration := &ocmv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: templated.Name}}
	registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	registration.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"},
		DefaultConfig:       &ocmv1alpha1.ConfigReferent{Name: template.Name},
	}}
	addOn := &ocmv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: templated.Namespace, Name: templated.Name}}
	for _, object := range []client.Object{template, registration, addOn} {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	Eventually(func() ([]ocmv1alpha1.ConfigReference, error) {
		err := hub.Client.Get(ctx, templated, addOn)
		return addOn.Status.ConfigReferences, err
	}).Should(ConsistOf(HaveField("LastAppliedConfig", Not(BeNil()))))
}

// expiredAge is the age of the lease of an add-on that has stopped.
const expiredAge = 10 * leaseDurationSeconds * time.Second

// renew sets the renew time of an add-on's lease to some time ago.
func renew(ctx context.Context, key types.NamespacedName, age time.Duration) {
	GinkgoHelper()
	renewTime := metav1.NewMicroTime(time.Now().Add(-age))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: key.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, managed.Client, lease, func() error {
		lease.Spec.RenewTime = &renewTime
		return nil
	})
	Expect(err).NotTo(HaveOccurred())
}

// setAsOwnManager writes a condition as the manager of an add-on does: the whole list in a merge patch, with the resourceVersion at
// which it was read.
func setAsOwnManager(ctx context.Context, key types.NamespacedName, condition metav1.Condition) {
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
		return admin.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("add-on-manager"))
	}).Should(Succeed())
}

// condition returns a function that reads status and reason of a condition. The text is empty without a condition.
func condition(ctx context.Context, key types.NamespacedName, conditionType string) func() (string, error) {
	return func() (string, error) {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		if err := admin.Get(ctx, key, addOn); err != nil {
			return "", err
		}
		condition := meta.FindStatusCondition(addOn.Status.Conditions, conditionType)
		if condition == nil {
			return "", nil
		}
		return string(condition.Status) + "/" + condition.Reason, nil
	}
}

// guards reports whether the guard's object of a kind exists.
func guards(ctx context.Context, kind string) func() (bool, error) {
	return ruleOf(ctx, kind, names.Guard)
}

// ruleOf reports whether the object of an admission rule exists.
func ruleOf(ctx context.Context, kind, name string) func() (bool, error) {
	version := map[string]string{rule.KindWebhook: "v1", rule.KindPolicy: "v1beta1", rule.KindBinding: "v1beta1"}[kind]
	return func() (bool, error) {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion(rule.Group + "/" + version)
		object.SetKind(kind)
		err := admin.Get(ctx, types.NamespacedName{Name: name}, object)
		return err == nil, client.IgnoreNotFound(err)
	}
}

// leaveRules creates the guard's other form and the gate rule in both, as an addon-manager with other flags leaves them.
func leaveRules(ctx context.Context) {
	GinkgoHelper()
	policies, err := guard.Rule.Policy("v1beta1")
	Expect(err).NotTo(HaveOccurred())
	gates, err := gaterule.Rule.Policy("v1beta1")
	Expect(err).NotTo(HaveOccurred())
	webhook, err := gaterule.Rule.Webhook(admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/gate")})
	Expect(err).NotTo(HaveOccurred())
	for _, object := range append(append(policies, gates...), webhook) {
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
}

func gateOf(value string) []byte {
	return fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, addonv1alpha1.GateAnnotation, value)
}

// expectGateOpened creates an add-on with a closed gate that no declaration requires, and waits until it is opened.
func expectGateOpened(ctx context.Context) {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gated"}}
	registration.Spec.InstallStrategy.Type = "Manual"
	Expect(admin.Create(ctx, registration)).To(Succeed())
	gatedAddOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "gated"}}
	gatedAddOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	Expect(admin.Create(ctx, gatedAddOn)).To(Succeed())
	Eventually(func() (map[string]string, error) {
		err := admin.Get(ctx, client.ObjectKeyFromObject(gatedAddOn), gatedAddOn)
		return gatedAddOn.Annotations, err
	}).Should(HaveKeyWithValue(addonv1alpha1.GateAnnotation, addonv1alpha1.GateOpen))
	Expect(admin.Delete(ctx, gatedAddOn)).To(Succeed())
	Expect(admin.Delete(ctx, registration)).To(Succeed())
}

// expectBundle has addon-manager --lifecycle report an add-on without an agent as available.
func expectBundle(ctx context.Context) {
	GinkgoHelper()
	remove := register(ctx, "bundle", func(registration *addonv1alpha1.ClusterManagementAddOn) {
		registration.Annotations = map[string]string{addonv1alpha1.BundleAnnotation: "true"}
	})
	Eventually(condition(ctx, types.NamespacedName{Namespace: cluster, Name: "bundle"}, "Available")).Should(Equal("True/BundleAvailable"))
	remove()
}

// leaveAgent leaves an installation of the agent without its registration. The garbage collector does not delete it. With the
// registration, the garbage collector may be faster than the uninstallation.
func leaveAgent(ctx context.Context) {
	GinkgoHelper()
	Expect(admin.Create(ctx, &addonv1alpha1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster2", Name: agentaddon.Name},
	})).To(Succeed())
}

// register creates an add-on with dependencies, and installs it on cluster1.
func register(ctx context.Context, name string, change func(*addonv1alpha1.ClusterManagementAddOn)) (remove func()) {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Spec.InstallStrategy.Type = "Manual"
	change(registration)
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	Expect(admin.Create(ctx, registration)).To(Succeed())
	Expect(admin.Create(ctx, addOn)).To(Succeed())
	return func() {
		GinkgoHelper()
		Expect(admin.Delete(ctx, addOn)).To(Succeed())
		Expect(admin.Delete(ctx, registration)).To(Succeed())
	}
}

// factsOf reads the requested and reported facts of cluster1.
func factsOf(ctx context.Context) func() (*dependencyv1alpha1.ManagedClusterFacts, error) {
	return func() (*dependencyv1alpha1.ManagedClusterFacts, error) {
		facts := &dependencyv1alpha1.ManagedClusterFacts{}
		return facts, admin.Get(ctx, types.NamespacedName{Namespace: cluster, Name: "cluster1"}, facts)
	}
}

// reports counts the AddOnDependencyReports of the hub.
func reports(ctx context.Context) func() (int, error) {
	return func() (int, error) {
		list := &dependencyv1alpha1.AddOnDependencyReportList{}
		err := admin.List(ctx, list)
		return len(list.Items), err
	}
}

// fleetReported reports whether the hub has the AddOnFleetReport.
func fleetReported(ctx context.Context) func() (bool, error) {
	return func() (bool, error) {
		err := admin.Get(ctx, types.NamespacedName{Name: dependencyv1alpha1.FleetReportName}, &dependencyv1alpha1.AddOnFleetReport{})
		return err == nil, client.IgnoreNotFound(err)
	}
}

// installAgentAddOn creates the remains of addon-agent as an add-on of cluster2 in hosted mode when its cluster is gone.
// test/integration/agentaddon tests everything else about it.
func installAgentAddOn(ctx context.Context) {
	GinkgoHelper()
	labels := map[string]string{ocmv1alpha1.AddonLabelKey: agentaddon.Name}
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: agentaddon.Name}}
	registration.Spec.InstallStrategy.Type = "Manual"
	work := &unstructured.Unstructured{}
	work.SetAPIVersion("work.open-cluster-management.io/v1")
	work.SetKind("ManifestWork")
	work.SetNamespace("cluster2")
	work.SetName("addon-interlock-agent-deploy-0")
	work.SetLabels(labels)
	for _, object := range []client.Object{
		registration, work,
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

// grantAgent binds the roles of deploy/agent. The role on the hub is bound only in the cluster's namespace.
func grantAgent(ctx context.Context) {
	GinkgoHelper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: agentUser}}
	var role rbacv1.Role
	loadManifest("agent/hub-role.yaml", &role)
	role.Namespace = cluster
	var clusterRole rbacv1.ClusterRole
	loadManifest("agent/managed-clusterrole.yaml", &clusterRole)
	for _, object := range []client.Object{&role, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: role.Name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}} {
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
	for _, object := range []client.Object{&clusterRole, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: clusterRole.Name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
	}} {
		Expect(managed.Client.Create(ctx, object)).To(Succeed())
	}
}

// serveOnLoopback makes the Service of the webhook a name of the loopback interface, where its process listens. So the API server
// reaches it.
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
		case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			for _, webhook := range object.Object["webhooks"].([]any) {
				Expect(unstructured.SetNestedField(webhook.(map[string]any), port, "clientConfig", "service", "port")).To(Succeed())
			}
		}
	}
}
