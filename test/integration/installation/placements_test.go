package installation

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

// uid returns the UID of an add-on. It is empty if the add-on is not installed.
func uid(ctx context.Context, cluster, addOn string) func() (string, error) {
	return func() (string, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: addOn}, object)
		return string(object.UID), client.IgnoreNotFound(err)
	}
}

// unlabel removes the label of an add-on from a managed cluster.
func unlabel(ctx context.Context, cluster, addOn string) {
	GinkgoHelper()
	merge(ctx, managed(cluster), `{"metadata": {"labels": {"`+catalog.InstallLabel(addOn)+`": null}}}`)
}

// undoneCount returns how often other writers have undone an installation.
func undoneCount(ctx context.Context, cluster, addOn string) func() (int32, error) {
	return func() (int32, error) {
		stored := &dependencyv1alpha1.AddOnInstallation{}
		if err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: addOn}, stored); err != nil || stored.Status.Undone == nil {
			return 0, err
		}
		return stored.Status.Undone.Count, nil
	}
}

var _ = Describe("An add-on that OCM installs by Placements which select the label", func() {
	It("is installed only where another add-on needs it", func(ctx context.Context) {
		register(ctx, "p-base", consent(ctx, "p-base"), "[]", "")
		register(ctx, "p-leaf", manual, auto("p-base"), "")
		for _, cluster := range []string{withAgent, withoutAgent} {
			install(ctx, cluster, "p-leaf")
		}
		Eventually(clustersWith(ctx, "p-base")).Should(ConsistOf(withAgent, withoutAgent))
		Eventually(phase(ctx, withAgent, "p-base")).Should(Equal("Installed"))
		Eventually(notes(ctx, "p-leaf", "InstallsDependency")).Should(ContainElement(
			"Add-on 'p-base' is being installed, because 'p-leaf' needs it"))
		Consistently(clustersWith(ctx, "p-base")).Should(ConsistOf(withAgent, withoutAgent))

		By("staying where the add-on that needed it is removed")
		uninstall(ctx, withAgent, "p-leaf")
		Consistently(clustersWith(ctx, "p-base")).Should(ConsistOf(withAgent, withoutAgent))

		By("a managed cluster being detached")
		join(ctx, "leaving")
		install(ctx, "leaving", "p-leaf")
		Eventually(clustersWith(ctx, "p-base")).Should(ConsistOf(withAgent, withoutAgent, "leaving"))
		Expect(hub.Client.Delete(ctx, managed("leaving"))).To(Succeed())
		Eventually(clustersWith(ctx, "p-base")).Should(ConsistOf(withAgent, withoutAgent))
		Eventually(phase(ctx, "leaving", "p-base")).Should(BeEmpty())
	})

	It("is left to the Placement that selects the cluster", func(ctx context.Context) {
		place(ctx, "only-east", "{matchLabels: {name: east}}", "[]")
		strategy := consent(ctx, "o-base")
		register(ctx, "o-base", strategy[:len(strategy)-2]+", {namespace: places, name: only-east}]}", "[]", "")
		Eventually(clustersWith(ctx, "o-base")).Should(ConsistOf("east"))
		register(ctx, "o-leaf", manual, auto("o-base"), "")
		install(ctx, "east", "o-leaf")
		install(ctx, "west", "o-leaf")
		Eventually(clustersWith(ctx, "o-base")).Should(ConsistOf("east", "west"))
		Consistently(labeledClusters(ctx, "o-base")).Should(ConsistOf("west"))
	})

	DescribeTable("stays where its owner pauses, and comes back where its registration is replaced", func(
		ctx context.Context, cluster string,
	) {
		base, leaf := "s-base-"+cluster, "s-leaf-"+cluster
		strategy := consent(ctx, base)
		object := register(ctx, base, strategy, "[]", "")
		register(ctx, leaf, manual, removing(base), "")
		install(ctx, cluster, leaf)
		Eventually(phase(ctx, cluster, base)).Should(Equal("Installed"))
		uidBefore, err := uid(ctx, cluster, base)()
		Expect(err).NotTo(HaveOccurred())

		merge(ctx, object, `{"spec": {"installStrategy": {"type": "Manual", "placements": null}}}`)
		Consistently(uid(ctx, cluster, base)).Should(Equal(uidBefore))
		Expect(labeledClusters(ctx, base)()).To(ConsistOf(cluster))

		By("being replaced")
		Expect(hub.Client.Delete(ctx, object)).To(Succeed())
		Eventually(uid(ctx, cluster, base)).Should(BeEmpty(), "the garbage collector removes it")
		Consistently(labeledClusters(ctx, base)).Should(ConsistOf(cluster))
		register(ctx, base, strategy, "[]", "")
		Eventually(uid(ctx, cluster, base)).ShouldNot(BeEmpty())
		Eventually(phase(ctx, cluster, base)).Should(Equal("Installed"))
		Expect(notes(ctx, base, "InstallationGivenUp")()).To(BeEmpty())

		By("not being needed any more")
		uninstall(ctx, cluster, leaf)
		Eventually(clustersWith(ctx, base)).Should(BeEmpty())
		Eventually(phase(ctx, cluster, base)).Should(BeEmpty())
		Expect(labeledClusters(ctx, base)()).To(BeEmpty())
	}, onBoth())

	DescribeTable("is given up where the label is removed again and again", func(ctx context.Context, cluster string) {
		base, leaf := "k-base-"+cluster, "k-leaf-"+cluster
		register(ctx, base, consent(ctx, base), "[]", "")
		register(ctx, leaf, manual, auto(base), "")
		install(ctx, cluster, leaf)
		for i := range 2 {
			Eventually(phase(ctx, cluster, base)).Should(Equal("Installed"))
			unlabel(ctx, cluster, base)
			Eventually(undoneCount(ctx, cluster, base)).Should(BeEquivalentTo(i + 1))
		}
		Eventually(notes(ctx, base, "InstallationGivenUp")).Should(HaveLen(1))
		Eventually(message(ctx, cluster, leaf)).Should(ContainSubstring("'" + base + "' was removed from this cluster again and again"))
		Consistently(clustersWith(ctx, base)).Should(BeEmpty())
		Expect(phase(ctx, cluster, base)()).To(Equal("GivenUp"))
	}, onBoth())

	It("is removed by OCM once its owner withdraws the consent, and does not come back by itself", func(ctx context.Context) {
		base := register(ctx, "w-base", consent(ctx, "w-base"), "[]", "")
		register(ctx, "w-leaf", manual, auto("w-base"), "")
		install(ctx, "east", "w-leaf")
		Eventually(clustersWith(ctx, "w-base")).Should(ConsistOf("east"))
		merge(ctx, base, `{"spec": {"installStrategy": {"placements": []}}}`)
		Eventually(clustersWith(ctx, "w-base")).Should(BeEmpty())
		Eventually(message(ctx, "east", "w-leaf")).Should(HaveSuffix("(not installed: none of its Placements selects this cluster; for " +
			"install: Auto, its owner must list two Placements in ClusterManagementAddOn 'w-base' that select the label '" +
			catalog.InstallLabel("w-base") + "')"))
	})

	It("is not installed where its Placement would uninstall it from a lost cluster, and the message says so", func(ctx context.Context) {
		place(ctx, "n-base", "{matchExpressions: [{key: "+catalog.InstallLabel("n-base")+", operator: Exists}]}", "[]")
		register(ctx, "n-base", "{type: Placements, placements: [{namespace: places, name: n-base}]}", "[]", "")
		register(ctx, "n-leaf", manual, auto("n-base"), "")
		install(ctx, "east", "n-leaf")
		Eventually(message(ctx, "east", "n-leaf")).Should(ContainSubstring(
			"Placement places/n-base does not tolerate every taint, so it uninstalls the add-on from a cluster that is lost"))
		Expect(labeledClusters(ctx, "n-base")()).To(BeEmpty())
	})
})
