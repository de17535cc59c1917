package hub

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("The proposal's test plan", func() {
	var cluster, leaf, base, other string
	var manager *process
	BeforeEach(func() {
		manager = start()
		cluster = newCluster()
		leaf, base, other = unique("leaf"), unique("base"), unique("other")
	})

	It("never writes an add-on without dependencies", func() {
		register(leaf)
		running(cluster, leaf)
		before := installed(cluster, leaf).ResourceVersion
		manager.rest()
		Consistently(version(cluster, leaf)).Should(Equal(before))
	})

	It("never writes an add-on that is not registered", func() {
		install(cluster, leaf)
		before := installed(cluster, leaf).ResourceVersion
		manager.rest()
		Consistently(version(cluster, leaf)).Should(Equal(before))
	})

	It("writes nothing where a single dependency was always satisfied", func() {
		running(cluster, base)
		register(base)
		register(leaf, required(base))
		install(cluster, leaf)
		before := installed(cluster, leaf).ResourceVersion
		manager.rest()
		Consistently(version(cluster, leaf)).Should(Equal(before))
	})

	It("follows a dependency that is missing, installed, available, deleted", func() {
		register(base)
		register(leaf, required(base))

		By("installing the dependent alone")
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(not installed")))

		By("installing the dependency")
		install(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(being installed since ")))

		By("the dependency becoming available")
		report(cluster, base, metav1.ConditionTrue, leaseFresh)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())

		By("the dependency's agent dying")
		report(cluster, base, metav1.ConditionFalse, leaseStale)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(Available=False, " + leaseStale + ", since 2")))

		By("the agent coming back")
		report(cluster, base, metav1.ConditionTrue, leaseFresh)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())

		By("deleting the dependency")
		uninstall(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(not installed")))
	})

	DescribeTable("several dependencies",
		func(baseRuns, otherRuns bool, expected func() any) {
			register(base)
			register(other)
			register(leaf, required(other), required(base))
			for name, runs := range map[string]bool{base: baseRuns, other: otherRuns} {
				if runs {
					running(cluster, name)
				} else {
					install(cluster, name)
					report(cluster, name, metav1.ConditionUnknown, "ManagedClusterAddOnLeaseNotFound")
				}
			}
			install(cluster, leaf)
			manager.rest()
			Eventually(degradedOf(cluster, leaf)).Should(expected().(OmegaMatcher))
		},
		Entry("all satisfied", true, true, func() any { return BeNil() }),
		Entry("some satisfied: only the others are told", true, false, func() any {
			return requiredFails(ContainSubstring(other), Not(ContainSubstring(base)))
		}),
		Entry("none satisfied: each is told, by name", false, false, func() any {
			return requiredFails(MatchRegexp(base + `'.*; Required addon '` + other))
		}),
	)

	It("tells Required before Optional, and falls back to what is left", func() {
		register(base)
		register(other)
		register(leaf, optional(base), required(other))
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(
			MatchRegexp("^Required addon '" + other + "' .*; Optional addon '" + base + "' ")))
		running(cluster, other)
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails(
			HavePrefix("Optional addon '"+base+"' "), Not(ContainSubstring(other))))
		running(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
	})

	It("leaves the same add-ons on other clusters alone", func() {
		elsewhere := newCluster()
		register(leaf, required(base))
		for _, each := range []string{cluster, elsewhere} {
			running(each, base, leaf)
		}
		manager.rest()
		before := now(versions(elsewhere))
		uninstall(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		Consistently(versions(elsewhere)).Should(Equal(before))
	})
})
