//go:build e2e

package e2e

import . "github.com/onsi/ginkgo/v2"

// One after the other: what a spec leaves, the next finds. A spec that fails does
// not keep the others from being tried.
var _ = Describe("Interlock", Ordered, ContinueOnFailure, func() {
	describeInstallation()
	describeWebhooks()
	describeRealAddOns()
	describeOutages()
	describeStorm()
	describeUpgrade()
	describeOperatorUpgrade()
	describeUninstallation()
})
