package installation

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// unusable is a declaration that cannot be parsed.
const unusable = `[{name: x, install: Auto, when: {expression: "1 +"}}]`

// registerByAnnotation registers an add-on that declares by annotation.
func registerByAnnotation(ctx context.Context, name, declaration string) *unstructured.Unstructured {
	GinkgoHelper()
	return create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn, metadata: {name: `+name+
		`, annotations: {`+addonv1alpha1.DependenciesAnnotation+`: '`+declaration+`'}}, spec: {installStrategy: `+manual+`}}`)[0]
}

// hide registers an add-on that declares its dependency in a field. Admission records the declaration in an annotation. The hub then
// loses the field, by a write that converts the registration as OCM does.
func hide(ctx context.Context, name, dependency string) *unstructured.Unstructured {
	GinkgoHelper()
	object := register(ctx, name, manual, "[{name: "+dependency+", type: Optional}]", "")
	spec := map[string]any{"dependencies": object.Object["spec"].(map[string]any)["dependencies"]}
	record, problem := declaration.Keep(nil, declaration.WrittenOf(nil, spec), nil)
	Expect(problem).To(BeEmpty())
	object.SetAnnotations(record)
	Eventually(func() error {
		return hub.Client.Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, annotating(record)))
	}).Should(Succeed())
	converted := &addonv1beta1.ClusterManagementAddOn{}
	converted.Name = name
	write := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"by": "ocm"}}}`))
	Expect(hub.Client.Patch(ctx, converted, write)).To(Succeed())
	Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	Expect(object.Object["spec"]).NotTo(HaveKey("dependencies"))
	return object
}

// claimZone sets the claim zone of the managed cluster west, which OCM's agent reports. An empty value removes the claim.
func claimZone(ctx context.Context, value string) {
	GinkgoHelper()
	claim := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"value": value}}}
	claim.SetAPIVersion("cluster.open-cluster-management.io/v1alpha1")
	claim.SetKind("ClusterClaim")
	claim.SetName("zone")
	west := members["west"].Client
	if value == "" {
		Expect(client.IgnoreNotFound(west.Delete(ctx, claim))).To(Succeed())
	} else {
		manifest := client.ApplyConfigurationFromUnstructured(claim)
		Expect(west.Apply(ctx, manifest, client.FieldOwner("a-user"), client.ForceOwnership)).To(Succeed())
	}
	Eventually(func() (string, error) {
		object := managed("west")
		err := hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		claims, _, _ := unstructured.NestedSlice(object.Object, "status", "clusterClaims")
		for _, item := range claims {
			if claim := item.(map[string]any); claim["name"] == "zone" {
				return claim["value"].(string), err
			}
		}
		return "", err
	}).WithContext(ctx).Should(Equal(value))
}

