package why

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/nextstep"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxRead is the largest number of managed clusters that are read for the next steps. The report names less than three times as many.
const maxRead = 24

// live is the command that reads all managed clusters.
const live = "kubectl addon why --live"

// storedReport returns the report on the fleet of addon-manager, if it has all that is to be printed. Otherwise it is nil: the report does
// not have all victims of a cause, which other formats print, nor the causes of a single add-on or cluster.
func (o *options) storedReport(ctx context.Context) (*report.FleetReport, error) {
	if o.live || o.filter.AddOn != "" || !o.source.IsWholeFleet() || o.source.IsFile() || o.flags.Chosen() {
		return nil, nil
	}
	return o.source.FleetReport(ctx)
}

// printStored prints a report on the fleet. It reads only the examples of the causes, for the next steps.
func (o *options) printStored(ctx context.Context, stored *report.FleetReport) error {
	p := &printer{
		out:    o.Out,
		screen: terminal.ScreenOf(o.Out),
		source: o.source,
		causes: storedCauses(stored, time.Now().UTC()),
	}
	steps := make([]nextstep.Step, len(p.causes.Items))
	read := examplesToRead(stored)
	var err error
	p.fleet, err = o.source.Examples(ctx, read)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		p.fleet = snapshot.New(snapshot.Content{})
		fmt.Fprintf(o.ErrOut, "No next steps are known, because examples of the causes could not be read: %s\n", text.OneLine(err.Error()))
	default:
		for i := range p.causes.Items {
			steps[i] = p.storedStep(&stored.RootCauses[i], &p.causes.Items[i], read)
		}
	}
	return p.printStoredCauses(stored, steps)
}

// examplesToRead returns the managed clusters that the next steps depend on, those of the first causes first.
func examplesToRead(stored *report.FleetReport) []string {
	var read []string
	for i := range stored.RootCauses {
		for _, example := range append(slices.Clone(stored.RootCauses[i].Examples), stored.RootCauses[i].HostingCluster) {
			if example != "" && !slices.Contains(read, example) && len(read) < maxRead {
				read = append(read, example)
			}
		}
	}
	return read
}

// storedCauses returns the causes of a report. Their victims are only on the examples that the report names. The lists of add-ons without a
// cause have their right length, and only their first entry.
func storedCauses(stored *report.FleetReport, now time.Time) *report.RootCauses {
	causes := &report.RootCauses{
		Taken:  now,
		Reach:  report.Reach{Clusters: int(stored.Summary.Clusters), Lost: int(stored.Summary.Lost)},
		AddOns: int(stored.Summary.AddOns),
	}
	for i := range stored.RootCauses {
		causes.Items = append(causes.Items, storedCause(&stored.RootCauses[i]))
	}
	lists := map[dependencyv1alpha1.UnexplainedState]*[]report.Failing{
		dependencyv1alpha1.FailingThemselves: &causes.FailingThemselves, dependencyv1alpha1.Gated: &causes.Gated,
		dependencyv1alpha1.Outdated: &causes.Outdated, dependencyv1alpha1.LastKnown: &causes.LastKnown,
		dependencyv1alpha1.Undecided: &causes.Undecided,
	}
	for _, unexplained := range stored.Unexplained {
		if list := lists[unexplained.State]; list != nil && unexplained.AddOns > 0 {
			*list = make([]report.Failing, unexplained.AddOns)
			(*list)[0] = report.Failing{Cluster: unexplained.Cluster, AddOn: unexplained.AddOn, Reason: unexplained.Reason}
		}
	}
	for _, unusable := range stored.Unusable {
		causes.Unusable = append(causes.Unusable, report.Unusable{AddOn: unusable.AddOn, Problem: unusable.Problem})
	}
	return causes
}

// storedCause returns a cause of a report, with a victim on each example.
func storedCause(stored *dependencyv1alpha1.FleetCause) report.RootCause {
	item := report.RootCause{
		Began: report.StoredOnset(stored.Began), Effects: report.StoredOnset(stored.Effects),
		Message: stored.Message, Stored: stored.Stored, Stopped: stored.Stopped, Unset: stored.Unset, Providers: stored.Providers,
	}
	item.Cause = cause.Cause{
		AddOn: stored.AddOn, API: stored.API, ServedBy: addonv1alpha1.APIServer(stored.ServedBy), HostingCluster: stored.HostingCluster,
		Removing: stored.Removing, Unreported: stored.Unreported, Served: stored.Served, Requirement: stored.Requirement, Dependent: stored.Dependent,
		Verdict: evaluation.Verdict(stored.Verdict), Reason: stored.Reason, Cycle: stored.Cycle,
	}
	for _, example := range stored.Examples {
		victim := cause.Victim{Cluster: example}
		if len(stored.Victims) > 0 {
			victim.AddOn = stored.Victims[0].AddOn
		}
		item.Victims = append(item.Victims, victim)
	}
	return item
}

// storedStep returns the next step about a cause of a report. If it has the names of clusters, they are only examples.
func (p *printer) storedStep(stored *dependencyv1alpha1.FleetCause, item *report.RootCause, read []string) nextstep.Step {
	if len(stored.Examples) == 0 || !slices.Contains(read, stored.Examples[0]) {
		return nextstep.Step{Run: live}
	}
	todo := nextstep.Find(p.fleet, item)
	namesExamples := len(stored.Examples) > 1 && strings.Contains(todo.Run, ","+stored.Examples[1])
	if otherClusters := int(stored.Clusters) - len(stored.Examples); namesExamples && otherClusters > 0 {
		note := fmt.Sprintf("the command is for %d of %d managed clusters: %s names all", len(stored.Examples), stored.Clusters, p.source.Command(live))
		if todo.Note != "" {
			note = todo.Note + ". Also, " + note
		}
		todo.Note = note
	}
	return todo
}

