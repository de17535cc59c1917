package installation

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
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

	It("are missed in the condition of a dependent that has never failed, until its dependency refers to them", func(ctx context.Context) {
		create(ctx, fmt.Sprintf(`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
		metadata: {name: n-base, annotations: {%s}}, spec: {installStrategy: %s,
		supportedConfigs: [{group: addon.open-cluster-management.io, resource: addondeploymentconfigs}]}}`, onDemand, manual))
		register(ctx, "n-leaf", manual, setting("n-base", "{name: mode, value: grpc}", "Default"), "")
		install(ctx, "edge", "n-base")
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "edge", Name: "n-base"}}
		available := client.RawPatch(types.MergePatchType, []byte(`{"status": {"conditions": [
			{"type": "Available", "status": "True", "reason": "Tested", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`))
		Expect(hub.Client.Status().Patch(ctx, addOn, available)).To(Succeed())
		install(ctx, "edge", "n-leaf")
		Eventually(message(ctx, "edge", "n-leaf")).Should(Equal("All declared dependencies are satisfied, but Interlock does not set the " +
			"settings of 'n-base' as requested, because its ManagedClusterAddOn does not refer to AddOnDeploymentConfig 'interlock-n-base' alone."))

		referring := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"configs": [{"group": "addon.open-cluster-management.io",
			"resource": "addondeploymentconfigs", "namespace": "edge", "name": "interlock-n-base"}]}}`))
		Expect(hub.Client.Patch(ctx, addOn, referring)).To(Succeed())
		Expect(fmt.Sprint(ownConfig(ctx, "edge", "n-base").Object["spec"])).To(ContainSubstring("grpc"))
		Eventually(message(ctx, "edge", "n-leaf")).Should(Equal("All declared dependencies are satisfied."))
	})

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

	It("that the hub refuses are reported with its reason, and are tried again", func(ctx context.Context) {
		policyObjects := create(ctx, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: no-q-base},
  spec: {failurePolicy: Fail, matchConstraints: {resourceRules: [{apiGroups: [addon.open-cluster-management.io], apiVersions: ["*"],
  operations: [CREATE], resources: [addondeploymentconfigs], resourceNames: [interlock-q-base]}]},
  validations: [{expression: "false", message: not in this fleet}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: no-q-base},
  spec: {policyName: no-q-base, validationActions: [Deny]}}`)
		registerSet(ctx, "q-base")
		register(ctx, "q-leaf", manual, setting("q-base", "{name: mode, value: grpc}", "Seal"), "")
		config := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		config.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
		config.SetKind("AddOnDeploymentConfig")
		config.SetNamespace(withoutAgent)
		config.SetName("interlock-q-base")
		Eventually(func() error { return hub.Client.Create(ctx, config.DeepCopy(), client.DryRunAll) }).Should(MatchError(
			ContainSubstring("not in this fleet")))
		install(ctx, withoutAgent, "q-leaf")
		Eventually(notes(ctx, "q-leaf", "SettingUnset")).Should(ConsistOf(And(
			HavePrefix("OCM does not deploy 'q-base' until AddOnDeploymentConfig 'interlock-q-base' with its settings exists: the hub refuses"),
			ContainSubstring("not in this fleet"))))
		why := func(addOn string) func() (string, error) {
			return func() (string, error) {
				out, err := exec.CommandContext(ctx, setup.Program("kubectl-addon"), "--kubeconfig", hub.Kubeconfig(), "why", addOn, "-n",
					withoutAgent).CombinedOutput()
				return string(out), err
			}
		}
		for _, addOn := range []string{"q-leaf", "q-base"} {
			Eventually(why(addOn)).Should(ContainSubstring("OCM deploys nothing until AddOnDeploymentConfig west/interlock-q-base exists"))
		}
		Consistently(notes(ctx, "q-leaf", "SettingUnset")).Should(HaveLen(1), "the event is not repeated at each retry")
		Expect(rendered(ctx, withoutAgent, "q-base")()).To(BeEmpty())

		for _, object := range policyObjects {
			Expect(hub.Client.Delete(ctx, object)).To(Succeed())
		}
		Eventually(rendered(ctx, withoutAgent, "q-base")).WithTimeout(time.Minute).Should(HavePrefix("mode=grpc"))
		Eventually(why("q-base")).ShouldNot(ContainSubstring("AddOnDeploymentConfig"))
	})
})
