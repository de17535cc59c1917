package ocm

import (
	"context"
	"encoding/json"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const labelPrefix = "feature.open-cluster-management.io/addon-"

var _ = Describe("OCM", Ordered, func() {
	DescribeTable("none of its components is an administrator", func(ctx context.Context, account string) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:open-cluster-management-hub:" + account,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "*", Group: "*", Resource: "*"},
		}}
		Expect(hub.Client.Create(ctx, review)).To(Succeed())
		Expect(review.Status.Allowed).To(BeFalse())
	},
		Entry(nil, "registration-controller-sa"), Entry(nil, "addon-manager-controller-sa"),
		Entry(nil, "placement-controller-sa"), Entry(nil, "work-controller-sa"), Entry(nil, "registration-webhook-sa"))

	It("converts add-ons between versions", func(ctx context.Context) {
		install(ctx, "converted", nil)
		addOn := &addonv1beta1.ManagedClusterAddOn{}
		Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: managed.Name, Name: "converted"}, addOn)).To(Succeed())
		Expect(addOn.Annotations).To(HaveKeyWithValue(addonv1beta1.InstallNamespaceAnnotation, ocm.AddOnNamespace))
	})

	It("drops Interlock's fields with a write through v1beta1", func(ctx context.Context) {
		registration := &unstructured.Unstructured{}
		//nolint:staticcheck // its replacement is no schema.GroupVersion
		registration.SetGroupVersionKind(addonv1alpha1.SchemeGroupVersion.WithKind("ClusterManagementAddOn"))
		registration.SetName("declared")
		registration.Object["spec"] = map[string]any{
			"installStrategy": map[string]any{"type": "Manual"},
			"dependencies":    []any{map[string]any{"name": "leased"}},
		}
		Expect(hub.Client.Create(ctx, registration)).To(Succeed())
		Expect(registration.Object["spec"]).To(HaveKey("dependencies"))
		beta := &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: registration.GetName()}}
		Expect(hub.Client.Patch(ctx, beta,
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"some": "label"}}}`)))).To(Succeed())
		Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(registration), registration)).To(Succeed())
		Expect(registration.Object["spec"]).NotTo(HaveKey("dependencies"))
	})

	It("serves MutatingAdmissionPolicies if they are enabled", func(ctx context.Context) {
		Expect(hub.Client.List(ctx, &admissionregistrationv1beta1.MutatingAdmissionPolicyList{})).To(Succeed())
	})

	It("writes what happens to its objects to the audit log", func() {
		content, err := os.ReadFile(hub.AuditLog)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(content)).To(ContainSubstring(`"username":"system:serviceaccount:open-cluster-management-hub:addon-manager-controller-sa"`))
	})

	It("reports an add-on by its lease, and labels the cluster", func(ctx context.Context) {
		install(ctx, "leased", nil)
		Eventually(availableOf).WithContext(ctx).WithArguments("leased").
			Should(HaveReason(metav1.ConditionUnknown, "ManagedClusterAddOnLeaseNotFound"))

		runContext, kill := context.WithCancel(ctx)
		exit := make(chan error, 1)
		go func() { exit <- managed.RenewLease(runContext, "leased", time.Second) }()
		Eventually(availableOf).WithContext(ctx).WithArguments("leased").
			Should(HaveReason(metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated"))
		Eventually(labelOf).WithContext(ctx).WithArguments("leased").Should(Equal("available"))

		kill()
		Expect(<-exit).To(Succeed())
		Eventually(availableOf).WithContext(ctx).WithArguments("leased").
			Should(HaveReason(metav1.ConditionFalse, "ManagedClusterAddOnLeaseUpdateStopped"))
		Eventually(labelOf).WithContext(ctx).WithArguments("leased").Should(Equal("unhealthy"))
	}, NodeTimeout(3*time.Minute))

	It("installs an add-on from a template", func(ctx context.Context) {
		content := &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: "templated"},
		}
		install(ctx, "templated", &addonv1alpha1.AddOnTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: "templated-1"},
			Spec: addonv1alpha1.AddOnTemplateSpec{AddonName: "templated", AgentSpec: workv1.ManifestWorkSpec{
				Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: encode(content)}}}},
			}},
		})
		Eventually(func() ([]workv1.ManifestWork, error) {
			works := &workv1.ManifestWorkList{}
			err := hub.Client.List(ctx, works,
				client.InNamespace(managed.Name), client.MatchingLabels{"open-cluster-management.io/addon-name": "templated"})
			return works.Items, err
		}).Should(HaveLen(1))
		Eventually(func() error { return managed.Client.Get(ctx, client.ObjectKeyFromObject(content), content) }).Should(Succeed())
		Eventually(availableOf).WithContext(ctx).WithArguments("templated").Should(HaveField("Status", metav1.ConditionTrue))
	}, NodeTimeout(3*time.Minute))

	It("loses a cluster whose agent is dead, and its add-ons with it, until the agent is back", func(ctx context.Context) {
		Expect(managed.RegistrationAgent.Kill()).To(Succeed())
		Eventually(clusterAvailable).WithContext(ctx).Should(HaveReason(metav1.ConditionUnknown, "ManagedClusterLeaseUpdateStopped"))
		Eventually(availableOf).WithContext(ctx).WithArguments("leased").
			Should(HaveReason(metav1.ConditionUnknown, "ManagedClusterLeaseUpdateStopped"))

		Expect(managed.RegistrationAgent.Start(ctx)).To(Succeed())
		Eventually(clusterAvailable).WithContext(ctx).Should(HaveField("Status", metav1.ConditionTrue))
		Eventually(availableOf).WithContext(ctx).WithArguments("leased").
			Should(HaveReason(metav1.ConditionFalse, "ManagedClusterAddOnLeaseUpdateStopped"))
	}, NodeTimeout(4*time.Minute))

	It("survives a restart of the hub's API server", func(ctx context.Context) {
		Expect(hub.Restart()).To(Succeed())
		Expect(hub.AddOnManager.Stop(ctx)).To(Succeed())
		Expect(hub.AddOnManager.Start(ctx)).To(Succeed())
		install(ctx, "later", nil)
		Eventually(availableOf).WithContext(ctx).WithArguments("later").
			Should(HaveReason(metav1.ConditionUnknown, "ManagedClusterAddOnLeaseNotFound"))
	}, NodeTimeout(3*time.Minute))
})

// install registers an add-on and enables it on the managed cluster.
func install(ctx context.Context, name string, template *addonv1alpha1.AddOnTemplate) {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
	if template != nil {
		Expect(hub.Client.Create(ctx, template)).To(Succeed())
		registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
			ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
			DefaultConfig:       &addonv1alpha1.ConfigReferent{Name: template.Name},
		}}
	}
	Expect(hub.Client.Create(ctx, registration)).To(Succeed())
	Expect(hub.Client.Create(ctx, &addonv1alpha1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{Namespace: managed.Name, Name: name},
	})).To(Succeed())
}

// availableOf returns an add-on's condition Available. It is the zero condition if there is none.
func availableOf(ctx context.Context, name string) (metav1.Condition, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	err := hub.Client.Get(ctx, client.ObjectKey{Namespace: managed.Name, Name: name}, addOn)
	return conditionOf(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionAvailable), err
}

func clusterAvailable(ctx context.Context) (metav1.Condition, error) {
	cluster, err := readCluster(ctx)
	return conditionOf(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable), err
}

// labelOf returns the value of the cluster's label about an add-on.
func labelOf(ctx context.Context, name string) (string, error) {
	cluster, err := readCluster(ctx)
	return cluster.Labels[labelPrefix+name], err
}

func readCluster(ctx context.Context) (*clusterv1.ManagedCluster, error) {
	cluster := &clusterv1.ManagedCluster{}
	return cluster, hub.Client.Get(ctx, client.ObjectKey{Name: managed.Name}, cluster)
}

func conditionOf(conditions []metav1.Condition, kind string) metav1.Condition {
	if condition := meta.FindStatusCondition(conditions, kind); condition != nil {
		return *condition
	}
	return metav1.Condition{}
}

// HaveReason matches a condition with this status and reason.
func HaveReason(status metav1.ConditionStatus, reason string) OmegaMatcher {
	return And(HaveField("Status", status), HaveField("Reason", reason))
}

func encode(object any) []byte {
	GinkgoHelper()
	raw, err := json.Marshal(object)
	Expect(err).NotTo(HaveOccurred())
	return raw
}
