package report

import (
	"encoding/json"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// MaxBytes is the largest size of a report, in bytes of JSON, with its metadata.
const MaxBytes = 256 << 10

// metadataBytes is reserved for the metadata that the API server adds.
const metadataBytes = 4 << 10

// bound cuts a report that would be larger than MaxBytes, or that the schema would refuse, and counts the entries that it leaves
// out. It cuts neededBy first, then pending edges, then waits, then edges.
func bound(report *DependencyReport) {
	capacity := MaxBytes - metadataBytes
	report.Edges = fit(report.Edges, &capacity, &report.Summary.LeftOut)
	report.Waiting = fit(report.Waiting, &capacity, &report.Summary.LeftOut)
	report.Pending = fit(report.Pending, &capacity, &report.Summary.LeftOut)
	for i := range report.NeededBy {
		dependents := report.NeededBy[i].Dependents
		report.NeededBy[i].Dependents = dependents[:min(len(dependents), dependencyv1alpha1.MaxReportEntries)]
	}
	report.NeededBy = fit(report.NeededBy, &capacity, &report.Summary.LeftOut)
}

// fit is Fit for a list of a report.
func fit[T any](entries []T, capacity *int, leftOut *int32) []T {
	return Fit(entries, dependencyv1alpha1.MaxReportEntries, capacity, leftOut)
}

// Fit returns the first entries, at most limit, that fit into capacity, in bytes of JSON. It takes their size from capacity, and adds the
// number of the other entries to leftOut.
func Fit[T any](entries []T, limit int, capacity *int, leftOut *int32) []T {
	for i := range entries {
		encoded, err := json.Marshal(entries[i])
		size := len(encoded) + len(",")
		if err != nil || size > *capacity || i == limit {
			*leftOut += count(entries[i:])
			return entries[:i]
		}
		*capacity -= size
	}
	return entries
}

func count[T any](entries []T) int32 { return int32(len(entries)) } //nolint:gosec // bounded by memory

// name cuts a name to the size that the schema of reports allows. sentence cuts any other text.
func name(value string) string {
	return text.Cut(text.OneLine(value), dependencyv1alpha1.MaxReportName)
}

func sentence(value string) string {
	return text.Cut(text.OneLine(value), dependencyv1alpha1.MaxReportText)
}
