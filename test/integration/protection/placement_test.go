package protection

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/webhook/protector"
)

// selecting creates a Placement that selects clusters, without a scheduler.
func selecting(ctx context.Context, name string, clusters ...string) *clusterv1beta1.Placement {
	GinkgoHelper()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
	placement.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	Expect(hub.Client.Create(ctx, placement)).To(Succeed())
	decision := &clusterv1beta1.PlacementDecision{}
	decision.Namespace, decision.Name = metav1.NamespaceDefault, name+"-decision-1"
	decision.Labels = map[string]string{clusterv1beta1.PlacementLabel: name, clusterv1beta1.DecisionGroupIndexLabel: "0"}
	Expect(hub.Client.Create(ctx, decision)).To(Succeed())
	selectClusters(ctx, placement, clusters...)
	DeferCleanup(func(ctx context.Context) {
		Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, decision))).To(Succeed())
		Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, placement))).To(Succeed())
	})
	return placement
}

// placedBy sets the install strategy of an add-on to Placements, or to manual if there are none.
func placedBy(ctx context.Context, name string, placements ...string) error {
	registration := &addonv1alpha1.ClusterManagementAddOn{}
	if err := hub.Client.Get(ctx, client.ObjectKey{Name: name}, registration); err != nil {
		return err
	}
	original := registration.DeepCopy()
	registration.Spec.InstallStrategy = addonv1alpha1.InstallStrategy{Type: addonv1alpha1.AddonInstallStrategyPlacements}
	if placements == nil {
		registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
	}
	for _, placement := range placements {
		registration.Spec.InstallStrategy.Placements = append(registration.Spec.InstallStrategy.Placements, addonv1alpha1.PlacementStrategy{
			PlacementRef: addonv1alpha1.PlacementRef{Namespace: metav1.NamespaceDefault, Name: placement},
		})
	}
	return hub.Client.Patch(ctx, registration, client.MergeFrom(original))
}

// selectClusters changes the clusters that a Placement selects.
func selectClusters(ctx context.Context, placement *clusterv1beta1.Placement, clusters ...string) {
	GinkgoHelper()
	decision := &clusterv1beta1.PlacementDecision{}
	key := client.ObjectKey{Namespace: placement.Namespace, Name: placement.Name + "-decision-1"}
	Expect(hub.Client.Get(ctx, key, decision)).To(Succeed())
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{}
	for _, cluster := range clusters {
		decision.Status.Decisions = append(decision.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster, Reason: "Tested"})
	}
	Expect(hub.Client.Status().Update(ctx, decision)).To(Succeed())
}

