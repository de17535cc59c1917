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

// play is a case.
type play struct {
	name string
	// run removes the graft and restores it, in the way of the case.
	run func(ctx context.Context)
	// verdictsEnd means that conditions are removed meanwhile, as uninstalling does.
	verdictsEnd bool
}

var plays = []play{
	{name: "the flag off and on", run: func(ctx context.Context) {
		release(ctx, graftOff)
		expectRecordOnly(ctx)
		expectUngrafted(ctx)
		release(ctx, graftOn)
	}},
	{name: "helm upgrade without values, and helm rollback", run: func(ctx context.Context) {
		release(ctx)
		expectGrafted(ctx)
		putCRD(ctx, laterVersion(0)) // nor does it need the value when OCM writes its CRD
		Eventually(isGrafted(ctx)).Should(BeTrue())
		release(ctx, graftOn)
		expectGrafted(ctx)
		release(ctx)
		expectGrafted(ctx)
	}},
	{name: "OCM's CRD put back while addon-manager is away, which starts without the flag", run: func(ctx context.Context) {
		stopManager(ctx)
		putCRD(ctx, laterVersion(0))
		expectRecordOnly(ctx)
		release(ctx)
	}},
	{name: "the webhook away for longer than the grace period", run: func(ctx context.Context) {
		Expect(webhook.Kill()).To(Succeed())
		expectRecordOnly(ctx)
		startWebhook()
	}},
	{name: "OCM upgraded, downgraded, and upgraded to a version with the field", run: func(ctx context.Context) {
		for _, version := range []string{laterVersion(1), laterVersion(0)} {
			putCRD(ctx, version)
			Eventually(isGrafted(ctx)).Should(BeTrue())
			expectKept(ctx)
			Consistently(isGrafted(ctx)).WithTimeout(window).Should(BeTrue())
		}
		putCRDWith(ctx, laterVersion(2), withProposedField)
		DeferCleanup(putCRD, laterVersion(0))
	}},
	{name: "a GitOps tool puts OCM's CRD back every 10 s", run: func(ctx context.Context) {
		rounds := startGitOps(ctx)
		for round := 1; round <= 3; round++ {
			Eventually(rounds).Should(Receive(Equal(round)))
			Eventually(isGrafted(ctx)).Should(BeTrue())
		}
	}},
	{name: "uninstalled and installed again", verdictsEnd: true, run: func(ctx context.Context) {
		uninstall(ctx)
		Expect(isGrafted(ctx)()).To(BeFalse())
		Expect(webhook.Kill()).To(Succeed())
		undeploy(ctx, nil)
		expectRecordOnly(ctx)
		deploy(ctx)
		startWebhook()
		expectUngrafted(ctx)
		release(ctx, graftOn)
	}},
	{name: "storage rewritten in bulk while the CRD is given back", run: func(ctx context.Context) {
		release(ctx, graftOff)
		expectRecordOnly(ctx)
		rewrite(ctx)
		expectKept(ctx)
		release(ctx, graftOn)
	}},
	{name: "Interlock rolled back one version", run: func(ctx context.Context) {
		// A stand-in for the previous version: its graft has fewer fields, and its deployment has no mutating webhook. Its evaluation
		// does not run here.
		stopManager(ctx)
		undeploy(ctx, mutatingConfigurationKinds)
		graftOlder(ctx)
		Eventually(lostDeclarations(ctx, byField)).ShouldNot(BeEmpty(), "fields that it does not know are hidden")
		rewrite(ctx)
		expectRecordOnly(ctx)
		deploy(ctx)
		release(ctx, graftOn)
	}},
}

var _ = Describe("A declaration by field, beside a writer of v1beta1", Ordered, ContinueOnFailure, func() {
	BeforeEach(func(ctx context.Context) {
		select {
		case <-webhook.Done(): // a failed case has killed it
			startWebhook()
		default:
		}
		release(ctx, graftOn)
		Eventually(isGrafted(ctx)).WithTimeout(patience).Should(BeTrue())
		Eventually(func(g Gomega) { // for a moment after a change of the CRD, API servers drop new fields
			declare(ctx)
			g.Expect(lostDeclarations(ctx, byField)()).To(BeEmpty())
		}).Should(Succeed())
		settle(ctx)
	})

	AfterEach(func(ctx context.Context) {
		if CurrentSpecReport().Failed() {
			printLogs()
			putCRD(ctx, laterVersion(0)) // as if the case had not run
		}
	})

	for _, p := range plays {
		It("is kept: "+p.name, func(ctx context.Context) {
			writing := startWriter()
			defer writing.cancel()
			Eventually(writing.wrote.Load).Should(BeNumerically(">", perSecond/2))
			forgetMoves()
			p.run(ctx)
			Eventually(isGrafted(ctx)).WithTimeout(patience).Should(BeTrue())
			expectKept(ctx)
			settle(ctx)
			changes := movedVerdicts()
			if p.verdictsEnd {
				changes = nil
			}
			Consistently(lostDeclarations(ctx, byRecord)).WithTimeout(window).Should(BeEmpty(), "the record stays")
			expectKept(ctx) // a request that began before the change of the CRD can still remove a field
			rate := writing.stop()
			AddReportEntry("row", fmt.Sprintf("%s | %.0f | %d", p.name, rate, writing.failed.Load()), ReportEntryVisibilityFailureOrVerbose)
			Expect(changes).To(BeEmpty(), "verdicts that moved")
		})
	}
})

// expectGrafted expects that the graft stays for a while.
func expectGrafted(ctx context.Context) {
	GinkgoHelper()
	Consistently(isGrafted(ctx)).WithTimeout(2 * window).Should(BeTrue())
}

// expectUngrafted expects that an addon-manager without the flag does not graft.
func expectUngrafted(ctx context.Context) {
	GinkgoHelper()
	release(ctx)
	Consistently(hasFields).WithArguments(ctx).WithTimeout(2 * window).Should(BeFalse())
}

// expectRecordOnly waits until a declaration is lost in the fields. It then expects the declaration in the record for a while.
func expectRecordOnly(ctx context.Context) {
	GinkgoHelper()
	Eventually(lostDeclarations(ctx, byField)).WithTimeout(patience).ShouldNot(BeEmpty(), "the graft does not go away")
	Consistently(lostDeclarations(ctx, byRecord)).WithTimeout(window).Should(BeEmpty())
}

// rewrite writes every add-on once through each version, as a migration of storage does.
func rewrite(ctx context.Context) {
	GinkgoHelper()
	for _, version := range []string{betaVersion, storage} {
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
