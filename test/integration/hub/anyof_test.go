package hub

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("An edge with alternatives", func() {
	var manager *process
	var cluster, leaf, dependent, alternative string
	BeforeEach(func() {
		manager = start()
		cluster, leaf, dependent, alternative = newCluster(), unique("leaf"), unique("one"), unique("other")
		registerSpec(leaf,
			fmt.Sprintf("dependencies: [{name: tunnel, anyOf: [{addOn: %s}, {addOn: %s, version: '>= 2'}]}]", dependent, alternative))
	})

	It("is satisfied by either, and a switch from one to the other writes nothing", func() {
		installAvailable(cluster, leaf)
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(requiredFails(And(
			HavePrefix(fmt.Sprintf("Required: one of addon '%s' or addon '%s' in version '>= 2'; none is available. (", dependent, alternative)),
			ContainSubstring(dependent+": not installed"), ContainSubstring(alternative+": not installed"),
		)))
		installAvailable(cluster, dependent)
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(satisfied())

		install(cluster, alternative)
		versionAnnotation(cluster, alternative, "2.1.0")
		report(cluster, alternative, metav1.ConditionTrue, leaseFresh)
		manager.rest()
		versionBefore := must(version(cluster, leaf))
		report(cluster, dependent, metav1.ConditionFalse, leaseStale)
		Consistently(version(cluster, leaf)).Should(Equal(versionBefore))
		uninstall(cluster, dependent)
		Consistently(version(cluster, leaf)).Should(Equal(versionBefore))

		versionAnnotation(cluster, alternative, "1.9.0")
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(requiredFails(
			ContainSubstring(fmt.Sprintf("(%s: not installed", dependent)),
			ContainSubstring(alternative+": version 1.9.0 from its ManagedClusterAddOn"),
		))
		versionAnnotation(cluster, alternative, "2.0.0")
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(satisfied())
	})

	It("does not let two add-ons that are each other's alternatives affect each other's verdict", func() {
		registerSpec(dependent, fmt.Sprintf("dependencies: [{name: any, anyOf: [{addOn: %s}, {addOn: %s}]}]", leaf, alternative))
		installAvailable(cluster, dependent, leaf)
		cycleMessage := func(target, dependent string) string {
			return fmt.Sprintf("%s: waits for '%s' itself: %s → %s → %s", dependent, target, target, dependent, target)
		}
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(requiredFails(ContainSubstring(cycleMessage(leaf, dependent))))
		Eventually(degradedOf(cluster, dependent), reportTimeout).Should(requiredFails(ContainSubstring(cycleMessage(dependent, leaf))))
		installAvailable(cluster, alternative)
		versionAnnotation(cluster, alternative, "2.0.0")
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(satisfied())
		Eventually(degradedOf(cluster, dependent), reportTimeout).Should(satisfied())
	})
})
