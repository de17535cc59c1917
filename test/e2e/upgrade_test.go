//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Between two flips on one of the loaded clusters, and between two questions.
const (
	paceOfLoad    = 20 * time.Millisecond
	paceOfAsking  = 50 * time.Millisecond
	agentWorkload = "interlock-addon-agent"
)

func describeUpgrade() {
	It("is upgraded under load without a flap, and without a write or an answer that should not have been", func(ctx context.Context) {
		Eventually(conditionOf(ctx, onCluster1(agent), available)).Should(be(metav1.ConditionTrue, renewed))
		quiet := newFleet(ctx, "quiet", 10)
		DeferCleanup(quiet.dissolve)
		for i, cluster := range quiet.clusters { // half of them broken, and so left
			Expect(quiet.flip(ctx, cluster, i%2 == 0)).To(Succeed())
		}
		quiet.settle(ctx)
		loaded := newFleet(ctx, "loaded", 10)
		DeferCleanup(loaded.dissolve)
		register(ctx, "dependent", "dependency")
		first := leader(ctx)
		watching := startWitness(ctx)
		stopLoad := loaded.keepFlipping(ctx, paceOfLoad)
		questions := []*question{
			ask(ctx, "is a cycle denied", cycleIsDenied), ask(ctx, "is a registration converted", registrationIsConverted), ask(ctx, "is the agent there", agentIsThere),
		}

		By("upgrading")
		deploy(ctx, nextVersion)
		for _, name := range []string{addonManager, webhook} {
			Eventually(rolledOut(ctx, hub, namespace, name)).Should(Succeed())
			Eventually(imagesOf(ctx, hub, namespace, name)).Should(HaveEach(HaveSuffix(":"+nextVersion)), "the last one of the old version serves until it is gone")
		}
		Eventually(leader).WithContext(ctx).ShouldNot(Equal(first))
		Eventually(imagesOf(ctx, managed, agentNamespace, agentWorkload)).Should(And(HaveLen(1), HaveEach(HaveSuffix(":"+nextVersion))))
		Eventually(rolledOut(ctx, managed, agentNamespace, agentWorkload)).Should(Succeed())
		until := watching.answers() + len(loaded.clusters)
		Eventually(watching.answers).Should(BeNumerically(">=", until), "the new leader goes on")

		By("looking at what was written and answered")
		flips := stopLoad()
		loaded.settle(ctx)
		watching.stop(ctx)
		AddReportEntry("load", ReportEntryVisibilityAlways, stormReport{flips, watching.answers()})
		for _, one := range questions {
			one.expectAnswered()
		}
		watching.expectExplained(ctx, loaded)
	})
}

// imagesOf are those of all pods of a Deployment, also of those that are
// stopping.
func imagesOf(ctx context.Context, on client.Client, namespace, name string) func() ([]string, error) {
	return func() ([]string, error) {
		var pods corev1.PodList
		err := on.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{"app.kubernetes.io/name": name})
		var images []string
		for _, pod := range pods.Items {
			images = append(images, pod.Spec.Containers[0].Image)
		}
		return images, err
	}
}

// question is asked again and again, and is always to have the same answer.
type question struct {
	text   string
	asked  int
	denied []string // when the answer was no, and why
	end    func()
}

func ask(ctx context.Context, text string, answer func(context.Context) error) *question {
	q := &question{text: text}
	q.end = inBackground(ctx, paceOfAsking, func(ctx context.Context) {
		began := time.Now()
		if err := answer(ctx); err != nil {
			q.denied = append(q.denied, fmt.Sprintf("%s, after %s: %v", began.Format(time.TimeOnly), time.Since(began), err))
		}
		q.asked++
	})
	return q
}

func (q *question) expectAnswered() {
	GinkgoHelper()
	q.end()
	Expect(q.denied).To(BeEmpty(), q.text)
	Expect(q.asked).To(BeNumerically(">", 10), q.text)
	AddReportEntry(q.text, ReportEntryVisibilityAlways, fmt.Sprintf("always, of %d times", q.asked))
}

// cycleIsDenied: where the webhook does not answer, its failure policy lets it pass.
func cycleIsDenied(ctx context.Context) error {
	err := hub.Create(ctx, narcissus(), client.DryRunAll)
	switch {
	case err == nil:
		return errors.New("admission let it pass")
	case !apierrors.IsForbidden(err):
		return err
	}
	return nil
}

// registrationIsConverted: what is written through v1beta1 is converted, and
// keeps what only v1alpha1 has.
func registrationIsConverted(ctx context.Context) error {
	written := &ocmv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "dependent"}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"at":"`+time.Now().String()+`"}}}`))
	if err := hub.Patch(ctx, written, patch); err != nil {
		return err
	}
	stored := &addonv1alpha1.ClusterManagementAddOn{}
	if err := hub.Get(ctx, client.ObjectKey{Name: "dependent"}, stored); err != nil {
		return err
	}
	if len(stored.Spec.Dependencies) != 1 {
		return fmt.Errorf("its dependencies are %v", stored.Spec.Dependencies)
	}
	return nil
}

// agentIsThere: it has a pod that is ready on the managed cluster.
func agentIsThere(ctx context.Context) error {
	deployment := &appsv1.Deployment{}
	if err := managed.Get(ctx, client.ObjectKey{Namespace: agentNamespace, Name: agentWorkload}, deployment); err != nil {
		return err
	}
	if deployment.Status.AvailableReplicas < 1 {
		return errors.New("no pod of it is available")
	}
	return nil
}
