package protection

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/webhook/protector"
)

// registrationKey returns the registration of an add-on in a version of the API. The object has only its key.
func registrationKey(name, version string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(addonv1alpha1.GroupName + "/" + version)
	object.SetKind("ClusterManagementAddOn")
	object.SetName(name)
	return object
}

// merge applies a patch as a dry run.
func merge(ctx context.Context, object client.Object, patch string, options ...client.PatchOption) error {
	return hub.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)), options...)
}

func annotationPatch(name, value string) string {
	return fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, name, value)
}

// calls counts the API server's calls of a webhook of Interlock.
func calls(ctx context.Context, name string) int {
	GinkgoHelper()
	api, err := kubernetes.NewForConfig(hub.Config)
	Expect(err).NotTo(HaveOccurred())
	metrics, err := api.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	total := 0
	series := regexp.MustCompile(`(?m)^apiserver_admission_webhook_request_total\{.*name="` + name + `\.interlock[^}]*\} (\d+)`)
	for _, match := range series.FindAllStringSubmatch(string(metrics), -1) {
		count, err := strconv.Atoi(match[1])
		Expect(err).NotTo(HaveOccurred())
		total += count
	}
	return total
}

var _ = Describe("A change of an add-on that contradicts installed add-ons", func() { onEach(changes) })

