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

// cleaningUp is a finalizer of the add-on at the top. All others wait for the top.
const cleaningUp = "example.com/cleaning-up"

// whileClustersLeave removes a stack from two clusters. Meanwhile, one is lost and the other one is detached.
func whileClustersLeave(ctx context.Context) {
	GinkgoHelper()
	run := nameOf(*firstSeed + uint64(*runs))
	lostCluster, detachedCluster := clusters[1], clusters[2]
	if attempt := CurrentSpecReport().NumAttempts; attempt > 1 { // those have left
		lostCluster, detachedCluster = fmt.Sprintf("lost-%d", attempt), fmt.Sprintf("detached-%d", attempt)
		join(ctx, lostCluster, detachedCluster)
	}
	register(ctx, run, registrations(run))
	for _, cluster := range []string{lostCluster, detachedCluster} {
		Expect(hub.Client.Create(ctx, addOn(cluster, runName(portal, run)))).To(Succeed())
	}
	for _, cluster := range []string{lostCluster, detachedCluster} {
		for name := range requirements {
			Eventually(history.Available.First).WithContext(ctx).WithArguments(cluster, runName(name, run)).Should(BeNumerically(">", 0), name)
		}
		setTopFinalizers(ctx, cluster, run, cleaningUp)
		for name := range requirements {
			Expect(hub.Client.Delete(ctx, addOn(cluster, runName(name, run)))).To(Succeed())
		}
	}
	start := time.Now()
	killBoth(managed[lostCluster]) // it is not lost for eight seconds
	Consistently(func() int { return len(waiting(lostCluster, run)) + len(waiting(detachedCluster, run)) }).WithTimeout(4*time.Second).Should(
		BeNumerically(">=", 2*(len(requirements)-1)), "what is needed waits for the portal")

	Expect(hub.Client.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: detachedCluster}})).To(Succeed())
	for _, cluster := range []string{detachedCluster, lostCluster} {
		Eventually(waiting).WithContext(ctx).WithArguments(cluster, run).Should(BeEmpty(), cluster)
		AddReportEntry("since the agents of "+lostCluster+" were killed until "+cluster+" is released", time.Since(start).String())
		Expect(history.Removed.First(cluster, runName(portal, run))).To(BeZero(), "it still cleans up")
		setTopFinalizers(ctx, cluster, run)
		Eventually(history.Removed.First).WithContext(ctx).WithArguments(cluster, runName(portal, run)).Should(BeNumerically(">", 0))
	}

	By("nothing being left of the detached cluster")
	for _, object := range []client.Object{
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: detachedCluster}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: detachedCluster}},
	} {
		Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, object))).To(Succeed()) // OCM keeps the namespace
		Eventually(func() error {
			return hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		}).WithContext(ctx).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
	}
}

// waiting returns the add-ons of the stack below the top that are still on a cluster.
func waiting(cluster string, run uint64) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(requirements)) {
		if name != portal && history.Removed.First(cluster, runName(name, run)) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// setTopFinalizers sets the finalizers of the add-on at the top.
func setTopFinalizers(ctx context.Context, cluster string, run uint64, finalizers ...string) {
	GinkgoHelper()
	patch := `{"metadata":{"finalizers":null}}`
	if len(finalizers) > 0 {
		patch = fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, finalizers[0])
	}
	Expect(hub.Client.Patch(ctx, addOn(cluster, runName(portal, run)), client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}
