//go:build e2e

package e2e

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// paceOfLoad is the time between two flips.
const paceOfLoad = 20 * time.Millisecond

const agentWorkload = "interlock-addon-agent"

func describeUpgrade() {
	It("is upgraded under load without a flap, and without a write or an answer that should not have been", func(ctx context.Context) {
		Eventually(conditionOf(ctx, onCluster1(agent), available)).Should(be(metav1.ConditionTrue, probed))
		quiet := newFleet(ctx, "quiet", 10)
		DeferCleanup(quiet.dissolve)
		for i, cluster := range quiet.clusters { // half of them are broken, and stay so
			Expect(quiet.flip(ctx, cluster, i%2 == 0)).To(Succeed())
		}
		quiet.settle(ctx)
		loaded := newFleet(ctx, "loaded", 10)
		DeferCleanup(loaded.dissolve)
		register(ctx, "dependent", "dependency")
		first := leader(ctx)
		w := startWitness(ctx)
		stopLoad := loaded.keepFlipping(ctx, paceOfLoad)
		requests := keepRequesting(ctx, denied, converted, agentServes)
		DeferCleanup(requests.stop)

		By("upgrading")
		deploy(ctx, nextVersion)
		for _, name := range []string{addonManager, webhook} {
			Eventually(rolledOut(ctx, hub, namespace, name)).Should(Succeed())
			Eventually(imagesOf(ctx, hub, namespace, name)).
				Should(HaveEach(HaveSuffix(":"+nextVersion)), "the last one of the old version serves until it is gone")
		}
		Eventually(leader).WithContext(ctx).ShouldNot(Equal(first))
		Eventually(imagesOf(ctx, managed, agentNamespace, agentWorkload)).Should(And(HaveLen(1), HaveEach(HaveSuffix(":"+nextVersion))))
		Eventually(rolledOut(ctx, managed, agentNamespace, agentWorkload)).Should(Succeed())
		until := w.answers() + len(loaded.clusters)
		Eventually(w.answers).Should(BeNumerically(">=", until), "the new leader goes on")

		By("looking at what was written and answered")
		flips := stopLoad()
		loaded.settle(ctx)
		w.stop(ctx)
		AddReportEntry("load", ReportEntryVisibilityAlways, stormReport{flips, w.answers()})
		requests.awaitMore()
		requests.stop()
		AddReportEntry("rounds of requests", ReportEntryVisibilityAlways, requests.rounds.Load())
		Expect(requests.failures).To(BeEmpty())
		w.expectExplained(ctx, loaded)
	})
}

// imagesOf returns the images of all pods of a Deployment, including stopping pods.
func imagesOf(ctx context.Context, cluster client.Client, namespace, name string) func() ([]string, error) {
	return func() ([]string, error) {
		var pods corev1.PodList
		err := cluster.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": name})
		var images []string
		for _, pod := range pods.Items {
			images = append(images, pod.Spec.Containers[0].Image)
		}
		return images, err
	}
}

// agentServes reports an error unless addon-agent has an available pod on the managed cluster.
func agentServes(ctx context.Context) error {
	deployment := &appsv1.Deployment{}
	if err := managed.Get(ctx, client.ObjectKey{Namespace: agentNamespace, Name: agentWorkload}, deployment); err != nil {
		return err
	}
	if deployment.Status.AvailableReplicas < 1 {
		return errors.New("no pod of addon-agent is available")
	}
	return nil
}
