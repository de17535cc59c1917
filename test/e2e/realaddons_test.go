//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
		Eventually(func() error { return hub.Get(ctx, onCluster1(report), written) }).
			Should(Succeed(), "the report is made with a token of managed-serviceaccount")
		Expect(written.Data).To(HaveKeyWithValue("kubernetes", HavePrefix("v1.")))
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
