package installverbs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/names"
)

// stack has five add-ons in three layers.
var stack = [][]string{{"certs", "tokens"}, {"gateway", "tunnel"}, {"portal"}}

func registerStack(ctx context.Context) {
	GinkgoHelper()
	for name, dependencies := range map[string]string{
		"certs": "[]", "tokens": "[]", "gateway": "[{name: tokens}, {name: certs}]", "tunnel": "[{name: certs}]",
		"portal": "[{name: gateway}, {name: tunnel}]",
	} {
		register(ctx, name, manual, dependencies)
	}
	DeferCleanup(func(ctx context.Context) {
		for _, cluster := range clusters {
			Expect(hub.Client.DeleteAllOf(ctx, &addonv1alpha1.ManagedClusterAddOn{}, client.InNamespace(cluster))).To(Succeed())
		}
		for _, addOn := range slices.Concat(stack...) {
			Eventually(clustersWith(ctx, addOn)).Should(BeEmpty())
		}
	})
}

// hold sets the finalizers of an add-on.
func hold(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, finalizers string) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": [`+finalizers+`]}}`))
	Expect(hub.Client.Patch(ctx, addOn, patch)).To(Succeed())
}

var _ = Describe("kubectl addon install", func() {
	It("installs layer by layer, and uninstall removes in reverse", func(ctx context.Context) {
		registerStack(ctx)
		plan := plugin(ctx, "install portal --selector tier=edge --plan")
		Expect(plan.code).To(Equal(cmdline.ExitOK), plan.out)
		Expect(plan.out).To(HavePrefix("To install on 3 managed clusters, in 3 layers:\n"))
		Expect(clustersWith(ctx, "certs")()).To(BeEmpty())

		installResult := startPlugin(ctx, "install portal --selector tier=edge --yes --wait")
		var available time.Time
		for i, layer := range stack {
			for _, addOn := range layer {
				Eventually(clustersWith(ctx, addOn)).Should(ConsistOf(clusters))
			}
			for _, addOn := range layer {
				for _, cluster := range clusters {
					object, err := get(ctx, cluster, addOn)
					Expect(err).NotTo(HaveOccurred())
					Expect(object.CreationTimestamp.Time).NotTo(BeTemporally("<", available.Truncate(time.Second)), addOn)
					Expect(object.Labels).To(HaveKeyWithValue(addonv1alpha1.InstalledByLabel, addonv1alpha1.InstalledByPlugin))
				}
			}
			if i+1 < len(stack) { // the last add-on on the last cluster is not available yet
				Consistently(clustersWith(ctx, stack[i+1][0])).Should(BeEmpty())
			}
			for _, addOn := range layer {
				for _, cluster := range clusters {
					available = report(ctx, cluster, addOn)
				}
			}
		}
		var uninstallResult result
		Eventually(installResult).Should(Receive(&uninstallResult))
		Expect(uninstallResult.code).To(Equal(cmdline.ExitOK), uninstallResult.out)
		result := plugin(ctx, "install portal --selector tier=edge --yes --wait")
		Expect(result.code).To(Equal(cmdline.ExitOK), result.out)
		Expect(result.out).To(HavePrefix("There is nothing to install on 3 managed clusters."))

		By("refusing to remove a dependency")
		refusal := plugin(ctx, "uninstall certs --selector tier=edge --yes")
		Expect(refusal.code).To(Equal(cmdline.ExitError))
		Expect(refusal.out).To(ContainSubstring("'gateway', which stays, requires certs (on 3 clusters: east, north, west)"))
		Expect(clustersWith(ctx, "certs")()).To(ConsistOf(clusters))

		By("waiting for dependents before their dependencies")
		addOn, err := get(ctx, "north", "portal")
		Expect(err).NotTo(HaveOccurred())
		hold(ctx, addOn, `"example.com/hold"`)
		uninstallResult = plugin(ctx, "uninstall portal --selector tier=edge --cascade=unit --yes --wait --timeout 2s")
		Expect(uninstallResult.code).To(Equal(cmdline.ExitError), uninstallResult.out)
		Expect(clustersWith(ctx, "portal")()).To(ConsistOf("north"))
		Expect(clustersWith(ctx, "gateway")()).To(ConsistOf(clusters))

		By("continuing with the command that it printed")
		const remainder = "uninstall gateway tunnel certs tokens --cluster east,north,west --wait"
		Expect(uninstallResult.out).To(ContainSubstring("run  kubectl addon " + remainder))
		results := startPlugin(ctx, remainder+" --yes")
		Eventually(clustersWith(ctx, "gateway")).Should(ConsistOf("north"))
		Consistently(clustersWith(ctx, "gateway")).Should(ConsistOf("north"))
		hold(ctx, addOn, "")
		Eventually(results).Should(Receive(&uninstallResult))
		Expect(uninstallResult.code).To(Equal(cmdline.ExitOK), uninstallResult.out)
		for _, addOn := range slices.Concat(stack...) {
			Expect(clustersWith(ctx, addOn)()).To(BeEmpty(), addOn)
		}
	}, NodeTimeout(time.Minute))

	It("keeps add-ons of a unit that another writer has taken over", func(ctx context.Context) {
		registerStack(ctx)
		result := plugin(ctx, "install portal --cluster east --yes")
		Expect(result.code).To(Equal(cmdline.ExitOK), result.out)
		addOn, err := get(ctx, "east", "gateway")
		Expect(err).NotTo(HaveOccurred())
		labels := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"mine": "true"}}}`))
		Expect(hub.Client.Patch(ctx, addOn, labels, client.FieldOwner("kubectl-label"))).To(Succeed())

		unitResult := plugin(ctx, "uninstall portal --cluster east --cascade=unit --yes")
		Expect(unitResult.code).To(Equal(cmdline.ExitOK), unitResult.out)
		Expect(unitResult.out).To(ContainSubstring("'gateway' stays, although no other add-on needs it"))
		for _, name := range []string{"portal", "tunnel"} {
			Eventually(clustersWith(ctx, name)).Should(BeEmpty())
		}
		for _, name := range []string{"gateway", "certs", "tokens"} {
			Consistently(clustersWith(ctx, name), "100ms").Should(ConsistOf("east"), name)
		}
	})

	It("prints manifests that GitOps can apply", func(ctx context.Context) {
		registerStack(ctx)
		plan := plugin(ctx, "install portal --cluster east --plan -o yaml")
		Expect(plan.code).To(Equal(cmdline.ExitOK), plan.out)
		list := &unstructured.UnstructuredList{}
		Expect(yaml.Unmarshal([]byte(plan.out), &list.Object)).To(Succeed())
		items, _, err := unstructured.NestedSlice(list.Object, "items")
		Expect(err).NotTo(HaveOccurred())
		Expect(items).To(HaveLen(5))
		for _, item := range items {
			content, _ := item.(map[string]any)
			applied := client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: content})
			Expect(hub.Client.Apply(ctx, applied, client.FieldOwner("gitops"))).To(Succeed())
		}
		result := plugin(ctx, "install portal --cluster east --plan")
		Expect(result.out).To(HavePrefix("There is nothing to install on 1 managed cluster."))
	})

	It("installs the version that is chosen, with variables", func(ctx context.Context) {
		template := func(name, version, dependencies string) string {
			return `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnTemplate, metadata: {name: ` + name + `,
				labels: {app.kubernetes.io/version: ` + version + `}, annotations: {` + addonv1alpha1.TemplateDependenciesAnnotation + `: '` +
				dependencies + `'}}, spec: {addonName: chosen, agentSpec: {workload: {manifests: []}}}}`
		}
		create(ctx, strings.Join([]string{
			template("chosen-1", "1.0.0", "[]"), template("chosen-2", "2.0.0", "[{name: needed}]"),
			`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnDeploymentConfig, metadata: {name: chosen, namespace: west},
				spec: {agentInstallNamespace: of-the-default, customizedVariables: [{name: LEVEL, value: low}]}}`,
			`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn, metadata: {name: chosen}, spec: {
				installStrategy: {type: Manual}, supportedConfigs: [
				{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: chosen-1}},
				{group: addon.open-cluster-management.io, resource: addondeploymentconfigs, defaultConfig: {name: chosen, namespace: west}}]}}`,
		}, "\n---\n"))
		register(ctx, "needed", manual, "[]")
		DeferCleanup(func(ctx context.Context) {
			for _, name := range []string{"chosen", "needed"} {
				Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, addOnInEast(name)))).To(Succeed())
				Eventually(clustersWith(ctx, name)).Should(BeEmpty())
			}
		})
		refusal := plugin(ctx, "install chosen --cluster east --version 3.x --plan")
		Expect(refusal.code).To(Equal(cmdline.ExitError), refusal.out)
		Expect(refusal.out).To(ContainSubstring(
			`--version="3.x": add-on "chosen" has no such AddOnTemplate. It has 'chosen-2' (2.0.0), 'chosen-1' (1.0.0)`))
		Expect(plugin(ctx, "install chosen --cluster east --plan").out).NotTo(ContainSubstring("needed"))

		create(ctx, readManifest("plugin-reader/clusterrole.yaml"))
		role := create(ctx, readManifest("plugin-installer/clusterrole.yaml"))[0]
		limitedRole := role.DeepCopy()
		limitedRole.SetName("without-variables")
		limitedRole.SetResourceVersion("")
		rules, _, err := unstructured.NestedSlice(role.Object, "rules")
		Expect(err).NotTo(HaveOccurred())
		Expect(unstructured.SetNestedSlice(limitedRole.Object, slices.Delete(rules, 1, 2), "rules")).To(Succeed())
		Expect(hub.Client.Create(ctx, limitedRole)).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return hub.Client.Delete(ctx, limitedRole) })
		bind(ctx, "interlock-plugin-reader", "chooser")
		bind(ctx, "without-variables", "chooser")
		const chosen = "install chosen --cluster east --version 2.x --set MODE=grpc --yes --as chooser"
		Eventually(func() string { return plugin(ctx, chosen).out }).Should(ContainSubstring(
			`the hub refuses 'chosen': apply AddOnDeploymentConfig east/kubectl-addon-chosen: ` +
				`addondeploymentconfigs.addon.open-cluster-management.io "kubectl-addon-chosen" is forbidden: User "chooser" cannot patch`))
		Expect(clustersWith(ctx, "chosen")()).To(BeEmpty())
		bind(ctx, "interlock-plugin-installer", "chooser")
		var result result
		Eventually(func() int {
			result = plugin(ctx, chosen)
			return result.code
		}).Should(Equal(cmdline.ExitOK))
		Expect(result.out).To(ContainSubstring("'chosen' gets AddOnTemplate 'chosen-2'"))
		Expect(clustersWith(ctx, "needed")()).To(ConsistOf("east"), "the second version needs it")
		addOn := addOnInEast("chosen")
		Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
		var references []string
		for _, config := range addOn.Spec.Configs {
			references = append(references, config.Resource+" "+config.Namespace+"/"+config.Name)
		}
		Expect(references).To(ConsistOf("addontemplates /chosen-2", "addondeploymentconfigs east/kubectl-addon-chosen"))
		config := &unstructured.Unstructured{}
		config.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
		config.SetKind("AddOnDeploymentConfig")
		Expect(hub.Client.Get(ctx, types.NamespacedName{Namespace: "east", Name: "kubectl-addon-chosen"}, config)).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return hub.Client.Delete(ctx, config) })
		Expect(fmt.Sprint(config.Object["spec"])).To(Equal("map[agentInstallNamespace:of-the-default " +
			"customizedVariables:[map[name:LEVEL value:low] map[name:MODE value:grpc]]]"))
	})

	It("refers to the settings that Interlock keeps, where an addon-manager leads that does", func(ctx context.Context) {
		create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn, metadata: {name: kept}, spec: {
			installStrategy: {type: Manual},
			supportedConfigs: [{group: addon.open-cluster-management.io, resource: addondeploymentconfigs}]}}`)
		register(ctx, "setting", manual, "[{name: kept, install: Auto, settings: {variables: [{name: MODE, value: grpc}]}}]")
		DeferCleanup(func(ctx context.Context) {
			for _, name := range []string{"setting", "kept"} {
				Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, addOnInEast(name)))).To(Succeed())
				Eventually(clustersWith(ctx, name)).Should(BeEmpty())
			}
		})
		Expect(plugin(ctx, "install setting --cluster east --plan").out).To(ContainSubstring(
			"'kept' gets no settings that other add-ons request: no addon-manager is known to lead that runs with --lifecycle"))
		create(ctx, fmt.Sprintf(`{apiVersion: coordination.k8s.io/v1, kind: Lease,
			metadata: {name: %s, namespace: default, annotations: {%s: pod-1}},
			spec: {holderIdentity: pod-1, leaseDurationSeconds: 3600, renewTime: %q}}`,
			names.AddonManager, names.LifecycleLeader, time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")))
		result := plugin(ctx, "install setting --cluster east --yes")
		Expect(result.code).To(Equal(cmdline.ExitOK), result.out)
		addOn := addOnInEast("kept")
		Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
		Expect(addOn.Spec.Configs).To(HaveExactElements(HaveField("ConfigReferent.Name", "interlock-kept")))
	})

	It("asks a person, and does nothing without a yes", func(ctx context.Context) {
		registerStack(ctx)
		const line = "install gateway --cluster east"
		pipe := plugin(ctx, line)
		Expect(pipe.code).To(Equal(cmdline.ExitUsage), pipe.out)
		declinedRun := pluginWithInput(ctx, person{answer: strings.NewReader("n\n")}, line)
		Expect(declinedRun.code).To(Equal(cmdline.ExitError), declinedRun.out)
		Expect(declinedRun.out).To(ContainSubstring("\nCreate 3 ManagedClusterAddOns? [y/N] "))

		By("doing only the steps that the person has seen")
		createElsewhere := sync.OnceFunc(func() {
			create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn,
				metadata: {name: certs, namespace: east}, spec: {}}`)
		})
		changedRun := pluginWithInput(ctx, person{createElsewhere, strings.NewReader("y\n")}, line)
		Expect(changedRun.code).To(Equal(cmdline.ExitError), changedRun.out)
		Expect(changedRun.out).To(ContainSubstring("the hub has changed since the plan was made"))
		Expect(clustersWith(ctx, "tokens")()).To(BeEmpty())

		agreedRun := pluginWithInput(ctx, person{answer: strings.NewReader("y\n")}, line)
		Expect(agreedRun.code).To(Equal(cmdline.ExitOK), agreedRun.out)
		Expect(clustersWith(ctx, "gateway")()).To(ConsistOf("east"))
		certs, err := get(ctx, "east", "certs")
		Expect(err).NotTo(HaveOccurred())
		Expect(certs.Labels).NotTo(HaveKey(addonv1alpha1.InstalledByLabel), "it was not touched")
	})

	It("reports a timeout, and the missing add-ons", func(ctx context.Context) {
		registerStack(ctx)
		result := plugin(ctx, "install gateway --cluster east --yes --wait --timeout 2s")
		Expect(result.code).To(Equal(cmdline.ExitError), result.out)
		Expect(result.out).To(ContainSubstring(
			"layer 1 of 2: timed out after 2s: 0 of 2 add-ons ok; what was created stays, and the same command continues"))
		Expect(clustersWith(ctx, "gateway")()).To(BeEmpty())

		By("waiting for add-ons that are installed already, and limiting all layers together")
		Expect(plugin(ctx, "install gateway --cluster east --plan --wait").out).To(MatchRegexp(`1 +tokens +installed, not ready +gateway`))
		installResult := startPlugin(ctx, "install gateway --cluster east --yes --wait --timeout 5s")
		for _, addOn := range stack[0] {
			report(ctx, "east", addOn)
		}
		Eventually(installResult).Should(Receive(&result))
		Expect(result.out).To(MatchRegexp("layer (1 of 1|2 of 2): timed out after 5s: 0 of 1 add-on ok"))
	})

	It("leaves what Placements install to OCM", func(ctx context.Context) {
		create(ctx, "{apiVersion: v1, kind: Namespace, metadata: {name: places}}")
		create(ctx, `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {name: some, namespace: places,
			annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: "true"}}, spec: {}}`)
		register(ctx, "placed", "{type: Placements, placements: [{namespace: places, name: some}]}", "[]")
		register(ctx, "user", manual, "[{name: placed}]")
		DeferCleanup(func(ctx context.Context) {
			Expect(hub.Client.DeleteAllOf(ctx, &addonv1alpha1.ManagedClusterAddOn{}, client.InNamespace("west"))).To(Succeed())
		})
		refusal := plugin(ctx, "install user --cluster west --yes")
		Expect(refusal.code).To(Equal(cmdline.ExitError), refusal.out)
		Expect(refusal.out).To(ContainSubstring(
			"'placed' is installed by Placements: 'places/some' has to select the cluster (on 1 cluster: west)"))
		Expect(clustersWith(ctx, "user")()).To(BeEmpty())

		By("waiting for it once the Placement selects the cluster")
		decision := create(ctx, `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: PlacementDecision,
			metadata: {name: some-1, namespace: places, labels: {cluster.open-cluster-management.io/placement: some,
				cluster.open-cluster-management.io/decision-group-index: "0"}}}`)[0]
		Expect(hub.Client.Status().Patch(ctx, decision, client.RawPatch(types.MergePatchType,
			[]byte(`{"status": {"decisions": [{"clusterName": "west", "reason": ""}]}}`)))).To(Succeed())
		installResult := startPlugin(ctx, "install user --cluster west --yes --wait")
		Eventually(clustersWith(ctx, "placed")).Should(ConsistOf("west"))
		report(ctx, "west", "placed")
		report(ctx, "west", "user")
		var result result
		Eventually(installResult).Should(Receive(&result))
		Expect(result.code).To(Equal(cmdline.ExitOK), result.out)

		By("not removing add-ons that OCM would install again")
		denial := plugin(ctx, "uninstall user placed --cluster west --yes")
		Expect(denial.code).To(Equal(cmdline.ExitError), denial.out)
		Expect(clustersWith(ctx, "user")()).To(ConsistOf("west"))
	})

	It("needs the shipped role, and names it in its error", func(ctx context.Context) {
		registerStack(ctx)
		create(ctx, readManifest("plugin-reader/clusterrole.yaml"))
		create(ctx, readManifest("plugin-installer/clusterrole.yaml"))
		bind(ctx, "interlock-plugin-reader", "installer")
		missingRight := "you lack the right to do that: ask for the ClusterRole interlock-plugin-installer (on 1 cluster: east)"
		var refusal result
		Eventually(func() string {
			refusal = plugin(ctx, "install certs --cluster east --yes --as installer")
			return refusal.out
		}).Should(ContainSubstring(missingRight))
		Expect(refusal.code).To(Equal(cmdline.ExitError))
		plan := plugin(ctx, "install certs --cluster east --plan --as installer")
		Expect(plan.code).To(Equal(cmdline.ExitOK), plan.out)
		Expect(plan.out).To(ContainSubstring(missingRight))

		bind(ctx, "interlock-plugin-installer", "installer")
		Eventually(func() int { return plugin(ctx, "install certs --cluster east --yes --as installer").code }).Should(Equal(cmdline.ExitOK))
		Expect(clustersWith(ctx, "certs")()).To(ConsistOf("east"))
		result := plugin(ctx, "uninstall certs --cluster east --yes --as installer", "--force", "a test")
		Expect(result.code).To(Equal(cmdline.ExitOK), result.out)
		Eventually(clustersWith(ctx, "certs")).Should(BeEmpty())
	})

	DescribeTable("needs each right of the role", func(ctx context.Context, verb, can, line string, args ...string) {
		registerStack(ctx)
		create(ctx, readManifest("plugin-reader/clusterrole.yaml"))
		ships := readManifest("plugin-installer/clusterrole.yaml")
		role := create(ctx, strings.Replace(ships, "name: interlock-plugin-installer", "name: without-"+verb, 1))[0]
		verbs := slices.DeleteFunc([]string{"create", "delete", "patch"}, func(shipped string) bool { return shipped == verb })
		patch := fmt.Sprintf(`[{"op": "replace", "path": "/rules/0/verbs", "value": ["%s"]}]`, strings.Join(verbs, `", "`))
		Expect(hub.Client.Patch(ctx, role, client.RawPatch(types.JSONPatchType, []byte(patch)))).To(Succeed())
		create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn,
			metadata: {name: tokens, namespace: east}, spec: {}}`)
		for _, name := range []string{"interlock-plugin-reader", "without-" + verb} {
			bind(ctx, name, "without-"+verb)
		}
		user, missingRight := " --cluster east --as without-"+verb, ContainSubstring("you lack the right to do that")
		Eventually(func() string { return plugin(ctx, can+" --plan"+user).out }).Should(SatisfyAll(HavePrefix("To "), Not(missingRight)))
		result := plugin(ctx, line+" --yes"+user, args...)
		Expect(result.out).To(missingRight)
		Expect(result.code).To(Equal(cmdline.ExitError))
		Expect(clustersWith(ctx, "certs")()).To(BeEmpty())
		Expect(clustersWith(ctx, "tokens")()).To(ConsistOf("east"))
	},
		Entry("create", "create", "uninstall tokens", "install certs"),
		Entry("delete", "delete", "install certs", "uninstall tokens"),
		Entry("patch", "patch", "uninstall tokens", "uninstall tokens", "--force", "a test"),
	)
})

// addOnInEast returns the ManagedClusterAddOn of an add-on on the managed cluster east, without content.
func addOnInEast(name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "east", Name: name}}
}

// bind binds a user to a role, on the whole hub.
func bind(ctx context.Context, role, user string) {
	GinkgoHelper()
	create(ctx, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: `+role+`-`+user+`},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: `+role+`},
		subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: `+user+`}]}`)
}
