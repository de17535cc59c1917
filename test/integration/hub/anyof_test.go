package hub

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("An edge with alternatives", func() {
	var manager *process
	var cluster, leaf, one, other string
	BeforeEach(func() {
		manager = start()
		cluster, leaf, one, other = newCluster(), unique("leaf"), unique("one"), unique("other")
		registerSpec(leaf, fmt.Sprintf("dependencies: [{name: tunnel, anyOf: [{addOn: %s}, {addOn: %s, version: '>= 2'}]}]", one, other))
	})

	It("is satisfied by either, and a switch from one to the other writes nothing", func() {
		running(cluster, leaf)
		Eventually(degradedOf(cluster, leaf), answered).Should(requiredFails(And(
			HavePrefix(fmt.Sprintf("Required: one of addon '%s' or addon '%s' in version '>= 2'; none is available. (", one, other)),
			ContainSubstring(one+": not installed"), ContainSubstring(other+": not installed"),
		)))
		running(cluster, one)
		Eventually(degradedOf(cluster, leaf), answered).Should(satisfied())

		install(cluster, other)
		versionAnnotation(cluster, other, "2.1.0")
		report(cluster, other, metav1.ConditionTrue, leaseFresh)
		manager.rest()
		before := now(version(cluster, leaf))
		report(cluster, one, metav1.ConditionFalse, leaseStale)
		Consistently(version(cluster, leaf)).Should(Equal(before))
		uninstall(cluster, one)
		Consistently(version(cluster, leaf)).Should(Equal(before))

		versionAnnotation(cluster, other, "1.9.0")
		Eventually(degradedOf(cluster, leaf), answered).Should(requiredFails(
			ContainSubstring(fmt.Sprintf("(%s: not installed", one)),
			ContainSubstring(other+": version 1.9.0 from its ManagedClusterAddOn"),
		))
		versionAnnotation(cluster, other, "2.0.0")
		Eventually(degradedOf(cluster, leaf), answered).Should(satisfied())
	})

	It("lets two add-ons that are each other's alternative keep each other neither up nor down", func() {
		registerSpec(one, fmt.Sprintf("dependencies: [{name: any, anyOf: [{addOn: %s}, {addOn: %s}]}]", leaf, other))
		running(cluster, one, leaf)
		waits := func(of, cluster string) string {
			return fmt.Sprintf("%s: waits for '%s' itself: %s → %s → %s", cluster, of, of, cluster, of)
		}
		Eventually(degradedOf(cluster, leaf), answered).Should(requiredFails(ContainSubstring(waits(leaf, one))))
		Eventually(degradedOf(cluster, one), answered).Should(requiredFails(ContainSubstring(waits(one, leaf))))
		running(cluster, other)
		versionAnnotation(cluster, other, "2.0.0")
		Eventually(degradedOf(cluster, leaf), answered).Should(satisfied())
		Eventually(degradedOf(cluster, one), answered).Should(satisfied())
	})
})
