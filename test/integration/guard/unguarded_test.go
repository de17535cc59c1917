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

// slowPolling is the guard being off, and OCM's agent in no hurry.
func slowPolling() {
	It("has the registration agent, every 30 s as in reality, corrected by our agent each time, once", func(ctx context.Context) {
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
}

// contested is a stand-in that meets our agent alone.
type contested struct {
	*standIn
	seen *events
}

// contestants are one of either mode, on the unguarded hub.
func contestants(ctx context.Context) []*contested {
	GinkgoHelper()
	prober := unguarded.newStandIn(ctx, probed())
	prober.customize(ctx)
	both := []*contested{{standIn: unguarded.newStandIn(ctx, runs())}, {standIn: prober}}
	for _, c := range both {
		c.attend()
		c.awaitFall(ctx)
		Eventually(c.availability(ctx)).Should(Equal(required))
		c.seen = c.watch(ctx)
	}
	return both
}

// expectBounded expects that all converged, at a rate that does not follow
// that of the stand-in.
func (c *contested) expectBounded(ctx context.Context) {
	GinkgoHelper()
	written, available := c.written.Load(), c.seen.available.Load()
	AddReportEntry("contested", fmt.Sprintf("%s: %d writes, %d events with True, %d in all", c.says["reason"], written, available, c.seen.all.Load()))
	Expect(written).To(BeNumerically(">=", 6), "it insisted")
	Expect(available).To(BeNumerically(">=", 1), "nothing guards")
	// As many answers at most: at once, then after 0.5, 1, 2 and 4 seconds.
	Expect(c.seen.all.Load() - available).To(BeNumerically("<=", 8))
	Eventually(c.availability(ctx)).Should(Equal(required))
}
