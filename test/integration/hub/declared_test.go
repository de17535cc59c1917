package hub

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

const fleetSize = 20

var _ = Describe("A declaration that changes on a live fleet", Ordered, func() {
	var manager *process
	var clusters []string
	var leaf, base, unrelated string

	expectOnAll := func(matcher OmegaMatcher) {
		GinkgoHelper()
		for _, cluster := range clusters {
			Eventually(degradedOf(cluster, leaf)).Should(matcher, cluster)
		}
	}

	BeforeAll(func() {
		manager = start()
		leaf, base, unrelated = unique("leaf"), unique("base"), unique("other")
		for _, name := range []string{leaf, base, unrelated} {
			register(name)
		}
		for range fleetSize {
			clusters = append(clusters, newCluster())
		}
		for _, cluster := range clusters {
			installAvailable(cluster, leaf, unrelated)
		}
		manager.rest()
	})

	It("adds a dependency: all dependents are degraded, by one write each", func() {
		appliesBefore := applies()
		declare(leaf, required(base))
		expectOnAll(requiredFails(ContainSubstring(base)))
		manager.rest()
		Expect(applies() - appliesBefore).To(BeEquivalentTo(fleetSize))
		Eventually(manager.unsatisfied(leaf)).Should(ConsistOf(BeEquivalentTo(fleetSize)))
	})

	It("adds one more, Optional", func() {
		declare(leaf, required(base), optional("nowhere"))
		expectOnAll(requiredFails(MatchRegexp("Required addon '" + base + "' .*; Optional addon 'nowhere' ")))
	})

	It("removes the Required one", func() {
		declare(leaf, optional("nowhere"))
		expectOnAll(optionalFails(Not(ContainSubstring(base))))
	})

	It("switches the type to Required and back", func() {
		declare(leaf, required("nowhere"))
		expectOnAll(requiredFails())
		declare(leaf, optional("nowhere"))
		expectOnAll(optionalFails())
	})

	It("changes the author's message", func() {
		worded := optional("nowhere")
		worded.Message = "Nothing can be shown"
		declare(leaf, worded)
		expectOnAll(optionalFails(ContainSubstring("available. Nothing can be shown (not installed")))
	})

	It("points to a dependency that is satisfied", func() {
		declare(leaf, required(unrelated))
		expectOnAll(satisfied())
	})

	It("removes all dependencies: conditions that are clear already are not written again", func() {
		manager.rest()
		appliesBefore := applies()
		declare(leaf)
		manager.rest()
		Expect(applies() - appliesBefore).To(BeZero())
		expectOnAll(satisfied())
	})

	It("triggers no evaluation when another field of the registration changes", func() {
		manager.rest()
		evaluationsBefore := manager.evaluations()
		amend(leaf, func(addOn *addonv1alpha1.ClusterManagementAddOn) {
			addOn.Spec.AddOnMeta.DisplayName = "Leaf"
			addOn.Labels = map[string]string{"changed": "yes"}
		})
		Consistently(manager.evaluations).Should(Equal(evaluationsBefore))
	})
})

var _ = Describe("The annotation form", Ordered, func() {
	var manager *process
	var cluster, leaf, base, alternative string
	var registration *addonv1alpha1.ClusterManagementAddOn

	BeforeAll(func() {
		manager = start()
		cluster = newCluster()
		leaf, base, alternative = unique("leaf"), unique("base"), unique("other")
		register(base)
		registration = register(leaf)
		installAvailable(cluster, leaf)
	})

	It("works like the field", func() {
		annotate(leaf, "- name: "+base+"\n  message: It cannot run\n")
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(
			HavePrefix("Required addon '" + base + "' is not installed or not available. It cannot run (not installed")))
	})

	It("keeps the last verdicts when it cannot be parsed, and reports that", func() {
		versionBefore := readAddOn(cluster, leaf).ResourceVersion
		annotate(leaf, "- name: [not yaml\n")
		Eventually(manager.problem(leaf, declaration.ProblemInvalid)).Should(HaveExactElements(1.0))
		Eventually(eventsOf(registration.UID)).Should(ContainElement(And(
			HavePrefix("InvalidDependencies: "), ContainSubstring(addonv1alpha1.DependenciesAnnotation))))

		installAvailable(cluster, base)
		manager.rest()
		Consistently(version(cluster, leaf)).Should(Equal(versionBefore))
	})

	It("fits an error in any script into an event", func() {
		annotate(leaf, "- name: x\n  type: "+strings.Repeat("漢", 2000)+"\n")
		Eventually(eventsOf(registration.UID)).Should(ContainElement(ContainSubstring("漢漢漢")))
	})

	It("is evaluated again once it is repaired", func() {
		installAvailable(cluster, base)
		annotate(leaf, "- name: "+base+"\n")
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
		Eventually(manager.problem(leaf, declaration.ProblemInvalid)).Should(BeEmpty())
	})

	It("yields to the field, and reports that", func() {
		declare(leaf, optional(alternative))
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails(ContainSubstring(alternative)))
		Eventually(manager.problem(leaf, declaration.ProblemDeclaredTwice)).Should(HaveExactElements(1.0))
		Eventually(eventsOf(registration.UID)).Should(ContainElement(HavePrefix("DependenciesDeclaredTwice: ")))
	})

	It("yields even to an empty field, until the field is removed", func() {
		annotate(leaf, "")
		Consistently(manager.problem(leaf, declaration.ProblemDeclaredTwice)).Should(HaveExactElements(1.0))
		amend(leaf, func(addOn *addonv1alpha1.ClusterManagementAddOn) { addOn.Annotations = nil })
		Eventually(manager.problem(leaf, declaration.ProblemDeclaredTwice)).Should(BeEmpty())
	})

	It("applies again when the field is removed", func() {
		annotate(leaf, `[{"name":"`+alternative+`"}]`)
		declare(leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring(alternative)))
	})
})
