// Package crash ends addon-manager at each of its writes, on real OCM. Another addon-manager with outdated caches takes over. The final
// state has to equal the state after a run without a fault. All managed clusters are ManagedClusters without agents. The suite reports
// their add-ons as available, and their ManifestWorks as applied.
package crash

import (
	"context"
	"flag"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/setup/faultproxy"
	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// allFaults adds failing responses, and a moment with two leaders, to the crashes.
var allFaults = flag.Bool("all-faults", false, "try every fault at every write, in about half an hour")

var (
	hub        *ocm.Hub
	deployment *interlock.Interlock
	changes    *history
	// leaders has the addon-managers that run.
	leaders = sets.New[*leader]()
)

func TestCrashes(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "crash")
}

var _ = BeforeSuite(func(ctx context.Context) {
	// With lists in place of watch lists, the proxy can give informers an earlier list.
	Expect(os.Setenv("KUBE_FEATURE_WatchListClient", "false")).To(Succeed())
	hub = ocmsuite.Begin(ctx, 30*time.Second, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	deployment = interlock.Deploy(ctx, hub)
	webhook := deployment.Serve("--lifecycle")
	DeferCleanup(webhook.Kill)
	ocmsuite.Create(ctx, hub, `{apiVersion: v1, kind: Namespace, metadata: {name: places}}
---
{apiVersion: cluster.open-cluster-management.io/v1beta2, kind: ManagedClusterSetBinding, metadata: {name: global, namespace: places},
 spec: {clusterSet: global}}`)
	changes = follow(ctx)
	applyWorks(ctx)
	// The gate rule is probed with an add-on of any kind.
	ocmsuite.Accept(ctx, hub, "probes", nil)
	ocmsuite.Create(ctx, hub, registration("probed", "", manual, "dependencies: []"))
	create(ctx, "probes", addOn("probed", ""))
}, NodeTimeout(5*time.Minute))

// holdLease takes the lease of the leader election. The webhook only lets add-ons and AddOnTemplates wait while an
// addon-manager leads. Those of this suite run without leader election, so that the next one need not wait.
func holdLease(ctx context.Context) {
	GinkgoHelper()
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: interlock.Namespace, Name: names.AddonManager}}
	_, err := controllerutil.CreateOrUpdate(ctx, hub.Client, lease, func() error {
		lease.Annotations = map[string]string{names.LifecycleLeader: "suite"}
		lease.Spec = coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("suite"), LeaseDurationSeconds: ptr.To(int32(24 * 60 * 60)), RenewTime: &now,
		}
		return nil
	})
	Expect(err).NotTo(HaveOccurred())
}

// leader is an addon-manager behind a proxy.
type leader struct {
	*interlock.Running
	proxy *faultproxy.Proxy
}

// lead starts an addon-manager whose caches begin with earlier lists, if there are any.
func lead(ctx context.Context, earlier faultproxy.Lists) *leader {
	GinkgoHelper()
	holdLease(ctx)
	// It applies its admission rules several times until they are in force.
	proxy, err := faultproxy.Start(deployment.ManagerUser.Config, earlier, "/admissionregistration.k8s.io/")
	Expect(err).NotTo(HaveOccurred())
	kubeconfig, err := proxy.Kubeconfig(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	l := &leader{proxy: proxy}
	l.Running = deployment.Manage("--kubeconfig", kubeconfig, "--leader-elect=false", "--guard=off",
		"--lifecycle", "--lifecycle-removal-delay=1s")
	leaders.Insert(l)
	if earlier == nil { // an earlier addon-manager has left the rule in force
		Eventually(l.Printed).WithArguments("Gate rule is in force").Should(BeTrue())
	}
	return l
}

// end kills addon-manager.
func (l *leader) end() {
	GinkgoHelper()
	leaders.Delete(l)
	Expect(l.Kill()).To(Succeed())
	Expect(l.proxy.Close()).To(Succeed())
}

// endAll kills all running addon-managers. After a failure, the report has their output.
func endAll() {
	GinkgoHelper()
	for _, l := range leaders.UnsortedList() {
		if CurrentSpecReport().Failed() {
			output, err := os.ReadFile(l.Log)
			Expect(err).NotTo(HaveOccurred())
			AddReportEntry("the end of "+l.Log, string(output[max(0, len(output)-20_000):]))
		}
		l.end()
	}
}

// watchAll returns the changes of a kind until the suite ends. A watch that ends is continued.
func watchAll(ctx context.Context, list client.ObjectList) <-chan watch.Event {
	GinkgoHelper()
	Expect(hub.Client.List(ctx, list)).To(Succeed())
	watcher, err := toolswatch.NewRetryWatcherWithContext(context.Background(), list.GetResourceVersion(), &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return hub.Client.Watch(ctx, list, &client.ListOptions{Raw: &options})
		},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watcher.Stop)
	return watcher.ResultChan()
}

// follow reports add-ons as available, and keeps the history of add-ons, until the suite ends.
func follow(ctx context.Context) *history {
	GinkgoHelper()
	h := &history{changes: map[string][]string{}}
	watched := watchAll(ctx, &addonv1alpha1.ManagedClusterAddOnList{})
	go func() {
		defer GinkgoRecover()
		for event := range watched {
			addOn, ok := event.Object.(*addonv1alpha1.ManagedClusterAddOn)
			if !ok {
				continue
			}
			switch event.Type {
			case watch.Added:
				h.add(addOn.Namespace, "created "+addOn.Name)
				reportAvailable(addOn)
			case watch.Deleted:
				h.add(addOn.Namespace, "deleted "+addOn.Name)
			case watch.Modified, watch.Bookmark, watch.Error: // the state has the effects of other events
			}
		}
	}()
	return h
}

// applyWorks reports ManifestWorks as applied until the suite ends, as OCM's work agent does.
func applyWorks(ctx context.Context) {
	GinkgoHelper()
	Expect(workv1.Install(hub.Client.Scheme())).To(Succeed())
	watched := watchAll(ctx, &workv1.ManifestWorkList{})
	go func() {
		defer GinkgoRecover()
		for event := range watched {
			work, ok := event.Object.(*workv1.ManifestWork)
			if !ok || event.Type == watch.Deleted {
				continue
			}
			original := work.DeepCopy()
			for _, condition := range []string{workv1.WorkApplied, workv1.WorkAvailable} {
				meta.SetStatusCondition(&work.Status.Conditions, metav1.Condition{
					Type: condition, Status: metav1.ConditionTrue, Reason: "Tested", ObservedGeneration: work.Generation,
				})
			}
			if !equality.Semantic.DeepEqual(original.Status, work.Status) {
				err := hub.Client.Status().Patch(context.Background(), work, client.MergeFrom(original))
				Expect(client.IgnoreNotFound(err)).To(Succeed())
			}
		}
	}()
}

// reportAvailable sets Available of an add-on, as its agent does. An add-on that waits for its gate has no agent.
func reportAvailable(addOn *addonv1alpha1.ManagedClusterAddOn) {
	if addOn.Annotations[addonv1alpha1.GateAnnotation] != "" || addOn.Annotations[withoutAgent] != "" {
		return
	}
	patch := `{"apiVersion": "addon.open-cluster-management.io/v1alpha1", "kind": "ManagedClusterAddOn", "status": {"conditions": [
		{"type": "Available", "status": "True", "reason": "Tested", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	err := hub.Client.Status().Patch(context.Background(), addOn.DeepCopy(), client.RawPatch("application/apply-patch+yaml", []byte(patch)),
		client.FieldOwner("agent"), client.ForceOwnership)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
}
