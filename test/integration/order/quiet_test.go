package order

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/test/witness"
)

// quiet is how long nothing may be written: four polls of OCM's agent.
const quiet = 8 * time.Second

// expectQuiet expects no write that changes anything for a while.
func expectQuiet(ctx context.Context) {
	GinkgoHelper()
	w, err := witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog})
	Expect(err).NotTo(HaveOccurred())
	defer w.Stop()
	Expect(w.Settle(ctx, 3*time.Second)).To(Succeed())
	counts, err := w.Quiet(ctx, quiet)
	Expect(err).NotTo(HaveOccurred())
	for _, row := range counts.Rows {
		if row.Object.Resource == "events" && strings.Contains(row.Writer.String(), "placement") {
			continue // OCM still reports what it has decided for another spec
		}
		Expect(row.Writer.Interlock()).To(BeFalse(), counts.String())
		// OCM's agent insists that there is no lease, which the guard answers. OCM's add-on manager does not insist.
		Expect(row.Writes).To(Equal(row.Unchanged), counts.String())
		Expect(row.Writer.String()).NotTo(ContainSubstring("addon-manager"), counts.String())
	}
	Expect(w.Findings(ctx)).To(BeEmpty())
}

// expectNoWrites expects no write to add-ons of a name for a while.
func expectNoWrites(ctx context.Context, name string) {
	GinkgoHelper()
	w, err := witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog})
	Expect(err).NotTo(HaveOccurred())
	defer w.Stop()
	Expect(w.Settle(ctx, 3*time.Second)).To(Succeed())
	counts, err := w.Quiet(ctx, quiet)
	Expect(err).NotTo(HaveOccurred())
	for _, row := range counts.Rows {
		Expect(row.Object.String()).NotTo(HaveSuffix("/"+name), counts.String())
	}
}
