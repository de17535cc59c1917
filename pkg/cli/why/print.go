package why

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/xlab/treeprint"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/nextstep"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// The maximum numbers of shown traits, and of names in a list.
	maxShared = 3
	maxNamed  = 5
)

// suggest is the command that finds dependencies that are not declared.
const suggest = "kubectl addon suggest"

// printer prints the root causes of a fleet.
type printer struct {
	out    io.Writer
	screen terminal.Screen
	source *source.Source
	fleet  *snapshot.Snapshot
	causes *report.RootCauses
	filter report.Filter
	// wide is true if nothing is left out.
	wide bool
}

// printCauses prints a paragraph for each cause.
func (p *printer) printCauses() error {
	steps, otherSteps := make([]nextstep.Step, len(p.causes.Items)), p.otherSteps()
	for i := range p.causes.Items {
		steps[i] = nextstep.Find(p.fleet, &p.causes.Items[i])
	}
	lines := []string{p.screen.Wrap(p.summary(), 0)}
	if note := p.note(slices.Concat(steps, otherSteps)); note != "" {
		lines = append(lines, "", p.screen.Wrap(note, 0))
	}
	for i := range p.causes.Items {
		lines = append(lines, "", p.paragraph(&p.causes.Items[i], steps[i], i+1))
	}
	for _, todo := range otherSteps {
		lines = append(lines, "", p.screen.Wrap(todo.Note, 0))
		if todo.Run != "" {
			lines = append(lines, "run   "+p.source.Command(todo.Run))
		}
	}
	_, err := fmt.Fprintln(p.out, strings.Join(lines, "\n"))
	return err
}

// note returns a note about flags that the commands lack. It is empty if they lack none.
func (p *printer) note(steps []nextstep.Step) string {
	for _, todo := range steps {
		if note := p.source.Note(todo.Run); note != "" {
			return note
		}
	}
	return ""
}

func (p *printer) summary() string {
	subject, place := "add-ons", "on "+p.causes.Reach.String()+p.source.Selection()
	if p.filter.AddOn != "" {
		subject = text.Name(p.filter.AddOn)
	}
	if p.filter.Cluster != "" {
		place = "on " + text.Name(p.filter.Cluster)
		if p.causes.Lost > 0 {
			place += ", which cannot be reached"
		}
		if len(p.causes.Detached) > 0 {
			place += ", which is being detached"
		}
	}
	switch {
	case p.causes.NotInstalled != "" && len(p.causes.Items) == 0:
		return fmt.Sprintf("%s is not installed %s, and no add-on there requires it.", subject, place)
	case p.causes.NotInstalled != "":
		return fmt.Sprintf("%s is not installed %s:", subject, place)
	case len(p.causes.Items) > 0:
		return fmt.Sprintf("%s of %s %s:", text.Count(len(p.causes.Items), "root cause"), subject, place)
	case p.declaresNothing():
		return fmt.Sprintf("No add-on declares dependencies %s.", place)
	case p.causes.Clusters == 0 && p.causes.Lost > 0,
		len(p.causes.Detached)+len(p.causes.Removing)+len(p.causes.Gated)+len(p.causes.Undecided)+len(p.causes.Outdated)+len(p.causes.LastKnown)+len(p.causes.Unusable) > 0:
		return fmt.Sprintf("No root cause of %s is known %s.", subject, place)
	default:
		return fmt.Sprintf("No Required dependency keeps %s from working %s.", subject, place)
	}
}

// declaresNothing reports whether no installed add-on has a declaration, although there are add-ons.
func (p *printer) declaresNothing() bool {
	return p.filter.AddOn == "" && p.causes.AddOns+len(p.causes.Unusable) == 0 && p.causes.Clusters > 0 && len(p.fleet.AddOns) > 0
}

// otherSteps returns steps about add-ons that may fail for other reasons than a dependency.
func (p *printer) otherSteps() []nextstep.Step {
	var steps []nextstep.Step
	if p.declaresNothing() {
		steps = append(steps, nextstep.Step{Run: suggest, Note: "The command shows which dependencies they seem to have. docs/author-guide.md declares one"})
	}
	for _, unusable := range p.causes.Unusable {
		steps = append(steps, nextstep.Step{Note: "The dependencies of " + text.Name(unusable.AddOn) + " are not known: " + text.OneLine(unusable.Problem)})
	}
	if detached := p.causes.Detached; len(detached) > 0 && p.filter.Cluster == "" {
		steps = append(steps, nextstep.Step{Note: isOrAre(len(detached), "managed cluster") + " being detached, and left out: " +
			text.Names(detached, ", ")})
	}
	steps = append(steps, p.removals()...)
	for _, failing := range p.causes.FailingOptional {
		steps = append(steps, nextstep.Step{Note: "An Optional dependency fails: " + text.OneLine(failing.String())})
	}
	for _, group := range []struct {
		addOns    []report.Failing
		text, run string
	}{
		{p.causes.Gated, "not installed yet, because the gate is closed", ""},
		{p.causes.Outdated, "Degraded or not available although all dependencies are satisfied: addon-manager, or the agent that sets Available, " +
			"has not updated the condition", nextstep.Doctor},
		{p.causes.LastKnown, "Degraded by the last known verdicts, and nothing new is known", ""},
		{p.causes.Undecided, "not decided yet, because the verdicts on dependencies are not known", ""},
		{p.causes.FailingThemselves, p.unavailableText(), ""},
	} {
		if len(group.addOns) > 0 {
			first := group.addOns[0]
			note := fmt.Sprintf("%s %s, such as %s on %s: %s", isOrAre(len(group.addOns), "add-on"), group.text,
				text.Name(first.AddOn), text.Name(first.Cluster), text.Cut(text.OneLine(first.Reason), report.MaxMessage))
			steps = append(steps, nextstep.Step{Run: group.run, Note: strings.TrimSuffix(note, ": ")})
		}
	}
	return steps
}

