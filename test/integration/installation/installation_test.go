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
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// auto returns a declaration with a Required edge by which Interlock installs the add-on.
func auto(name string) string { return "[{name: " + name + ", install: Auto}]" }

func message(ctx context.Context, cluster, addOn string) func() (string, error) {
	return func() (string, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: addOn}, object)
		for _, condition := range object.Status.Conditions {
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

// createInstalled creates an add-on and its AddOnInstallation, as an earlier leader did.
func createInstalled(ctx context.Context, cluster, name string) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	addOn.Namespace, addOn.Name = cluster, name
	addOn.Labels = map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock}
	Eventually(func() error { return hub.Client.Create(ctx, addOn, client.FieldOwner(names.AddonManager)) }).Should(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, addOn)) })
	createInstallation(ctx, cluster, name, func(status *dependencyv1alpha1.AddOnInstallationStatus) {
		status.Phase, status.UID, status.Generation = dependencyv1alpha1.PhaseInstalled, addOn.UID, addOn.Generation
	})
}

// createInstallation creates an AddOnInstallation, as an earlier leader did, for an add-on that no longer exists.
func createInstallation(ctx context.Context, cluster, name string, set func(*dependencyv1alpha1.AddOnInstallationStatus)) {
	GinkgoHelper()
	object := managed(cluster)
	Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	installation := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	installation.Spec.RequestedBy = []dependencyv1alpha1.InstallationRequest{
		{AddOn: "gone", Removal: addonv1alpha1.DependencyRemovalWithLastDependent},
	}
	installation.Status.ClusterUID = object.GetUID()
	set(&installation.Status)
	Eventually(func() error { return hub.Client.Create(ctx, installation) }).Should(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, installation)) })
}

