package coexistence

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/test/witness"
)

// tableVariable names a file that the counts are written to, as Markdown.
const tableVariable = "COEXISTENCE_TABLE"

// row is what was counted of one add-on on one cluster in a quiet period.
type row struct {
	guard, phase, site string
	of                 *example
	// stock and ours are writes, trues those stock writes that set Available to True
	// beside the failing dependency, and answers those of ours that stored something.
	stock, ours, trues, answers, moves, labels int
}

var table []row

func tabulate(counts witness.Counts, guard, phase string) []row {
	var rows []row
	for _, s := range sites {
		for _, c := range cases {
			of := counts.ForAddOn(s.name, c.name())
			r := row{guard: guard, phase: phase, site: s.name, of: c, labels: counts.LabelMoves(s.name, c.name()), answers: of.Answers()}
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

// writeTable writes the counts. Add-ons and clusters with counts of the same shape
// are joined; where the counts differ, they have a range.
func writeTable() {
	GinkgoHelper()
	var text strings.Builder
	text.WriteString("| guard | period | clusters | add-ons | stock writes each " +
		"| of them True | Interlock's writes | moves of conditions | moves of labels |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	type key struct{ guard, phase, addOns, shape string }
	joined := map[key][]row{}
	var order []key
	for _, rows := range bySite(table) {
		key := key{rows[0].guard, rows[0].phase, namesOf(rows), rows[0].shape()}
		if joined[key] == nil {
			order = append(order, key)
		}
		joined[key] = append(joined[key], rows...)
	}
	for _, key := range order {
		rows := joined[key]
		var clusters []string
		for _, r := range rows {
			clusters = append(clusters, r.site)
		}
		clusters = slices.Compact(clusters)
		if len(clusters) == len(sites) {
			clusters = []string{"all"}
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s |", key.guard, key.phase, strings.Join(clusters, ", "), key.addOns)
		for _, column := range columns {
			fmt.Fprintf(&text, " %s |", span(rows, column))
		}
		text.WriteString("\n")
	}
	AddReportEntry("counts", ReportEntryVisibilityAlways, text.String())
	if file := os.Getenv(tableVariable); file != "" {
		Expect(os.WriteFile(file, []byte(text.String()), 0o600)).To(Succeed())
	}
}

// columns are what the table counts. Those that dispute a condition write as fast
// as they can, so their writes are not comparable and left out.
var columns = []func(row) int{
	func(r row) int {
		if r.of.disputed {
			return 0
		}
		return r.stock
	},
	func(r row) int { return r.trues },
	func(r row) int { return r.ours },
	func(r row) int { return r.moves },
	func(r row) int { return r.labels },
}

// shape is what rows have in common that are joined. Stock writes of add-ons in
// Customized mode are left out: one more or less of them means nothing.
func (r row) shape() string {
	lease := r.of.kind == "lease"
	return fmt.Sprint(r.of.disputed, r.of.independent, lease, lease && r.stock > 0, r.trues > 0, r.ours > 0)
}

// bySite groups the rows of a period and a cluster that have the same shape.
func bySite(rows []row) [][]row {
	type key struct{ guard, phase, site, shape string }
	groups := map[key]int{}
	var all [][]row
	for _, r := range rows {
		key := key{r.guard, r.phase, r.site, r.shape()}
		at, known := groups[key]
		if !known {
			at = len(all)
			groups[key] = at
			all = append(all, nil)
		}
		all[at] = append(all[at], r)
	}
	return all
}

// namesOf are the states of each kind of add-on; kinds with the same states are joined.
func namesOf(rows []row) string {
	states := map[string][]string{}
	for _, r := range rows {
		kind := r.of.kind
		if r.of.disputed {
			kind = "disputed " + kind
		}
		if r.of.independent {
			kind = "independent " + kind
		}
		states[kind] = append(states[kind], r.of.state)
	}
	kinds := map[string][]string{}
	for _, kind := range slices.Sorted(maps.Keys(states)) {
		list := strings.Join(states[kind], ", ")
		kinds[list] = append(kinds[list], kind)
	}
	var names []string
	for _, list := range slices.Sorted(maps.Keys(kinds)) {
		names = append(names, strings.Join(kinds[list], ", ")+": "+list)
	}
	return strings.Join(names, "; ")
}

func span(rows []row, column func(row) int) string {
	least, most := column(rows[0]), column(rows[0])
	for _, r := range rows {
		least, most = min(least, column(r)), max(most, column(r))
	}
	if least == most {
		return strconv.Itoa(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}
