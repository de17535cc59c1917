package hub

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"golang.org/x/time/rate"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/status"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
)

var _ = Describe("An add-on deleted at the wrong moment", func() {
	var manager *process
	var cluster, leaf, base string
	BeforeEach(func() {
		manager = start()
		cluster = newCluster()
		leaf, base = unique("leaf"), unique("base")
	})

	It("counts as installed while a finalizer keeps it, and is missing after", func() {
		register(leaf, required(base))
		create(&addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster, Name: base, Finalizers: []string{"test.example.com/kept"},
		}})
		report(cluster, base, metav1.ConditionTrue, leaseFresh)
		installAvailable(cluster, leaf)
		uninstall(cluster, base)
		Expect(readAddOn(cluster, base).DeletionTimestamp).NotTo(BeNil())
		manager.rest()
		Expect(must(degradedOf(cluster, leaf))).To(BeNil())

		report(cluster, base, metav1.ConditionFalse, leaseStale)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("Available=False")))
		Expect(hubClient.Patch(ctx, readAddOn(cluster, base), client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(not installed")))
	})

	It("leaves no series and no trace when it is the dependent", func() {
		register(leaf, required(base))
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		uninstall(cluster, leaf)
		Eventually(manager.unsatisfied(leaf)).Should(BeEmpty())
	})

	It("is evaluated again when it is created again, as a change and not as a contest", func() {
		register(leaf, required(base))
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		for range 3 {
			uninstall(cluster, leaf)
			install(cluster, leaf)
			Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		}
		Eventually(eventsOf(readAddOn(cluster, leaf).UID)).Should(HaveExactElements(HavePrefix(requiredReason + ": ")))
		Expect(must(manager.series(metrics.NameContested, "addon", leaf))).To(BeEmpty())
	})

	It("survives add-ons that are created and deleted while they are written", func() {
		register(leaf, required(base))
		var racing sync.WaitGroup
		for i := range 4 {
			racing.Go(func() {
				defer GinkgoRecover()
				object := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: leaf}}
				for range 25 {
					// Several goroutines do this to the same object. Only NotFound and AlreadyExists may result.
					_ = hubClient.Create(ctx, object.DeepCopy())
					if i%2 == 0 {
						_ = hubClient.Delete(ctx, object.DeepCopy())
					}
				}
			})
		}
		racing.Wait()
		_ = hubClient.Delete(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: leaf}})
		Eventually(manager.unsatisfied(leaf)).Should(BeEmpty())
		Expect(sum(must(manager.series(metrics.NameWrites, "addon", leaf, "result", "error")))).To(BeZero())

		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
	})

	It("has a leftover cleared once when its registration is deleted", func() {
		registration := register(leaf, required(base))
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		manager.rest()
		appliesBefore := applies()
		Expect(hubClient.Delete(ctx, registration)).To(Succeed())
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
		manager.rest()
		Expect(applies() - appliesBefore).To(BeEquivalentTo(1))
		for _, name := range []string{metrics.NameUnsatisfied, metrics.NameWrites, metrics.NameContested, metrics.NameInvalid} {
			Eventually(manager.series(name, "addon", leaf)).Should(BeEmpty(), name)
		}

		By("registering it again")
		register(leaf, required(base))
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
	})
})

