package installverbs

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

var _ = Describe("kubectl addon install, and uninstall,", func() {
	It("continue after an interruption, in the same order", func(ctx context.Context) {
		registerStack(ctx)
		interrupt := func(line string, awaitProgress func()) string {
			GinkgoHelper()
			runContext, cancel := context.WithCancel(ctx)
			defer cancel()
			results := startPlugin(runContext, line)
			awaitProgress()
			cancel()
			var result result
			Eventually(results).Should(Receive(&result))
			Expect(result.code).NotTo(Equal(cmdline.ExitOK), result.out)
			return result.out
		}
		const install = "install portal --cluster east --yes --wait"
		out := interrupt(install, func() {
			for _, addOn := range stack[0] {
				Eventually(clustersWith(ctx, addOn)).Should(ConsistOf("east"))
			}
		})
		Expect(out).To(ContainSubstring("the same command continues"))
		installResult := startPlugin(ctx, install)
		for i, layer := range stack {
			for _, addOn := range layer {
				Eventually(clustersWith(ctx, addOn)).Should(ConsistOf("east"))
			}
			if i+1 < len(stack) {
				Consistently(clustersWith(ctx, stack[i+1][0])).Should(BeEmpty())
			}
			for _, addOn := range layer {
				report(ctx, "east", addOn)
			}
		}
		var result result
		Eventually(installResult).Should(Receive(&result))
		Expect(result.code).To(Equal(cmdline.ExitOK), result.out)

		By("removing it as a unit")
		portal, err := get(ctx, "east", "portal")
		Expect(err).NotTo(HaveOccurred())
		hold(ctx, portal, `"example.com/hold"`)
		const uninstall = "uninstall portal --cluster east --cascade=unit --yes --wait"
		out = interrupt(uninstall, func() {
			Eventually(func() bool {
				addOn, err := get(ctx, "east", "portal")
				return err == nil && !addOn.DeletionTimestamp.IsZero()
			}).Should(BeTrue())
		})
		Expect(out).To(ContainSubstring("run  kubectl addon uninstall gateway tunnel certs tokens --cluster east --wait"))
		results := startPlugin(ctx, uninstall)
		Consistently(clustersWith(ctx, "gateway")).Should(ConsistOf("east"))
		hold(ctx, portal, "")
		Eventually(results).Should(Receive(&result))
		Expect(result.code).To(Equal(cmdline.ExitOK), result.out)
		for _, addOn := range slices.Concat(stack...) {
			Expect(clustersWith(ctx, addOn)()).To(BeEmpty(), addOn)
		}
	}, NodeTimeout(time.Minute))
})