// printStoredCauses prints a paragraph for each cause of a report.
func (p *printer) printStoredCauses(stored *report.FleetReport, steps []nextstep.Step) error {
	summary, otherSteps := p.summary(), p.otherSteps()
	if len(p.causes.Items) > 0 {
		summary = fmt.Sprintf("%s of add-ons on %s:", text.Count(int(stored.Summary.RootCauses), "root cause"), p.causes.Reach)
	}
	lines := []string{p.screen.Wrap(summary, 0), p.screen.Wrap(source.Age(stored, p.causes.Taken, p.source.Command(live)), 0)}
	if note := p.note(slices.Concat(steps, otherSteps)); note != "" {
		lines = append(lines, "", p.screen.Wrap(note, 0))
	}
	for i := range p.causes.Items {
		lines = append(lines, "", p.storedParagraph(&stored.RootCauses[i], &p.causes.Items[i], steps[i], i+1))
	}
	otherSteps = append(otherSteps, leavingSteps(stored)...)
	if leftOut := stored.Summary.LeftOut.RootCauses; leftOut > 0 {
		otherSteps = append(otherSteps, nextstep.Step{Note: text.Count(int(leftOut), "more root cause"), Run: live})
	}
	if leftOut := stored.Summary.LeftOut.Unusable; leftOut > 0 {
		otherSteps = append(otherSteps, nextstep.Step{Note: text.Count(int(leftOut), "more declaration") + " cannot be used", Run: live})
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

// leavingSteps returns steps about managed clusters that are being detached, and add-ons that are being removed.
func leavingSteps(stored *report.FleetReport) []nextstep.Step {
	var steps []nextstep.Step
	if detached := int(stored.Summary.Detached); detached > 0 {
		steps = append(steps, nextstep.Step{Note: isOrAre(detached, "managed cluster") + " being detached, and left out"})
	}
	for _, unexplained := range stored.Unexplained {
		if unexplained.State == dependencyv1alpha1.Removing {
			steps = append(steps, nextstep.Step{Note: isOrAre(int(unexplained.AddOns), "add-on") + " being removed: " + text.OneLine(unexplained.Reason)})
		}
	}
	return steps
}

// repairCommand returns the command that shows what the obvious repair of a cause would break. Its evaluation needs all inputs of the
// verdicts on all affected managed clusters. It is empty if a repair breaks nothing.
func (p *printer) repairCommand(item *report.RootCause) string {
	switch {
	case item.AddOn == "" || item.Removing:
		return ""
	case item.Verdict == evaluation.Conflict, item.Verdict == evaluation.VersionMismatch,
		item.Verdict == evaluation.NotInstalled && report.MayBreakOnInstall(p.fleet, item.AddOn):
		return p.source.Command(live) + " shows what the obvious repair would break"
	default:
		return ""
	}
}

// storedParagraph returns the text about a cause of a report.
func (p *printer) storedParagraph(stored *dependencyv1alpha1.FleetCause, item *report.RootCause, todo nextstep.Step, number int) string {
	rows := [][2]string{
		{"message", item.ShownMessage()},
		{"breaks", fmt.Sprintf("%d of %s, %d of %s: %s", stored.Clusters, text.Count(p.causes.Clusters, "managed cluster"),
			stored.AddOns, text.Count(p.causes.AddOns, "add-on"), storedVictims(stored))},
	}
	rows = append(rows, onsetRows(report.StoredOnset(stored.Began), report.StoredOnset(stored.Effects), p.causes.Taken, int(stored.Clusters))...)
	for _, shared := range stored.Shared[:min(len(stored.Shared), maxShared)] {
		rows = append(rows, [2]string{"in common", fmt.Sprintf("%s=%s: %d of %d affected, %d of %d other clusters with the same add-ons",
			text.Name(shared.Name), text.Name(shared.Value), shared.Affected, stored.Clusters, shared.Others, stored.OtherClusters)})
	}
	if len(stored.Examples) > 0 {
		rows = append(rows, [2]string{"installs", report.InstallationText(p.fleet, item.AddOn, stored.Examples[:1])})
	}
	rows = append(rows, [2]string{"repair", p.repairCommand(item)}, [2]string{"note", text.OneLine(todo.Note)})
	for command := range strings.Lines(todo.Run) {
		rows = append(rows, [2]string{"run", p.source.Command(strings.TrimSpace(command))})
	}
	return p.formatted(fmt.Sprintf("%d. %s", number, text.OneLine(stored.Title)), rows)
}

// storedVictims returns the affected add-ons with their numbers of clusters.
func storedVictims(stored *dependencyv1alpha1.FleetCause) string {
	var shown []string
	for _, victim := range stored.Victims[:min(len(stored.Victims), maxNamed)] {
		shown = append(shown, fmt.Sprintf("%s (%d)", text.Name(victim.AddOn), victim.Clusters))
	}
	if rest := len(stored.Victims) + int(stored.OtherVictims) - len(shown); rest > 0 {
		shown = append(shown, fmt.Sprintf("%d more", rest))
	}
	return strings.Join(shown, ", ")
}
