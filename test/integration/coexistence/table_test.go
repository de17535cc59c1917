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

// tableVariable names a file to which the counts are written, as Markdown.
const tableVariable = "COEXISTENCE_TABLE"

// row has the counts of one add-on on one cluster in a quiet period.
type row struct {
	guard, phase, site string
	example            *example
	// stock and interlock count writes. trues counts the stock writes that set Available to True beside the failing dependency. answers
	// counts Interlock's writes that changed an object.
	stock, interlock, trues, answers, moves, labels int
}

var table []row

func tabulate(counts witness.Counts, guard, phase string) []row {
	var rows []row
	for _, s := range sites {
		for _, c := range cases {
			total := counts.ForAddOn(s.name, c.name())
			r := row{guard: guard, phase: phase, site: s.name, example: c, labels: counts.LabelMoves(s.name, c.name()), answers: total.Answers()}
			for _, count := range total.Rows {
				if count.Writer.Interlock() {
					r.interlock += count.Writes + count.Refused
				} else {
					r.stock += count.Writes + count.Refused
				}
				r.trues += count.StockTrues
				r.moves += count.Moves
			}
			rows = append(rows, r)
		}
	}
	table = append(table, rows...)
	return rows
}

// writeTable writes the counts. Add-ons and clusters with counts of the same shape are joined. Counts that differ become a range.
func writeTable() {
	GinkgoHelper()
	var text strings.Builder
	text.WriteString("| guard | period | clusters | add-ons | stock writes each " +
		"| of them True | Interlock's writes | moves of conditions | moves of labels |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	type key struct{ guard, phase, addOns, shape string }
	groups := map[key][]row{}
	var order []key
	for _, rows := range bySite(table) {
		key := key{rows[0].guard, rows[0].phase, namesOf(rows), rows[0].shape()}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], rows...)
	}
	for _, key := range order {
		rows := groups[key]
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

// columns returns the columns of the table. Writers that dispute a condition write as fast as they can, so their writes are left out
// because they cannot be compared.
var columns = []func(row) int{
	func(r row) int {
		if r.example.disputed {
			return 0
		}
		return r.stock
	},
	func(r row) int { return r.trues },
	func(r row) int { return r.interlock },
	func(r row) int { return r.moves },
	func(r row) int { return r.labels },
}

// shape returns a key that is equal for rows that are joined. Stock writes of add-ons in Customized mode are left out, because one more
// or less of them means nothing.
func (r row) shape() string {
	lease := r.example.kind == "lease"
	return fmt.Sprint(r.example.disputed, r.example.independent, lease, lease && r.stock > 0, r.trues > 0, r.interlock > 0)
}

// bySite groups the rows of a period and a cluster that have the same shape.
func bySite(rows []row) [][]row {
	type key struct{ guard, phase, site, shape string }
	groups := map[key]int{}
	var groupedRows [][]row
	for _, r := range rows {
		key := key{r.guard, r.phase, r.site, r.shape()}
		index, ok := groups[key]
		if !ok {
			index = len(groupedRows)
			groups[key] = index
			groupedRows = append(groupedRows, nil)
		}
		groupedRows[index] = append(groupedRows[index], r)
	}
	return groupedRows
}

// namesOf returns the states of each kind of add-on. Kinds with the same states are joined.
func namesOf(rows []row) string {
	states := map[string][]string{}
	for _, r := range rows {
		kind := r.example.kind
		if r.example.disputed {
			kind = "disputed " + kind
		}
		if r.example.independent {
			kind = "independent " + kind
		}
		states[kind] = append(states[kind], r.example.state)
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
	minimum, maximum := column(rows[0]), column(rows[0])
	for _, r := range rows {
		minimum, maximum = min(minimum, column(r)), max(maximum, column(r))
	}
	if minimum == maximum {
		return strconv.Itoa(minimum)
	}
	return fmt.Sprintf("%d to %d", minimum, maximum)
}
