package guard

import (
	"context"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const label = "feature.open-cluster-management.io/addon-gateway"

// standIn does what a stock writer of Available does: it reads the add-on
// through v1beta1, says that it is available by a merge patch of the whole list
// of conditions with the resourceVersion that it read, and has a label of the
// managed cluster follow what is stored. It differs in that it writes even
// where it has nothing new to say, and does so oftener.
type standIn struct {
	addOn
	says    map[string]any
	written atomic.Int32
}

// newStandIn installs an add-on on a managed cluster of its own.
func (f *form) newStandIn(ctx context.Context, says map[string]any) *standIn {
	GinkgoHelper()
	s := &standIn{addOn: f.newAddOn(ctx), says: says}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: s.cluster}}
	Expect(f.client.Create(ctx, cluster)).To(Succeed())
	DeferCleanup(f.client.Delete, cluster)
	return s
}

// label is the label that follows Available, with the version of its object.
func (s *standIn) label(ctx context.Context) string {
	GinkgoHelper()
	cluster := &clusterv1.ManagedCluster{}
	Expect(s.client.Get(ctx, client.ObjectKey{Name: s.cluster}, cluster)).To(Succeed())
	return cluster.ResourceVersion + " " + cluster.Labels[label]
}

// insist writes every period until the duration is over.
func (s *standIn) insist(ctx context.Context, period, duration time.Duration) error {
	err := wait.PollUntilContextTimeout(ctx, period, duration, true, func(ctx context.Context) (bool, error) {
		return false, s.poll(ctx)
	})
	if wait.Interrupted(err) {
		return nil
	}
	return err
}

// poll says once what it says.
func (s *standIn) poll(ctx context.Context) error {
	answer, err := s.tryWrite(ctx, viaBeta, say(s.says))
	if apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return err
	}
	s.written.Add(1)
	return s.follow(ctx, answer)
}

// insistTogether has them all insist at the same time.
func insistTogether(ctx context.Context, standIns []*standIn, period, duration time.Duration) error {
	var insisting errgroup.Group
	for _, s := range standIns {
		insisting.Go(func() error { return s.insist(ctx, period, duration) })
	}
	return insisting.Wait()
}

func (s *standIn) follow(ctx context.Context, answer *unstructured.Unstructured) error {
	value := map[any]string{"True": "available", "False": "unhealthy"}[find(answer, "Available")["status"]]
	cluster := &clusterv1.ManagedCluster{}
	if err := s.client.Get(ctx, client.ObjectKey{Name: s.cluster}, cluster); err != nil || cluster.Labels[label] == value {
		return err
	}
	patch := []byte(`{"metadata":{"labels":{"` + label + `":"` + value + `"}}}`)
	return s.client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, patch))
}

// register declares a Required dependency that is missing, for the add-on of
// that name on all clusters of the hub, until addon-manager has stopped.
func (f *form) register(ctx context.Context) {
	GinkgoHelper()
	registered := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
	registered.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	registered.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "base"}}
	Expect(f.client.Create(ctx, registered)).To(Succeed())
}

// unregister takes back what register declares, if it was.
func (f *form) unregister(ctx context.Context) error {
	registered := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
	return client.IgnoreNotFound(f.client.Delete(ctx, registered))
}

// awaitFall waits until addon-manager has said that the dependency is missing.
func (a addOn) awaitFall(ctx context.Context) {
	GinkgoHelper()
	Eventually(func() any { return find(a.read(ctx, viaStorage), "Degraded")["reason"] }).Should(Equal(required))
}

// probed is what addon-framework's health prober says in Customized mode.
func probed() map[string]any { return entry("Available", "True", "ProbeAvailable", "probed", early) }

// customize has the add-on's own health check say whether it is available.
func (a addOn) customize(ctx context.Context) {
	GinkgoHelper()
	mode := []byte(`{"status":{"healthCheck":{"mode":"Customized"}}}`)
	Expect(a.client.Status().Patch(ctx, a.object(viaStorage), client.RawPatch(types.MergePatchType, mode))).To(Succeed())
}

// provide installs the dependency that was missing, and has it available; it
// keeps no lease either, of which our agent could miss anything.
func (a addOn) provide(ctx context.Context) {
	GinkgoHelper()
	base := addOn{form: a.form, cluster: a.cluster, name: "base"}
	Expect(a.client.Create(ctx, &addonv1alpha1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{Namespace: base.cluster, Name: base.name},
	})).To(Succeed())
	base.customize(ctx)
	base.write(ctx, viaBeta, say(runs()))
}

// events are what a watch tells of the add-on, until the spec ends.
type events struct {
	all, available atomic.Int32
}

func (a addOn) watch(ctx context.Context) *events {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(group + "/" + viaStorage)
	list.SetKind("ManagedClusterAddOnList")
	version := a.read(ctx, viaStorage).GetResourceVersion()
	// The one who watches may be a node that ends before the specs do.
	watcher, err := a.client.Watch(context.WithoutCancel(ctx), list, client.InNamespace(a.cluster), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watcher.Stop)
	seen := &events{}
	go func() {
		for event := range watcher.ResultChan() {
			seen.all.Add(1)
			if object, ok := event.Object.(*unstructured.Unstructured); ok && find(object, "Available")["status"] == "True" {
				seen.available.Add(1)
			}
		}
	}()
	return seen
}

func (a addOn) availability(ctx context.Context) func() any {
	return func() any { return find(a.read(ctx, viaStorage), "Available")["reason"] }
}
