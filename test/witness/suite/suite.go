// Package suite lets a witness judge a whole Ginkgo suite.
package suite

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/test/witness"
)

// Undeclared selects findings of a suite that declares only the declarations that it removes: writes by Interlock
// that changed nothing, and declarations lost.
func Undeclared(f witness.Finding) bool {
	return f.Kind == witness.NoChange || f.Kind == witness.DeclarationLost
}

// Declared selects findings of a suite that declares each of its steps: all findings on Interlock's writes, and
// losses and deletions by any writer. Moves by OCM's own components are left out: a rollout sets Available to False
// and back.
func Declared(f witness.Finding) bool {
	return Undeclared(f) || f.Kind == witness.Deleted || f.Writer.Interlock()
}

// Start starts a witness in BeforeSuite. The judged findings fail the suite in the end, while the hub still runs.
// Call it after the hub has started, and before Interlock starts.
func Start(ctx context.Context, options witness.Options, judged func(witness.Finding) bool) *witness.Witness {
	GinkgoHelper()
	w, err := witness.Start(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx context.Context) {
		defer w.Stop()
		findings, err := w.Findings(ctx)
		if err != nil {
			Fail(err.Error())
		}
		findings = withoutFinalizers(findings)
		findings = slices.DeleteFunc(findings, func(f witness.Finding) bool { return !judged(f) })
		if len(findings) > 0 {
			Fail(witness.Report(findings))
		}
	})
	return w
}

// withoutFinalizers leaves out writes that removed the last finalizer of a deleted object. The API server responds to
// them with the stored version, so a witness takes them for writes without a change. The deletion is the object's
// next or previous finding: it comes before with the time of the request to delete, or after without a request.
func withoutFinalizers(findings []witness.Finding) []witness.Finding {
	deleted := make([]bool, len(findings)) // whether it is next to a deletion
	last := map[witness.Object]int{}
	for i, f := range findings {
		if f.Kind != witness.NoChange && f.Kind != witness.Deleted {
			continue
		}
		if previous, ok := last[f.Object]; ok {
			deleted[i] = findings[previous].Kind == witness.Deleted
			deleted[previous] = deleted[previous] || f.Kind == witness.Deleted
		}
		last[f.Object] = i
	}
	var remaining []witness.Finding
	for i, f := range findings {
		if f.Kind != witness.NoChange || !deleted[i] {
			remaining = append(remaining, f)
		}
	}
	return remaining
}
