package hub

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

func addOnTemplate(name string) *unstructured.Unstructured {
	template := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"addonName": "any", "agentSpec": map[string]any{}},
	}}
	template.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("AddOnTemplate"))
	template.SetName(name)
	return template
}

// relabel gives an AddOnTemplate the version by its label.
func relabel(template, version string) {
	GinkgoHelper()
	alter(addOnTemplate(template), types.NamespacedName{Name: template}, false, func(t *unstructured.Unstructured) {
		t.SetLabels(map[string]string{addonv1alpha1.TemplateVersionLabel: version})
	})
}

// deploy makes an add-on refer to an AddOnTemplate, as OCM's addon-manager does. Until a rollout on the cluster is done, no template is
// running. test/integration/versions shows that.
func deploy(cluster, addOn, current, desired string) {
	GinkgoHelper()
	key := types.NamespacedName{Namespace: cluster, Name: addOn}
	config := func(name string) *ocmv1alpha1.ConfigSpecHash {
		if name == "" {
			return nil
		}
		return &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: name}, SpecHash: "of " + name}
	}
	alter(&addonv1alpha1.ManagedClusterAddOn{}, key, true, func(a *addonv1alpha1.ManagedClusterAddOn) {
		a.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{{
			ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"},
			ConfigReferent:      ocmv1alpha1.ConfigReferent{Name: desired},
			DesiredConfig:       config(desired), LastAppliedConfig: config(current),
		}}
	})
}

// reportNoLease reports that an add-on has no lease, as addon-agent does. So no spec has to wait until a report is no longer expected.
func reportNoLease(cluster, addOn string) {
	GinkgoHelper()
	key := types.NamespacedName{Namespace: cluster, Name: cluster}
	request := dependencyv1alpha1.AddOn{Name: addOn}
	Eventually(func() ([]dependencyv1alpha1.AddOn, error) {
		facts := &dependencyv1alpha1.ManagedClusterFacts{}
		err := hubClient.Get(ctx, key, facts)
		return facts.Spec.AddOns, err
	}).Should(ContainElement(request))
	alter(&dependencyv1alpha1.ManagedClusterFacts{}, key, true, func(facts *dependencyv1alpha1.ManagedClusterFacts) {
		facts.Status.AddOns = append(facts.Status.AddOns, dependencyv1alpha1.AddOnFact{
			AddOn: request, Reason: dependencyv1alpha1.ReasonLeaseNotFound, Message: "the add-on has no lease",
		})
	})
}

// syncAnnotations is a double of syncAddonAnnotations in OCM's pkg/addon/controllers/addonannotation/controller.go. That controller
// came with 1.3.0, and was read at commit 00f84c3, after 1.3.1. OCM 1.2.1, the newest that builds as a Go module, does not have it. It
// copies the annotations with the prefix from a ManagedCluster to its ManagedClusterAddOns, and removes others with the prefix.
func syncAnnotations(addOnAnnotations, clusterAnnotations map[string]string) {
	const prefix = "addon.open-cluster-management.io"
	for key := range addOnAnnotations {
		if _, exists := clusterAnnotations[key]; strings.HasPrefix(key, prefix) && !exists {
			delete(addOnAnnotations, key)
		}
	}
	for key, value := range clusterAnnotations {
		if strings.HasPrefix(key, prefix) {
			addOnAnnotations[key] = value
		}
	}
}

