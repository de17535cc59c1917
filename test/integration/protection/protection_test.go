package protection

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/webhook/protector"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// withAgent and withoutAgent have joined, the first with addon-agent and the second without. Other clusters are accepted and have no
// agents of OCM.
const withAgent, withoutAgent = "cluster1", "cluster2"

// onEach describes specs once with addon-agent on the managed cluster, and once without it.
func onEach(describe func(cluster string)) {
	Context("with addon-agent", func() { describe(withAgent) })
	Context("without addon-agent", func() { describe(withoutAgent) })
}

// leaf requires base. For friend, base is optional.
const base, leaf, friend = "base", "leaf", "friend"

// breakage returns the message about the removal of base from a cluster.
func breakage(cluster string) string {
	return "removing add-on 'base' would break 1 add-on on 1 cluster: leaf requires base (" + cluster + ")"
}

func addOn(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
}

func register(ctx context.Context, name, dependencies string) {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Annotations = map[string]string{}
	registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
	if dependencies != "" {
		registration.Annotations[interlockv1alpha1.DependenciesAnnotation] = dependencies
	}
	Expect(hub.Client.Create(ctx, registration)).To(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, registration)) })
}

// accept has OCM manage another cluster, which has no agents.
func accept(ctx context.Context, name string) {
	GinkgoHelper()
	ocmsuite.Accept(ctx, hub, name, nil)
}

