package installation

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// registerSet registers an add-on that OCM deploys from a template: a ConfigMap with the variables mode, level and region. The default
// AddOnDeploymentConfig has the add-on's name, is in the namespace west, and sets level.
func registerSet(ctx context.Context, name string) {
	GinkgoHelper()
	create(ctx, fmt.Sprintf(`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnDeploymentConfig,
		metadata: {name: %[1]s, namespace: west}, spec: {agentInstallNamespace: of-the-default, customizedVariables: [{name: level, value: low}]}}
---
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnTemplate, metadata: {name: %[1]s}, spec: {addonName: %[1]s,
		agentSpec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: %[1]s, namespace: default},
		data: {rendered: "mode={{mode}} level={{level}} region={{region}}"}}]}}}}
---
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
		metadata: {name: %[1]s, annotations: {%[2]s}}, spec: {installStrategy: %[3]s, supportedConfigs: [
		{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: %[1]s}},
		{group: addon.open-cluster-management.io, resource: addondeploymentconfigs, defaultConfig: {name: %[1]s, namespace: west}}]}}`,
		name, onDemand, manual))
}

// setting returns an edge by which Interlock installs an add-on with settings.
func setting(cluster, variables, policy string) string {
	return fmt.Sprintf("[{name: %s, install: Auto, settings: {policy: %s, variables: [%s]}}]", cluster, policy, variables)
}

// rendered returns the data of the ConfigMap that OCM deploys for an add-on on a managed cluster.
func rendered(ctx context.Context, cluster, addOn string) func() (string, error) {
	return func() (string, error) {
		works := &unstructured.UnstructuredList{}
		works.SetAPIVersion("work.open-cluster-management.io/v1")
		works.SetKind("ManifestWorkList")
		err := hub.Client.List(ctx, works, client.InNamespace(cluster), client.MatchingLabels{"open-cluster-management.io/addon-name": addOn})
		for _, work := range works.Items {
			manifests, _, _ := unstructured.NestedSlice(work.Object, "spec", "workload", "manifests")
			for _, manifest := range manifests {
				if data, ok, _ := unstructured.NestedString(manifest.(map[string]any), "data", "rendered"); ok {
					return data, err
				}
			}
		}
		return "", err
	}
}

// ownConfig returns the AddOnDeploymentConfig that Interlock maintains for an add-on on a managed cluster.
func ownConfig(ctx context.Context, cluster, addOn string) *unstructured.Unstructured {
	GinkgoHelper()
	config := &unstructured.Unstructured{}
	config.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
	config.SetKind("AddOnDeploymentConfig")
	Eventually(func() error {
		return hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "interlock-" + addOn}, config)
	}).Should(Succeed())
	return config
}

// edit sets a variable as a user does, and returns the new generation.
func edit(ctx context.Context, cluster, addOn, name, value string) (generation int64) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		config := ownConfig(ctx, cluster, addOn)
		variables, _, err := unstructured.NestedSlice(config.Object, "spec", "customizedVariables")
		g.Expect(err).NotTo(HaveOccurred())
		for _, variable := range variables {
			if variable.(map[string]any)["name"] == name {
				variable.(map[string]any)["value"] = value
			}
		}
		g.Expect(unstructured.SetNestedSlice(config.Object, variables, "spec", "customizedVariables")).To(Succeed())
		g.Expect(hub.Client.Update(ctx, config, client.FieldOwner("a-user"))).To(Succeed())
		generation = config.GetGeneration()
	}).Should(Succeed())
	return generation
}

// warnings collects the warnings that a client receives.
type warnings []string

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }

// change changes a spec in a dry run, and returns the warnings.
func change(ctx context.Context, config *unstructured.Unstructured) (warningLog warnings, err error) {
	userConfig := rest.CopyConfig(hub.Config)
	userConfig.WarningHandler = &warningLog
	userClient, err := client.New(userConfig, client.Options{Scheme: hub.Client.Scheme()})
	if err != nil {
		return nil, err
	}
	err = userClient.Patch(ctx, config.DeepCopy(), client.RawPatch(types.MergePatchType,
		[]byte(`{"spec": {"agentInstallNamespace": "elsewhere"}}`)), client.DryRunAll)
	return warningLog, err
}

