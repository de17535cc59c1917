package order

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// crowd is a number of pairs of ordered add-ons that are installed on one managed cluster after another. In each pair, top gets a gate
// and base a finalizer.
type crowd struct {
	clusters, pairs []string
	// created counts the pairs that have been created.
	created atomic.Int64
	failed  atomic.Pointer[error]
	stop    context.CancelFunc
	stopped chan struct{}
}

// installAll installs all pairs, one after the other, until it is stopped.
func (c *crowd) installAll(ctx context.Context) {
	GinkgoHelper()
	config := rest.CopyConfig(hub.Config)
	config.QPS = -1
	creator, err := client.New(config, client.Options{Scheme: hub.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	ctx, c.stop = context.WithCancel(ctx)
	c.stopped = make(chan struct{})
	go func() {
		defer close(c.stopped)
		pace := time.NewTicker(40 * time.Millisecond)
		defer pace.Stop()
		for i := range len(c.clusters) * len(c.pairs) {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
			for _, name := range []string{"top-", "base-"} {
				addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
					Namespace: c.clusters[i/len(c.pairs)], Name: name + c.pairs[i%len(c.pairs)],
				}}
				if err := creator.Create(ctx, addOn); err != nil && ctx.Err() == nil {
					c.failed.Store(&err)
					return
				}
			}
			c.created.Add(1)
		}
	}()
}

// failure returns the error at which the installation of pairs ended, if any.
func (c *crowd) failure() error {
	if failure := c.failed.Load(); failure != nil {
		return *failure
	}
	return nil
}

// remaining counts the add-ons that OCM has not deleted yet, after their managed clusters.
func (c *crowd) remaining(ctx context.Context) (count int, err error) {
	var addOns addonv1alpha1.ManagedClusterAddOnList
	err = hub.Client.List(ctx, &addOns)
	for i := range addOns.Items {
		if slices.Contains(c.clusters, addOns.Items[i].Namespace) {
			count++
		}
	}
	return count, err
}

// leftovers returns the traces of Interlock on add-ons.
func leftovers(ctx context.Context) (traces []string, err error) {
	var addOns addonv1alpha1.ManagedClusterAddOnList
	err = hub.Client.List(ctx, &addOns)
	for i := range addOns.Items {
		addOn := &addOns.Items[i]
		add := func(trace string) { traces = append(traces, client.ObjectKeyFromObject(addOn).String()+" has "+trace) }
		if gate, gated := addOn.Annotations[interlockv1alpha1.GateAnnotation]; gated {
			add("the gate " + gate)
		}
		if slices.Contains(addOn.Finalizers, interlockv1alpha1.WaitForDependentsFinalizer) {
			add("the finalizer")
		}
		for _, condition := range addOn.Status.Conditions {
			if slices.Contains([]string{"Degraded", "Installable", "Upgradable"}, condition.Type) {
				add(condition.Type + " " + condition.Reason)
			}
		}
	}
	return traces, err
}

var _ = Describe("A hub from which Interlock is uninstalled", func() {
	var arriving *crowd

	BeforeEach(func(ctx context.Context) {
		lifecycleOn(ctx)
		// An attempt finds nothing of the one before.
		arriving = &crowd{}
		attempt := CurrentSpecReport().NumAttempts
		for i := range 20 {
			pair := fmt.Sprintf("crowd-%d-%d", attempt, i)
			register(ctx, "base-"+pair, "", false)
			register(ctx, "top-"+pair, ordered("base-"+pair), false)
			arriving.pairs = append(arriving.pairs, pair)
		}
		DeferCleanup(func(ctx context.Context) { // specs that follow expect no writes, so this comes last
			Eventually(arriving.remaining).WithContext(ctx).WithTimeout(time.Minute).Should(BeZero())
		}, NodeTimeout(2*time.Minute))
		for i := range 30 {
			arriving.clusters = append(arriving.clusters, fmt.Sprintf("crowded-%d-%02d", attempt, i))
			ocmsuite.Accept(ctx, hub, arriving.clusters[i], nil)
		}
		Eventually(withAgent.dryRunGate).WithContext(ctx).WithArguments("top-" + arriving.pairs[19]).Should(Equal(closed))
	}, NodeTimeout(2*time.Minute))

	It("has no trace of it, although ordered add-ons are created all the time", func(ctx context.Context) {
		arriving.installAll(ctx)
		DeferCleanup(func() { arriving.stop(); <-arriving.stopped })
		// On a busy machine, a webhook may answer too late for some add-ons.
		Eventually(func(g Gomega) {
			g.Expect(arriving.failure()).NotTo(HaveOccurred())
			g.Expect(leftovers(ctx)).To(ContainElements(
				MatchRegexp("^crowded-.* has the gate closed$"), MatchRegexp("^crowded-.* has the finalizer$")))
		}).WithContext(ctx).Should(Succeed())

		By("uninstalling it, while addon-manager stops")
		Expect(agents.Kill()).To(Succeed()) // OCM removes the pods
		uninstallCommand := exec.CommandContext(ctx, deployment.Program, "uninstall",
			"--kubeconfig", hub.Kubeconfig(), "--namespace", interlock.Namespace)
		var output strings.Builder
		uninstallCommand.Stdout, uninstallCommand.Stderr = &output, &output
		pairsBefore := arriving.created.Load()
		Expect(uninstallCommand.Start()).To(Succeed())
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = nil
		Expect(uninstallCommand.Wait()).To(Succeed(), output.String())
		during := arriving.created.Load() - pairsBefore

		By("more add-ons coming afterwards")
		Eventually(arriving.created.Load).WithContext(ctx).Should(BeNumerically(">", pairsBefore+during))
		arriving.stop()
		<-arriving.stopped
		Expect(arriving.failure()).NotTo(HaveOccurred())
		Expect(during).To(BeNumerically(">", 0), "none of them was created meanwhile: %s", output.String())
		Expect(output.String()).To(ContainSubstring("opened and removed, none is left"))
		AddReportEntry("pairs of add-ons that were created", fmt.Sprintf("%d before, %d during the uninstallation", pairsBefore, during))
		Expect(leftovers(ctx)).To(BeEmpty())
		err := hub.Client.Get(ctx, client.ObjectKey{Namespace: interlock.Namespace, Name: names.AddonManager}, &coordinationv1.Lease{})
		Expect(client.IgnoreNotFound(err)).To(Succeed())
		Expect(err).To(HaveOccurred(), "the lease is left")
	}, NodeTimeout(2*time.Minute))
})
