package stack

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cleaningUp is a finalizer of the add-on at the top, for which all others wait.
const cleaningUp = "example.com/cleaning-up"

// whileClustersLeave removes a stack from two clusters. Meanwhile, one is lost and the other one is detached.
func whileClustersLeave(ctx context.Context) {
	GinkgoHelper()
	run := nameOf(*first + uint64(*runs))
	lost, detached := clusters[1], clusters[2]
	register(ctx, run, registered(run))
	for _, cluster := range []string{lost, detached} {
		Expect(hub.Client.Create(ctx, installed(cluster, of(portal, run)))).To(Succeed())
	}
	for _, cluster := range []string{lost, detached} {
		for name := range needs {
			Eventually(history.Available.First).WithContext(ctx).WithArguments(cluster, of(name, run)).Should(BeNumerically(">", 0), name)
		}
		clean(ctx, cluster, run, cleaningUp)
		for name := range needs {
			Expect(hub.Client.Delete(ctx, installed(cluster, of(name, run)))).To(Succeed())
		}
	}
	start := time.Now()
	killBoth(managed[lost]) // it is not lost for eight seconds
	Consistently(func() int { return len(waiting(lost, run)) + len(waiting(detached, run)) }).WithTimeout(4*time.Second).Should(
		BeNumerically(">=", 2*(len(needs)-1)), "what is needed waits for the portal")

	Expect(hub.Client.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: detached}})).To(Succeed())
	for _, cluster := range []string{detached, lost} {
		Eventually(waiting).WithContext(ctx).WithArguments(cluster, run).Should(BeEmpty(), cluster)
		AddReportEntry("since the agents of "+lost+" were killed until "+cluster+" is released", time.Since(start).String())
		Expect(history.Removed.First(cluster, of(portal, run))).To(BeZero(), "it still cleans up")
		clean(ctx, cluster, run)
		Eventually(history.Removed.First).WithContext(ctx).WithArguments(cluster, of(portal, run)).Should(BeNumerically(">", 0))
	}

	By("nothing being left of the detached cluster")
	for _, left := range []client.Object{
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: detached}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: detached}},
	} {
		Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, left))).To(Succeed()) // OCM keeps the namespace
		Eventually(func() error {
			return hub.Client.Get(ctx, client.ObjectKeyFromObject(left), left)
		}).WithContext(ctx).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
	}
}

// waiting are the add-ons of the stack below the top that are still on a cluster.
func waiting(cluster string, run uint64) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		if name != portal && history.Removed.First(cluster, of(name, run)) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// clean sets the finalizers of the add-on at the top.
func clean(ctx context.Context, cluster string, run uint64, finalizers ...string) {
	GinkgoHelper()
	patch := `{"metadata":{"finalizers":null}}`
	if len(finalizers) > 0 {
		patch = fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, finalizers[0])
	}
	Expect(hub.Client.Patch(ctx, installed(cluster, of(portal, run)), client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}