func label(ctx context.Context, name, value string) {
	GinkgoHelper()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"stage":%q}}}`, value)
	Expect(hub.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// installAll installs all three add-ons on a cluster. They are removed after the spec.
func installAll(ctx context.Context, cluster string) {
	GinkgoHelper()
	for _, name := range []string{base, leaf, friend} {
		Expect(hub.Client.Create(ctx, addOn(cluster, name))).To(Succeed())
	}
	DeferCleanup(func(ctx context.Context) {
		for _, name := range []string{friend, leaf, base} {
			Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, addOn(cluster, name)))).To(Succeed())
			Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, name).Should(BeTrue())
		}
	})
	// The webhook reads registrations from a cache.
	Eventually(func() error { return hub.Client.Delete(ctx, addOn(cluster, base), client.DryRunAll) }).Should(beRefused())
}

func isDeleted(ctx context.Context, cluster, name string) bool {
	return apierrors.IsNotFound(hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, &addonv1alpha1.ManagedClusterAddOn{}))
}

func beRefused() gomegatypes.GomegaMatcher {
	return MatchError(And(
		ContainSubstring("denied the request: removing add-on 'base' would break 1 add-on on 1 cluster: leaf requires base ("),
		ContainSubstring("Remove first what requires it. To remove it nevertheless: kubectl annotate managedclusteraddon base -n "),
	))
}

// warnings collects the warnings of the API server.
type warnings struct{ texts []string }

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

// impersonate returns a client that impersonates a user of the hub, and the warnings that the client receives.
func impersonate(user string, groups ...string) (client.Client, *warnings) {
	GinkgoHelper()
	config, warningLog := rest.CopyConfig(hub.Config), &warnings{}
	config.WarningHandler = warningLog
	if user != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:masters")}
	}
	userClient, err := client.New(config, client.Options{Scheme: hub.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return userClient, warningLog
}

// eventNotes returns the notes of events on an object with a reason.
func eventNotes(ctx context.Context, cluster, name, reason string) func() ([]string, error) {
	return ocmsuite.Notes(ctx, hub, cluster, name, reason)
}

var _ = Describe("The removal of an add-on that dependents require", func() {
	BeforeEach(func(ctx context.Context) {
		register(ctx, base, "")
		register(ctx, leaf, "[{name: base}]")
		register(ctx, friend, "[{name: base, type: Optional}]")
	})

	onEach(func(cluster string) {
		BeforeEach(func(ctx context.Context) { installAll(ctx, cluster) })

		It("is refused until its dependents are removed", func(ctx context.Context) {
			Expect(hub.Client.Delete(ctx, addOn(cluster, base))).To(beRefused())
			Expect(isDeleted(ctx, cluster, base)).To(BeFalse())
			Expect(hub.Client.DeleteAllOf(ctx, addOn("", ""), client.InNamespace(cluster))).
				To(beRefused(), "one of a collection has no name in the request")
			Expect(hub.Client.Delete(ctx, addOn(cluster, leaf))).To(Succeed())
			Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, leaf).Should(BeTrue())
			Expect(hub.Client.Delete(ctx, addOn(cluster, base))).To(Succeed())
		})

		It("passes with a reason, which an event keeps", func(ctx context.Context) {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"moving to v2"}}}`, interlockv1alpha1.ForceAnnotation)
			Expect(hub.Client.Patch(ctx, addOn(cluster, base), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
			user, warnings := impersonate("alice")
			Expect(user.Delete(ctx, addOn(cluster, base), client.DryRunAll)).To(Succeed())
			Expect(user.Delete(ctx, addOn(cluster, base))).To(Succeed())
			nevertheless := breakage(cluster) + ". It is removed nevertheless: moving to v2"
			Expect(warnings.texts).To(HaveEach(nevertheless))
			Eventually(eventNotes(ctx, cluster, base, protector.EventForced)).Should(HaveExactElements("alice: " + nevertheless))
		})

		DescribeTable("follows the protection of a policy", func(ctx context.Context, protectionMode string, warned bool) {
			policy := &dependencyv1alpha1.AddOnDependencyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "development"}}
			policy.Spec.ClusterSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"stage": "development"}}
			policy.Spec.Protection = dependencyv1alpha1.Protection(protectionMode)
			Expect(hub.Client.Create(ctx, policy)).To(Succeed())
			DeferCleanup(func(ctx context.Context) { Expect(hub.Client.Delete(ctx, policy)).To(Succeed()) })
			Expect(hub.Client.Delete(ctx, addOn(cluster, base))).To(beRefused())

			label(ctx, cluster, "development")
			DeferCleanup(func(ctx context.Context) { label(ctx, cluster, "") })
			user, warnings := impersonate("")
			Eventually(func() error { // policies are read from a cache
				warnings.texts = nil
				return user.Delete(ctx, addOn(cluster, base))
			}).Should(Succeed())
			if warned {
				Expect(warnings.texts).To(HaveExactElements(breakage(cluster)))
			} else {
				Expect(warnings.texts).To(BeEmpty())
			}
		},
			Entry("that warns", "Warn", true),
			Entry("that does nothing", "Off", false),
		)

		DescribeTable("is never refused to", func(ctx context.Context, user string, warned bool, groups ...string) {
			userClient, warnings := impersonate(user, groups...)
			Expect(userClient.Delete(ctx, addOn(cluster, base))).To(Succeed())
			if warned {
				Expect(warnings.texts).To(HaveExactElements(breakage(cluster) + ". OCM removes it nevertheless"))
				Eventually(eventNotes(ctx, cluster, base, protector.EventNotRefused)).
					Should(ContainElement(user + ": " + breakage(cluster) + ". OCM removes it nevertheless"))
			} else {
				Expect(warnings.texts).To(BeEmpty())
			}
		},
			Entry("the garbage collector", "system:serviceaccount:kube-system:generic-garbage-collector", false),
			Entry("the namespace controller", "system:serviceaccount:kube-system:namespace-controller", false),
			Entry("Kubernetes' controllers without accounts of their own", "system:kube-controller-manager", false),
			Entry("OCM", "system:serviceaccount:open-cluster-management-hub:addon-manager-controller-sa", true,
				"system:serviceaccounts:open-cluster-management-hub"),
		)

		It("follows the removal of its registration, which is refused as well", func(ctx context.Context) {
			registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: base}}
			// OCM makes the registration the owner of the add-on. The garbage collector removes the add-on after its owner.
			Eventually(func() ([]metav1.OwnerReference, error) {
				addOn := addOn(cluster, base)
				err := hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)
				return addOn.OwnerReferences, err
			}).ShouldNot(BeEmpty())
			// The API server's cache, from which a fleet is read, may lag behind.
			Eventually(func() error { return hub.Client.Delete(ctx, registration, client.DryRunAll) }).Should(MatchError(ContainSubstring(
				"denied the request: " + breakage(cluster) + ". Remove first what requires it. To remove it nevertheless: " +
					"kubectl annotate clustermanagementaddon base " + interlockv1alpha1.ForceAnnotation,
			)))
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"no longer made"}}}`, interlockv1alpha1.ForceAnnotation)
			Expect(hub.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
			Expect(hub.Client.Delete(ctx, registration)).To(Succeed())
			Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, base).Should(BeTrue())
			Eventually(eventNotes(ctx, metav1.NamespaceDefault, base, protector.EventForced)).Should(ContainElement(HaveSuffix(": no longer made")))
		})

		It("passes while the webhook is unavailable, after at most a second", func(ctx context.Context) {
			configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
			Expect(hub.Client.Get(ctx, client.ObjectKey{Name: "interlock-webhook"}, configuration)).To(Succeed())
			Expect(configuration.Webhooks).To(ContainElement(SatisfyAll(
				HaveField("Name", HavePrefix("managedclusteraddons.")), HaveField("TimeoutSeconds", HaveValue(BeEquivalentTo(1))))))
			Expect(webhook.Kill()).To(Succeed())
			DeferCleanup(func(ctx context.Context) { serve(ctx, "--protection=enforce") })
			Expect(hub.Client.Delete(ctx, addOn(cluster, base))).To(Succeed())
		})

		It("only warns with --protection=warn", func(ctx context.Context) {
			DeferCleanup(func(ctx context.Context) {
				Expect(webhook.Stop(ctx)).To(Succeed())
				serve(ctx, "--protection=enforce")
			})
			Expect(webhook.Stop(ctx)).To(Succeed())
			serve(ctx, "--protection=warn")
			user, warnings := impersonate("")
			Eventually(func() []string {
				warnings.texts = nil
				Expect(user.Delete(ctx, addOn(cluster, base), client.DryRunAll)).To(Succeed())
				return warnings.texts
			}).Should(HaveExactElements(HaveSuffix("leaf requires base (" + cluster + ")")))
		})
	})

	It("does not block the removal of a detached cluster", func(ctx context.Context) {
		accept(ctx, "leaving")
		installAll(ctx, "leaving")
		Expect(hub.Client.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}})).To(Succeed())
		for _, name := range []string{base, leaf, friend} {
			Eventually(isDeleted).WithContext(ctx).WithArguments("leaving", name).Should(BeTrue())
		}
		Eventually(func() error {
			return hub.Client.Get(ctx, client.ObjectKey{Name: "leaving"}, &clusterv1.ManagedCluster{})
		}).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
	})

	It("is refused if the hub does not serve another alternative", func(ctx context.Context) {
		const cluster = "choosing"
		accept(ctx, cluster)
		for name, kind := range map[string]string{"content": "ConfigMap", "stuck": "Bridge"} {
			register(ctx, name, "[{name: either, anyOf: [{addOn: base}, {api: {kind: "+kind+", servedBy: Hub}}]}]")
		}
		for _, name := range []string{base, "content", "stuck"} {
			Expect(hub.Client.Create(ctx, addOn(cluster, name))).To(Succeed())
			DeferCleanup(func(ctx context.Context) error { return hub.Client.Delete(ctx, addOn(cluster, name)) })
		}
		available := []byte(`{"status":{"conditions":[{"type":"Available","status":"True","reason":"Tested","message":"",` +
			`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`)
		Expect(hub.Client.Status().Patch(ctx, addOn(cluster, base), client.RawPatch(types.MergePatchType, available))).To(Succeed())
		Eventually(func() error { return hub.Client.Delete(ctx, addOn(cluster, base), client.DryRunAll) }).Should(MatchError(ContainSubstring(
			"denied the request: removing add-on 'base' would break 1 add-on on 1 cluster: stuck requires base or Bridge on the hub (choosing)")))
	})

	It("is not refused on a cluster that is lost", func(ctx context.Context) {
		accept(ctx, "lost")
		installAll(ctx, "lost")
		ocmsuite.Reach(ctx, hub, "lost", metav1.ConditionUnknown)
		Expect(hub.Client.Delete(ctx, addOn("lost", base))).To(Succeed())
	})
})
