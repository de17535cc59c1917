//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func describeOutage() {
	It("holds what it said while the managed cluster is cut off, and goes on when it is back", func(ctx context.Context) {
		cut, mend := os.Getenv("MANAGED_CUT_COMMAND"), os.Getenv("MANAGED_MEND_COMMAND")
		if cut == "" || mend == "" || ocmIsReal {
			Skip("MANAGED_CUT_COMMAND and MANAGED_MEND_COMMAND are not set: nothing here can take the cluster's network away")
		}
		pods, err := podsOf(ctx, managed, agentNamespace, client.MatchingLabels{"app.kubernetes.io/name": "interlock-addon-agent"})
		Expect(err).NotTo(HaveOccurred())
		Expect(pods).To(HaveLen(1))
		was := versionOf(ctx, onCluster1(report))

		step("cut the cluster off")
		run(ctx, cut)
		mended := false
		DeferCleanup(func(ctx context.Context) {
			if !mended {
				run(ctx, mend)
			}
		})
		reportCluster(ctx, metav1.ConditionUnknown)
		say(ctx, onCluster1(account), metav1.Condition{Type: available, Status: metav1.ConditionUnknown, Reason: "ManagedClusterLeaseUpdateStopped"})
		Consistently(func() string { return versionOf(ctx, onCluster1(report)) }).WithTimeout(10*time.Second).Should(Equal(was), "a lost cluster says nothing new of its add-ons")

		step("mend it")
		run(ctx, mend)
		mended = true
		reportCluster(ctx, metav1.ConditionTrue)
		Eventually(conditionOf(ctx, onCluster1(account), available)).Should(be(metav1.ConditionTrue, renewed))
		expectWorking(ctx)
		step("see that the agent hears of leases, and the hub of the agent")
		letGracePass(ctx, account)
		Eventually(conditionOf(ctx, onCluster1(account), available)).Should(be(metav1.ConditionFalse, stopped))
		// managed-serviceaccount renews its lease every minute.
		Eventually(conditionOf(ctx, onCluster1(account), available)).Should(be(metav1.ConditionTrue, renewed))
		expectWorking(ctx)
		after := &corev1.Pod{}
		Expect(managed.Get(ctx, client.ObjectKeyFromObject(&pods[0]), after)).To(Succeed())
		Expect(after.Status.ContainerStatuses[0].RestartCount).To(Equal(pods[0].Status.ContainerStatuses[0].RestartCount), "the agent waits for its hub")
	})
}

func versionOf(ctx context.Context, key client.ObjectKey) string {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	Expect(hub.Get(ctx, key, addOn)).To(Succeed())
	return addOn.ResourceVersion
}

// run runs a command line of the provider of the clusters.
func run(ctx context.Context, line string) {
	GinkgoHelper()
	words := strings.Fields(line)
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s: %s", line, out)
}
