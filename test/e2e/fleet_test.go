//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	base = "fleet-base"
	leaf = "fleet-leaf" // requires base
)

// fleet is a set of clusters that exist only as namespaces with base and leaf. Only the suite reports on base, and
// only addon-manager reports on leaf.
type fleet struct {
	clusters []string
	// healthy has the clusters on which base was last reported as available.
	healthy map[string]bool
}

// newFleet makes n clusters, on which base and leaf are available.
func newFleet(ctx context.Context, prefix string, n int) *fleet {
	GinkgoHelper()
	Eventually(expectGrafted(ctx)).Should(Succeed())
	register(ctx, base)
	register(ctx, leaf, base)
	f := &fleet{healthy: map[string]bool{}}
	for i := range n {
		f.clusters = append(f.clusters, fmt.Sprintf("%s-%d", prefix, i))
		for _, name := range []string{base, leaf} {
			install(ctx, inNamespace(ctx, f.clusters[i], name))
		}
	}
	for _, cluster := range f.clusters {
		expectLeaf(ctx, cluster, false)
	}
	f.flipAll(ctx, true)
	f.settle(ctx)
	return f
}

// flip sets whether base is available on the cluster.
func (f *fleet) flip(ctx context.Context, cluster string, healthy bool) error {
	condition := metav1.Condition{Type: available, Status: metav1.ConditionFalse, Reason: "Broken"}
	if healthy {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Working"
	}
	f.healthy[cluster] = healthy
	return patchCondition(ctx, types.NamespacedName{Namespace: cluster, Name: base}, condition)
}

func (f *fleet) flipAll(ctx context.Context, healthy bool) {
	GinkgoHelper()
	for _, cluster := range f.clusters {
		Expect(f.flip(ctx, cluster, healthy)).To(Succeed())
	}
}

// keepFlipping flips base on one cluster after the other, at that pace and without waiting for leaf to follow. It
// ends when the result is called, which returns the number of flips.
func (f *fleet) keepFlipping(ctx context.Context, pace time.Duration) func() int {
	var failures []error
	flips := 0
	end := inBackground(ctx, pace, func(ctx context.Context) {
		cluster := f.clusters[flips%len(f.clusters)]
		failures = append(failures, f.flip(ctx, cluster, !f.healthy[cluster]))
		flips++
	})
	DeferCleanup(end)
	return func() int {
		GinkgoHelper()
		end()
		Expect(errors.Join(failures...)).NotTo(HaveOccurred(), "the suite's own writes")
		return flips
	}
}

// settle waits until leaf follows base on all clusters.
func (f *fleet) settle(ctx context.Context) {
	GinkgoHelper()
	for _, cluster := range f.clusters {
		expectLeaf(ctx, cluster, f.healthy[cluster])
	}
}

func (f *fleet) dissolve(ctx context.Context) {
	GinkgoHelper()
	var objects []client.Object
	for _, name := range []string{leaf, base} {
		objects = append(objects, &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for _, cluster := range f.clusters {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster}})
	}
	remove(ctx, hub, objects)
}

func expectLeaf(ctx context.Context, cluster string, healthy bool) {
	GinkgoHelper()
	key := types.NamespacedName{Namespace: cluster, Name: leaf}
	if healthy {
		Eventually(conditionOf(ctx, key, degraded)).Should(be(metav1.ConditionFalse, satisfied), cluster)
		return
	}
	Eventually(conditionOf(ctx, key, degraded)).Should(be(metav1.ConditionTrue, required), cluster)
}

// inBackground calls act again and again until its result is called. The last call is completed, and not cut off.
func inBackground(ctx context.Context, pace time.Duration, act func(context.Context)) func() {
	callCtx := context.WithoutCancel(ctx)
	loopCtx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		wait.UntilWithContext(loopCtx, func(context.Context) { act(callCtx) }, pace)
	})
	return func() { cancel(); running.Wait() }
}

// inNamespace creates the namespace, if it does not exist yet.
func inNamespace(ctx context.Context, namespace, name string) types.NamespacedName {
	GinkgoHelper()
	Expect(client.IgnoreAlreadyExists(hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))).To(Succeed())
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func setCondition(ctx context.Context, key types.NamespacedName, condition metav1.Condition) {
	GinkgoHelper()
	Eventually(func() error { return patchCondition(ctx, key, condition) }).Should(Succeed())
}

// patchCondition writes a condition like stock controllers: the whole list in a merge patch, with the version that
// was read.
func patchCondition(ctx context.Context, key types.NamespacedName, condition metav1.Condition) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		if err := hub.Get(ctx, key, addOn); err != nil {
			return err
		}
		meta.SetStatusCondition(&addOn.Status.Conditions, condition)
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": addOn.ResourceVersion},
			"status":   map[string]any{"conditions": addOn.Status.Conditions},
		})
		if err != nil {
			return err
		}
		return hub.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("registration-agent"))
	})
}
