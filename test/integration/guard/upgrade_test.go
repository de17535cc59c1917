package guard

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/compat/rule/installer"
)

// upgrade tests the guard when the hub's API server is replaced by one that can do more, or less. addon-manager keeps running.
func upgrade() {
	It("is the form that the API server applies, not merely serves", func(ctx context.Context) {
		f := changing
		f.newAddOn(ctx) // the guard is probed with an add-on
		policy, webhook := []types.GomegaMatcher{HaveKey(rule.KindPolicy), HaveKey(rule.KindBinding)}, HaveKey(rule.KindWebhook)
		f.deployWebhook(ctx, asWebhook.server)
		f.objects = append(f.objects, asWebhook.objects...)
		f.manage(ctx, installer.ModeAuto)

		By("no policies")
		f.awaitForce(ctx, true)
		Expect(f.versions(ctx)()).To(And(HaveLen(1), webhook))

		By("policies being served but not applied, as on clusters with the API version but without the feature gate")
		Expect(f.cluster.RestartWith(map[string][]string{"runtime-config": policyFlags["runtime-config"], "feature-gates": nil})).To(Succeed())
		Eventually(f.versions(ctx)).Should(And(append(policy, webhook)...))
		f.awaitForce(ctx, true)
		Consistently(f.versions(ctx)).WithTimeout(2500 * time.Millisecond).Should(webhook)

		By("the feature gate on")
		Expect(f.cluster.RestartWith(policyFlags)).To(Succeed())
		Eventually(f.versions(ctx)).Should(And(append(policy, Not(webhook))...))
		f.awaitForce(ctx, true)

		By("the API gone again")
		Expect(f.cluster.RestartWith(map[string][]string{"runtime-config": nil, "feature-gates": nil})).To(Succeed())
		Eventually(f.versions(ctx)).Should(webhook)
		f.awaitForce(ctx, true)
	})
}