var _ = Describe("Settings", func() {
	DescribeTable("that never come to rest are written at growing intervals", func(ctx context.Context, cluster string) {
		base, leaf := "u-base-"+cluster, "u-leaf-"+cluster
		registerSet(ctx, base)
		register(ctx, leaf, manual, setting(base,
			`{name: mode, valueFrom: "dependencies['`+base+`'].config[?'mode'].orValue('') == 'on' ? 'off' : 'on'"}`, "Seal"), "")
		install(ctx, cluster, leaf)
		generation := func() int64 { return ownConfig(ctx, cluster, base).GetGeneration() }
		Eventually(generation).Should(BeNumerically(">=", 5), "the first changes are written at once")
		Consistently(generation).WithTimeout(4 * time.Second).Should(BeNumerically("<=", 10))
	}, onBoth())

	DescribeTable("of dependents are deployed by OCM, and a user's value wins unless it is sealed", func(ctx context.Context, cluster string) {
		base, leaf, sealing := "s-base-"+cluster, "s-leaf-"+cluster, "s-sealing-"+cluster
		registerSet(ctx, base)
		register(ctx, leaf, manual, setting(base,
			"{name: mode, value: grpc}, {name: level, value: high}, {name: region, valueFrom: \"cluster.labels['name']\"}", "Default"), "")
		install(ctx, cluster, leaf)
		Eventually(rendered(ctx, cluster, base)).Should(Equal("mode=grpc level=low region=" + cluster))
		config := ownConfig(ctx, cluster, base)
		namespace, _, err := unstructured.NestedString(config.Object, "spec", "agentInstallNamespace")
		Expect(namespace, err).To(Equal("of-the-default"))
		Expect(config.GetOwnerReferences()).To(ConsistOf(HaveField("Name", base)))

		By("following the default AddOnDeploymentConfig")
		source := config.DeepCopy()
		source.SetNamespace("west")
		source.SetName(base)
		merge(ctx, source, `{"spec": {"customizedVariables": [{"name": "level", "value": "mid"}]}}`)
		Eventually(rendered(ctx, cluster, base)).Should(Equal("mode=grpc level=mid region=" + cluster))

		By("keeping values that a user has set")
		edit(ctx, cluster, base, "mode", "http")
		Eventually(rendered(ctx, cluster, base)).Should(HavePrefix("mode=http "))
		Consistently(rendered(ctx, cluster, base)).WithTimeout(2 * time.Second).Should(HavePrefix("mode=http "))

		By("restoring sealed values, and giving up")
		register(ctx, sealing, manual, setting(base, "{name: mode, value: quic}", "Seal"), "")
		install(ctx, cluster, sealing)
		Eventually(rendered(ctx, cluster, base)).Should(HavePrefix("mode=quic "))
		generation := edit(ctx, cluster, base, "mode", "http")
		Eventually(func() int64 { return ownConfig(ctx, cluster, base).GetGeneration() }).Should(BeNumerically(">", generation))
		Eventually(rendered(ctx, cluster, base)).Should(HavePrefix("mode=quic "))
		edit(ctx, cluster, base, "mode", "http")
		Eventually(notes(ctx, base, "SettingGivenUp")).Should(HaveLen(1))
		Eventually(rendered(ctx, cluster, base)).Should(HavePrefix("mode=http "))

		By("warning a user who changes them")
		Eventually(func() (warnings, error) { return change(ctx, ownConfig(ctx, cluster, base)) }).Should(ContainElement(
			ContainSubstring("Interlock puts sealed variables back")))
		Expect(change(ctx, source)).To(BeEmpty())
	}, onBoth())

	DescribeTable("on which dependents do not agree are not set", func(ctx context.Context, cluster string) {
		base, leaf1, leaf2 := "c-base-"+cluster, "c-one-"+cluster, "c-two-"+cluster
		registerSet(ctx, base)
		for name, mode := range map[string]string{leaf1: "grpc", leaf2: "http"} {
			register(ctx, name, manual, setting(base, "{name: mode, value: "+mode+"}, {name: region, value: north}", "Default"), "")
			install(ctx, cluster, name)
		}
		for _, name := range []string{leaf1, leaf2} {
			Eventually(notes(ctx, name, "SettingConflict")).Should(ConsistOf(
				"Setting 'mode' of '" + base + "' is not set, because add-ons request different values: " + leaf1 + ", " + leaf2))
		}
		variables := func() string { return fmt.Sprint(ownConfig(ctx, cluster, base).Object["spec"]) }
		Eventually(variables).Should(And(ContainSubstring("north"), Not(ContainSubstring("grpc")), Not(ContainSubstring("http"))))
	}, onBoth())

	It("that are required keep an add-on from being installed while they have no value", func(ctx context.Context) {
		registerSet(ctx, "r-base")
		register(ctx, "r-leaf", manual, setting("r-base", "{name: region, valueFrom: \"cluster.labels[?'region']\", required: true}",
			"Default"), "")
		install(ctx, "edge", "r-leaf")
		Eventually(message(ctx, "edge", "r-leaf")).Should(ContainSubstring(
			"setting 'region' is required and has no value: valueFrom has none on this cluster"))
		Consistently(clustersWith(ctx, "r-base")).Should(BeEmpty())
		cluster := managed("edge")
		Expect(hub.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata": {"labels": {"region": "north"}}}`)))).To(Succeed())
		DeferCleanup(func(ctx context.Context) error {
			return hub.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"region": null}}}`)))
		})
		Eventually(clustersWith(ctx, "r-base")).Should(ConsistOf("edge"))
	})
})