var _ = Describe("While a fact is unknown", func() {
	It("nothing is installed without addon-agent", func(ctx context.Context) {
		create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
			metadata: {name: v-base, annotations: {`+onDemand+`}}, spec: {installStrategy: `+manual+`,
			provides: [{group: example.com, kind: Tunnel}], dependencies: []}}`)
		register(ctx, "v-other", manual, "[]", onDemand)
		register(ctx, "v-held", manual, "[{name: api, api: {group: example.com, kind: Tunnel}, install: Auto}, {name: v-absent}]", "")
		registerByAnnotation(ctx, "v-unusable", `[{name: v-base, install: Auto}, {name: x, when: {expression: "1 +"}}]`)
		register(ctx, "v-leaf", manual, auto("v-other"), "")
		for _, name := range []string{"v-held", "v-unusable", "v-leaf"} {
			install(ctx, withoutAgent, name)
		}
		Eventually(message(ctx, withoutAgent, "v-held")).Should(ContainSubstring("v-absent"))
		Eventually(clustersWith(ctx, "v-other")).Should(ConsistOf(withoutAgent), "what is known is installed")
		Consistently(clustersWith(ctx, "v-base")).WithTimeout(2 * time.Second).Should(BeEmpty())

		By("addon-agent reporting on the other cluster that the API is not served")
		install(ctx, withAgent, "v-held")
		Eventually(clustersWith(ctx, "v-base")).Should(ContainElement(withAgent))
	})

	It("nothing is removed", func(ctx context.Context) {
		const lostCluster = "lost-while-removed"
		join(ctx, lostCluster)
		clusters := map[string]string{"wl": lostCluster, "wc": "west", "wd": "edge", "wu": "east", "wh": "west", "known": "west"}
		clustersWithBase := func(prefix string) func() ([]string, error) { return clustersWith(ctx, prefix+"-base") }
		claimZone(ctx, "a")
		DeferCleanup(func(ctx context.Context) { claimZone(ctx, "") })
		for prefix, cluster := range clusters {
			base, leaf := prefix+"-base", prefix+"-leaf"
			register(ctx, base, manual, "[]", onDemand)
			edge := removing(base)
			if prefix == "wc" {
				edge = "[{name: " + base + `, install: Auto, removal: WithLastDependent, when: {expression: "cluster.claims['zone'] == 'a'"}}]`
			}
			register(ctx, leaf, manual, edge, "")
			install(ctx, cluster, leaf)
		}
		for prefix, cluster := range clusters {
			Eventually(clustersWithBase(prefix)).Should(ConsistOf(cluster), prefix)
		}
		brokenRegistration, hiddenRegistration := registerByAnnotation(ctx, "wu-user", unusable), hide(ctx, "wh-user", "wh-base")
		install(ctx, "east", "wu-user")
		install(ctx, "west", "wh-user")
		denies := create(ctx, `{apiVersion: dependency.addon.open-cluster-management.io/v1alpha1, kind: AddOnDependencyPolicy,
			metadata: {name: wd}, spec: {install: Deny, clusterSelector: {matchLabels: {name: edge}}}}`)[0]
		ocmsuite.Reach(ctx, hub, lostCluster, metav1.ConditionUnknown)
		claimZone(ctx, "")
		for prefix, cluster := range clusters {
			if prefix != "wc" {
				uninstall(ctx, cluster, prefix+"-leaf")
			}
		}
		Eventually(clustersWithBase("known")).Should(BeEmpty(), "what is known is removed")
		delete(clusters, "known")
		Consistently(func(g Gomega) {
			for prefix, cluster := range clusters {
				g.Expect(clustersWithBase(prefix)()).To(ConsistOf(cluster), prefix)
			}
		}).WithTimeout(2 * time.Second).Should(Succeed())

		By("all of that being known")
		ocmsuite.Reach(ctx, hub, lostCluster, metav1.ConditionTrue)
		claimZone(ctx, "b")
		Expect(hub.Client.Delete(ctx, denies)).To(Succeed())
		for _, user := range []*unstructured.Unstructured{brokenRegistration, hiddenRegistration} {
			merge(ctx, user, string(annotating(map[string]string{addonv1alpha1.DependenciesAnnotation: "[]"})))
		}
		for prefix := range clusters {
			Eventually(clustersWithBase(prefix)).Should(BeEmpty(), prefix)
		}
	})

	It("is over once an addon-manager that has just started has assessed all", func(ctx context.Context) {
		register(ctx, "y-old", manual, "[]", onDemand)
		register(ctx, "y-user", manual, removing("y-old"), "")
		install(ctx, "east", "y-user")
		Eventually(clustersWith(ctx, "y-old")).Should(ConsistOf("east"))

		manage("3s") // the timestamps of objects have whole seconds
		started := time.Now()
		uninstall(ctx, "east", "y-user")
		register(ctx, "y-base", manual, "[]", onDemand)
		register(ctx, "y-leaf", manual, auto("y-base"), "")
		install(ctx, "east", "y-leaf")
		Eventually(clustersWith(ctx, "y-base")).Should(ConsistOf("east"))
		Eventually(clustersWith(ctx, "y-old")).Should(BeEmpty())
		Expect(time.Since(started)).To(BeNumerically(">=", 2*time.Second), "what is not needed is kept for its whole time after that")
	})
})
