package installation

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubetypes "k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// auto is a Required edge that has its add-on installed.
func auto(name string) string { return "[{name: " + name + ", install: Auto}]" }

// decided returns the managed clusters of Interlock's Placement of an add-on.
func decided(ctx context.Context, addOn string) func() ([]string, error) {
	return func() (clusters []string, err error) {
		var all clusterv1beta1.PlacementDecisionList
		err = hub.Client.List(ctx, &all, client.InNamespace(addonv1alpha1.InstallNamespace),
			client.MatchingLabels{clusterv1beta1.PlacementLabel: addOn})
		for _, one := range all.Items {
			for _, decision := range one.Status.Decisions {
				clusters = append(clusters, decision.ClusterName)
			}
		}
		return clusters, err
	}
}

func message(ctx context.Context, cluster, addOn string) func() (string, error) {
	return func() (string, error) {
		found := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: addOn}, found)
		for _, condition := range found.Status.Conditions {
			if condition.Type == "Degraded" {
				return condition.Message, err
			}
		}
		return "", err
	}
}

func merge(ctx context.Context, object *unstructured.Unstructured, patch string) {
	GinkgoHelper()
	Expect(hub.Client.Patch(ctx, object, client.RawPatch(kubetypes.MergePatchType, []byte(patch)))).To(Succeed())
}

// installedBefore creates an add-on and its AddOnInstallation as an earlier leader has.
func installedBefore(ctx context.Context, cluster, name string) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	addOn.Namespace, addOn.Name = cluster, name
	addOn.Labels = map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock}
	Eventually(func() error { return hub.Client.Create(ctx, addOn, client.FieldOwner(names.AddonManager)) }).Should(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, addOn)) })
	stored(ctx, cluster, name, func(status *dependencyv1alpha1.AddOnInstallationStatus) {
		status.Phase, status.UID, status.Generation = dependencyv1alpha1.PhaseInstalled, addOn.UID, addOn.Generation
	})
}

// stored creates an AddOnInstallation as an earlier leader has, for an add-on that is gone.
func stored(ctx context.Context, cluster, name string, set func(*dependencyv1alpha1.AddOnInstallationStatus)) {
	GinkgoHelper()
	of := managed(cluster)
	Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(of), of)).To(Succeed())
	installation := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	installation.Spec.RequestedBy = []dependencyv1alpha1.InstallationRequest{
		{AddOn: "gone", Removal: addonv1alpha1.DependencyRemovalWithLastDependent},
	}
	installation.Status.ClusterUID = of.GetUID()
	set(&installation.Status)
	Eventually(func() error { return hub.Client.Create(ctx, installation) }).Should(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, installation)) })
}

