package order

import (
	"context"
	"fmt"
	"maps"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// place is a managed cluster and the latency between its addon-agent and the hub.
type place struct {
	cluster managedCluster
	latency time.Duration
}

// places returns the entries of a table whose specs run with addon-agent near the hub, far from it, and without addon-agent.
func places(within time.Duration) []TableEntry {
	return []TableEntry{
		Entry("with addon-agent", place{cluster: withAgent}, NodeTimeout(within)),
		Entry("with addon-agent, 100 ms from the hub", place{cluster: withAgent, latency: 100 * time.Millisecond}, NodeTimeout(within)),
		Entry("with addon-agent, 300 ms from the hub", place{cluster: withAgent, latency: 300 * time.Millisecond}, NodeTimeout(within)),
		Entry("without addon-agent", place{cluster: withoutAgent}, NodeTimeout(within)),
	}
}

// begin sets the latency of the agent until the spec ends.
func (p place) begin() {
	GinkgoHelper()
	if p.cluster == withAgent {
		agents.Agent(string(p.cluster)).Delay(p.latency)
		DeferCleanup(func() { agents.Agent(string(p.cluster)).Delay(0) })
	}
}

// uniqueName returns a name that no spec of another place uses.
func (p place) uniqueName(name string) string {
	return fmt.Sprintf("%s-%d", p.cluster.uniqueName(name), p.latency.Milliseconds())
}

// mainAPI returns the group of an API that no other place requires.
func (p place) mainAPI() string {
	return fmt.Sprintf("%s-%d.api.example.com", p.cluster, p.latency.Milliseconds())
}

// warnings collects the warnings of the API server.
type warnings []string

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }

