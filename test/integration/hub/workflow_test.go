package hub

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("The proposal's test plan", func() {
	var cluster, leaf, base, alternative string
	var manager *process
	BeforeEach(func() {
		manager = start()
		cluster = newCluster()
		leaf, base, alternative = unique("leaf"), unique("base"), unique("other")
	})

	It("never writes an add-on without dependencies", func() {
		register(leaf)
		installAvailable(cluster, leaf)
		versionBefore := readAddOn(cluster, leaf).ResourceVersion
		manager.rest()
		Consistently(version(cluster, leaf)).Should(Equal(versionBefore))
	})

	It("never writes an add-on that is not registered", func() {
		install(cluster, leaf)
		versionBefore := readAddOn(cluster, leaf).ResourceVersion
		manager.rest()
		Consistently(version(cluster, leaf)).Should(Equal(versionBefore))
	})

	It("writes nothing where a single dependency was always satisfied", func() {
		installAvailable(cluster, base)
		register(base)
		register(leaf, required(base))
		install(cluster, leaf)
		versionBefore := readAddOn(cluster, leaf).ResourceVersion
		manager.rest()
		Consistently(version(cluster, leaf)).Should(Equal(versionBefore))
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
			register(alternative)
			register(leaf, required(alternative), required(base))
			for name, available := range map[string]bool{base: baseRuns, alternative: otherRuns} {
				if available {
					installAvailable(cluster, name)
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
		Entry("some satisfied: only the others are reported", true, false, func() any {
			return requiredFails(ContainSubstring(alternative), Not(ContainSubstring(base)))
		}),
		Entry("none satisfied: each is reported by name", false, false, func() any {
			return requiredFails(MatchRegexp(base + `'.*; Required addon '` + alternative))
		}),
	)

	It("reports Required before Optional, and falls back to the remaining dependencies", func() {
		register(base)
		register(alternative)
		register(leaf, optional(base), required(alternative))
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(
			MatchRegexp("^Required addon '" + alternative + "' .*; Optional addon '" + base + "' ")))
		installAvailable(cluster, alternative)
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails(
			HavePrefix("Optional addon '"+base+"' "), Not(ContainSubstring(alternative))))
		installAvailable(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
	})

	It("leaves the same add-ons on other clusters alone", func() {
		otherCluster := newCluster()
		register(leaf, required(base))
		for _, cluster := range []string{cluster, otherCluster} {
			installAvailable(cluster, base, leaf)
		}
		manager.rest()
		versionsBefore := must(versions(otherCluster))
		uninstall(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		Consistently(versions(otherCluster)).Should(Equal(versionsBefore))
	})
})