var _ = Describe("addon-manager itself", func() {
	It("stops during a storm of changes, and corrects all conditions when it is back", func() {
		const size = 30
		leaf, base := unique("leaf"), unique("base")
		register(leaf, required(base))
		var clusters []string
		for range size {
			clusters = append(clusters, newCluster())
		}
		manager1 := start()
		for _, cluster := range clusters {
			installAvailable(cluster, base, leaf)
		}
		manager1.rest()

		appliesBefore := applies()
		var storm sync.WaitGroup
		storm.Go(func() {
			defer GinkgoRecover()
			for i, cluster := range clusters {
				if i == size*2/3 {
					<-manager1.exit
				}
				report(cluster, base, metav1.ConditionFalse, leaseStale)
			}
		})
		Eventually(manager1.series(metrics.NameWrites, "result", "success")).WithPolling(time.Millisecond).ShouldNot(BeEmpty())
		manager1.stop()
		storm.Wait()
		applied := applies() - appliesBefore
		AddReportEntry("storm", fmt.Sprintf("%.0f of %d written when it stopped", applied, size))

		manager2 := start()
		for _, cluster := range clusters {
			Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		}
		manager2.rest()
		Expect(applies()-appliesBefore).To(BeNumerically("<=", size), "none was written by both")
	})

	It("tries again until the hub takes its writes", func() {
		cluster, leaf, base := newCluster(), unique("leaf"), unique("base")
		register(leaf, required(base))
		manager := start()
		installAvailable(cluster, base, leaf)
		manager.rest()
		manager.cut.Store(true)
		uninstall(cluster, base)
		Eventually(func() float64 {
			return sum(must(manager.series(metrics.NameWrites, "addon", leaf, "result", "error")))
		}).Should(BeNumerically(">=", 4))
		Expect(must(degradedOf(cluster, leaf))).To(BeNil())
		manager.cut.Store(false)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
	})

	It("rides out an outage of the hub", func() {
		cluster, leaf, base := newCluster(), unique("leaf"), unique("base")
		register(leaf, required(base))
		manager := start()
		installAvailable(cluster, base, leaf)
		manager.rest()
		Expect(hubCluster.Restart()).To(Succeed())
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: base}}
		Eventually(func() error { return client.IgnoreNotFound(hubClient.Delete(ctx, addOn)) }).Should(Succeed())
		Eventually(degradedOf(cluster, leaf)).WithTimeout(45 * time.Second).Should(requiredFails())
		Expect(manager.exit).NotTo(BeClosed())
	})

	It("does not overwrite what it has not read", func() {
		cluster, leaf, base := newCluster(), unique("leaf"), unique("base")
		install(cluster, leaf)
		stale := readAddOn(cluster, leaf)
		Expect(setAsOCM(cluster, leaf, metav1.Condition{
			Type: addonv1alpha1.ManagedClusterAddOnConditionDegraded, Status: metav1.ConditionTrue, Reason: "DiskFull", Message: "No space left",
		})).To(Succeed())
		original := readAddOn(cluster, leaf)

		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: leaf}}
		registration.Spec.Dependencies = []addonv1alpha1.AddonDependency{required(base)}
		store := declarations.NewStore()
		store.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{*registration})))
		reader, memory := hubcache.NewReader(staleCache{hubClient, stale}), assess.NewMemory(clock.RealClock{})
		inputs := hubcache.Inputs{Reader: reader, Installations: hubcache.NewInstallations(false), Settings: hubcache.NewSettings(false)}
		loader := fleet.Loader{Reader: inputs, Memory: memory, Offline: evaluation.OfflineHold}
		reconciler := &status.Reconciler{
			Clock: clock.RealClock{}, Writer: conditionwriter.Writer{Status: hubClient, Live: hubClient}, Memory: memory,
			Assessor:     assess.Assessor{Fleet: reader, Loader: loader, Live: hubClient},
			Declarations: store, Store: assess.NewStore(), Backoff: backoff.New(clock.RealClock{}),
			Metrics: metrics.New(prometheus.NewRegistry()), Recorder: events.NewFakeRecorder(1),
			Messages: rate.NewLimiter(1, 1),
		}
		result, err := reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(stale)})
		Expect(err).NotTo(HaveOccurred())
		Expect(result).NotTo(Equal(reconcile.Result{}), "it is a conflict, to be tried again soon")
		Expect(readAddOn(cluster, leaf)).To(Equal(original))
	})
})

// staleCache is a cache that has missed the changes of one object.
type staleCache struct {
	client.Reader
	stale *addonv1alpha1.ManagedClusterAddOn
}

func (b staleCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if addOn, ok := object.(*addonv1alpha1.ManagedClusterAddOn); ok && key == client.ObjectKeyFromObject(b.stale) {
		*addOn = *b.stale
		return nil
	}
	return b.Reader.Get(ctx, key, object, options...)
}
