package protection

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/webhook/protector"
)

var templates = addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"}

// release creates an AddOnTemplate of base with a version.
func release(ctx context.Context, name, version string) {
	GinkgoHelper()
	template := &addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}}
	template.Annotations = map[string]string{interlockv1alpha1.AddOnVersionAnnotation: version}
	template.Spec.AddonName = base
	template.Spec.AgentSpec.Workload.Manifests = nil
	Expect(hub.Client.Create(ctx, template)).To(Succeed())
	DeferCleanup(func(ctx context.Context) error { return hub.Client.Delete(ctx, template) })
}

// baseFrom returns the add-on base on a cluster, with an AddOnTemplate.
func baseFrom(cluster, template string) *addonv1alpha1.ManagedClusterAddOn {
	addOn := addOn(cluster, base)
	addOn.Spec.Configs = []addonv1alpha1.AddOnConfig{{
		ConfigGroupResource: templates, ConfigReferent: addonv1alpha1.ConfigReferent{Name: template},
	}}
	return addOn
}

var _ = Describe("The installation of an add-on that contradicts installed add-ons", func() { onEach(installations) })

// installations describes the installation of add-ons on a managed cluster.
func installations(cluster string) {
	refusal := "denied the request: add-on 'leaf' on cluster " + cluster + " contradicts what it needs: Required addon 'base' is not " +
		"installed or not available in version '>= 2.0'. (version 1.0 from its ManagedClusterAddOn). To install it nevertheless, give " +
		"it the annotation dependency.addon.open-cluster-management.io/force: '<why>'"

	BeforeEach(func() {
		DeferCleanup(func(ctx context.Context) {
			for _, name := range []string{friend, leaf, base} {
				Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, addOn(cluster, name)))).To(Succeed())
				Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, name).Should(BeTrue())
			}
		})
	})

	It("is refused for a dependency that is too old, and passes once the dependency is upgraded", func(ctx context.Context) {
		register(ctx, base, "")
		register(ctx, leaf, `[{name: base, version: ">= 2.0"}]`)
		Expect(hub.Client.Create(ctx, addOn(cluster, leaf), client.DryRunAll)).To(Succeed(), "what is not installed may follow")
		old := addOn(cluster, base)
		old.Annotations = map[string]string{interlockv1alpha1.AddOnVersionAnnotation: "1.0"}
		Expect(hub.Client.Create(ctx, old)).To(Succeed())
		Eventually(func() error { return hub.Client.Create(ctx, addOn(cluster, leaf), client.DryRunAll) }).
			Should(MatchError(ContainSubstring(refusal)))

		By("with a reason")
		user, warnings := impersonate("alice")
		forcedAddOn := addOn(cluster, leaf)
		forcedAddOn.Annotations = map[string]string{interlockv1alpha1.ForceAnnotation: "trying"}
		Expect(user.Create(ctx, forcedAddOn)).To(Succeed())
		Expect(warnings.texts).To(ConsistOf(HaveSuffix("It is installed nevertheless: trying")))
		Eventually(eventNotes(ctx, metav1.NamespaceDefault, leaf, protector.EventInstallationForced)).
			Should(ContainElement(HavePrefix("alice: ")))
		Expect(hub.Client.Delete(ctx, forcedAddOn)).To(Succeed())
		Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, leaf).Should(BeTrue())

		By("by OCM")
		manager, warnings := impersonate("system:serviceaccount:open-cluster-management-hub:addon-manager-controller-sa",
			"system:serviceaccounts:open-cluster-management-hub")
		Expect(manager.Create(ctx, addOn(cluster, leaf), client.DryRunAll)).To(Succeed())
		Expect(warnings.texts).To(ContainElement(HaveSuffix("Its gate is closed until that is over")))

		By("in a newer version")
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"2.0"}}}`, interlockv1alpha1.AddOnVersionAnnotation)
		Expect(hub.Client.Patch(ctx, old, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
		Eventually(func() error { return hub.Client.Create(ctx, addOn(cluster, leaf)) }).Should(Succeed())
	})

	It("is held where OCM installs it by a Placement, until the contradiction is over", func(ctx context.Context) {
		register(ctx, base, "")
		register(ctx, leaf, `[{name: base, version: "< 2.0"}]`)
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"3.0"}}}`, interlockv1alpha1.AddOnVersionAnnotation)
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: base}}
		Expect(hub.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
		Expect(hub.Client.Create(ctx, addOn(cluster, leaf))).To(Succeed())
		Eventually(func() error { return hub.Client.Create(ctx, addOn(cluster, base), client.DryRunAll) }).
			Should(MatchError(ContainSubstring("(version 3.0 from its ClusterManagementAddOn)")))
		selecting(ctx, "here", cluster)
		Expect(placedBy(ctx, base, "here")).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(placedBy(ctx, base)).To(Succeed()) })
		Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, base).Should(BeFalse())
		heldAddOn := addOn(cluster, base)
		Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(heldAddOn), heldAddOn)).To(Succeed())
		Expect(heldAddOn.Annotations).To(HaveKeyWithValue(interlockv1alpha1.GateAnnotation, interlockv1alpha1.GateClosed))
		Eventually(conditionOf).WithContext(ctx).WithArguments(cluster, base, gate.ConditionInstallable).Should(
			HavePrefix("False " + gate.ReasonContradiction + ": "))

		By("the contradicting add-on being removed")
		Expect(hub.Client.Delete(ctx, addOn(cluster, leaf))).To(Succeed())
		Eventually(conditionOf).WithContext(ctx).WithArguments(cluster, base, gate.ConditionInstallable).Should(HavePrefix("True "))
	})

	It("is refused for an AddOnTemplate in a version that a dependent does not accept", func(ctx context.Context) {
		register(ctx, base, "")
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: base}}
		patch := `{"spec":{"supportedConfigs":[{"group":"addon.open-cluster-management.io","resource":"addontemplates",` +
			`"defaultConfig":{"name":"base-v2"}}]}}`
		Expect(hub.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
		register(ctx, leaf, `[{name: base, version: "< 2.0"}]`)
		release(ctx, "base-v1", "1.0")
		release(ctx, "base-v2", "2.0")
		Expect(hub.Client.Create(ctx, addOn(cluster, leaf))).To(Succeed())
		consequence := "denied the request: add-on 'base' on cluster " + cluster + " would break 1 add-on: leaf: Required addon 'base' is not " +
			"installed or not available in version '< 2.0'. (version 2.0 from its AddOnTemplate)"
		Eventually(func() error { return hub.Client.Create(ctx, baseFrom(cluster, "base-v2"), client.DryRunAll) }).
			Should(MatchError(ContainSubstring(consequence)))
		Expect(hub.Client.Create(ctx, addOn(cluster, base), client.DryRunAll)).To(MatchError(ContainSubstring(consequence)), "the default")
		base1 := baseFrom(cluster, "base-v1")
		Expect(hub.Client.Create(ctx, base1)).To(Succeed())
		upgrade := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/configs/0/name","value":"base-v2"}]`))
		Expect(hub.Client.Patch(ctx, base1, upgrade)).To(MatchError(ContainSubstring(consequence)))
		Expect(hub.Client.Delete(ctx, addOn(cluster, leaf))).To(Succeed())
		Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, leaf).Should(BeTrue())
		Expect(hub.Client.Patch(ctx, base1, upgrade)).To(Succeed())
	})
}
