package graft

import (
	"context"
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/names"
)

var _ = Describe("A hub where nothing of Interlock is left but its graft", func() {
	var stockCRD map[string]any

	BeforeEach(func(ctx context.Context) { stockCRD = stock(ctx) })

	DescribeTable("is repaired from a terminal",
		func(ctx context.Context, repair func(context.Context)) {
			kill := serveWebhook()
			manager := manage(ctx, true)
			Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
			register(ctx, storage, "orphan")
			manager.stop()
			kill()
			readDependencies := func() error {
				_, err := dependencies(ctx, betaVersion, "orphan")()
				return err
			}
			Expect(readDependencies()).To(MatchError(ContainSubstring("conversion webhook")))

			repair(ctx)
			Eventually(readDependencies).Should(Succeed())
			Eventually(func() map[string]any { return unmanaged(present(ctx)) }).Should(Equal(stockCRD))
		},
		Entry("by addon-manager uninstall --only=graft", func(context.Context) {
			session, err := gexec.Start(exec.Command(binary, "uninstall", "--only=graft", "--kubeconfig", hub.Kubeconfig(),
				"--namespace=deleted", "--timeout=30s"), nil, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			Eventually(session).Should(gexec.Exit(0))
			Expect(session.Out).To(gbytes.Say(`3/4 +graft +the CRD of ClusterManagementAddOns is as OCM made it`))
		}),
		Entry("by kubectl annotate, and OCM's operator", func(ctx context.Context) {
			crd := crdKey()
			Expect(admin.Patch(ctx, crd, merge(`{"metadata":{"annotations":{"`+names.OCMVersion+`":null}}}`))).To(Succeed())
		}),
	)
})
