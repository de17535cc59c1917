package guard

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/wait"

	hubguard "open-cluster-management.io/interlock/pkg/hub/guard"
)

// pollInterval is that of OCM's registration agent.
const pollInterval = 30 * time.Second

// polling is the registration agent at its own pace, beside our agent, on the
// unguarded hub. It polls while all other specs run.
var polling struct {
	*standIn
	seen *events
	// corrected tells of each poll how it ended: nil once Available was False again.
	corrected chan error
	stop      func()
}

func startPolling(ctx context.Context) {
	GinkgoHelper()
	unguarded.manage(ctx, hubguard.ModeOff)
	unguarded.register(ctx)
	polling.standIn = unguarded.newStandIn(ctx, runs())
	polling.attend()
	polling.awaitFall(ctx)
	Eventually(polling.availability(ctx)).Should(Equal(required))
	polling.seen = polling.watch(ctx)
	polling.corrected = make(chan error, 100)
	background, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	polling.stop = func() { cancel(); <-ended }
	DeferCleanup(polling.stop)
	go func() {
		defer close(ended)
		wait.UntilWithContext(background, func(ctx context.Context) { polling.corrected <- pollOnce(ctx) }, pollInterval)
	}()
}

// pollOnce speaks and waits until it was contradicted, as OCM's controllers do
// who have a label follow what is stored.
func pollOnce(ctx context.Context) error {
	if err := polling.poll(ctx); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		object := polling.object(viaStorage)
		if err := polling.client.Get(ctx, polling.key(), object); err != nil || find(object, "Available")["reason"] != required {
			return false, err
		}
		return true, polling.follow(ctx, object)
	})
}

// unguardedWriters meet our agent alone.
func unguardedWriters() {
	It("the registration agent, every 30 s as in reality, is corrected each time, once", func(ctx context.Context) {
		var polls int32
		for polls < 2 { // the second comes after the interval
			var result error
			Eventually(polling.corrected).WithTimeout(2 * pollInterval).Should(Receive(&result))
			Expect(result).NotTo(HaveOccurred())
			polls++
		}
		polling.stop()
		polls += int32(len(polling.corrected))
		AddReportEntry("polled", fmt.Sprintf("%d polls, %d events with True, %d in all", polls, polling.seen.available.Load(), polling.seen.all.Load()))
		Expect(polling.seen.available.Load()).To(BeNumerically("<=", polls))
		Expect(polling.seen.all.Load()).To(BeNumerically("<=", 2*polls), "each word and its correction")
		Expect(polling.availability(ctx)()).To(Equal(required))
		Expect(polling.label(ctx)).To(HaveSuffix(" unhealthy"))
	})

	It("writers that insist are answered at a bounded rate, and have not the last word", func(ctx context.Context) {
		const duration = 8 * time.Second
		prober := unguarded.newStandIn(ctx, probed())
		prober.customize(ctx)
		stock := unguarded.newStandIn(ctx, runs())
		both := []*standIn{stock, prober}
		seen := map[*standIn]*events{}
		for _, s := range both {
			s.attend()
			s.awaitFall(ctx)
			Eventually(s.availability(ctx)).Should(Equal(required))
			seen[s] = s.watch(ctx)
		}
		insistTogether(ctx, both, 500*time.Millisecond, duration)
		for _, s := range both {
			written := s.written.Load()
			Expect(written).To(BeNumerically(">=", 10))
			// As many answers at most: at once, then after 0.5, 1, 2 and 4 seconds;
			// and the label that follows is no event of the add-on.
			Expect(seen[s].all.Load() - seen[s].available.Load()).To(BeNumerically("<=", 8))
			AddReportEntry("contested", fmt.Sprintf("%s: %d writes in %s, %d events with True, %d in all",
				s.says["reason"], written, duration, seen[s].available.Load(), seen[s].all.Load()))
			Eventually(s.availability(ctx)).Should(Equal(required))
		}

		By("the dependency being there, the prober has its word back")
		prober.provide(ctx)
		Eventually(prober.availability(ctx)).Should(Equal("AwaitingHealthCheck"))
		Expect(find(prober.write(ctx, viaBeta, say(probed())), "Available")).To(Equal(probed()))
		Consistently(prober.availability(ctx)).Should(Equal("ProbeAvailable"))
	})
}