var _ = Describe("An add-on that OCM installs by Placements", func() {
	It("is installed where another one needs it, and nowhere else", func(ctx context.Context) {
		register(ctx, "p-base", consenting("p-base"), "[]", "")
		register(ctx, "p-leaf", manual, auto("p-base"), "")
		for _, cluster := range []string{"east", "west"} {
			install(ctx, cluster, "p-leaf")
		}
		Eventually(installed(ctx, "p-base")).Should(ConsistOf("east", "west"))
		Eventually(notes(ctx, "p-leaf", "InstallsDependency")).Should(ContainElement(
			"Add-on 'p-base' is being installed, because 'p-leaf' needs it"))
		Consistently(installed(ctx, "p-base")).Should(ConsistOf("east", "west"))

		By("staying where the add-on that needed it is removed")
		leaf := &addonv1alpha1.ManagedClusterAddOn{}
		Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: "east", Name: "p-leaf"}, leaf)).To(Succeed())
		Expect(hub.Client.Delete(ctx, leaf)).To(Succeed())
		Consistently(installed(ctx, "p-base")).Should(ConsistOf("east", "west"))

		By("being decided no longer for a cluster that is detached")
		join(ctx, "leaving")
		install(ctx, "leaving", "p-leaf")
		Eventually(decided(ctx, "p-base")).Should(ConsistOf("east", "west", "leaving"))
		Expect(hub.Client.Delete(ctx, managed("leaving"))).To(Succeed())
		Eventually(decided(ctx, "p-base")).Should(ConsistOf("east", "west"))
	})

	It("is left to the Placement that selects the cluster", func(ctx context.Context) {
		create(ctx, `{apiVersion: v1, kind: Namespace, metadata: {name: places}}
---
{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {name: east, namespace: places,
 annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: "true"}}, spec: {}}`)
		decision := create(ctx, `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: PlacementDecision,
 metadata: {name: east-1, namespace: places, labels: {cluster.open-cluster-management.io/placement: east,
  cluster.open-cluster-management.io/decision-group-index: "0"}}}`)[0]
		Expect(hub.Client.Status().Patch(ctx, decision, client.RawPatch(kubetypes.MergePatchType,
			[]byte(`{"status": {"decisions": [{"clusterName": "east", "reason": ""}]}}`)))).To(Succeed())
		register(ctx, "o-base", "{type: Placements, placements: [{namespace: places, name: east}, {namespace: "+
			addonv1alpha1.InstallNamespace+", name: o-base}]}", "[]", "")
		register(ctx, "o-leaf", manual, auto("o-base"), "")
		install(ctx, "east", "o-leaf")
		install(ctx, "west", "o-leaf")
		Eventually(installed(ctx, "o-base")).Should(ConsistOf("east", "west"))
		Consistently(decided(ctx, "o-base")).Should(ConsistOf("west"))
	})

	It("is removed by OCM once its owner withdraws the consent, and does not come back by itself", func(ctx context.Context) {
		base := register(ctx, "w-base", consenting("w-base"), "[]", "")
		register(ctx, "w-leaf", manual, auto("w-base"), "")
		install(ctx, "east", "w-leaf")
		Eventually(installed(ctx, "w-base")).Should(ConsistOf("east"))
		merge(ctx, base, `{"spec": {"installStrategy": {"placements": []}}}`)
		Eventually(installed(ctx, "w-base")).Should(BeEmpty())
		Eventually(decided(ctx, "w-base")).Should(BeEmpty())
		Eventually(message(ctx, "east", "w-leaf")).Should(HaveSuffix(
			"(not installed: none of its Placements selects this cluster; for install: Auto, " +
				"its owner must list Placement 'open-cluster-management-interlock/w-base' in ClusterManagementAddOn 'w-base')"))
	})
})

