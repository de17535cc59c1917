package report

import (
	"encoding/json"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// MaxBytes is how large a report can be, in bytes of JSON, with its metadata.
const MaxBytes = 256 << 10

// metadataBytes is reserved for what the API server adds.
const metadataBytes = 4 << 10

// bound leaves out the last entries of a report that would be larger than MaxBytes, or that
// the schema would refuse, and counts them. Edges are kept before waits, those
// before pending edges, and those before neededBy.
func bound(of *DependencyReport) {
	left := MaxBytes - metadataBytes
	of.Edges = fit(of.Edges, &left, &of.Summary.LeftOut)
	of.Waiting = fit(of.Waiting, &left, &of.Summary.LeftOut)
	of.Pending = fit(of.Pending, &left, &of.Summary.LeftOut)
	for i := range of.NeededBy {
		of.NeededBy[i].Dependents = of.NeededBy[i].Dependents[:min(len(of.NeededBy[i].Dependents), dependencyv1alpha1.MaxReportEntries)]
	}
	of.NeededBy = fit(of.NeededBy, &left, &of.Summary.LeftOut)
}

// fit returns the first entries that need no more than left bytes. It takes what they need
// from left, and adds the others to leftOut.
func fit[T any](entries []T, left *int, leftOut *int32) []T {
	for i := range entries {
		encoded, err := json.Marshal(entries[i])
		size := len(encoded) + len(",")
		if err != nil || size > *left || i == dependencyv1alpha1.MaxReportEntries {
			*leftOut += count(entries[i:])
			return entries[:i]
		}
		*left -= size
	}
	return entries
}

func count[T any](entries []T) int32 { return int32(len(entries)) } //nolint:gosec // bounded by what fits into memory

// name makes a name fit into a report, and sentence any other text.
func name(of string) string { return text.Cut(text.OneLine(of), dependencyv1alpha1.MaxReportName) }

func sentence(of string) string { return text.Cut(text.OneLine(of), dependencyv1alpha1.MaxReportText) }
