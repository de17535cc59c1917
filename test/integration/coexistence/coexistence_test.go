package coexistence

import (
	"context"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
)

var _ = Describe("Interlock beside OCM", Ordered, ContinueOnFailure, func() {
	begun := false
	for _, guard := range []string{"policy", "webhook", "off"} {
		Describe("with the guard "+guard, Ordered, func() {
			var w *witness.Witness

			BeforeAll(func(ctx context.Context) {
				var err error
				w, err = witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog, Unguarded: guard == "off"})
				Expect(err).NotTo(HaveOccurred())
				DeferCleanup(func() { w.Stop() })
				w.Cause("the guard is " + guard)
				restartManager(ctx, guard)
				if !begun {
					begun = true
					for _, s := range sites {
						if s.attended {
							s.admitAgent(ctx)
							Expect(startAgent(ctx, s)).To(Succeed())
						}
					}
					w.Cause("a Required dependency is declared")
					declare(ctx)
				}
				settle(ctx, guard)
			}, NodeTimeout(3*time.Minute))

			It("is quiet where agents and clusters are down", func(ctx context.Context) {
				w.Cause("agents and clusters go down")
				Expect(eachSite(ctx, func(ctx context.Context, s *site) error { return s.fall(ctx, s) })).To(Succeed())
				settleDown(ctx, guard)
				expectQuiet(ctx, w, guard, "down")
			}, NodeTimeout(quiet+5*time.Minute))

			It("is quiet after they and the hub's controllers are back", func(ctx context.Context) {
				w.Cause("agents and clusters come back")
				Expect(eachSite(ctx, func(ctx context.Context, s *site) error { return s.rise(ctx, s) })).To(Succeed())
				for _, s := range sites {
					s.expect(ctx, orStillLost(wordsWith(guard)))
				}
				w.Cause("the hub's controllers restart")
				restartHub(ctx)
				restartManager(ctx, guard)
				settle(ctx, guard)
				expectQuiet(ctx, w, guard, "back")
			}, NodeTimeout(quiet+8*time.Minute))
		})
	}

	AfterAll(func() { writeTable() })
})

func eachSite(ctx context.Context, change func(context.Context, *site) error) error {
	var changing errgroup.Group
	for _, s := range sites {
		if s.fall != nil {
			changing.Go(func() error { return change(ctx, s) })
		}
	}
	return changing.Wait()
}

// restartHub restarts OCM's controllers, and the authors' managers.
func restartHub(ctx context.Context) {
	GinkgoHelper()
	for _, component := range []*ocm.Component{hub.Registration, hub.AddOnManager, hub.Work, hub.Placement} {
		Expect(component.Stop(ctx)).To(Succeed())
		Expect(component.Start(ctx)).To(Succeed())
	}
	restartAuthors(ctx)
}

// settle waits until every writer has written what it has to.
func settle(ctx context.Context, guard string) {
	GinkgoHelper()
	if guard == "off" {
		restartAuthors(ctx) // they write on events only: without one, what a guard kept away does not come
	}
	for _, s := range sites {
		s.expect(ctx, wordsWith(guard))
	}
}

func settleDown(ctx context.Context, guard string) {
	GinkgoHelper()
	if guard == "off" {
		restartAuthors(ctx)
	}
	for _, s := range sites {
		s.expect(ctx, down(wordsWith(guard)))
	}
}

// wordsWith are what Available reads in the end: with a guard, Interlock's word.
// Without one, a stock True is answered where addon-agent runs, and any other
// stock word stays.
func wordsWith(guard string) func(*site, *example) []condition {
	if guard != "off" {
		return guardedWord
	}
	return func(s *site, c *example) []condition {
		switch {
		case c.stock.status != "True":
			return []condition{c.stock}
		case s.attended:
			return []condition{ours, c.stock}
		}
		return []condition{c.stock}
	}
}

// expectQuiet has a quiet period, while some writers dispute another condition.
func expectQuiet(ctx context.Context, w *witness.Witness, guard, phase string) {
	GinkgoHelper()
	disputing, end := context.WithCancel(ctx)
	var disputes sync.WaitGroup
	for _, s := range sites {
		for _, c := range cases {
			if c.disputed {
				disputes.Go(func() { dispute(disputing, s, c) })
			}
		}
	}
	defer disputes.Wait()
	defer end()
	counts, err := w.Quiet(ctx, quiet)
	Expect(err).NotTo(HaveOccurred())
	rows := tabulate(counts, guard, phase)
	AddReportEntry(guard+", "+phase, ReportEntryVisibilityFailureOrVerbose, counts.String())
	findings, err := w.Findings(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(findings).To(BeEmpty(), witness.Report(findings))
	for _, row := range rows {
		// A stock True at an edge of the period has its answer on the other side.
		if guard == "off" && row.trues+row.ours > 0 {
			Expect(row.ours).To(BeNumerically("~", row.trues, 1), "%+v", row)
		}
	}
}
