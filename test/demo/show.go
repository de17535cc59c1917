package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"open-cluster-management.io/interlock/pkg/cli/statuscmd"
)

// declarations shows the registered add-ons, and their dependencies.
func (p *printer) declarations(addOns []addOn) {
	p.line("\n%s\n", p.look(bold, "Registered on the hub: real add-ons, and what they really need of each other"))
	var rows [][]string
	for _, a := range addOns {
		for i, d := range a.dependencies {
			name := a.name
			if i > 0 {
				name = " "
			}
			rows = append(rows, []string{name, string(d.Type), d.Name, d.Message})
		}
	}
	p.table([]string{"ADD-ON", "TYPE", "DEPENDS ON", "WITHOUT IT"}, rows, make([]string, len(rows)), nil)
	var leaves []string
	for _, a := range addOns {
		if len(a.dependencies) == 0 {
			leaves = append(leaves, a.name)
		}
	}
	p.paragraph(dim, indent, "Without dependencies: "+strings.Join(leaves, ", ")+".")
}

func (p *printer) heading(number, total int, s *step) {
	p.line("\n%s", p.look(bold, fmt.Sprintf("%d/%d  %s", number, total, s.title)))
	p.paragraph("", indent, s.story)
	p.line("")
}

// since is the column SINCE. It is left out, because in a demo everything is seconds old.
var since = slices.Index(statuscmd.Heading, "SINCE")

var heading = removeColumn(statuscmd.Heading, since)

func removeColumn(cells []string, column int) []string {
	return slices.Delete(slices.Clone(cells), column, column+1)
}

// rows shows add-ons like kubectl addon status. A message that does not fit beside its row is put below. For an
// add-on that works and is not degraded, the message is cut.
func (p *printer) rows(rows []statuscmd.Row) {
	if len(rows) == 0 {
		return
	}
	cells := make([][]string, len(rows))
	looks := make([]string, len(rows))
	for i, row := range rows {
		cells[i], looks[i] = removeColumn(row.Cells(time.Time{}), since), lookOf(row)
	}
	message := len(heading) - 1
	below := make([]string, len(rows))
	for i, line := range lines(heading, cells)[1:] {
		excess := utf8.RuneCountInString(line) + len(indent) - p.width
		switch text := []rune(rows[i].Message); {
		case excess <= 0:
		case looks[i] == "":
			cells[i][message] = lastWords(rows[i].Message, len(text)-excess)
		case slices.Contains(below, rows[i].Message):
			cells[i][message] = "↑ as above"
		default:
			cells[i][message], below[i] = "↓", rows[i].Message
		}
	}
	p.table(heading, cells, looks, func(i int) {
		if below[i] != "" {
			p.paragraph(looks[i], belowName, below[i])
		}
	})
}

// belowName is as wide as the column before NAME.
const belowName = indent + "            "

// lastWords cuts text at its beginning to fit into width.
func lastWords(text string, width int) string {
	words := strings.Fields(text)
	for i := range words {
		if end := "… " + strings.Join(words[i:], " "); utf8.RuneCountInString(end) <= width {
			return end
		}
	}
	return "…"
}

func lookOf(row statuscmd.Row) string {
	switch {
	case row.Available != conditionTrue:
		return red
	case row.Degraded == conditionTrue:
		return yellow
	default:
		return ""
	}
}

// times shows how long each change took.
func (p *printer) times(s *step, t times) {
	p.line("")
	p.paragraph(dim, indent, "Times since "+s.clock+":")
	longest := 0
	for _, name := range t.order {
		longest = max(longest, len(name.Name))
	}
	for _, name := range t.order {
		prefix := fmt.Sprintf("%s%s  %-*s  ", indent, name.Namespace, longest, name.Name)
		for _, line := range wrap(t.path(name), min(p.width, midWidth)-len(prefix)) {
			p.line("%s%s", prefix, line)
			prefix = strings.Repeat(" ", len(prefix))
		}
	}
}

// asExpected reports that the step succeeded.
func (p *printer) asExpected(s *step) {
	came := "As expected."
	switch {
	case s.success != "":
		came = s.success
	case len(s.show) > 0:
		came = fmt.Sprintf("All %d add-ons of the fleet are available, those shown among them.", len(s.expect))
	}
	p.line("%s%s %s", indent, p.look(green, "✓"), came)
}

// untouched shows the add-ons that were not written in a step.
func (p *printer) untouched(counts map[string]int) {
	var words []string
	for _, cluster := range clusters {
		if counts[cluster] > 0 {
			words = append(words, fmt.Sprintf("%d on %s", counts[cluster], cluster))
		}
	}
	if len(words) > 0 {
		p.line("%s%s All other add-ons are untouched, by their resourceVersions: %s.", indent, p.look(green, "✓"), strings.Join(words, ", "))
	}
}

