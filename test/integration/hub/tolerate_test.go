package hub

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("An edge that tolerates", func() {
	const tolerated = 4 * time.Second
	var manager *process
	var cluster, leaf, base string
	BeforeEach(func() {
		manager = start()
		cluster = newCluster()
		leaf, base = unique("leaf"), unique("base")
		registerSpec(leaf, fmt.Sprintf("dependencies: [{name: %s, tolerate: %s}]", base, tolerated))
	})

	It("changes nothing while its dependency is unavailable for less time, and fails after that", func() {
		installAvailable(cluster, base, leaf)
		manager.rest()
		versionBefore := must(version(cluster, leaf))
		report(cluster, base, metav1.ConditionFalse, leaseStale)
		Consistently(version(cluster, leaf), tolerated/2).Should(Equal(versionBefore))
		report(cluster, base, metav1.ConditionTrue, leaseFresh)
		Consistently(version(cluster, leaf), tolerated).Should(Equal(versionBefore))

		start := time.Now()
		report(cluster, base, metav1.ConditionFalse, leaseStale)
		Eventually(degradedOf(cluster, leaf), tolerated+reportTimeout).Should(requiredFails(ContainSubstring("Available=False")))
		Expect(time.Since(start)).To(BeNumerically(">=", tolerated))
		report(cluster, base, metav1.ConditionTrue, leaseFresh)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
	})

	It("does not tolerate what was never available", func() {
		installAvailable(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(not installed")))
		start := time.Now()
		install(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(being installed since ")))
		Expect(time.Since(start)).To(BeNumerically("<", tolerated))
	})
})