var _ = Describe("The version of an add-on", Ordered, func() {
	var manager *process
	var cluster, otherCluster string

	// dependents registers an add-on, and another add-on that depends on version 0.6 of it.
	dependents := func() (base, leaf string) {
		GinkgoHelper()
		base, leaf = unique("base"), unique("versions")
		register(base)
		registerSpec(leaf, `dependencies: [{name: `+base+`, version: ">= 0.6"}]`)
		return base, leaf
	}

	BeforeAll(func() {
		manager = start()
		cluster, otherCluster = newCluster(), newCluster()
		accept(cluster)
		accept(otherCluster)
	})

	It("is that of the AddOnTemplate that runs on the cluster", func() {
		base, leaf := dependents()
		v5, v6 := unique("template"), unique("template")
		template := addOnTemplate(v5)
		template.SetAnnotations(map[string]string{addonv1alpha1.AddOnVersionAnnotation: "0.5.0"})
		create(template)
		create(addOnTemplate(v6))
		relabel(v6, "0.6.0")
		for _, cluster := range []string{cluster, otherCluster} {
			installAvailable(cluster, base)
			versionAnnotation(cluster, base, "0.6.5")
			deploy(cluster, base, v5, v5)
			install(cluster, leaf)
			reportNoLease(cluster, base)
			Eventually(degradedOf(cluster, leaf)).Should(requiredFails(HaveSuffix("(version 0.5.0 from its AddOnTemplate)")))
		}

		By("a rollout to one of the clusters")
		manager.rest()
		versionsBefore := must(versions(otherCluster))
		deploy(cluster, base, "", v6)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(HaveSuffix(
			"(version 0.5.0 from its AddOnTemplate; 0.6.0 is being rolled out)",
		)))
		deploy(cluster, base, v6, v6)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())

		By("a template that gets another version")
		relabel(v6, "0.5.9")
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(HaveSuffix("(version 0.5.9 from its AddOnTemplate)")))

		By("a template that is deleted: only the annotation remains")
		Expect(hubClient.Delete(ctx, addOnTemplate(v6))).To(Succeed())
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())

		By("nothing else being evaluated or written")
		manager.rest()
		Expect(must(versions(otherCluster))).To(Equal(versionsBefore))
		evaluationsBefore := manager.evaluations()
		alter(addOnTemplate(v5), types.NamespacedName{Name: v5}, false, func(t *unstructured.Unstructured) {
			t.SetLabels(map[string]string{"irrelevant": "label"})
		})
		relabeled := unique("template")
		create(addOnTemplate(relabeled))
		relabel(relabeled, "1.0.0")
		Consistently(manager.evaluations).Should(Equal(evaluationsBefore), "templates that run nowhere, and one whose version stays")
	})

	It("is kept where OCM 1.3 removes annotations from a ManagedClusterAddOn", func() {
		base, leaf := dependents()
		key := types.NamespacedName{Namespace: cluster, Name: base}
		installAvailable(cluster, base)
		versionAnnotation(cluster, base, "0.6.0")
		annotateAddOn := func(change func(annotations map[string]string)) {
			GinkgoHelper()
			alter(&addonv1alpha1.ManagedClusterAddOn{}, key, false, func(a *addonv1alpha1.ManagedClusterAddOn) {
				metav1.SetMetaDataAnnotation(&a.ObjectMeta, "touched", "true")
				change(a.Annotations)
			})
		}
		annotateAddOn(func(annotations map[string]string) { annotations[addonv1alpha1.FormerVersionAnnotation] = "0.1.0" })
		install(cluster, leaf)
		strict := unique("versions")
		registerSpec(strict, `dependencies: [{name: `+base+`, version: ">= 0.7"}]`)
		install(cluster, strict)
		reportNoLease(cluster, base)
		Eventually(degradedOf(cluster, strict)).Should(requiredFails(ContainSubstring("version 0.6.0 from its ManagedClusterAddOn")))

		annotateAddOn(func(annotations map[string]string) {
			syncAnnotations(annotations, map[string]string{"addon.open-cluster-management.io/on-the-cluster": "true", "other": "ignored"})
		})
		Expect(readAddOn(cluster, base).Annotations).To(And(
			HaveKeyWithValue(addonv1alpha1.AddOnVersionAnnotation, "0.6.0"),
			HaveKey("addon.open-cluster-management.io/on-the-cluster"), Not(HaveKey(addonv1alpha1.FormerVersionAnnotation))))
		manager.rest()
		Expect(must(degradedOf(cluster, leaf))).To(BeNil(), "satisfied throughout, so never written")
		Expect(must(degradedOf(cluster, strict))).To(requiredFails(ContainSubstring("version 0.6.0 from its ManagedClusterAddOn")))
	})

	It("is read under the annotation's former key, after everything else", func() {
		base, leaf := dependents()
		installAvailable(cluster, base)
		alter(&addonv1alpha1.ManagedClusterAddOn{}, client.ObjectKey{
			Namespace: cluster, Name: base,
		}, false, func(a *addonv1alpha1.ManagedClusterAddOn) {
			metav1.SetMetaDataAnnotation(&a.ObjectMeta, addonv1alpha1.FormerVersionAnnotation, "0.5.0")
		})
		install(cluster, leaf)
		reportNoLease(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("version 0.5.0 from its ManagedClusterAddOn")))
		amend(base, func(addOn *addonv1alpha1.ClusterManagementAddOn) {
			metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, "0.6.0")
		})
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
	})
})
