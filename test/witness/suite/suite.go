// Package suite lets a witness judge a whole Ginkgo suite.
package suite

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/test/witness"
)

// Undeclared are the kinds of findings that need no declaration of what a suite
// changes, except of what it removes.
var Undeclared = []witness.Kind{witness.NoChange, witness.AnsweredTwice, witness.DeclarationLost}

// All are the kinds that a suite judges that declares each of its steps.
var All = append(slices.Clone(Undeclared), witness.Flip, witness.LabelMoved, witness.NotQuiet, witness.Deleted)

// Start starts a witness in BeforeSuite. Its findings of the kinds fail the suite
// in the end, while the hub still runs: call it after the hub has started, and
// before Interlock starts.
func Start(ctx context.Context, options witness.Options, kinds []witness.Kind) *witness.Witness {
	GinkgoHelper()
	w, err := witness.Start(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx context.Context) {
		defer w.Stop()
		findings, err := w.Findings(ctx)
		Expect(err).NotTo(HaveOccurred())
		judged := slices.DeleteFunc(findings, func(f witness.Finding) bool { return !slices.Contains(kinds, f.Kind) })
		Expect(judged).To(BeEmpty(), witness.Report(judged))
	})
	return w
}
