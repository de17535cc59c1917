//go:build e2e

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// accountAgent are the labels of managed-serviceaccount's pods.
var accountAgent = client.MatchingLabels{"addon-agent": account}

func describeRealAddOns() {
	It("says of an add-on whose dependency is not installed that it is degraded and not available", func(ctx context.Context) {
		startReport(ctx)
		startAccountManager(ctx)
		Eventually(rolledOut(ctx, hub, report, "manager")).Should(Succeed())
		Eventually(conditionOf(ctx, onCluster1(report), degraded)).Should(And(
			be(metav1.ConditionTrue, required),
			HaveField("Message", ContainSubstring("Required addon 'managed-serviceaccount' is not installed"))))
		Eventually(conditionOf(ctx, onCluster1(report), available)).Should(be(metav1.ConditionFalse, required))
		Expect(reportDeployed(ctx)()).To(BeFalse(), "ordered installation waits for what it requires")
	})

	It("has it work once the dependency is available", func(ctx context.Context) {
		install(ctx, onCluster1(account))
		Eventually(conditionOf(ctx, onCluster1(account), available)).Should(be(metav1.ConditionTrue, renewed))
		expectWorking(ctx)
		written := &corev1.ConfigMap{}
		Eventually(func() error { return hub.Get(ctx, onCluster1(report), written) }).Should(Succeed(), "the report is made with a token of managed-serviceaccount")
		Expect(written.Data).To(HaveKeyWithValue("kubernetes", HavePrefix("v1.")))
	})

	It("degrades it when the dependency's agent dies, and recovers with it", func(ctx context.Context) {
		step("kill the agent of managed-serviceaccount, and keep it away")
		giveBack := takeNode(ctx, accountAgent)
		DeferCleanup(giveBack)
		letGracePass(ctx, account)
		Eventually(conditionOf(ctx, onCluster1(account), available)).Should(be(metav1.ConditionFalse, stopped))
		Eventually(conditionOf(ctx, onCluster1(report), degraded)).Should(And(
			be(metav1.ConditionTrue, required), HaveField("Message", ContainSubstring(stopped))))
		Eventually(conditionOf(ctx, onCluster1(report), available)).Should(be(metav1.ConditionFalse, required))
		Consistently(conditionOf(ctx, onCluster1(report), available)).WithTimeout(3 * time.Second).Should(be(metav1.ConditionFalse, required))

		step("let the agent run again")
		giveBack()
		Eventually(conditionOf(ctx, onCluster1(account), available)).Should(be(metav1.ConditionTrue, renewed))
		expectWorking(ctx)
	})

	It("degrades it when the dependency is deleted, and recovers when it is back", func(ctx context.Context) {
		uninstall(ctx, onCluster1(account))
		Eventually(conditionOf(ctx, onCluster1(report), degraded)).Should(And(
			be(metav1.ConditionTrue, required), HaveField("Message", ContainSubstring("(not installed)"))))
		Eventually(conditionOf(ctx, onCluster1(report), available)).Should(be(metav1.ConditionFalse, required))
		install(ctx, onCluster1(account))
		expectWorking(ctx)
	})
}

func expectWorking(ctx context.Context) {
	GinkgoHelper()
	Eventually(conditionOf(ctx, onCluster1(report), degraded)).Should(be(metav1.ConditionFalse, satisfied))
	Eventually(conditionOf(ctx, onCluster1(report), available)).Should(be(metav1.ConditionTrue, renewed))
}

func reportDeployed(ctx context.Context) func() (bool, error) {
	return func() (bool, error) {
		err := managed.Get(ctx, client.ObjectKey{Namespace: agentNamespace, Name: "cluster-report-agent"}, &appsv1.Deployment{})
		return err == nil, client.IgnoreNotFound(err)
	}
}

// letGracePass sets an add-on's lease back by more than the five minutes that
// an agent may be silent: instead of waiting for them, and for nothing else.
func letGracePass(ctx context.Context, addOn string) {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	Expect(managed.Get(ctx, client.ObjectKey{Namespace: agentNamespace, Name: addOn}, lease)).To(Succeed())
	before := lease.DeepCopy()
	past := metav1.NewMicroTime(time.Now().Add(-6 * time.Minute))
	lease.Spec.RenewTime = &past
	Expect(managed.Patch(ctx, lease, client.MergeFrom(before))).To(Succeed())
}