// unavailableText describes add-ons that are not available by themselves. Other add-ons count unless the filter has an add-on.
func (p *printer) unavailableText() string {
	if p.filter.AddOn != "" {
		return "not available although no dependency fails"
	}
	if len(p.causes.FailingThemselves) == 1 {
		return report.UnavailableText + " it"
	}
	return report.UnavailableText + " them"
}

// isCause reports whether an add-on that is being removed is a root cause on its managed cluster.
func (p *printer) isCause(removal report.Removing) bool {
	return slices.ContainsFunc(p.causes.Items, func(item report.RootCause) bool {
		return item.Removing && item.AddOn == removal.AddOn && slices.Contains(item.Clusters(), removal.Cluster)
	})
}

// removals returns a step for each of the first add-ons that are being removed, those that others require first.
func (p *printer) removals() []nextstep.Step {
	isRequired := func(removal report.Removing) int { return min(len(removal.RequiredBy), 1) }
	others := slices.DeleteFunc(slices.Clone(p.causes.Removing), p.isCause)
	removals := slices.SortedStableFunc(slices.Values(others), func(a, b report.Removing) int {
		return cmp.Compare(isRequired(b), isRequired(a))
	})
	var steps []nextstep.Step
	for _, removal := range removals[:min(len(removals), p.limit(maxNamed))] {
		steps = append(steps, nextstep.Step{Note: removal.String()})
	}
	if rest := len(removals) - len(steps); rest > 0 {
		steps = append(steps, nextstep.Step{Note: isOrAre(rest, "more add-on") + " being removed"})
	}
	return steps
}

func isOrAre(n int, noun string) string {
	if n == 1 {
		return text.Count(n, noun) + " is"
	}
	return text.Count(n, noun) + " are"
}

// paragraph returns the text about a cause.
func (p *printer) paragraph(item *report.RootCause, todo nextstep.Step, number int) string {
	clusters := item.Clusters()
	rows := [][2]string{
		{"message", item.ShownMessage()},
		{"breaks", fmt.Sprintf("%d of %s, %d of %s: %s", len(clusters), text.Count(p.causes.Clusters, "managed cluster"),
			len(item.Victims), text.Count(p.causes.AddOns, "add-on"), p.victims(item.Victims))},
	}
	rows = append(rows, onsetRows(item.Began, item.Effects, p.causes.Taken, len(clusters))...)
	if p.wide {
		rows = append(rows, [2]string{"on", text.OneLine(strings.Join(clusters, ", "))})
	}
	for _, shared := range item.Shared[:min(len(item.Shared), p.limit(maxShared))] {
		rows = append(rows, [2]string{"in common", fmt.Sprintf("%s=%s: %d of %d affected, %d of %d other clusters with the same add-ons",
			text.Name(shared.Name), text.Name(shared.Value), shared.Affected, len(clusters), shared.Others, item.Others)})
	}
	rows = append(rows, [2]string{"ranges", item.RangesText(p.limit(maxNamed))}, [2]string{"repair", item.RepairText(p.limit(maxShared))})
	rows = append(rows, [2]string{"installs", report.InstallationText(p.fleet, item.AddOn, clusters)}, [2]string{"note", text.OneLine(todo.Note)})
	for command := range strings.Lines(todo.Run) {
		rows = append(rows, [2]string{"run", p.source.Command(strings.TrimSpace(command))})
	}
	return p.formatted(fmt.Sprintf("%d. %s", number, text.OneLine(item.String())), rows)
}

// formatted returns the text about a cause, with a line for each row that has content.
func (p *printer) formatted(title string, rows [][2]string) string {
	lines := []string{p.screen.Paint(terminal.Red, p.screen.Wrap(title, len("1. ")))}
	for _, row := range rows {
		content := row[1]
		if row[0] != "run" { // a command is not wrapped, so that people can copy it
			content = p.screen.Wrap(content, len("   in common  "))
		}
		if content != "" {
			lines = append(lines, fmt.Sprintf("   %-10s %s", row[0], content))
		}
	}
	return strings.Join(lines, "\n")
}

