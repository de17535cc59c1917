//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

const (
	// outage is long enough for every client to notice that its connections are dead. Kubernetes' clients take up to
	// 45 seconds.
	outage = time.Minute
	// repair is how long OCM may take to restore the objects of a managed cluster. Its work agent looks every four to
	// six minutes.
	repair = 8 * time.Minute
	// discovery is how long OCM may take to notice that the cluster is lost, or back.
	discovery = 4 * time.Minute
)

func describeOutages() {
	It("takes a dependency whose agent is killed for available until its lease expires", func(ctx context.Context) {
		killAccountAgent(ctx)
		Consistently(conditionOf(ctx, onCluster1(account), available)).WithTimeout(3 * time.Second).Should(be(metav1.ConditionTrue, renewed))
		Expect(conditionOf(ctx, onCluster1(report), available)()).To(be(metav1.ConditionTrue, renewed))
	})

	// The lease has five minutes, which no setting of the add-on changes. Other specs use that time.
	describeCertificates()

	It("degrades the dependent when it has expired, and has it recover with the dependency", func(ctx context.Context) {
		DeferCleanup(func(ctx context.Context) { cordon(ctx, false) })
		expires := leaseOf(ctx, account).Spec.RenewTime.Add(availability.DefaultGracePeriod)
		Eventually(conditionOf(ctx, onCluster1(account), available)).WithTimeout(time.Until(expires) + 2*time.Minute).Should(And(
			be(metav1.ConditionFalse, stopped),
			HaveField("LastTransitionTime.Time", BeTemporally(">=", expires.Truncate(time.Second)))))
		expectDegraded(ctx, stopped)

		By("letting the agent run again")
		cordon(ctx, false)
		Eventually(conditionOf(ctx, onCluster1(account), available)).Should(be(metav1.ConditionTrue, renewed))
		expectWorking(ctx)
	})

	It("holds its verdicts while the managed cluster is cut off, and goes on when the cluster is back", func(ctx context.Context) {
		pod := agentPod(ctx)
		restore := cut(ctx)
		DeferCleanup(restore)
		shortCtx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		Expect(managed.Get(shortCtx, client.ObjectKey{Name: agentNamespace}, &corev1.Namespace{})).
			To(MatchError(context.DeadlineExceeded), "the managed cluster can still be reached")
		recordedConditions := recordDegraded(ctx, onCluster1(report))

		By("waiting until OCM reports the cluster and its add-ons as lost")
		expectLost(ctx, cluster1)

		By("giving it back")
		restore(ctx)
		Eventually(clusterAvailable(ctx, cluster1)).WithTimeout(discovery).Should(Equal(metav1.ConditionTrue))
		Eventually(conditionOf(ctx, onCluster1(account), available)).Should(be(metav1.ConditionTrue, renewed))
		Eventually(conditionOf(ctx, onCluster1(agent), available)).Should(be(metav1.ConditionTrue, probed))
		expectWorking(ctx)
		Expect(recordedConditions()).To(HaveEach(be(metav1.ConditionFalse, satisfied)))
		expectSame(ctx, pod)
	})

	describeStoppedCluster()

	describeRotatedCredential()

	It("degrades the dependent when the dependency is deleted, and has it work again when that is back", func(ctx context.Context) {
		// The manifests of managed-serviceaccount contain the namespace that all add-ons share. It is deleted with
		// them, and with it the agents of the other add-ons.
		uninstall(ctx, onCluster1(account))
		expectDegraded(ctx, "(not installed")
		written := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: cluster1, Name: report}}
		Expect(hub.Delete(ctx, written)).To(Succeed())
		workload := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: agentNamespace, Name: "managed-serviceaccount-addon-agent"}}
		Eventually(deleted(ctx, managed, workload)).Should(BeTrue())
		Eventually(func() (corev1.NamespacePhase, error) {
			shared := &corev1.Namespace{}
			err := managed.Get(ctx, client.ObjectKey{Name: agentNamespace}, shared)
			return shared.Status.Phase, client.IgnoreNotFound(err)
		}).ShouldNot(Equal(corev1.NamespaceTerminating))

		By("installing it again")
		install(ctx, onCluster1(account))
		for _, name := range []string{agentWorkload, "cluster-report-agent"} {
			Eventually(rolledOut(ctx, managed, agentNamespace, name)).WithTimeout(repair).
				Should(Succeed(), "OCM installs what was deleted with the namespace")
		}
		for name, reason := range map[string]string{account: renewed, agent: probed, report: renewed} {
			Eventually(conditionOf(ctx, onCluster1(name), available)).WithTimeout(repair).Should(be(metav1.ConditionTrue, reason))
		}
		expectWorking(ctx)
		Eventually(func() error { return hub.Get(ctx, onCluster1(report), written) }).Should(Succeed(), "no new report was made")
	})
}

// expectDegraded expects the report to be degraded by its dependency, with that reason in the message.
func expectDegraded(ctx context.Context, reason string) {
	GinkgoHelper()
	Eventually(conditionOf(ctx, onCluster1(report), degraded)).Should(And(
		be(metav1.ConditionTrue, required),
		HaveField("Message", And(ContainSubstring("Required addon 'managed-serviceaccount' is not"), ContainSubstring(reason)))))
	Eventually(conditionOf(ctx, onCluster1(report), available)).Should(be(metav1.ConditionFalse, required))
}

