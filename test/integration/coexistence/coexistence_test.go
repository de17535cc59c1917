package coexistence

import (
	"context"
	"fmt"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
)

var _ = Describe("Interlock beside OCM", Ordered, ContinueOnFailure, func() {
	for _, guard := range []string{"policy", "webhook", "off"} {
		Describe("with the guard "+guard, Ordered, func() {
			var w *witness.Witness

			observe := func(ctx context.Context) {
				var err error
				w, err = witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog, Unguarded: guard == "off"})
				Expect(err).NotTo(HaveOccurred())
			}

			BeforeAll(func(ctx context.Context) {
				observe(ctx)
				DeferCleanup(func() { w.Stop() })
				w.Cause("the guard is " + guard)
				restartManager(ctx, guard)
				if !withDependency {
					for _, s := range sites {
						if s.attended {
							s.admitAgent(ctx)
							Expect(startAgent(ctx, s)).To(Succeed())
						}
					}
					w.Cause("a Required dependency is declared")
					declare(ctx)
				} else {
					w.Removed(missingAddOn)
					w.Cause("the dependency is uninstalled")
					uninstallDependency(ctx)
				}
				settle(ctx, guard)
			}, NodeTimeout(5*time.Minute))

			It("is quiet where agents and clusters are down", func(ctx context.Context) {
				w.Cause("agents and clusters go down")
				Expect(eachSite(ctx, func(ctx context.Context, s *site) error { return s.fall(ctx, s) })).To(Succeed())
				settleDown(ctx, guard)
				expectQuiet(ctx, w, guard, "down")
			}, NodeTimeout(quiet+5*time.Minute))

			It("is quiet after the agents, the clusters and the hub's controllers are back", func(ctx context.Context) {
				w.Cause("agents and clusters come back")
				Expect(eachSite(ctx, func(ctx context.Context, s *site) error { return s.rise(ctx, s) })).To(Succeed())
				for _, s := range sites {
					s.expect(ctx, unlessStillLost(expectedWith(guard)))
				}
				w.Cause("managers are triggered")
				triggerManagers(ctx)
				for _, s := range sites {
					s.expect(ctx, expectedWith(guard))
				}
				if guard != "webhook" { // one form of the guard is enough for restarts
					w.Cause("the hub's controllers restart")
					restartHub(ctx)
					restartManager(ctx, guard)
				}
				settle(ctx, guard)
				expectQuiet(ctx, w, guard, "back")
			}, NodeTimeout(quiet+12*time.Minute))

			It("flips no condition while the dependency is installed, and is quiet afterwards", func(ctx context.Context) {
				w.Stop() // findings of earlier periods do not count for this one
				observe(ctx)
				w.Cause("the dependency is installed")
				installDependency(ctx)
				for _, s := range sites {
					s.expect(ctx, stockConditions)
				}
				expectQuiet(ctx, w, guard, "installed")
			}, NodeTimeout(quiet+5*time.Minute))
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

// triggerManagers has the managers of all add-ons in Customized mode set Available. They do so only on events, and any change of an
// add-on triggers one.
func triggerManagers(ctx context.Context) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"triggered":%q}}}`, time.Now().Format(time.RFC3339Nano))
	for _, s := range sites {
		for _, c := range cases {
			Expect(hub.Client.Patch(ctx, s.addOn(c.name()), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
		}
	}
}

// settle waits until every writer has written its final values.
func settle(ctx context.Context, guard string) {
	GinkgoHelper()
	if guard == "off" {
		triggerManagers(ctx)
	}
	for _, s := range sites {
		s.expect(ctx, expectedWith(guard))
	}
}

func settleDown(ctx context.Context, guard string) {
	GinkgoHelper()
	if guard == "off" {
		triggerManagers(ctx)
	}
	for _, s := range sites {
		s.expect(ctx, down(expectedWith(guard)))
	}
}

// expectedWith returns the final conditions. With a guard, they are Interlock's. Without a guard, addon-agent replaces a stock True
// where it runs, and any other stock condition stays.
func expectedWith(guard string) func(*site, *example) []condition {
	if guard != "off" {
		return guardedConditions
	}
	return func(s *site, c *example) []condition {
		switch {
		case c.independent || c.stock.status != "True":
			return []condition{c.stock}
		case s.attended:
			return []condition{dependencyFails, c.stock}
		}
		return []condition{c.stock}
	}
}

// calm is longer than the interval at which stock writers poll.
const calm = addOnLeaseInterval + 2*time.Second

// expectQuiet runs a quiet period after all earlier changes have had their effects. Meanwhile, some writers dispute another condition.
func expectQuiet(ctx context.Context, w *witness.Witness, guard, phase string) {
	GinkgoHelper()
	settling, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	Expect(w.Settle(settling, calm)).To(Succeed())
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
	if len(findings) > 0 { // the findings come last, because logs are often cut above
		Fail(unguardedWrites(ctx) + "\n" + witness.Report(findings))
	}
	for _, row := range rows {
		// A stock True at an edge of the period is corrected on the other side of the edge. Beside writers that insist several times a
		// second, the audit
		// log does not always show which write set the True. AnsweredTwice still judges these add-ons.
		if guard == "off" && !row.example.disputed && row.trues+row.answers > 0 {
			Expect(row.answers).To(BeNumerically("~", row.trues, 1), "writes by Interlock and stock Trues of %s on %s", row.example.name(), row.site)
		}
	}
}
