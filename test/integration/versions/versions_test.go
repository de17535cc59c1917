package versions

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// unanswered is longer than the time for which the report of an addon-agent is expected.
const unanswered = 90 * time.Second

var (
	templates = addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"}
	configs   = addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addondeploymentconfigs"}
)

// create creates an object, and removes it after the spec.
func create(ctx context.Context, object client.Object) {
	GinkgoHelper()
	observer.Cause("the test creates " + object.GetName())
	Expect(hub.Client.Create(ctx, object)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		observer.Cause("the test deletes " + object.GetName())
		observer.Removed(object.GetName())
		Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, object))).To(Succeed())
	})
}

// template returns an AddOnTemplate of an add-on that deploys a ConfigMap.
func template(addOn, name string) *addonv1alpha1.AddOnTemplate {
	GinkgoHelper()
	content, err := json.Marshal(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: name},
	})
	Expect(err).NotTo(HaveOccurred())
	return &addonv1alpha1.AddOnTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: addonv1alpha1.AddOnTemplateSpec{AddonName: addOn, AgentSpec: workv1.ManifestWorkSpec{
			Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: content}}}},
		}},
	}
}

// register registers an add-on with a declaration and default configs.
func register(ctx context.Context, name, declaration string, supported ...addonv1alpha1.ConfigMeta) *addonv1alpha1.ClusterManagementAddOn {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if declaration != "" {
		registration.Annotations = map[string]string{interlockv1alpha1.DependenciesAnnotation: declaration}
	}
	registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
	registration.Spec.SupportedConfigs = supported //nolint:staticcheck // v1alpha1 has no other field for it
	create(ctx, registration)
	return registration
}

func install(ctx context.Context, cluster, name string, configs ...addonv1alpha1.AddOnConfig) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	addOn.Spec.Configs = configs
	create(ctx, addOn)
}

func defaultTemplate(name string) addonv1alpha1.ConfigMeta {
	return addonv1alpha1.ConfigMeta{ConfigGroupResource: templates, DefaultConfig: &addonv1alpha1.ConfigReferent{Name: name}}
}

// rollOut makes another template the default one of an add-on.
func rollOut(ctx context.Context, registration *addonv1alpha1.ClusterManagementAddOn, template string) {
	GinkgoHelper()
	observer.Cause("another template becomes the default")
	original := registration.DeepCopy()
	//nolint:staticcheck // v1alpha1 has no other field for it
	registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{defaultTemplate(template)}
	Expect(hub.Client.Patch(ctx, registration, client.MergeFrom(original))).To(Succeed())
}

// degradedOf returns status, reason and message of Degraded.
func degradedOf(ctx context.Context, cluster, name string) (string, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, addOn)
	degraded := meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionDegraded)
	if degraded == nil {
		return "", err
	}
	return string(degraded.Status) + " " + degraded.Reason + ": " + degraded.Message, err
}

func configReferences(ctx context.Context, cluster, name string) ([]addonv1alpha1.ConfigReference, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, addOn)
	return addOn.Status.ConfigReferences, err
}

// uniqueName returns the name of a registration or a template. All managed clusters share them, so each spec of a table has names of its
// own.
func uniqueName(cluster, name string) string { return name + "-" + cluster }

