package installation

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
)

// removing returns a declaration with a Required edge. Interlock installs the add-on, and removes it when no add-on needs it.
func removing(name string) string {
	return "[{name: " + name + ", install: Auto, removal: WithLastDependent}]"
}

func uninstall(ctx context.Context, cluster, name string) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	addOn.Namespace, addOn.Name = cluster, name
	Expect(hub.Client.Delete(ctx, addOn)).To(Succeed())
}

// unusedSince returns the unused-since time in the AddOnInstallation of an add-on. It is empty if none is set.
func unusedSince(ctx context.Context, addOn string) func() (string, error) {
	return func() (string, error) {
		installation := &dependencyv1alpha1.AddOnInstallation{}
		err := client.IgnoreNotFound(hub.Client.Get(ctx, client.ObjectKey{Namespace: "east", Name: addOn}, installation))
		if installation.Status.UnusedSince == nil {
			return "", err
		}
		return installation.Status.UnusedSince.UTC().Format(time.RFC3339), err
	}
}

var _ = Describe("An add-on that is not needed any more", func() {
	DescribeTable("is removed where Interlock installed it", func(ctx context.Context, prefix, annotations string, placed bool) {
		base, leaf, user := prefix+"-base", prefix+"-leaf", prefix+"-user"
		strategy := manual
		if placed {
			strategy = consent(ctx, base)
		}
		register(ctx, base, strategy, "[]", annotations)
		register(ctx, leaf, manual, removing(base), "")
		register(ctx, user, manual, "[{name: "+base+", type: Optional}]", "")
		for _, cluster := range []string{"east", "west"} {
			install(ctx, cluster, leaf)
		}
		install(ctx, "west", user)
		Eventually(clustersWith(ctx, base)).Should(ConsistOf("east", "west"))
		for _, cluster := range []string{"east", "west"} {
			uninstall(ctx, cluster, leaf)
		}
		Eventually(clustersWith(ctx, base)).Should(ConsistOf("west"))
		Eventually(notes(ctx, base, "RemovesDependency")).Should(ContainElement(
			"Add-on '" + base + "' is being removed, because no other add-on needs it any more"))
		Consistently(clustersWith(ctx, base)).Should(ConsistOf("west"), "another add-on uses it there")
		uninstall(ctx, "west", user)
		Eventually(clustersWith(ctx, base)).Should(BeEmpty())
	},
		Entry("by itself", "ra", onDemand, false),
		Entry("by OCM", "rb", "", true),
	)

	DescribeTable("is removed by a new leader, which continues the wait", func(ctx context.Context, prefix, annotations string, placed bool) {
		manage("1h")
		base, leaf := prefix+"-base", prefix+"-leaf"
		strategy := manual
		if placed {
			strategy = consent(ctx, base)
		}
		register(ctx, base, strategy, "[]", annotations)
		register(ctx, leaf, manual, removing(base), "")
		install(ctx, "east", leaf)
		Eventually(clustersWith(ctx, base)).Should(ConsistOf("east"))
		Expect(unusedSince(ctx, base)()).To(BeEmpty())
		uninstall(ctx, "east", leaf)
		Eventually(unusedSince(ctx, base)).ShouldNot(BeEmpty())
		stopManaging()

		By("the hour being over while another leads")
		longAgo := time.Now().Add(-61 * time.Minute).UTC().Format(time.RFC3339)
		object := &dependencyv1alpha1.AddOnInstallation{}
		object.SetNamespace("east")
		object.SetName(base)
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"status": {"unusedSince": "`+longAgo+`"}}`))
		Expect(hub.Client.Patch(ctx, object, patch, client.FieldOwner(names.AddonManager))).To(Succeed())
		manage("1h")
		Eventually(clustersWith(ctx, base)).Should(BeEmpty())
		Eventually(unusedSince(ctx, base)).Should(BeEmpty())
	},
		Entry("by itself", "rd", onDemand, false),
		Entry("by OCM", "re", "", true),
	)

	It("is not marked any more once an add-on needs it", func(ctx context.Context) {
		manage("1h")
		register(ctx, "rf-base", manual, "[]", onDemand)
		register(ctx, "rf-leaf", manual, removing("rf-base"), "")
		install(ctx, "east", "rf-leaf")
		Eventually(clustersWith(ctx, "rf-base")).Should(ConsistOf("east"))
		uninstall(ctx, "east", "rf-leaf")
		Eventually(unusedSince(ctx, "rf-base")).ShouldNot(BeEmpty())
		install(ctx, "east", "rf-leaf")
		Eventually(unusedSince(ctx, "rf-base")).Should(BeEmpty())
		Expect(clustersWith(ctx, "rf-base")()).To(ConsistOf("east"))
	})

	It("stays where another writer has taken it over, and where another one installed it", func(ctx context.Context) {
		register(ctx, "rc-base", manual, "[]", onDemand)
		register(ctx, "rc-leaf", manual, removing("rc-base"), "")
		install(ctx, "west", "rc-base")
		for _, cluster := range []string{"east", "edge", "west"} {
			install(ctx, cluster, "rc-leaf")
		}
		Eventually(clustersWith(ctx, "rc-base")).Should(ConsistOf("east", "edge", "west"))
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		addOn.Namespace, addOn.Name = "east", "rc-base"
		Expect(hub.Client.Patch(ctx, addOn, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata": {"labels": {"team": "gateway"}}}`)))).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, addOn)) })
		for _, cluster := range []string{"east", "edge", "west"} {
			uninstall(ctx, cluster, "rc-leaf")
		}
		Eventually(clustersWith(ctx, "rc-base")).Should(ConsistOf("east", "west"))
		Consistently(clustersWith(ctx, "rc-base")).Should(ConsistOf("east", "west"))
	})
})