func force(ctx context.Context, object client.Object) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"tested"}}}`, interlockv1alpha1.ForceAnnotation)
	Expect(hub.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

var _ = Describe("An add-on that a Placement installs and dependents require", func() { onEach(placements) })

// placements describes the add-ons that Placements install on a managed cluster.
func placements(cluster string) {
	consequence := "would break 1 add-on on 1 cluster: leaf requires base (" + cluster + "). Remove first what requires it. " +
		"To remove it nevertheless: kubectl annotate "
	var selected, empty *clusterv1beta1.Placement

	BeforeEach(func(ctx context.Context) {
		register(ctx, base, "")
		register(ctx, leaf, "[{name: base}]")
		register(ctx, friend, "")
		selected, empty = selecting(ctx, "here", cluster), selecting(ctx, "elsewhere")
		installAll(ctx, cluster)
		Expect(placedBy(ctx, base, selected.Name)).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			for _, name := range []string{base, leaf} {
				Expect(placedBy(ctx, name)).To(Succeed())
			}
		})
	})

	It("stays while its Placement is needed", func(ctx context.Context) {
		Eventually(func() error { return hub.Client.Delete(ctx, selected, client.DryRunAll) }).Should(MatchError(ContainSubstring(
			"denied the request: deleting Placement 'default/here' removes what it installs, and " + consequence + "placement here -n default ",
		)))
		Expect(hub.Client.Delete(ctx, empty, client.DryRunAll)).To(Succeed())

		By("the dependent going with it")
		Expect(placedBy(ctx, leaf, selected.Name)).To(Succeed())
		Eventually(func() error { return hub.Client.Delete(ctx, selected, client.DryRunAll) }).Should(Succeed())
		Expect(placedBy(ctx, leaf, selected.Name, empty.Name)).To(Succeed(), "it stays installed")

		By("another Placement selecting the cluster")
		second := selecting(ctx, "also", cluster)
		Expect(placedBy(ctx, leaf, selected.Name, second.Name)).To(Succeed())
		Eventually(func() error { return hub.Client.Delete(ctx, selected, client.DryRunAll) }).Should(MatchError(ContainSubstring(consequence)))
		Expect(placedBy(ctx, base, selected.Name, second.Name)).To(Succeed())
		Eventually(func() error { return hub.Client.Delete(ctx, selected, client.DryRunAll) }).Should(Succeed())
	})

	It("is removed by OCM with its Placement, where a reason is given", func(ctx context.Context) {
		force(ctx, selected)
		user, warnings := impersonate("alice")
		Eventually(func() []string {
			Expect(user.Delete(ctx, selected, client.DryRunAll)).To(Succeed())
			return warnings.texts
		}).Should(ContainElement(HaveSuffix("leaf requires base (" + cluster + "). It is removed nevertheless: tested")))
		Expect(user.Delete(ctx, selected)).To(Succeed())
		Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, base).Should(BeTrue())
		Eventually(eventNotes(ctx, metav1.NamespaceDefault, selected.Name, protector.EventForced)).Should(ContainElement(HavePrefix("alice: ")))
	})

	It("is removed by OCM where its Placement no longer selects the cluster, with an event", func(ctx context.Context) {
		selectClusters(ctx, selected)
		Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, base).Should(BeTrue())
		Eventually(eventNotes(ctx, cluster, base, protector.EventNotRefused)).Should(ContainElement(SatisfyAll(
			HavePrefix("system:serviceaccount:open-cluster-management-hub:addon-manager-controller-sa: removing add-on 'base'"),
			HaveSuffix("leaf requires base ("+cluster+"). OCM removes it nevertheless"),
		)))
	})

	It("stays while the last of its Placements is needed, where another was just deleted", func(ctx context.Context) {
		second := selecting(ctx, "also", cluster)
		Expect(placedBy(ctx, base, selected.Name, second.Name)).To(Succeed())
		Eventually(func() error { return hub.Client.Delete(ctx, selected, client.DryRunAll) }).Should(Succeed())
		Expect(hub.Client.Delete(ctx, second)).To(Succeed())
		Expect(hub.Client.Delete(ctx, selected)).To(MatchError(ContainSubstring(consequence)))
	})

	It("stays where OCM would take it over", func(ctx context.Context) {
		lifecycle := func(value string) error {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, addonv1alpha1.AddonLifecycleAnnotationKey, value)
			registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: base}}
			return hub.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch))
		}
		Expect(lifecycle(`"self"`)).To(Succeed())
		Expect(placedBy(ctx, base, empty.Name)).To(Succeed(), "OCM leaves it alone")
		Expect(lifecycle("null")).To(MatchError(ContainSubstring("the new install strategy of add-on 'base' would break 1 add-on on 1 cluster")))
		Expect(placedBy(ctx, base, selected.Name)).To(Succeed())
		Expect(lifecycle("null")).To(Succeed())
	})

	It("stays while its registration names the Placement", func(ctx context.Context) {
		changes := "denied the request: the new install strategy of add-on 'base' " + consequence + "clustermanagementaddon base "
		Expect(placedBy(ctx, base, empty.Name)).To(MatchError(ContainSubstring(changes)))
		Expect(placedBy(ctx, base, []string{}...)).To(MatchError(ContainSubstring(changes)), "no Placement at all")
		Expect(placedBy(ctx, base, selected.Name, empty.Name)).To(Succeed())
		Expect(placedBy(ctx, base, empty.Name)).To(MatchError(ContainSubstring(changes)))
		Expect(placedBy(ctx, base, "undecided")).To(Succeed(), "a Placement that may be created later, as GitOps does")
		Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, base).Should(BeTrue(), "as OCM does meanwhile")
	})
}
