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

// doubted is a managed cluster without agents. The hub loses it when a spec has its lease expire.
const doubted = "doubted"

// acceptWithoutAgents accepts a managed cluster that the spec reports as available, as its agent would.
func acceptWithoutAgents(ctx context.Context, name string) {
	GinkgoHelper()
	accepted := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	accepted.Spec.HubAcceptsClient = true
	Expect(hub.Client.Create(ctx, accepted)).To(Succeed())
	Eventually(reportReached).WithContext(ctx).WithArguments(name).Should(Succeed())
	Eventually(func() error { // OCM makes it
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

// expectLeaseEvery sets how often the hub expects the lease of a managed cluster. The lease of one without agents is never renewed.
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

// registerByField registers an add-on that declares by fields, with the record that admission makes of them.
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

// hide has the hub lose the fields of a declaration, by any write that converts the registration as OCM does.
func hide(ctx context.Context, name string) {
	GinkgoHelper()
	const label = `{"metadata":{"labels":{"written":"by-ocm"}}}`
	Expect(hub.Client.Patch(ctx, &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}},
		client.RawPatch(types.MergePatchType, []byte(label)))).To(Succeed())
	stored := &unstructured.Unstructured{}
	stored.SetAPIVersion(addonv1alpha1.GroupVersion.String())
	stored.SetKind("ClusterManagementAddOn")
	Expect(hub.Client.Get(ctx, client.ObjectKey{Name: name}, stored)).To(Succeed())
	Expect(stored.Object["spec"]).NotTo(HaveKey("dependencies"))
}

func gateOn(ctx context.Context, cluster, name string) (string, error) {
	found := &addonv1alpha1.ManagedClusterAddOn{}
	err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, found)
	return found.Annotations[interlockv1alpha1.GateAnnotation], err
}

var _ = Describe("A closed gate", Ordered, func() {
	BeforeAll(lifecycleOn, NodeTimeout(time.Minute))

	It("stays closed on a lost cluster, while a verdict is held, and while a declaration is hidden", func(ctx context.Context) {
		acceptWithoutAgents(ctx, doubted)
		register(ctx, "on-lost", ordered("of-lost"), true)
		register(ctx, "on-held", ordered("missing"), true)
		registerByField(ctx, "on-hidden", map[string]any{
			"ordering": string(interlockv1alpha1.OrderingInstall), "dependencies": []any{map[string]any{"name": "of-hidden"}},
		})
		waiting := map[string]string{"on-lost": doubted, "on-held": cluster, "on-hidden": cluster}
		for name, on := range waiting {
			Eventually(dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
			addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: on, Name: name}}
			Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
			Expect(gateOn(ctx, on, name)).To(Equal(closed))
		}

		expectLeaseEvery(ctx, doubted, 1)
		Eventually(isLost).WithContext(ctx).WithArguments(doubted).Should(BeTrue())
		provide(ctx, doubted, "of-lost")
		const unreported = "{ordering: Install, dependencies: [{name: api, api: {group: example.com, kind: Tunnel}}]}"
		setAnnotation(ctx, registration("on-held", ""), interlockv1alpha1.DependenciesAnnotation, unreported)
		hide(ctx, "on-hidden")
		Consistently(func() (open []string) {
			for name, on := range waiting {
				if is, err := gateOn(ctx, on, name); err != nil || is != closed {
					open = append(open, name)
				}
			}
			return open
		}).WithTimeout(2 * time.Second).Should(BeEmpty())

		By("all of that being known")
		expectLeaseEvery(ctx, doubted, 3600)
		Eventually(func() (string, error) {
			if err := reportReached(ctx, doubted); err != nil {
				return "", err
			}
			if err := reportAvailable(ctx, doubted, "of-lost"); err != nil {
				return "", err
			}
			return gateOn(ctx, doubted, "on-lost")
		}).Should(Equal(opened))
		setAnnotation(ctx, registration("on-held", ""), interlockv1alpha1.DependenciesAnnotation, ordered())
		Eventually(deployed).WithContext(ctx).WithArguments("on-held").Should(BeTrue())
		Expect(gate(ctx, "on-hidden")).To(Equal(closed))
		provide(ctx, cluster, "of-hidden")
		Eventually(gate).WithContext(ctx).WithArguments("on-hidden").Should(Equal(opened))
	}, NodeTimeout(time.Minute))

	It("is opened by a corrected AddOnTemplate", func(ctx context.Context) {
		wrong := template("corrected")
		wrong.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: "[{name: wrong-name}]"}
		Expect(hub.Client.Create(ctx, wrong)).To(Succeed())
		registerTemplated(ctx, "corrected", "{ordering: Install}")
		provide(ctx, cluster, "right-name")
		Eventually(dryRunGate).WithContext(ctx).WithArguments("corrected").Should(Equal(closed))
		install(ctx, "corrected")
		Eventually(installable).WithContext(ctx).WithArguments("corrected").Should(
			HavePrefix("False WaitingForDependencies: Required addon 'wrong-name' is not installed"))
		setAnnotation(ctx, wrong, interlockv1alpha1.TemplateDependenciesAnnotation, "[{name: right-name}]")
		Eventually(deployed).WithContext(ctx).WithArguments("corrected").Should(BeTrue())
		Expect(gate(ctx, "corrected")).To(Equal(opened))
	}, NodeTimeout(time.Minute))
})
