package protection

import (
	"bytes"
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// test is an add-on that OCM deploys from a template. prometheus depends on it. Both names come from Deckhouse's example.
const test, prometheus = "test", "prometheus"

// registerExample registers both add-ons, and a version of test.
func registerExample(ctx context.Context, version, edge string) {
	GinkgoHelper()
	createTemplate(ctx, "test-1", "")
	register(ctx, test, "")
	register(ctx, prometheus, edge)
	Expect(merge(ctx, registrationKey(test, "v1alpha1"), annotationPatch(interlockv1alpha1.AddOnVersionAnnotation, version))).To(Succeed())
	Expect(merge(ctx, registrationKey(test, "v1alpha1"), defaultTemplate("test-1"))).To(Succeed())
}

// createTemplate creates an AddOnTemplate of test, which is deleted after the spec.
func createTemplate(ctx context.Context, name, version string) {
	GinkgoHelper()
	template, err := ocm.Template(test)
	Expect(err).NotTo(HaveOccurred())
	template.Name = name
	if version != "" {
		template.Annotations = map[string]string{interlockv1alpha1.AddOnVersionAnnotation: version}
	}
	Expect(hub.Client.Create(ctx, template)).To(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, template)) })
}

func defaultTemplate(name string) string {
	return `{"spec":{"supportedConfigs":[{"group":"addon.open-cluster-management.io","resource":"addontemplates",` +
		`"defaultConfig":{"name":"` + name + `"}}]}}`
}

// install installs an add-on until the spec ends.
func install(ctx context.Context, cluster, name string) {
	GinkgoHelper()
	Expect(hub.Client.Create(ctx, addOn(cluster, name))).To(Succeed())
	removeLater(cluster, name)
}

// removeLater removes an add-on after the spec, if it exists.
func removeLater(cluster, name string) {
	DeferCleanup(func(ctx context.Context) {
		Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, addOn(cluster, name)))).To(Succeed())
		Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, name).Should(BeTrue())
	})
}

func conditionOf(ctx context.Context, cluster, name, kind string) (string, error) {
	addOn := addOn(cluster, name)
	err := hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)
	set := meta.FindStatusCondition(addOn.Status.Conditions, kind)
	if set == nil {
		return "", err
	}
	return string(set.Status) + " " + set.Reason + ": " + set.Message, err
}

// userOutput returns the output of an attempt for its user: the refusal or the warnings.
func userOutput(attempt func(client.Client) error) string {
	GinkgoHelper()
	user, warnings := impersonate("alice")
	if err := attempt(user); err != nil {
		return err.Error()
	}
	return strings.Join(warnings.texts, "\n")
}

var _ = Describe("The installation of an add-on that contradicts the version that is installed", func() {
	DescribeTable("is refused, as the plan of the plugin says", func(ctx context.Context, cluster string, latency time.Duration, kind string) {
		if cluster == withAgent {
			agents.Agent(cluster).Delay(latency)
			DeferCleanup(func() { agents.Agent(cluster).Delay(0) })
		}
		registerExample(ctx, "v0.21.1", `[{name: test, `+kind+`version: ">v0.22.1"}]`)
		install(ctx, cluster, test)
		Eventually(conditionOf).WithContext(ctx).WithArguments(cluster, test, addonv1alpha1.ManagedClusterAddOnConditionAvailable).
			Should(HavePrefix("True"))
		removeLater(cluster, prometheus)
		refusal := MatchError(And(ContainSubstring("denied the request: "), ContainSubstring("contradicts"), ContainSubstring("v0.21.1")))
		Eventually(func() error { return hub.Client.Create(ctx, addOn(cluster, prometheus), client.DryRunAll) }).
			WithTimeout(10*time.Second).Should(refusal, "the webhook reads registrations from a cache")
		Expect(hub.Client.Create(ctx, addOn(cluster, prometheus))).To(refusal)

		var out bytes.Buffer
		command := cli.NewCommand(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out})
		command.SetArgs([]string{"install", prometheus, "--cluster", cluster, "--plan", "--kubeconfig", hub.Kubeconfig()})
		Expect(cmdline.Run(ctx, command, &out)).NotTo(Equal(cmdline.ExitOK), out.String)
	},
		Entry("for an add-on that may be absent, with addon-agent", withAgent, time.Duration(0), "type: IfInstalled, "),
		Entry("for an add-on that may be absent, with addon-agent 100 ms from the hub", withAgent, 100*time.Millisecond, "type: IfInstalled, "),
		Entry("for an add-on that may be absent, with addon-agent 300 ms from the hub", withAgent, 300*time.Millisecond, "type: IfInstalled, "),
		Entry("for an add-on that may be absent, without addon-agent", withoutAgent, time.Duration(0), "type: IfInstalled, "),
		Entry("for an add-on that is required, with addon-agent", withAgent, time.Duration(0), ""),
		Entry("for an add-on that is required, with addon-agent 300 ms from the hub", withAgent, 300*time.Millisecond, ""),
		Entry("for an add-on that is required, without addon-agent", withoutAgent, time.Duration(0), ""),
	)
})