// limit returns the limit, or the maximum number if nothing is left out.
func (p *printer) limit(limit int) int {
	if p.wide {
		return math.MaxInt
	}
	return limit
}

// victims returns the affected add-ons with their numbers of clusters, in descending order of the number.
func (p *printer) victims(victims []cause.Victim) string {
	clusters := map[string]int{}
	for _, victim := range victims {
		clusters[victim.AddOn]++
	}
	names := slices.SortedFunc(maps.Keys(clusters), func(a, b string) int {
		if clusters[a] != clusters[b] {
			return clusters[b] - clusters[a]
		}
		return strings.Compare(a, b)
	})
	var shown []string
	for _, name := range names[:min(len(names), p.limit(maxNamed))] {
		shown = append(shown, fmt.Sprintf("%s (%d)", text.Name(name), clusters[name]))
	}
	if rest := len(names) - len(shown); rest > 0 {
		shown = append(shown, fmt.Sprintf("%d more", rest))
	}
	return strings.Join(shown, ", ")
}

// printPaths prints the path from the add-on to each cause.
func (p *printer) printPaths() error {
	paths := cause.Paths(p.filter.AddOn, p.fleet.Evaluated(p.filter.Cluster))
	if len(paths) == 0 || len(p.causes.Items) == 0 {
		return p.printCauses()
	}
	root := text.Name(p.filter.AddOn) + " on " + text.Name(p.filter.Cluster)
	addOn := p.fleet.AddOnOn(types.NamespacedName{Namespace: p.filter.Cluster, Name: p.filter.AddOn})
	if addOn != nil && fleet.GateClosed(addOn) {
		root += ", not installed yet: its gate is closed"
	}
	tree := treeprint.NewWithRoot(root)
	branches := map[string]treeprint.Tree{}
	for _, path := range paths {
		branch := tree
		route := ""
		for i, step := range path {
			route += "/" + step.Finding.Name() + " " + step.Finding.Target() // alternatives have the name of their edge
			if _, drawn := branches[route]; !drawn {
				branches[route] = branch.AddBranch(p.label(step.Finding, i+1, i == len(path)-1))
			}
			branch = branches[route]
		}
	}
	if _, err := fmt.Fprint(p.out, tree.String()); err != nil {
		return err
	}
	var reports, steps []nextstep.Step
	for i := range p.causes.Items {
		item := &p.causes.Items[i]
		reports = append(reports, p.reports(item)...)
		if todo := nextstep.Find(p.fleet, item); todo != (nextstep.Step{}) && !slices.Contains(steps, todo) {
			steps = append(steps, todo)
		}
	}
	if note := p.note(steps); note != "" {
		steps = slices.Insert(steps, 0, nextstep.Step{Note: note})
	}
	return p.printSteps(slices.Concat(reports, steps, p.otherSteps()))
}

// reports returns notes about a cause that explain the next step: its ranges and repair, and what addon-manager has stored on the hub.
func (p *printer) reports(item *report.RootCause) []nextstep.Step {
	var notes []nextstep.Step
	if ranges := item.RangesText(p.limit(maxNamed)); ranges != "" {
		notes = append(notes, nextstep.Step{Note: "failing ranges: " + ranges})
	}
	if repair := item.RepairText(p.limit(maxShared)); repair != "" {
		notes = append(notes, nextstep.Step{Note: repair})
	}
	if item.Stored {
		notes = append(notes, nextstep.Step{Note: "addon-manager reports: " + text.Cut(text.OneLine(item.Message), report.MaxMessage)})
	}
	if installation := report.InstallationText(p.fleet, item.AddOn, []string{p.filter.Cluster}); installation != "" {
		notes = append(notes, nextstep.Step{Note: installation})
	}
	return notes
}

func (p *printer) printSteps(steps []nextstep.Step) error {
	for _, todo := range steps {
		lines := []string{""}
		if todo.Note != "" {
			lines = append(lines, "note  "+p.screen.Wrap(text.OneLine(todo.Note), len("note  ")))
		}
		for command := range strings.Lines(todo.Run) {
			lines = append(lines, "run   "+p.source.Command(strings.TrimSpace(command)))
		}
		if _, err := fmt.Fprintln(p.out, strings.Join(lines, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// label returns the text of an edge with its verdict, for a depth of the tree.
func (p *printer) label(finding *evaluation.Finding, depth int, isRoot bool) string {
	name := text.Name(finding.Name())
	if finding.Target() != finding.Name() {
		name = text.Name(finding.Target()) + " (as " + name + ")"
	}
	content := fmt.Sprintf("%s  %s  %s", name, finding.Type(), p.screen.Paint(table.ColorOfVerdict(finding.Verdict), string(finding.Verdict)))
	if isRoot {
		const branch = "└── "
		message := text.OneLine(finding.Sentence(finding.AuthorMessage()))
		lines := strings.Split(p.screen.Wrap(message, depth*terminal.Width(branch)), "\n")
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i]) // the tree indents them
		}
		content += "  " + p.screen.Paint(terminal.Red, "← root cause") + "\n" + strings.Join(lines, "\n")
	}
	return content
}