// figures shows the measured figures.
func (p *printer) figures(figures []figure, samples int) {
	if len(figures) == 0 {
		return
	}
	p.line("\n%s", p.look(bold, "How fast it is"))
	p.paragraph("", indent, fmt.Sprintf("Medians of %d. A raw write is one status patch of another add-on, until a watch delivers it. "+
		"It begins when the dependency changes, while OCM and Interlock handle that change. The bound is %.0f times its time.", samples, bound))
	p.line("")
	var rows [][]string
	var looks []string
	missed := false
	for _, f := range figures {
		reaction, raw := f.medians()
		ratio := float64(reaction) / float64(raw)
		verdict, look := "✓", ""
		if ratio > bound {
			verdict, look, missed = "above the bound", yellow, true
		}
		rows = append(rows, []string{f.name, brief(reaction), brief(raw), fmt.Sprintf("%.1f ×", ratio), verdict})
		looks = append(looks, look)
	}
	p.table([]string{"WHAT", "TIME", "RAW WRITE", "RATIO", " "}, rows, looks, nil)
	if missed {
		p.paragraph(yellow, indent, "Note: a reaction took longer than its bound. A machine that is busy with something else "+
			"does that too; run the demo again, or `make bench`.")
	}
}

// summary shows the result of each step.
func (p *printer) summary(results []result, took time.Duration) {
	p.line("\n%s\n", p.look(bold, "Summary"))
	var rows [][]string
	var looks []string
	for i, r := range results {
		mark := map[verdict]string{notPlayed: "–", cameTrue: "✓", failed: "✗"}[r.verdict]
		took := " "
		switch {
		case r.verdict == cameTrue && (len(r.step.show) == 0 || r.step.success != "") && !r.step.unchanged:
			took = brief(r.took)
		case r.verdict == failed:
			took = "did not come true"
		case r.verdict == notPlayed:
			took = "not played"
		}
		if r.waited > 0 {
			took += fmt.Sprintf(", after waiting %s for the lease to grow old", brief(r.waited))
		}
		rows = append(rows, []string{mark, fmt.Sprint(i + 1), r.step.title, took})
		looks = append(looks, map[verdict]string{notPlayed: dim, cameTrue: green, failed: red}[r.verdict])
	}
	p.table([]string{" ", "STEP", "WHAT", "TOOK"}, rows, looks, nil)
	if !slices.ContainsFunc(results, func(r result) bool { return r.verdict != cameTrue }) {
		p.line("\n%s%s", indent, p.look(green, fmt.Sprintf("Every step succeeded, in %s altogether.", brief(took))))
	}
}

func (p *printer) failure(err error, logs string) {
	p.line("\n%s\n", p.look(red, "What went wrong"))
	p.paragraph("", indent, err.Error())
	p.line("%sLogs of all processes: %s", indent, logs)
}

// kept shows the processes that keep running, and how to look at them.
func (p *printer) kept(w *world) {
	hub := w.ocm.Kubeconfig()
	p.line("\n%s\n", p.look(bold, "Everything keeps running until Ctrl-C"))
	rows := [][]string{{"hub", hub}}
	for _, cluster := range clusters {
		rows = append(rows, []string{cluster, w.managed[cluster].Kubeconfig()})
	}
	rows = append(rows, []string{"logs", w.logs})
	p.table([]string{"WHAT", "WHERE"}, rows, make([]string, len(rows)), nil)
	plugin := filepath.Join(w.bin, "kubectl-addon")
	p.line("\n%sTo look at it:\n", indent)
	for _, command := range []string{
		"kubectl --kubeconfig " + hub + " get mca -A",
		plugin + " --kubeconfig " + hub + " status -A",
		"kubectl --kubeconfig " + hub + " get mca -n cluster1 -w",
		"",
		"# Delete a prerequisite on cluster2, and see who cannot work without it",
		"kubectl --kubeconfig " + hub + " delete mca managed-serviceaccount -n cluster2",
		plugin + " --kubeconfig " + hub + " status -n cluster2",
		"",
		"# Let the agent of cluster-proxy on cluster3 die: its lease grows too old in " + w.grace.String(),
		"pkill -f '" + w.managed[cluster3].Kubeconfig() + " --name cluster-proxy'",
	} {
		p.line("%s", strings.TrimRight(indent+indent+command, " "))
	}
	p.line("")
}