var _ = Describe("An add-on that OCM does not install", func() {
	DescribeTable("is installed on demand, where its owner consents", func(ctx context.Context, on string) {
		base, leaf := "m-base-"+on, "m-leaf-"+on
		registered := register(ctx, base, manual, "[]", "")
		register(ctx, leaf, manual, auto(base), "")
		install(ctx, on, leaf)
		Eventually(message(ctx, on, leaf)).Should(ContainSubstring(
			"its owner must annotate ClusterManagementAddOn '" + base + "' with dependency.addon.open-cluster-management.io/install-on-demand=true"))
		Expect(installed(ctx, base)()).To(BeEmpty())
		merge(ctx, registered, `{"metadata": {"annotations": {"`+addonv1alpha1.InstallOnDemandAnnotation+`": "true"}}}`)
		Eventually(installed(ctx, base)).Should(ConsistOf(on))
		created := &addonv1alpha1.ManagedClusterAddOn{}
		Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: on, Name: base}, created)).To(Succeed())
		Expect(created.Labels).To(HaveKeyWithValue(addonv1alpha1.InstalledByLabel, "interlock"))
	}, onBoth())

	DescribeTable("is given up where it is removed again and again", func(ctx context.Context, on string) {
		base, leaf := "g-base-"+on, "g-leaf-"+on
		register(ctx, base, manual, "[]", onDemand)
		register(ctx, leaf, manual, auto(base), "")
		install(ctx, on, leaf)
		for range 2 {
			Eventually(installed(ctx, base)).Should(ConsistOf(on))
			undone := &addonv1alpha1.ManagedClusterAddOn{}
			Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: on, Name: base}, undone)).To(Succeed())
			Expect(hub.Client.Delete(ctx, undone)).To(Succeed())
		}
		Eventually(notes(ctx, base, "InstallationGivenUp")).Should(HaveLen(1))
		Eventually(message(ctx, on, leaf)).Should(ContainSubstring("'" + base + "' was removed from this cluster again and again"))
		Consistently(installed(ctx, base)).Should(BeEmpty())
		Expect(phase(ctx, on, base)()).To(Equal("GivenUp"))

		By("also by the next leader")
		manage("2s")
		Consistently(installed(ctx, base)).Should(BeEmpty())
		Expect(message(ctx, on, leaf)()).To(ContainSubstring("'" + base + "' was removed from this cluster again and again"))
	}, onBoth())

	DescribeTable("is installed with each new unit, but not for an add-on that is being deleted", func(ctx context.Context, on string) {
		leaf, mid, base := "u-leaf-"+on, "u-mid-"+on, "u-base-"+on
		unit := []string{leaf, mid, base}
		register(ctx, base, manual, "[]", onDemand)
		register(ctx, mid, manual, auto(base), onDemand)
		register(ctx, leaf, manual, auto(mid), "")
		for range 2 {
			install(ctx, on, leaf)
			Eventually(installed(ctx, base)).Should(ConsistOf(on))
			created := &addonv1alpha1.ManagedClusterAddOn{}
			Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: on, Name: base}, created)).To(Succeed())
			for _, name := range unit {
				uninstall(ctx, on, name)
			}
			// The time of a creation has whole seconds. What is created within the same second is not known to be new.
			Eventually(time.Since).WithArguments(created.CreationTimestamp.Time).Should(BeNumerically(">", 2*time.Second))
			for _, name := range unit {
				Eventually(installed(ctx, name)).Should(BeEmpty())
			}
		}

		create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn,
			metadata: {name: `+leaf+`, namespace: `+on+`, finalizers: [example.com/cleaning-up]}, spec: {}}`)
		Eventually(installed(ctx, base)).Should(ConsistOf(on), "removing a unit twice undoes nothing")
		Expect(notes(ctx, base, "InstallationGivenUp")()).To(BeEmpty())
		for _, name := range unit {
			uninstall(ctx, on, name)
		}
		Consistently(func() (all []string, err error) {
			for _, name := range unit {
				on, failed := installed(ctx, name)()
				all, err = append(all, on...), errors.Join(err, failed)
			}
			return all, err
		}).Should(BeEmpty())
		deleted := &unstructured.Unstructured{}
		deleted.SetAPIVersion(addonv1alpha1.GroupVersion.String())
		deleted.SetKind("ManagedClusterAddOn")
		deleted.SetNamespace(on)
		deleted.SetName(leaf)
		merge(ctx, deleted, `{"metadata": {"finalizers": null}}`)
	}, onBoth())

	It("is installed with all that it needs itself", func(ctx context.Context) {
		register(ctx, "t-base", consenting("t-base"), "[]", "")
		register(ctx, "t-mid", manual, auto("t-base"), onDemand)
		register(ctx, "t-leaf", manual, "[{name: t-mid, type: Optional, install: Auto}]", "")
		install(ctx, "west", "t-leaf")
		Eventually(installed(ctx, "t-base")).Should(ConsistOf("west"))
		Expect(installed(ctx, "t-mid")()).To(ConsistOf("west"))
	})
})

var _ = Describe("Nothing is installed", func() {
	DescribeTable("where", func(ctx context.Context, prefix, edge, policy string, installs types.GomegaMatcher) {
		base, leaf := prefix+"-base", prefix+"-leaf"
		if policy != "" {
			create(ctx, `{apiVersion: dependency.addon.open-cluster-management.io/v1alpha1, kind: AddOnDependencyPolicy,
				metadata: {name: `+prefix+`}, spec: `+policy+`}`)
		}
		register(ctx, base, manual, "[]", onDemand)
		register(ctx, leaf, manual, fmt.Sprintf(edge, base), "")
		for _, cluster := range []string{"east", "edge"} {
			install(ctx, cluster, leaf)
		}
		Eventually(message(ctx, "east", leaf)).ShouldNot(BeEmpty())
		Eventually(installed(ctx, base)).Should(installs)
		Consistently(installed(ctx, base)).Should(installs)
	},
		Entry("the edge does not ask for it", "na", "[{name: %s}]", "", BeEmpty()),
		Entry("the edge says Never", "nb", "[{name: %s, install: Never}]", "", BeEmpty()),
		Entry("a policy denies it", "nc", "[{name: %s, install: Auto}]",
			"{install: Deny, clusterSelector: {matchLabels: {name: edge}}}", ConsistOf("east")),
		Entry("the edge does not apply", "nd",
			"[{name: %s, install: Auto, when: {clusterSelector: {matchLabels: {name: east}}}}, {name: absent}]", "", ConsistOf("east")),
	)

	It("where a policy denies it, and the message names the policy", func(ctx context.Context) {
		register(ctx, "d-base", manual, "[]", onDemand)
		register(ctx, "d-leaf", manual, auto("d-base"), "")
		policy := create(ctx, `{apiVersion: dependency.addon.open-cluster-management.io/v1alpha1, kind: AddOnDependencyPolicy,
			metadata: {name: no-installations}, spec: {install: Deny, clusterSelector: {matchLabels: {name: edge}}}}`)[0]
		install(ctx, "edge", "d-leaf")
		Eventually(message(ctx, "edge", "d-leaf")).Should(ContainSubstring(
			"installations on this cluster are denied by AddOnDependencyPolicy 'no-installations'"))
		Expect(installed(ctx, "d-base")()).To(BeEmpty())
		Expect(hub.Client.Delete(ctx, policy)).To(Succeed())
		Eventually(installed(ctx, "d-base")).Should(ConsistOf("edge"))
	})

	It("where a managed cluster is lost", func(ctx context.Context) {
		join(ctx, "lost")
		register(ctx, "l-base", consenting("l-base"), "[]", "")
		register(ctx, "l-leaf", manual, auto("l-base"), "")
		ocmsuite.Reach(ctx, hub, "lost", metav1.ConditionUnknown)
		install(ctx, "lost", "l-leaf")
		Consistently(installed(ctx, "l-base")).Should(BeEmpty())
		ocmsuite.Reach(ctx, hub, "lost", metav1.ConditionTrue)
		Eventually(installed(ctx, "l-base")).Should(ConsistOf("lost"))
	})

	It("before an approval, on more than half of the fleet, and nothing is removed from it", func(ctx context.Context) {
		base := register(ctx, "f-base", manual, "[]", "")
		register(ctx, "f-leaf", manual, auto("f-base"), "")
		unused := register(ctx, "f-unused", manual, "[]", onDemand)
		stopManaging()
		for i := range 25 {
			name := fmt.Sprintf("many%02d", i)
			join(ctx, name)
			install(ctx, name, "f-leaf")
			installedBefore(ctx, name, "f-unused")
		}
		manage("2s")
		register(ctx, "f-gone", manual, removing("f-unused"), "")
		Eventually(message(ctx, "many24", "f-leaf")).ShouldNot(BeEmpty())
		merge(ctx, base, `{"metadata": {"annotations": {"`+addonv1alpha1.InstallOnDemandAnnotation+`": "true"}}}`)
		Eventually(notes(ctx, "f-base", "InstallationUnapproved")).Should(ConsistOf(SatisfyAll(
			HavePrefix("Installing 'f-base' on 25 of "), HaveSuffix("dependency.addon.open-cluster-management.io/approve-install=25"))))
		Eventually(message(ctx, "many24", "f-leaf")).Should(ContainSubstring("waits for an approval"))
		Eventually(notes(ctx, "f-unused", "RemovalUnapproved")).Should(ConsistOf(SatisfyAll(
			HavePrefix("Removing 'f-unused' from 25 of "), HaveSuffix("dependency.addon.open-cluster-management.io/approve-removal=25"))))
		Expect(installed(ctx, "f-base")()).To(BeEmpty())
		Expect(installed(ctx, "f-unused")()).To(HaveLen(25))
		merge(ctx, base, `{"metadata": {"annotations": {"`+addonv1alpha1.ApproveInstallAnnotation+`": "25"}}}`)
		merge(ctx, unused, `{"metadata": {"annotations": {"`+addonv1alpha1.ApproveRemovalAnnotation+`": "25"}}}`)
		for name, budget := range map[string]int{"f-base": 20, "f-unused": 5} {
			Eventually(installed(ctx, name)).Should(HaveLen(budget), name)
		}
		Consistently(func(g Gomega) {
			g.Expect(installed(ctx, "f-base")()).To(HaveLen(20), "the budget of a minute")
			g.Expect(installed(ctx, "f-unused")()).To(HaveLen(5), "the budget of a minute")
		}).Should(Succeed())
	})
})
