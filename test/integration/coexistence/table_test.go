package coexistence

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/test/witness"
)

// tableVariable names a file that the counts are written to, as Markdown.
const tableVariable = "COEXISTENCE_TABLE"

// row is what was counted of one kind of add-ons on one cluster in a quiet period.
type row struct {
	guard, phase, site, kind string
	// stock and ours are writes, trues those stock writes that set Available to True
	// beside the failing dependency.
	stock, ours, trues, moves, labels int
}

var table []row

func tabulate(counts witness.Counts, guard, phase string) []row {
	var rows []row
	for _, s := range sites {
		for _, c := range cases {
			of := counts.Of(s.name, c.name())
			r := row{guard: guard, phase: phase, site: s.name, kind: c.name(), labels: counts.LabelMoves(s.name, c.name())}
			for _, each := range of.Rows {
				if each.Writer.Interlock() {
					r.ours += each.Writes + each.Refused
				} else {
					r.stock += each.Writes + each.Refused
				}
				r.trues += each.StockTrues
				r.moves += each.Moves
			}
			rows = append(rows, r)
		}
	}
	table = append(table, rows...)
	return rows
}

// writeTable writes the counts, add-ons with equal ones joined.
func writeTable() {
	GinkgoHelper()
	var text strings.Builder
	text.WriteString("| guard | phase | cluster | add-ons | stock writes | of them True | Interlock's writes | moves of conditions | moves of labels |\n|---|---|---|---|---|---|---|---|---|\n")
	type key struct{ guard, phase, site, counts string }
	joined := map[key][]string{}
	var order []key
	for _, r := range table {
		counts := fmt.Sprintf("%d | %d | %d | %d | %d", r.stock, r.trues, r.ours, r.moves, r.labels)
		if strings.HasSuffix(r.kind, "-disputed") {
			counts = fmt.Sprintf("insisting | %d | %d | %d | %d", r.trues, r.ours, r.moves, r.labels)
		}
		key := key{r.guard, r.phase, r.site, counts}
		if joined[key] == nil {
			order = append(order, key)
		}
		joined[key] = append(joined[key], r.kind)
	}
	for _, key := range order {
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s |\n", key.guard, key.phase, key.site, strings.Join(slices.SortedFunc(slices.Values(joined[key]), cmp.Compare), ", "), key.counts)
	}
	AddReportEntry("counts", ReportEntryVisibilityAlways, text.String())
	if file := os.Getenv(tableVariable); file != "" {
		Expect(os.WriteFile(file, []byte(text.String()), 0o600)).To(Succeed())
	}
}
