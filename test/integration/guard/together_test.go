package guard

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	hubguard "open-cluster-management.io/interlock/pkg/hub/guard"
)

const label = "feature.open-cluster-management.io/addon-gateway"

// standIn does what OCM's registration agent does, but every second: it says
// that the add-on is available, and has a label of the managed cluster follow
// what is stored.
type standIn struct {
	addOn
	says    map[string]any
	written atomic.Int32
}

func (s *standIn) insist(ctx context.Context, period, duration time.Duration) {
	GinkgoHelper()
	err := wait.PollUntilContextTimeout(ctx, period, duration, true, func(ctx context.Context) (bool, error) {
		answer, err := s.tryWrite(ctx, viaBeta, say(s.says))
		if apierrors.IsConflict(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		s.written.Add(1)
		return false, s.follow(ctx, answer)
	})
	Expect(wait.Interrupted(err)).To(BeTrue(), "%v", err)
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

// fall registers the add-on with a Required dependency that is missing, and
// waits until addon-manager has said so.
func (a addOn) fall(ctx context.Context) {
	GinkgoHelper()
	registered := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: a.name}}
	registered.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	registered.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "base"}}
	Expect(a.client.Create(ctx, registered)).To(Succeed())
	DeferCleanup(a.client.Delete, registered)
	Eventually(func() any { return find(a.read(ctx, viaStorage), "Degraded")["reason"] }).Should(Equal(required))
}

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
	watcher, err := a.client.Watch(ctx, list, client.InNamespace(a.cluster), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}})
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

var _ = Describe("A stock writer that insists", inBothForms(func(f *form) {
	var s *standIn
	BeforeEach(func(ctx context.Context) {
		s = &standIn{addOn: f.newAddOn(ctx), says: runs()}
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: s.cluster}}
		Expect(f.client.Create(ctx, cluster)).To(Succeed())
		DeferCleanup(f.client.Delete, cluster)
		DeferCleanup(f.leave)
	})
	labels := func(ctx context.Context) string {
		cluster := &clusterv1.ManagedCluster{}
		Expect(f.client.Get(ctx, client.ObjectKey{Name: s.cluster}, cluster)).To(Succeed())
		return cluster.ResourceVersion + cluster.Labels[label]
	}

	for _, attended := range []bool{true, false} {
		text := map[bool]string{true: " with our agent", false: " without our agent"}[attended]
		It("is not heard while the guard is in force,"+text, func(ctx context.Context) {
			f.manage(ctx, hubguard.ModeAuto)
			f.awaitForce(ctx, true)
			s.write(ctx, viaBeta, say(runs()))
			if attended {
				s.attend()
			}
			s.fall(ctx)
			Eventually(s.availability(ctx)).Should(Equal(required))
			s.insist(ctx, time.Second, 1500*time.Millisecond) // the first may come to own the condition
			quiet, since := s.read(ctx, viaStorage).GetResourceVersion(), labels(ctx)

			seen := s.watch(ctx)
			s.written.Store(0)
			s.insist(ctx, time.Second, 10*time.Second)
			Expect(s.written.Load()).To(BeNumerically(">=", 9))
			Expect(s.read(ctx, viaStorage).GetResourceVersion()).To(Equal(quiet))
			Expect(seen.all.Load()).To(BeZero())
			Expect(labels(ctx)).To(Equal(since))
			Expect(ownedBy(s.read(ctx, viaStorage), manager)).NotTo(ContainSubstring("Available"))
		})
	}

	It("never reads True on a watch from the write that sets Degraded on", func(ctx context.Context) {
		f.arrive(ctx)
		s.write(ctx, viaBeta, say(runs()))
		f.manage(ctx, "")
		seen := s.watch(ctx)
		s.fall(ctx)
		s.insist(ctx, 200*time.Millisecond, 3*time.Second)
		Expect(seen.available.Load()).To(BeZero())
		Expect(seen.all.Load()).To(BeNumerically("<=", 2), "the fall, and who owns it")
	})

	// What addon-framework's health prober does: its add-on's agent keeps no lease.
	for _, guarded := range []bool{true, false} {
		text := map[bool]string{true: "with the guard", false: "without the guard"}[guarded]
		It("has not the last word as the prober of an add-on in Customized mode either, "+text, func(ctx context.Context) {
			s.customize(ctx)
			s.says = entry("Available", "True", "ProbeAvailable", "probed", early)
			if guarded {
				f.arrive(ctx)
			}
			s.write(ctx, viaBeta, say(s.says))
			f.manage(ctx, "")
			s.attend()
			s.fall(ctx)
			Eventually(s.availability(ctx)).Should(Equal(required))
			seen := s.watch(ctx)
			s.insist(ctx, 500*time.Millisecond, 3*time.Second)
			if guarded {
				Expect(seen.available.Load()).To(BeZero())
			}
			Eventually(s.availability(ctx)).Should(Equal(required))

			By("the dependency being there")
			s.provide(ctx)
			Eventually(s.availability(ctx)).Should(Equal("AwaitingHealthCheck"))
			Expect(find(s.write(ctx, viaBeta, say(s.says)), "Available")).To(Equal(s.says))
			Consistently(s.availability(ctx)).Should(Equal("ProbeAvailable"))
		})
	}

	It("is answered at a bounded rate by our agent without the guard, and has not the last word", func(ctx context.Context) {
		f.manage(ctx, hubguard.ModeOff)
		s.attend()
		s.fall(ctx)
		Eventually(s.availability(ctx)).Should(Equal(required))
		seen := s.watch(ctx)
		s.insist(ctx, 500*time.Millisecond, 8*time.Second)
		written := s.written.Load()
		Expect(written).To(BeNumerically(">=", 10))
		// Each of its writes that changes something, and as many answers at most:
		// at once, then after 0.5, 1, 2 and 4 seconds.
		Expect(seen.all.Load() - seen.available.Load()).To(BeNumerically("<=", 8))
		AddReportEntry("contested", fmt.Sprintf("%d writes in 8 s, %d events with True, %d in all", written, seen.available.Load(), seen.all.Load()))
		Eventually(s.availability(ctx)).WithTimeout(16 * time.Second).Should(Equal(required))
	})

	It("is corrected after the guard was away: by our agent at once, without it by the next write", func(ctx context.Context) {
		f.arrive(ctx)
		f.manage(ctx, "")
		s.fall(ctx)
		s.write(ctx, viaBeta, say(runs()))
		Eventually(s.availability(ctx)).Should(Equal(required))
		f.leave(ctx)
		s.write(ctx, viaBeta, say(runs()))
		Consistently(s.availability(ctx)).ShouldNot(Equal(required), "nobody is there to correct it")

		By("our agent coming, and staying when the guard is back")
		s.attend()
		Eventually(s.availability(ctx)).Should(Equal(required))
		f.arrive(ctx)
		s.write(ctx, viaBeta, say(runs()))
		Expect(s.availability(ctx)()).To(Equal(required))
	})

	It("has its word back once the dependency is there", func(ctx context.Context) {
		f.arrive(ctx)
		f.manage(ctx, "")
		s.fall(ctx)
		s.write(ctx, viaBeta, say(runs()))
		s.provide(ctx)
		Eventually(func() any { return find(s.read(ctx, viaStorage), "Degraded")["status"] }).Should(Equal("False"))
		Expect(s.availability(ctx)()).To(Equal(required), "until somebody speaks again")
		Expect(find(s.write(ctx, viaBeta, say(runs())), "Available")).To(Equal(runs()))
	})
}))
