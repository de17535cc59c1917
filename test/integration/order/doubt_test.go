package order

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// doubtful is a managed cluster without agents. The hub loses it when a spec lets its lease expire.
const doubtful managedCluster = "doubted"

// acceptWithoutAgents accepts a managed cluster. The spec reports it as available, in place of its agent.
func acceptWithoutAgents(ctx context.Context, name string) {
	GinkgoHelper()
	accepted := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	accepted.Spec.HubAcceptsClient = true
	Expect(hub.Client.Create(ctx, accepted)).To(Succeed())
	Eventually(reportReached).WithContext(ctx).WithArguments(name).Should(Succeed())
	Eventually(func() error { // OCM creates the namespace
		return hub.Client.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
	}).Should(Succeed())
}

func reportReached(ctx context.Context, name string) error {
	cluster := &clusterv1.ManagedCluster{}
	if err := hub.Client.Get(ctx, client.ObjectKey{Name: name}, cluster); err != nil {
		return err
	}
	meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Tested",
	})
	return hub.Client.Status().Update(ctx, cluster)
}

// expectLeaseEvery sets how often the hub expects the lease of a managed cluster. Without agents, the lease is never renewed.
func expectLeaseEvery(ctx context.Context, name string, seconds int) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"spec":{"leaseDurationSeconds":%d}}`, seconds)
	Expect(hub.Client.Patch(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}},
		client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

func isLost(ctx context.Context, name string) (bool, error) {
	cluster := &clusterv1.ManagedCluster{}
	err := hub.Client.Get(ctx, client.ObjectKey{Name: name}, cluster)
	return meta.IsStatusConditionPresentAndEqual(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable,
		metav1.ConditionUnknown), err
}

// registerByField registers an add-on that declares its dependencies in fields. Admission records them in an annotation.
func registerByField(ctx context.Context, name string, spec map[string]any) {
	GinkgoHelper()
	annotations, problem := declaration.Keep(nil, declaration.WrittenOf(nil, spec), nil)
	Expect(problem).To(BeEmpty())
	spec["installStrategy"] = map[string]any{"type": addonv1alpha1.AddonInstallStrategyManual}
	registration := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	registration.SetAPIVersion(addonv1alpha1.GroupVersion.String())
	registration.SetKind("ClusterManagementAddOn")
	registration.SetName(name)
	registration.SetAnnotations(annotations)
	Expect(hub.Client.Create(ctx, registration)).To(Succeed())
}

// hide has the hub lose the fields of a declaration. Any write that converts the registration as OCM does loses them.
func hide(ctx context.Context, name string) {
	GinkgoHelper()
	const label = `{"metadata":{"labels":{"written":"by-ocm"}}}`
	Expect(hub.Client.Patch(ctx, &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}},
		client.RawPatch(types.MergePatchType, []byte(label)))).To(Succeed())
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(addonv1alpha1.GroupVersion.String())
	object.SetKind("ClusterManagementAddOn")
	Expect(hub.Client.Get(ctx, client.ObjectKey{Name: name}, object)).To(Succeed())
	Expect(object.Object["spec"]).NotTo(HaveKey("dependencies"))
}

var _ = Describe("A closed gate", Ordered, func() {
	BeforeAll(lifecycleOn, NodeTimeout(time.Minute))

	It("stays closed on a lost cluster, without addon-agent", func(ctx context.Context) {
		const cluster = doubtful
		acceptWithoutAgents(ctx, string(cluster))
		register(ctx, "on-lost", ordered("of-lost"), true)
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments("on-lost").Should(Equal(closed))
		cluster.install(ctx, "on-lost")
		expectLeaseEvery(ctx, string(cluster), 1)
		Eventually(isLost).WithContext(ctx).WithArguments(string(cluster)).Should(BeTrue())
		cluster.provide(ctx, "of-lost")
		Consistently(cluster.gate).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments("on-lost").Should(Equal(closed))

		By("the cluster being back")
		expectLeaseEvery(ctx, string(cluster), 3600)
		Eventually(func() (string, error) {
			if err := reportReached(ctx, string(cluster)); err != nil {
				return "", err
			}
			if err := cluster.reportAvailable(ctx, "of-lost"); err != nil {
				return "", err
			}
			return cluster.gate(ctx, "on-lost")
		}).WithContext(ctx).Should(Equal(opened))
	}, NodeTimeout(time.Minute))

	DescribeTable("stays closed once the declaration requires an API that is not served, and while a declaration is hidden", func(
		ctx context.Context, cluster managedCluster,
	) {
		api, hidden, dependency := cluster.uniqueName("on-api"), cluster.uniqueName("on-hidden"), cluster.uniqueName("of-hidden")
		register(ctx, api, ordered("missing"), true)
		registerByField(ctx, hidden, map[string]any{
			"ordering": string(interlockv1alpha1.OrderingInstall), "dependencies": []any{map[string]any{"name": dependency}},
		})
		waiting := []string{api, hidden}
		for _, name := range waiting {
			Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
			cluster.install(ctx, name)
			Expect(cluster.gate(ctx, name)).To(Equal(closed))
		}
		const tunnel = "{ordering: Install, dependencies: [{name: api, api: {group: example.com, kind: Tunnel}}]}"
		setAnnotation(ctx, registration(api, ""), interlockv1alpha1.DependenciesAnnotation, tunnel)
		hide(ctx, hidden)
		Consistently(func(g Gomega) {
			for _, name := range waiting {
				g.Expect(cluster.gate(ctx, name)).To(Equal(closed), name)
			}
		}).WithTimeout(2 * time.Second).Should(Succeed())

		By("the API not being required, and the hidden dependency being there")
		setAnnotation(ctx, registration(api, ""), interlockv1alpha1.DependenciesAnnotation, ordered())
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(api).Should(BeTrue())
		Expect(cluster.gate(ctx, hidden)).To(Equal(closed))
		cluster.provide(ctx, dependency)
		Eventually(cluster.gate).WithContext(ctx).WithArguments(hidden).Should(Equal(opened))
	}, onBoth(time.Minute))

	DescribeTable("is opened by a corrected AddOnTemplate", func(ctx context.Context, cluster managedCluster) {
		name, dependency := cluster.uniqueName("corrected"), cluster.uniqueName("right-name")
		misspelled := template(name)
		misspelled.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: "[{name: wrong-name}]"}
		Expect(hub.Client.Create(ctx, misspelled)).To(Succeed())
		registerTemplated(ctx, name, "{ordering: Install}")
		cluster.provide(ctx, dependency)
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		cluster.install(ctx, name)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(name).Should(
			HavePrefix("False WaitingForDependencies: Required addon 'wrong-name' is not installed"))
		setAnnotation(ctx, misspelled, interlockv1alpha1.TemplateDependenciesAnnotation, "[{name: "+dependency+"}]")
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		Expect(cluster.gate(ctx, name)).To(Equal(opened))
	}, onBoth(time.Minute))
})
