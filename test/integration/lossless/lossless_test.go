package lossless

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// window is how long the writer writes in each state of the hub.
	window = 2 * time.Second
)

// play is one case.
type play struct {
	name string
	// run takes the graft away and brings it back, in whatever way the case is about.
	run func(ctx context.Context)
	// verdictsEnd means that conditions are removed meanwhile, as uninstalling does.
	verdictsEnd bool
}

var plays = []play{
	{name: "the flag off and on", run: func(ctx context.Context) {
		release(ctx, off)
		away(ctx)
		staysOff(ctx)
		release(ctx, on)
	}},
	{name: "helm upgrade without values, and helm rollback", run: func(ctx context.Context) {
		release(ctx)
		remains(ctx)
		putCRD(ctx, later(0)) // the value is not needed either when OCM writes its CRD
		Eventually(grafted(ctx)).Should(BeTrue())
		release(ctx, on)
		remains(ctx)
		release(ctx)
		remains(ctx)
	}},
	{name: "OCM's CRD put back while addon-manager is away, which starts without the flag", run: func(ctx context.Context) {
		stopManager(ctx)
		putCRD(ctx, later(0))
		away(ctx)
		release(ctx)
	}},
	{name: "the webhook away for longer than the grace period", run: func(ctx context.Context) {
		Expect(webhook.Kill()).To(Succeed())
		away(ctx)
		startWebhook()
	}},
	{name: "OCM upgraded, downgraded, and upgraded to a version with the field", run: func(ctx context.Context) {
		for _, version := range []string{later(1), later(0)} {
			putCRD(ctx, version)
			Eventually(grafted(ctx)).Should(BeTrue())
			expectKept(ctx)
			Consistently(grafted(ctx)).WithTimeout(window).Should(BeTrue())
		}
		putCRDWith(ctx, later(2), withProposedField)
		DeferCleanup(putCRD, later(0))
	}},
	{name: "a GitOps tool puts OCM's CRD back every 10 s", run: func(ctx context.Context) {
		rounds := startGitOps(ctx)
		for round := 1; round <= 3; round++ {
			Eventually(rounds).Should(Receive(Equal(round)))
			Eventually(grafted(ctx)).Should(BeTrue())
		}
	}},
	{name: "uninstalled and installed again", verdictsEnd: true, run: func(ctx context.Context) {
		uninstall(ctx)
		Expect(grafted(ctx)()).To(BeFalse())
		Expect(webhook.Kill()).To(Succeed())
		undeploy(ctx, nil)
		away(ctx)
		deploy(ctx)
		startWebhook()
		staysOff(ctx)
		release(ctx, on)
	}},
	{name: "storage rewritten in bulk while the CRD is given back", run: func(ctx context.Context) {
		release(ctx, off)
		away(ctx)
		rewrite(ctx)
		expectKept(ctx)
		release(ctx, on)
	}},
	{name: "Interlock rolled back one version", run: func(ctx context.Context) {
		// A stand-in for the version before: its graft has fewer fields, and its
		// deployment has no mutating webhook. Its evaluation does not run here.
		stopManager(ctx)
		undeploy(ctx, mutatingConfigurationKinds)
		graftOlder(ctx)
		Eventually(lost(ctx, byField)).ShouldNot(BeEmpty(), "fields that it does not know are hidden")
		rewrite(ctx)
		away(ctx)
		deploy(ctx)
		release(ctx, on)
	}},
}

var _ = Describe("A declaration by field, beside a writer of v1beta1", Ordered, ContinueOnFailure, func() {
	BeforeEach(func(ctx context.Context) {
		select {
		case <-webhook.Done(): // killed by a case that failed
			startWebhook()
		default:
		}
		release(ctx, on)
		Eventually(grafted(ctx)).WithTimeout(patience).Should(BeTrue())
		Eventually(func(g Gomega) { // for a moment after the CRD has changed, API servers drop what is new in it
			declare(ctx)
			g.Expect(lost(ctx, byField)()).To(BeEmpty())
		}).Should(Succeed())
		settle(ctx)
	})

	AfterEach(func(ctx context.Context) {
		if CurrentSpecReport().Failed() {
			printLogs()
			putCRD(ctx, later(0)) // as if the case had not been
		}
	})

	for _, p := range plays {
		It("is kept: "+p.name, func(ctx context.Context) {
			writing := startWriter()
			defer writing.cancel()
			Eventually(writing.wrote.Load).Should(BeNumerically(">", perSecond/2))
			forgetMoves()
			p.run(ctx)
			Eventually(grafted(ctx)).WithTimeout(patience).Should(BeTrue())
			expectKept(ctx)
			settle(ctx)
			moved := movedVerdicts()
			if p.verdictsEnd {
				moved = nil
			}
			Consistently(lost(ctx, byRecord)).WithTimeout(window).Should(BeEmpty(), "the record stays")
			expectKept(ctx) // a request that began before the CRD changed can still take a field away
			rate := writing.stop()
			AddReportEntry("row", fmt.Sprintf("%s | %.0f | %d", p.name, rate, writing.failed.Load()), ReportEntryVisibilityFailureOrVerbose)
			Expect(moved).To(BeEmpty(), "verdicts that moved")
		})
	}
})

// remains expects that the graft stays for a while.
func remains(ctx context.Context) {
	GinkgoHelper()
	Consistently(grafted(ctx)).WithTimeout(2 * window).Should(BeTrue())
}

// staysOff expects that an addon-manager without the flag does not graft.
func staysOff(ctx context.Context) {
	GinkgoHelper()
	release(ctx)
	Consistently(hasFields).WithArguments(ctx).WithTimeout(2 * window).Should(BeFalse())
}

// away waits until a declaration is lost by field, and expects it in the record
// for a while.
func away(ctx context.Context) {
	GinkgoHelper()
	Eventually(lost(ctx, byField)).WithTimeout(patience).ShouldNot(BeEmpty(), "the graft does not go away")
	Consistently(lost(ctx, byRecord)).WithTimeout(window).Should(BeEmpty())
}

// rewrite writes every add-on once through each version, as a migration of storage does.
func rewrite(ctx context.Context) {
	GinkgoHelper()
	for _, version := range []string{other, storage} {
		for _, name := range allNames() {
			Eventually(func() error {
				addOn := registration(version, name)
				if err := admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn); err != nil {
					return err
				}
				return admin.Update(ctx, addOn)
			}).Should(Succeed())
		}
	}
}

func printLogs() {
	for _, name := range []string{"addon-manager.log", "webhook.log", "uninstall.log"} {
		content, err := os.ReadFile(filepath.Join(logs, name))
		if err == nil {
			lines := strings.Split(strings.TrimSpace(string(content)), "\n")
			fmt.Fprintf(GinkgoWriter, "\n%s:\n%s\n", name, strings.Join(lines[max(0, len(lines)-60):], "\n"))
		}
	}
}
