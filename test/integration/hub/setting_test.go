package hub

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("An edge that checks settings", func() {
	It("follows the configuration of the add-on that it is on, and that of no other", func() {
		start()
		cluster := newCluster()
		leaf, base := unique("leaf"), unique("base")
		registerSpec(leaf, `dependencies: [{name: `+base+
			`, config: {expression: "config.?mode.orValue('') == 'grpc'", message: Streams need gRPC.}}]`)
		configure(cluster, "grpc", "grpc")
		configure(cluster, "http", "http")
		installAvailable(cluster, base, leaf)
		otherFinding := requiredFails(HaveSuffix(
			"Streams need gRPC. (not true of its settings: config.?mode.orValue('') == 'grpc')"))

		refer(cluster, leaf, "grpc") // the dependent refers to it, which does not count
		Eventually(degradedOf(cluster, leaf)).Should(otherFinding, "no settings at all")
		refer(cluster, base, "grpc")
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
		reconfigure(cluster, "grpc", "proxy")
		Eventually(degradedOf(cluster, leaf)).Should(otherFinding)
		reconfigure(cluster, "grpc", "grpc")
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
		refer(cluster, base, "http")
		Eventually(degradedOf(cluster, leaf)).Should(otherFinding)
	})
})