var _ = Describe("An add-on that OCM does not install", func() {
	DescribeTable("is installed on demand, where its owner consents", func(ctx context.Context, cluster string) {
		base, leaf := "m-base-"+cluster, "m-leaf-"+cluster
		object := register(ctx, base, manual, "[]", "")
		register(ctx, leaf, manual, auto(base), "")
		install(ctx, cluster, leaf)
		Eventually(message(ctx, cluster, leaf)).Should(ContainSubstring(
			"its owner must annotate ClusterManagementAddOn '" + base + "' with dependency.addon.open-cluster-management.io/install-on-demand=true"))
		Expect(clustersWith(ctx, base)()).To(BeEmpty())
		merge(ctx, object, `{"metadata": {"annotations": {"`+addonv1alpha1.InstallOnDemandAnnotation+`": "true"}}}`)
		Eventually(clustersWith(ctx, base)).Should(ConsistOf(cluster))
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: base}, addOn)).To(Succeed())
		Expect(addOn.Labels).To(HaveKeyWithValue(addonv1alpha1.InstalledByLabel, "interlock"))
	}, onBoth())

	DescribeTable("is given up where it is removed again and again", func(ctx context.Context, cluster string) {
		base, leaf := "g-base-"+cluster, "g-leaf-"+cluster
		register(ctx, base, manual, "[]", onDemand)
		register(ctx, leaf, manual, auto(base), "")
		install(ctx, cluster, leaf)
		for range 2 {
			Eventually(clustersWith(ctx, base)).Should(ConsistOf(cluster))
			undone := &addonv1alpha1.ManagedClusterAddOn{}
			Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: base}, undone)).To(Succeed())
			Expect(hub.Client.Delete(ctx, undone)).To(Succeed())
		}
		Eventually(notes(ctx, base, "InstallationGivenUp")).Should(HaveLen(1))
		Eventually(message(ctx, cluster, leaf)).Should(ContainSubstring("'" + base + "' was removed from this cluster again and again"))
		Consistently(clustersWith(ctx, base)).Should(BeEmpty())
		Expect(phase(ctx, cluster, base)()).To(Equal("GivenUp"))

		By("also by the next leader")
		manage("2s")
		Consistently(clustersWith(ctx, base)).Should(BeEmpty())
		Expect(message(ctx, cluster, leaf)()).To(ContainSubstring("'" + base + "' was removed from this cluster again and again"))
	}, onBoth())

	DescribeTable("is installed with each new unit, but not for an add-on that is being deleted", func(ctx context.Context, cluster string) {
		leaf, mid, base := "u-leaf-"+cluster, "u-mid-"+cluster, "u-base-"+cluster
		unit := []string{leaf, mid, base}
		register(ctx, base, manual, "[]", onDemand)
		register(ctx, mid, manual, auto(base), onDemand)
		register(ctx, leaf, manual, auto(mid), "")
		for range 2 {
			install(ctx, cluster, leaf)
			Eventually(clustersWith(ctx, base)).Should(ConsistOf(cluster))
			addOn := &addonv1alpha1.ManagedClusterAddOn{}
			Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: base}, addOn)).To(Succeed())
			for _, name := range unit {
				uninstall(ctx, cluster, name)
			}
			// Creation timestamps have whole seconds. An add-on that was created within the same second may not be new.
			Eventually(time.Since).WithArguments(addOn.CreationTimestamp.Time).Should(BeNumerically(">", 2*time.Second))
			for _, name := range unit {
				Eventually(clustersWith(ctx, name)).Should(BeEmpty())
			}
		}

		create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn,
			metadata: {name: `+leaf+`, namespace: `+cluster+`, finalizers: [example.com/cleaning-up]}, spec: {}}`)
		Eventually(clustersWith(ctx, base)).Should(ConsistOf(cluster), "removing a unit twice undoes nothing")
		Expect(notes(ctx, base, "InstallationGivenUp")()).To(BeEmpty())
		for _, name := range unit {
			uninstall(ctx, cluster, name)
		}
		Consistently(func() (names []string, err error) {
			for _, name := range unit {
				clusters, listErr := clustersWith(ctx, name)()
				names, err = append(names, clusters...), errors.Join(err, listErr)
			}
			return names, err
		}).Should(BeEmpty())
		deleted := &unstructured.Unstructured{}
		deleted.SetAPIVersion(addonv1alpha1.GroupVersion.String())
		deleted.SetKind("ManagedClusterAddOn")
		deleted.SetNamespace(cluster)
		deleted.SetName(leaf)
		merge(ctx, deleted, `{"metadata": {"finalizers": null}}`)
	}, onBoth())

	It("is installed with all its own dependencies", func(ctx context.Context) {
		register(ctx, "t-base", consent(ctx, "t-base"), "[]", "")
		register(ctx, "t-mid", manual, auto("t-base"), onDemand)
		register(ctx, "t-leaf", manual, "[{name: t-mid, type: Optional, install: Auto}]", "")
		install(ctx, "west", "t-leaf")
		Eventually(clustersWith(ctx, "t-base")).Should(ConsistOf("west"))
		Expect(clustersWith(ctx, "t-mid")()).To(ConsistOf("west"))
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
		Eventually(clustersWith(ctx, base)).Should(installs)
		Consistently(clustersWith(ctx, base)).Should(installs)
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
		Expect(clustersWith(ctx, "d-base")()).To(BeEmpty())
		Expect(hub.Client.Delete(ctx, policy)).To(Succeed())
		Eventually(clustersWith(ctx, "d-base")).Should(ConsistOf("edge"))
	})

	It("where a managed cluster is lost", func(ctx context.Context) {
		join(ctx, "lost")
		register(ctx, "l-base", consent(ctx, "l-base"), "[]", "")
		register(ctx, "l-leaf", manual, auto("l-base"), "")
		ocmsuite.Reach(ctx, hub, "lost", metav1.ConditionUnknown)
		install(ctx, "lost", "l-leaf")
		Consistently(clustersWith(ctx, "l-base")).Should(BeEmpty())
		ocmsuite.Reach(ctx, hub, "lost", metav1.ConditionTrue)
		Eventually(clustersWith(ctx, "l-base")).Should(ConsistOf("lost"))
	})

	It("before an approval, on more than half of the fleet, and nothing is removed from it", func(ctx context.Context) {
		base := register(ctx, "f-base", manual, "[]", "")
		register(ctx, "f-leaf", manual, auto("f-base"), "")
		unused := register(ctx, "f-unused", manual, "[]", onDemand)
		stopManaging()
		for _, cluster := range []string{withAgent, withoutAgent, "edge", "lost"} { // changes of other specs count for a minute
			Expect(hub.Client.DeleteAllOf(ctx, &dependencyv1alpha1.AddOnInstallation{}, client.InNamespace(cluster))).To(Succeed())
		}
		for i := range 25 {
			name := fmt.Sprintf("many%02d", i)
			join(ctx, name)
			install(ctx, name, "f-leaf")
			createInstalled(ctx, name, "f-unused")
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
		Expect(clustersWith(ctx, "f-base")()).To(BeEmpty())
		Expect(clustersWith(ctx, "f-unused")()).To(HaveLen(25))
		merge(ctx, base, `{"metadata": {"annotations": {"`+addonv1alpha1.ApproveInstallAnnotation+`": "25"}}}`)
		merge(ctx, unused, `{"metadata": {"annotations": {"`+addonv1alpha1.ApproveRemovalAnnotation+`": "25"}}}`)
		for name, budget := range map[string]int{"f-base": 20, "f-unused": 5} {
			Eventually(clustersWith(ctx, name)).Should(HaveLen(budget), name)
		}
		Consistently(func(g Gomega) {
			g.Expect(clustersWith(ctx, "f-base")()).To(HaveLen(20), "the budget of a minute")
			g.Expect(clustersWith(ctx, "f-unused")()).To(HaveLen(5), "the budget of a minute")
		}).Should(Succeed())
	})
})
