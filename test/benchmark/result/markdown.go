package result

import (
	"fmt"
	"strings"
	"time"
)

// Markdown renders the report's figures as one table, with one row each.
func (r *Report) Markdown() string {
	var text strings.Builder
	text.WriteString("| # | Scenario | Figure | Measured | Bound | |\n|---|---|---|---|---|---|\n")
	for _, scenario := range r.Scenarios {
		id, title := scenario.ID, scenario.Title
		if scenario.Error != "" {
			fmt.Fprintf(&text, "| %s | %s | | failed: %s | | MISSED |\n", id, cell(title), cell(scenario.Error))
			id, title = "", ""
		}
		for _, figure := range scenario.Figures {
			fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s |\n",
				id, cell(title), cell(figure.Name), figure.Spread(), figure.Bound(), figure.Verdict())
			id, title = "", ""
		}
	}
	return text.String()
}

// cell keeps a text within its cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

// Conditions renders where and how the report was made, as a list.
func (r *Report) Conditions() string {
	var text strings.Builder
	fmt.Fprintf(&text, "- Command: `%s`\n", r.Command)
	fmt.Fprintf(&text, "- Started %s, took %s\n", r.Started.UTC().Format("2006-01-02 15:04 MST"), r.Took.Round(time.Second))
	fmt.Fprintf(&text, "- Machine: %s, %d cores, %d GiB, Linux %s, %s; load average at the start %.1f\n",
		r.Machine.Processor, r.Machine.Cores, r.Machine.MemoryGiB, r.Machine.Kernel, r.Machine.Go, r.Machine.Load)
	for _, setting := range r.Settings {
		fmt.Fprintf(&text, "- %s: %s\n", setting.Name, setting.Value)
	}
	return text.String()
}