// installWithWarnings installs an add-on, and returns the warnings that kubectl would print.
func (c managedCluster) installWithWarnings(ctx context.Context, name string) warnings {
	GinkgoHelper()
	var warningLog warnings
	config := rest.CopyConfig(hub.Config)
	config.WarningHandler = &warningLog
	user, err := client.New(config, client.Options{Scheme: hub.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	Expect(user.Create(ctx, c.reference(name))).To(Succeed())
	return warningLog
}

// expectWaiting expects an add-on that was just installed to wait.
func (c managedCluster) expectWaiting(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(c.gate(ctx, name)).To(Equal(closed), name)
	Eventually(c.installable).WithContext(ctx).WithArguments(name).Should(HavePrefix("False WaitingForDependencies: "), name)
	Consistently(c.isDeployed).WithContext(ctx).WithTimeout(2*time.Second).WithArguments(name).Should(BeFalse(), name)
}

// serveMainAPI has a managed cluster serve the API of a place.
func serveMainAPI(ctx context.Context, place place) {
	GinkgoHelper()
	definition := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal(fmt.Appendf(nil, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: mainapis.%[1]s}, spec: {group: %[1]s, names: {kind: MainApi, plural: mainapis}, scope: Namespaced, versions: [
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`, place.mainAPI()), &definition.Object)).
		To(Succeed())
	Expect(managed[place.cluster].Client.Create(ctx, definition)).To(Succeed())
}

// apply applies objects one right after the other, as a GitOps tool does.
func apply(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	var manifests []*unstructured.Unstructured
	for _, object := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		Expect(err).NotTo(HaveOccurred())
		manifest := &unstructured.Unstructured{Object: content}
		unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
		unstructured.RemoveNestedField(content, "status")
		maps.DeleteFunc(content["spec"].(map[string]any), func(_ string, value any) bool { return value == nil })
		kinds, _, err := hub.Client.Scheme().ObjectKinds(object)
		Expect(err).NotTo(HaveOccurred())
		manifest.SetGroupVersionKind(kinds[0])
		manifests = append(manifests, manifest)
	}
	for _, manifest := range manifests {
		Expect(hub.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(manifest), client.FieldOwner("gitops"), client.ForceOwnership)).
			To(Succeed())
	}
}

// versionedTemplate returns an AddOnTemplate with a version.
func versionedTemplate(addOn, name, version string) *addonv1alpha1.AddOnTemplate {
	GinkgoHelper()
	addOnTemplate := template(name)
	addOnTemplate.Spec.AddonName = addOn
	addOnTemplate.Annotations = map[string]string{interlockv1alpha1.AddOnVersionAnnotation: version}
	return addOnTemplate
}

// byTemplate returns the registration of an add-on with a default AddOnTemplate.
func byTemplate(addOn, template, declaration string) *addonv1alpha1.ClusterManagementAddOn {
	registration := registration(addOn, declaration)
	registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
		DefaultConfig:       &addonv1alpha1.ConfigReferent{Name: template},
	}}
	return registration
}

var _ = Describe("A fact that only a managed cluster can report", Ordered, ContinueOnFailure, func() {
	BeforeAll(lifecycleOn, NodeTimeout(2*time.Minute))

	DescribeTable("has an add-on wait for an API that is not served, and the next one, until it is served where addon-agent runs", func(
		ctx context.Context, place place,
	) {
		place.begin()
		base, extension := place.uniqueName("pkg"), place.uniqueName("pkg-b")
		for _, name := range []string{base, extension} {
			register(ctx, name, "{ordering: Install, dependencies: [{name: dep2, api: {group: "+place.mainAPI()+", version: v1, kind: MainApi}}]}",
				true)
		}
		for _, name := range []string{base, extension} {
			Eventually(place.cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		}
		warnings := place.cluster.installWithWarnings(ctx, base)
		warnings = append(warnings, place.cluster.installWithWarnings(ctx, extension)...)
		for _, name := range []string{base, extension} {
			Expect(warnings).To(ContainElement(And(ContainSubstring(name), ContainSubstring("is not installed on "+string(place.cluster)+" yet"))))
			place.cluster.expectWaiting(ctx, name)
		}
		if place.cluster == withoutAgent { // no component reports the API
			for _, name := range []string{base, extension} {
				place.cluster.expectRemoved(ctx, name)
			}
			return
		}
		serveMainAPI(ctx, place)
		for _, name := range []string{base, extension} {
			Eventually(place.cluster.isDeployed).WithContext(ctx).WithArguments(name).Should(BeTrue(), name)
			Expect(place.cluster.gate(ctx, name)).To(Equal(opened), name)
		}
	}, places(time.Minute))

	DescribeTable("keeps an add-on waiting for a version above that of an installed AddOnTemplate", func(ctx context.Context, place place) {
		place.begin()
		base, dependent := place.uniqueName("base"), place.uniqueName("ver")
		Expect(hub.Client.Create(ctx, versionedTemplate(base, base, "1.0.0"))).To(Succeed())
		registerTemplated(ctx, base, "")
		place.cluster.install(ctx, base)
		Eventually(place.cluster.whenAvailable).WithContext(ctx).WithArguments(base).Should(BeNumerically(">", 0))
		register(ctx, dependent, `{ordering: Install, dependencies: [{name: `+base+`, version: ">= 2"}]}`, true)
		Eventually(place.cluster.dryRunGate).WithContext(ctx).WithArguments(dependent).Should(Equal(closed))
		Expect(place.cluster.installWithWarnings(ctx, dependent)).
			To(ContainElement(ContainSubstring("is not installed on " + string(place.cluster) + " yet")))
		place.cluster.expectWaiting(ctx, dependent)
		setAnnotation(ctx, template(base), interlockv1alpha1.AddOnVersionAnnotation, "2.0.0")
		Eventually(place.cluster.isDeployed).WithContext(ctx).WithArguments(dependent).Should(BeTrue())
		Expect(place.cluster.gate(ctx, dependent)).To(Equal(opened))
	}, places(time.Minute))

	DescribeTable("keeps an AddOnTemplate waiting that GitOps applies together with the registration that names it", func(
		ctx context.Context, place place,
	) {
		place.begin()
		test, prometheus := place.uniqueName("test"), place.uniqueName("prometheus")
		nameV1, templateV2 := prometheus+"-1", versionedTemplate(prometheus, prometheus+"-2", "2.0.0")
		edge := `[{name: ` + test + `, type: IfInstalled, version: ">v0.22.1"}]`
		templateV2.Annotations[interlockv1alpha1.TemplateDependenciesAnnotation] = edge
		register(ctx, test, "", true)
		setAnnotation(ctx, registration(test, ""), interlockv1alpha1.AddOnVersionAnnotation, "v0.21.1")
		Expect(hub.Client.Create(ctx, versionedTemplate(prometheus, nameV1, "1.0.0"))).To(Succeed())
		Expect(hub.Client.Create(ctx, byTemplate(prometheus, nameV1, "{ordering: InstallAndUpgrade}"))).To(Succeed())
		place.cluster.install(ctx, test)
		place.cluster.install(ctx, prometheus)
		Eventually(place.cluster.templates).WithContext(ctx).WithArguments(prometheus).Should(Equal(nameV1 + " " + nameV1))
		Eventually(place.cluster.upgradable).WithContext(ctx).WithArguments(prometheus).Should(HavePrefix("True NothingWaits: "))

		apply(ctx, templateV2, byTemplate(prometheus, templateV2.Name, "{ordering: InstallAndUpgrade}"))
		Eventually(place.cluster.upgradable).WithContext(ctx).WithArguments(prometheus).Should(
			HavePrefix("False WaitingForDependencies: AddOnTemplate '" + templateV2.Name + "' (version 2.0.0) waits: "))
		Consistently(place.cluster.templates).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(prometheus).
			Should(Equal(nameV1 + " " + nameV1))

		By("the version that it requires")
		setAnnotation(ctx, registration(test, ""), interlockv1alpha1.AddOnVersionAnnotation, "v0.23.0")
		Eventually(place.cluster.templates).WithContext(ctx).WithArguments(prometheus).Should(Equal(templateV2.Name + " " + templateV2.Name))
		Eventually(place.cluster.upgradable).WithContext(ctx).WithArguments(prometheus).Should(HavePrefix("True RequiredDependenciesSatisfied: "))
	}, places(2*time.Minute))
})
