package hub

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("An edge that conflicts", func() {
	It("fails while the other add-on is installed in a version that matches", func() {
		start()
		cluster, leaf, alternative := newCluster(), unique("leaf"), unique("other")
		registerSpec(leaf, fmt.Sprintf(`dependencies: [{name: %s, type: Conflicts, version: ">= 2"}]`, alternative))
		installAvailable(cluster, leaf)
		Consistently(degradedOf(cluster, leaf)).Should(BeNil())

		install(cluster, alternative)
		versionAnnotation(cluster, alternative, "2.1.0")
		Eventually(degradedOf(cluster, leaf), reportTimeout).
			Should(requiredFails(ContainSubstring("(version 2.1.0 from its ManagedClusterAddOn)")))
		versionAnnotation(cluster, alternative, "1.9.0")
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
		versionAnnotation(cluster, alternative, "2.0.0")
		Eventually(degradedOf(cluster, leaf)).
			Should(requiredFails(HavePrefix(fmt.Sprintf("Addon '%s' is installed in version '>= 2'", alternative))))
		uninstall(cluster, alternative)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
	})
})