var _ = Describe("On Open Cluster Management", func() {
	DescribeTable("the version of an add-on comes from the AddOnTemplate that runs", func(ctx context.Context, cluster string) {
		templated, leaf := uniqueName(cluster, "templated"), uniqueName(cluster, "leaf")
		v5, v6 := template(templated, uniqueName(cluster, "templated-5")), template(templated, uniqueName(cluster, "templated-6"))
		v5.Annotations = map[string]string{interlockv1alpha1.AddOnVersionAnnotation: "0.5.0"}
		v6.Labels = map[string]string{interlockv1alpha1.TemplateVersionLabel: "0.6.0"}
		create(ctx, v5)
		create(ctx, v6)
		registration := register(ctx, templated, "", defaultTemplate(v5.Name))
		// An edge of this type does not require that the add-on is available.
		register(ctx, leaf, `[{name: `+templated+`, type: IfInstalled, version: ">= 0.6"}]`)
		install(ctx, cluster, templated)
		install(ctx, cluster, leaf)
		Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, leaf).WithTimeout(unanswered).Should(And(
			HavePrefix("True RequiredDependencyNotSatisfied"), HaveSuffix("(version 0.5.0 from its AddOnTemplate)")))
		Eventually(configReferences).WithContext(ctx).WithArguments(cluster, templated).Should(ContainElement(
			HaveField("LastAppliedConfig", HaveValue(HaveField("Name", v5.Name)))))

		By("a rollout that does not get on, because work's agent is away")
		Expect(managed[cluster].WorkAgent.Stop(ctx)).To(Succeed())
		rollOut(ctx, registration, v6.Name)
		Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, leaf).Should(
			HaveSuffix("(version 0.5.0 from its AddOnTemplate; 0.6.0 is being rolled out)"))

		By("work's agent being back")
		observer.Cause("work's agent is back")
		Expect(managed[cluster].WorkAgent.Start(ctx)).To(Succeed())
		Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, leaf).WithTimeout(unanswered).Should(
			HavePrefix("False DependenciesSatisfied"))
	}, onBoth(6*time.Minute))

	DescribeTable("config comes from the first AddOnDeploymentConfig", func(ctx context.Context, cluster string) {
		configured := uniqueName(cluster, "configured")
		for name, mode := range map[string]string{"first": "direct", "second": "proxy"} {
			config := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
			config.Spec.CustomizedVariables = []addonv1alpha1.CustomizedVariable{{Name: "mode", Value: mode}, {Name: name, Value: "there"}}
			create(ctx, config)
		}
		create(ctx, template(configured, uniqueName(cluster, "configured-1")))
		configNamed := func(name string) addonv1alpha1.AddOnConfig {
			referent := addonv1alpha1.ConfigReferent{Namespace: cluster, Name: name}
			return addonv1alpha1.AddOnConfig{ConfigGroupResource: configs, ConfigReferent: referent}
		}
		register(ctx, configured, `
- {name: by-mode, addOn: missing, message: mode is direct, when: {expression: "config.?mode.orValue('') == 'direct'"}}
- {name: by-second, addOn: missing, message: second counts too, when: {expression: "'second' in config"}}`,
			defaultTemplate(uniqueName(cluster, "configured-1")), addonv1alpha1.ConfigMeta{ConfigGroupResource: configs})
		install(ctx, cluster, configured, configNamed("first"), configNamed("second"))
		Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, configured).Should(ContainSubstring("mode is direct"))
		Eventually(configReferences).WithContext(ctx).WithArguments(cluster, configured).Should(ContainElements(
			HaveField("DesiredConfig", HaveValue(HaveField("Name", "first"))), HaveField("DesiredConfig", HaveValue(HaveField("Name", "second")))))
		Consistently(degradedOf).WithContext(ctx).WithArguments(cluster, configured).Should(And(
			ContainSubstring("mode is direct"), Not(ContainSubstring("second counts too"))))
	}, onBoth(3*time.Minute))

	DescribeTable("settings of a dependency come from the default of its registration", func(ctx context.Context, cluster string) {
		proxy, streaming := uniqueName(cluster, "proxy"), uniqueName(cluster, "streaming")
		config := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "settings"}}
		config.Spec.CustomizedVariables = []addonv1alpha1.CustomizedVariable{{Name: "mode", Value: "direct"}}
		create(ctx, config)
		create(ctx, template(proxy, uniqueName(cluster, "proxy-1")))
		register(ctx, proxy, "", defaultTemplate(uniqueName(cluster, "proxy-1")), addonv1alpha1.ConfigMeta{
			ConfigGroupResource: configs, DefaultConfig: &addonv1alpha1.ConfigReferent{Namespace: cluster, Name: config.Name},
		})
		// An edge of this type does not require that the add-on is available.
		register(ctx, streaming, `
- {name: `+proxy+`, type: IfInstalled, version: "*", config: {expression: "config.?mode.orValue('') == 'grpc'",
  message: Streams need gRPC.}}`)
		install(ctx, cluster, streaming)
		install(ctx, cluster, proxy)
		Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, streaming).Should(
			And(HavePrefix("True RequiredDependencyNotSatisfied"), ContainSubstring("Streams need gRPC. (not true of its settings")))

		observer.Cause("other settings")
		original := config.DeepCopy()
		config.Spec.CustomizedVariables[0].Value = "grpc"
		Expect(hub.Client.Patch(ctx, config, client.MergeFrom(original))).To(Succeed())
		Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, streaming).Should(HavePrefix("False DependenciesSatisfied"))
	}, onBoth(3*time.Minute))
})

var _ = Describe("The declaration of an AddOnTemplate", func() {
	DescribeTable("counts where the template runs, through a progressive rollout", func(ctx context.Context, cluster string) {
		declaring := uniqueName(cluster, "declaring")
		v1, v2 := template(declaring, uniqueName(cluster, "declaring-1")), template(declaring, uniqueName(cluster, "declaring-2"))
		v2.Annotations = map[string]string{
			interlockv1alpha1.AddOnVersionAnnotation:         "2.0.0",
			interlockv1alpha1.TemplateDependenciesAnnotation: `[{name: needed-by-v2}]`,
		}
		create(ctx, v1)
		create(ctx, v2)
		registration := register(ctx, declaring, `[{name: needed-by-v1}]`, defaultTemplate(v1.Name))
		install(ctx, cluster, declaring)
		fails := HavePrefix("True RequiredDependencyNotSatisfied")
		needsV1 := And(fails, ContainSubstring("'needed-by-v1'"), Not(ContainSubstring("needed-by-v2")))
		needsV2 := And(fails, ContainSubstring("'needed-by-v2'"), Not(ContainSubstring("needed-by-v1")))
		Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, declaring).Should(needsV1)
		Eventually(configReferences).WithContext(ctx).WithArguments(cluster, declaring).Should(ContainElement(
			HaveField("LastAppliedConfig", HaveValue(HaveField("Name", v1.Name)))))

		By("a rollout that does not get on, because work's agent is away")
		Expect(managed[cluster].WorkAgent.Stop(ctx)).To(Succeed())
		rollOut(ctx, registration, v2.Name)
		Eventually(configReferences).WithContext(ctx).WithArguments(cluster, declaring).Should(ContainElement(
			HaveField("DesiredConfig", HaveValue(HaveField("Name", v2.Name)))))
		Consistently(degradedOf).WithContext(ctx).WithArguments(cluster, declaring).WithTimeout(3 * time.Second).Should(needsV1)

		By("work's agent being back")
		observer.Cause("work's agent is back")
		Expect(managed[cluster].WorkAgent.Start(ctx)).To(Succeed())
		Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, declaring).WithTimeout(unanswered).Should(needsV2)

		By("the declaration of the template that runs being changed")
		observer.Cause("the template declares nothing any more")
		editedTemplate := v2.DeepCopy()
		editedTemplate.Annotations[interlockv1alpha1.TemplateDependenciesAnnotation] = "[]"
		Expect(hub.Client.Patch(ctx, editedTemplate, client.MergeFrom(v2))).To(Succeed())
		Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, declaring).Should(HavePrefix("False DependenciesSatisfied"))
	}, onBoth(6*time.Minute))
})