var _ = Describe("Another version of an add-on that is installed with addon-agent and without it", func() {
	const version = "0.23.1"
	newVersion := annotationPatch(interlockv1alpha1.AddOnVersionAnnotation, version)
	refusal := MatchError(And(ContainSubstring("denied the request: "), ContainSubstring("prometheus requires test"),
		ContainSubstring(withAgent), ContainSubstring(withoutAgent)))

	BeforeEach(func(ctx context.Context) {
		registerExample(ctx, "v0.22.1", `[{name: test, type: IfInstalled, version: "=v0.22.1"}]`)
		createTemplate(ctx, "test-2", version)
		for _, cluster := range []string{withAgent, withoutAgent} {
			install(ctx, cluster, test)
			install(ctx, cluster, prometheus)
		}
		for _, cluster := range []string{withAgent, withoutAgent} {
			Eventually(conditionOf).WithContext(ctx).WithArguments(cluster, test, addonv1alpha1.ManagedClusterAddOnConditionAvailable).
				Should(HavePrefix("True"))
		}
	})

	It("is refused in the annotation of its registration", func(ctx context.Context) {
		Eventually(func() error { return merge(ctx, registrationKey(test, "v1alpha1"), newVersion, client.DryRunAll) }).
			WithTimeout(10 * time.Second).Should(refusal)
		Expect(merge(ctx, registrationKey(test, "v1alpha1"), newVersion)).To(refusal)
	})

	It("is refused as another default AddOnTemplate", func(ctx context.Context) {
		Eventually(func() error {
			return merge(ctx, registrationKey(test, "v1alpha1"), defaultTemplate("test-2"), client.DryRunAll)
		}).
			WithTimeout(10 * time.Second).Should(refusal)
		Expect(merge(ctx, registrationKey(test, "v1alpha1"), defaultTemplate("test-2"))).To(refusal)
	})

	It("is refused or warned of in an AddOnTemplate that is edited in place", func(ctx context.Context) {
		template := &addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: "test-1"}}
		Eventually(func() string {
			return userOutput(func(user client.Client) error {
				return user.Patch(ctx, template.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(newVersion)), client.DryRunAll)
			})
		}).WithTimeout(10 * time.Second).
			Should(And(ContainSubstring("prometheus requires test"), ContainSubstring(withAgent), ContainSubstring(withoutAgent)))
	})

	for _, cluster := range []string{withAgent, withoutAgent} {
		It("is refused or warned of in the annotation of the add-on itself, on "+cluster, func(ctx context.Context) {
			Eventually(func() string {
				return userOutput(func(user client.Client) error {
					return user.Patch(ctx, addOn(cluster, test), client.RawPatch("application/merge-patch+json", []byte(newVersion)), client.DryRunAll)
				})
			}).WithTimeout(10 * time.Second).Should(ContainSubstring(prometheus))
		})
	}

	It("is reported by a condition where a lease reports it, with addon-agent", func(ctx context.Context) {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Namespace: ocm.AddOnNamespace, Name: test, Annotations: map[string]string{interlockv1alpha1.AddOnVersionAnnotation: version},
		}}
		lease.Spec.RenewTime = ptr.To(metav1.NowMicro())
		cluster := managed[withAgent].Client
		Expect(cluster.Create(ctx, lease)).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(cluster.Delete(ctx, lease)) })
		Eventually(conditionOf).WithContext(ctx).WithArguments(withAgent, prometheus, addonv1alpha1.ManagedClusterAddOnConditionDegraded).
			Should(And(HavePrefix("True"), ContainSubstring("version "+version)))
		Expect(conditionOf(ctx, withoutAgent, prometheus, addonv1alpha1.ManagedClusterAddOnConditionDegraded)).NotTo(HavePrefix("True"))
	})

	It("does not keep it from being removed where it may be absent", func(ctx context.Context) {
		for _, cluster := range []string{withAgent, withoutAgent} {
			Expect(hub.Client.Delete(ctx, addOn(cluster, test), client.DryRunAll)).To(Succeed())
		}
	})
})
