package protection

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/setup/interlock"
)

// removals are dry runs of the removal of an add-on, one after the other.
type removals struct {
	attempts atomic.Int64
	stop     context.CancelFunc
	stopped  chan struct{}
	// notRefused has the results of attempts that the webhook did not refuse.
	notRefused []string
}

// keepRemoving tries to remove base until it is stopped.
func keepRemoving(ctx context.Context) *removals {
	GinkgoHelper()
	user, warnings := impersonate("")
	ctx, stop := context.WithCancel(ctx)
	r := &removals{stop: stop, stopped: make(chan struct{})}
	go func() {
		defer close(r.stopped)
		pace := time.NewTicker(5 * time.Millisecond)
		defer pace.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
			warnings.texts = nil
			err := user.Delete(ctx, addOn(withAgent, base), client.DryRunAll)
			if isRefused, _ := beRefused().Match(err); !isRefused && ctx.Err() == nil {
				r.notRefused = append(r.notRefused, fmt.Sprintf("try %d: error %v, warnings %q", r.attempts.Load(), err, warnings.texts))
			}
			r.attempts.Add(1)
		}
	}()
	return r
}

var _ = Describe("Two replicas of the webhook that are replaced one after the other", func() {
	It("refuse without interruption", func(ctx context.Context) {
		register(ctx, base, "")
		register(ctx, leaf, "[{name: base}]")
		register(ctx, friend, "[{name: base, type: Optional}]")
		installAll(ctx, withAgent)
		Expect(webhook.Stop(ctx)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { serve(ctx, "--protection=enforce") })

		service := deployment.ServeBehindService()
		start := func() *interlock.Replica { return service.Start("--protection=enforce", "--stop-after=1s") }
		replicas := []*interlock.Replica{start(), start()}
		for _, replica := range replicas {
			Eventually(service.Ready).WithArguments(replica).Should(BeTrue())
		}
		Eventually(func() error { return hub.Client.Delete(ctx, addOn(withAgent, base), client.DryRunAll) }).Should(beRefused())

		removing := keepRemoving(ctx)
		DeferCleanup(func() { removing.stop(); <-removing.stopped })
		awaitMore := func() {
			GinkgoHelper()
			attemptsBefore := removing.attempts.Load()
			Eventually(removing.attempts.Load).Should(BeNumerically(">", attemptsBefore+50))
		}
		awaitMore()
		for range 2 {
			for i, old := range replicas { // as a rolling Deployment does: a new replica starts before an old one stops
				replicas[i] = start()
				Eventually(service.Ready).WithArguments(replicas[i]).Should(BeTrue())
				Expect(service.Retire(ctx, old)).To(Succeed())
				awaitMore()
			}
		}
		removing.stop()
		<-removing.stopped
		Expect(removing.notRefused).To(BeEmpty(), "of %d tries", removing.attempts.Load())
		AddReportEntry("removals that were tried, and refused", fmt.Sprint(removing.attempts.Load()))
	}, NodeTimeout(2*time.Minute))
})
