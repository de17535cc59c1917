package order

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/test/witness"
)

// quiet is the length of a period without writes: four polls of OCM's agent.
const quiet = 8 * time.Second

// periods is the number of quiet periods within which OCM's add-on manager has to stop writing. On a busy machine it prepares
// registrations late.
const periods = 4

// expectQuiet expects that Interlock writes nothing, and that OCM stops writing.
func expectQuiet(ctx context.Context) {
	GinkgoHelper()
	w, err := witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog})
	Expect(err).NotTo(HaveOccurred())
	defer w.Stop()
	Expect(w.Settle(ctx, 3*time.Second)).To(Succeed())
	var busy string
	for range periods {
		counts, err := w.Quiet(ctx, quiet)
		Expect(err).NotTo(HaveOccurred())
		if busy = writesOfOCM(counts); busy == "" {
			break
		}
	}
	Expect(busy).To(BeEmpty(), "OCM's add-on manager insists")
	Expect(w.Findings(ctx)).To(BeEmpty())
}

// writesOfOCM returns the counts of a period in which OCM's add-on manager wrote, or another component of OCM changed an object. OCM's
// agent keeps reporting that there is no lease, and the guard corrects that. These writes change nothing.
func writesOfOCM(counts witness.Counts) string {
	GinkgoHelper()
	for _, row := range counts.Rows {
		Expect(row.Writer.Interlock()).To(BeFalse(), counts.String())
		switch {
		case row.Object.Resource == "events" && strings.Contains(row.Writer.String(), "placement"):
			// OCM still reports a decision for another spec.
		case row.Writes != row.Unchanged, strings.Contains(row.Writer.String(), "addon-manager"):
			return counts.String()
		}
	}
	return ""
}

// expectNoWrites expects that add-ons of a name are not written for a while.
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