// killAccountAgent kills the pod of managed-serviceaccount on the managed cluster.
// OCM reverts changes of the Deployment. Instead, the nodes take no pods until they
// are uncordoned.
func killAccountAgent(ctx context.Context) {
	GinkgoHelper()
	cordon(ctx, true)
	labels := client.MatchingLabels{"addon-agent": account}
	Expect(managed.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(agentNamespace), labels, client.GracePeriodSeconds(0))).To(Succeed())
	Eventually(func() ([]corev1.Pod, error) {
		var pods corev1.PodList
		err := managed.List(ctx, &pods, client.InNamespace(agentNamespace), labels)
		return pods.Items, err
	}).Should(And(HaveLen(1), HaveEach(HaveField("Status.Phase", corev1.PodPending))))
}

// cordon sets whether the nodes of the managed cluster take no new pods.
func cordon(ctx context.Context, unschedulable bool) {
	GinkgoHelper()
	var nodes corev1.NodeList
	Expect(managed.List(ctx, &nodes)).To(Succeed())
	for i := range nodes.Items {
		original := nodes.Items[i].DeepCopy()
		nodes.Items[i].Spec.Unschedulable = unschedulable
		Expect(managed.Patch(ctx, &nodes.Items[i], client.MergeFrom(original))).To(Succeed())
	}
}

func leaseOf(ctx context.Context, addOn string) *coordinationv1.Lease {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	Expect(managed.Get(ctx, client.ObjectKey{Namespace: agentNamespace, Name: addOn}, lease)).To(Succeed())
	return lease
}

// agentPod returns the pod of addon-agent.
func agentPod(ctx context.Context) corev1.Pod {
	GinkgoHelper()
	var pods corev1.PodList
	labels := client.MatchingLabels{"app.kubernetes.io/name": "interlock-addon-agent"}
	Expect(managed.List(ctx, &pods, client.InNamespace(agentNamespace), labels)).To(Succeed())
	Expect(pods.Items).To(HaveLen(1))
	return pods.Items[0]
}

// expectSame expects addon-agent to run in the same pod, without a restart.
func expectSame(ctx context.Context, pod corev1.Pod) {
	GinkgoHelper()
	current := agentPod(ctx)
	Expect(current.UID).To(Equal(pod.UID))
	Expect(current.Status.ContainerStatuses[0].RestartCount).To(Equal(pod.Status.ContainerStatuses[0].RestartCount))
}

// cut cuts the managed cluster's network off. The function that it returns restores the network, once.
func cut(ctx context.Context) func(context.Context) {
	GinkgoHelper()
	cutCommand, restoreCommand := os.Getenv("MANAGED_CUT_COMMAND"), os.Getenv("MANAGED_RESTORE_COMMAND")
	if cutCommand == "" || restoreCommand == "" {
		Skip("MANAGED_CUT_COMMAND and MANAGED_RESTORE_COMMAND are not set: these clusters have no way to cut the network of one")
	}
	shell(ctx, cutCommand)
	isCut := true
	return func(ctx context.Context) {
		if isCut {
			shell(ctx, restoreCommand)
		}
		isCut = false
	}
}

func shell(ctx context.Context, line string) {
	GinkgoHelper()
	out, err := exec.CommandContext(ctx, "sh", "-c", line).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s: %s", line, out)
}

// expectLost expects OCM to report the cluster and its add-ons as lost. From then on no component writes to add-ons
// there.
func expectLost(ctx context.Context, cluster string) {
	GinkgoHelper()
	Eventually(clusterAvailable(ctx, cluster)).WithTimeout(discovery).Should(Equal(metav1.ConditionUnknown))
	for _, addOn := range addOnsOn(ctx, cluster) { // OCM writes to the add-ons one after the other
		Eventually(conditionOf(ctx, client.ObjectKeyFromObject(&addOn), available)).Should(be(metav1.ConditionUnknown, clusterLost))
	}
	written := versionsOn(ctx, cluster)
	Consistently(func() map[string]string { return versionsOn(ctx, cluster) }).
		WithTimeout(outage).WithPolling(time.Second).Should(Equal(written),
		"add-ons on a lost cluster were written to")
}

// versionsOn returns the versions of the add-ons of a managed cluster. Every write changes a version.
func versionsOn(ctx context.Context, cluster string) map[string]string {
	GinkgoHelper()
	versions := map[string]string{}
	for _, addOn := range addOnsOn(ctx, cluster) {
		versions[addOn.Name] = addOn.ResourceVersion
	}
	return versions
}

// recordDegraded watches an add-on. The function that it returns stops the watch, and returns every value of Degraded
// that the add-on has had.
func recordDegraded(ctx context.Context, key types.NamespacedName) func() []*metav1.Condition {
	GinkgoHelper()
	watcher, err := hub.Watch(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.InNamespace(key.Namespace))
	Expect(err).NotTo(HaveOccurred())
	recorded := make(chan []*metav1.Condition)
	go func() {
		var conditions []*metav1.Condition
		for event := range watcher.ResultChan() {
			if addOn, ok := event.Object.(*addonv1alpha1.ManagedClusterAddOn); ok && addOn.Name == key.Name {
				conditions = append(conditions, meta.FindStatusCondition(addOn.Status.Conditions, degraded))
			}
		}
		recorded <- conditions
	}()
	return func() []*metav1.Condition {
		watcher.Stop()
		return <-recorded
	}
}