// changes describes the change of add-ons that are installed on a managed cluster.
func changes(cluster string) {
	consequence := "the change of add-on 'base' would break 1 add-on on 1 cluster: leaf requires base in version '< 2.0' (" + cluster + ")"
	refusal := MatchError(ContainSubstring("denied the request: " + consequence +
		". To change it nevertheless, give it the annotation dependency.addon.open-cluster-management.io/force: '<why>'"))
	version := func(value string) string { return annotationPatch(interlockv1alpha1.AddOnVersionAnnotation, value) }

	BeforeEach(func(ctx context.Context) {
		register(ctx, base, "")
		register(ctx, leaf, `[{name: base, version: "< 2.0"}]`)
		register(ctx, friend, "[{name: base, type: Optional, version: \"< 2.0\"}]")
		installAll(ctx, cluster)
	})

	for _, api := range []string{"v1alpha1", "v1beta1"} {
		It("is refused for another version, and passes with a reason, in "+api, func(ctx context.Context) {
			callsBefore := calls(ctx, "changes")
			Expect(merge(ctx, registrationKey(base, api), `{"metadata":{"labels":{"x":"y"}},"spec":{"addOnMeta":{"displayName":"Base"}}}`)).
				To(Succeed())
			Expect(calls(ctx, "changes")).To(Equal(callsBefore), "what is not reviewed costs no call")
			Eventually(func() error { return merge(ctx, registrationKey(base, api), version("2.0"), client.DryRunAll) }).Should(refusal)
			Expect(calls(ctx, "changes")).To(BeNumerically(">", callsBefore))
			Expect(merge(ctx, registrationKey(base, api), annotationPatch(interlockv1alpha1.FormerVersionAnnotation, "2.0"))).To(refusal)
			Expect(merge(ctx, registrationKey(base, api), version("1.9"))).To(Succeed())

			force := fmt.Sprintf(`{"metadata":{"annotations":{%q:"2.0",%q:"tried"}}}`,
				interlockv1alpha1.AddOnVersionAnnotation, interlockv1alpha1.ForceAnnotation)
			user, warnings := impersonate("alice")
			Expect(user.Patch(ctx, registrationKey(base, api), client.RawPatch(types.MergePatchType, []byte(force)))).To(Succeed())
			Expect(warnings.texts).To(ContainElement(consequence + ". It is changed nevertheless: tried"))
			Eventually(eventNotes(ctx, metav1.NamespaceDefault, base, protector.EventChangeForced)).
				Should(ContainElement("alice: " + consequence + ". It is changed nevertheless: tried"))
			Expect(merge(ctx, registrationKey(base, api), version("3.0"))).To(Succeed(), "it was so before")
		})

		It("is refused for another default AddOnTemplate, which OCM would roll out, in "+api, func(ctx context.Context) {
			release(ctx, "base-v1", "1.0")
			release(ctx, "base-v2", "2.0")
			useTemplate := func(template string) string {
				if api == "v1beta1" {
					return fmt.Sprintf(`{"spec":{"defaultConfigs":[{"group":"addon.open-cluster-management.io",`+
						`"resource":"addontemplates","name":%q}]}}`, template)
				}
				return fmt.Sprintf(`{"spec":{"supportedConfigs":[{"group":"addon.open-cluster-management.io","resource":"addontemplates",`+
					`"defaultConfig":{"name":%q}}]}}`, template)
			}
			Eventually(func() error { return merge(ctx, registrationKey(base, api), useTemplate("base-v2"), client.DryRunAll) }).Should(refusal)
			Expect(merge(ctx, registrationKey(base, api), useTemplate("base-v1"))).To(Succeed())
			Eventually(func(g Gomega) { // OCM has selected the template
				addOn := addOn(cluster, base)
				g.Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
				g.Expect(addOn.Status.ConfigReferences).To(ContainElement(HaveField("DesiredConfig.Name", "base-v1")))
			}).Should(Succeed())
			Eventually(func() error { return merge(ctx, registrationKey(base, api), useTemplate("base-v2")) }).Should(refusal)
			Expect(merge(ctx, registrationKey(base, api), useTemplate("base-v3"))).To(Succeed(), "GitOps may create it later")
			Expect(merge(ctx, registrationKey(base, api), useTemplate("base-v1"))).To(Succeed())
			Expect(hub.Client.Delete(ctx, addOn(cluster, leaf))).To(Succeed())
			Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, leaf).Should(BeTrue())
			Eventually(func() error { return merge(ctx, registrationKey(base, api), useTemplate("base-v2")) }).Should(Succeed())
		})
	}

	It("is refused for the AddOnTemplate of a Placement, where that selects the cluster", func(ctx context.Context) {
		release(ctx, "base-v2", "2.0")
		selected, empty := selecting(ctx, "here", cluster), selecting(ctx, "elsewhere")
		Expect(placedBy(ctx, base, selected.Name, empty.Name)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(placedBy(ctx, base)).To(Succeed()) })
		configure := func(index int) error {
			registration := &addonv1alpha1.ClusterManagementAddOn{}
			Expect(hub.Client.Get(ctx, client.ObjectKey{Name: base}, registration)).To(Succeed())
			registration.Spec.InstallStrategy.Placements[index].Configs = []addonv1alpha1.AddOnConfig{{
				ConfigGroupResource: templates, ConfigReferent: addonv1alpha1.ConfigReferent{Name: "base-v2"},
			}}
			return hub.Client.Update(ctx, registration)
		}
		Eventually(func() error { return configure(0) }).Should(refusal)
		// OCM writes it at the same time: a conflict is tried again.
		Eventually(func() error { return configure(1) }).Should(Succeed())
	})

	It("is refused because of its own dependencies, and passes where these cannot be used", func(ctx context.Context) {
		declaration := func(text string) string { return annotationPatch(interlockv1alpha1.DependenciesAnnotation, text) }
		const forAnother = "{requirements: {interlock: '>= 99'}, dependencies: "
		Expect(merge(ctx, registrationKey(base, "v1alpha1"), declaration(forAnother+"[{name: leaf, type: Conflicts}]}"))).To(Succeed())
		Expect(merge(ctx, registrationKey(base, "v1alpha1"), declaration("[]"))).To(Succeed())
		Eventually(func() error {
			return merge(ctx, registrationKey(base, "v1alpha1"), declaration("[{name: leaf, type: Conflicts}]"), client.DryRunAll)
		}).Should(MatchError(ContainSubstring(
			"the change of add-on 'base' would break 1 add-on on 1 cluster: base conflicts with leaf (" + cluster + ")")))
		Expect(merge(ctx, registrationKey(base, "v1alpha1"), declaration("[{name: later}]"))).To(Succeed(), "what is not installed may follow")
		Expect(merge(ctx, registrationKey(leaf, "v1alpha1"), declaration(forAnother+"[{name: base}]}"))).To(Succeed())
		Eventually(func() error { return hub.Client.Delete(ctx, addOn(cluster, base), client.DryRunAll) }).
			Should(Succeed(), "Interlock is too old for what leaf declares")
	})
}
