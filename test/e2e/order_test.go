//go:build e2e

package e2e

import . "github.com/onsi/ginkgo/v2"

// The specs run in order, because each depends on the result of the previous ones. A failed spec does not keep the
// others from running.
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
