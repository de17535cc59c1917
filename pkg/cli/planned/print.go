package planned

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxClusters is the maximal number of managed clusters that a row names.
const maxClusters = 3

// Texts are the words of a verb.
type Texts struct {
	// Does is a verb such as "install", and Done its participle.
	Does, Done string
	// Writes is the verb of the question, such as "Create".
	Writes string
	// Because is the heading of the add-ons that are the reason of a step.
	Because string
	// Waits describes a step that only waits.
	Waits string
}

// Print prints a plan for people.
func (o *Options) Print(fleet *Fleet, plan *steps.Plan, texts Texts) error {
	screen := terminal.ScreenOf(o.Out)
	if len(plan.Layers) == 0 {
		fmt.Fprintf(o.Out, "There is nothing to %s on %s.\n", texts.Does, text.Count(len(fleet.Clusters), "managed cluster"))
	} else {
		fmt.Fprintf(o.Out, "To %s on %s, in %s:\n", texts.Does, text.Count(len(fleet.Clusters), "managed cluster"), text.Count(len(plan.Layers), "layer"))
		var rows [][]string
		for i, layer := range plan.Layers {
			for s := range layer {
				rows = append(rows, row(i, &layer[s], texts))
			}
		}
		if err := table.Print(o.Out, []string{"LAYER", "ADD-ON", "BY", texts.Because, "CLUSTERS"}, rows); err != nil {
			return err
		}
	}
	printFindings(o.Out, screen, "Note:", plan.Findings)
	printFindings(o.Out, screen, "This cannot be done:", plan.Problems)
	return nil
}

func row(layer int, step *steps.Step, texts Texts) []string {
	installer, because := "kubectl addon", "-"
	switch {
	case step.Waits:
		installer = texts.Waits
	case step.ByOCM:
		installer = "OCM"
	}
	if len(step.Because) > 0 {
		because = strings.Join(step.Because, ", ")
	}
	clusters := strings.Join(step.Clusters[:min(len(step.Clusters), maxClusters)], ", ")
	if len(step.Clusters) > maxClusters {
		clusters += ", …"
	}
	return []string{strconv.Itoa(layer + 1), step.AddOn, installer, because, fmt.Sprintf("%d: %s", len(step.Clusters), clusters)}
}

func printFindings(out io.Writer, screen terminal.Screen, heading string, findings []steps.Finding) {
	if len(findings) == 0 {
		return
	}
	fmt.Fprintln(out, "\n"+heading)
	for _, finding := range findings {
		fmt.Fprintln(out, "- "+screen.Wrap(text.OneLine(finding.String()), len("- ")))
	}
}

// Infeasible returns the error for a plan that cannot be carried out.
func Infeasible(plan *steps.Plan, texts Texts) error {
	return fmt.Errorf("nothing was %s: of the plan, %s cannot be done", texts.Done, text.Count(len(plan.Problems), "part"))
}

// size counts the steps of the plugin: add-ons on managed clusters.
func size(plan *steps.Plan) int {
	count := 0
	for _, layer := range plan.Layers {
		for _, step := range layer {
			if step.ByPlugin() {
				count += len(step.Clusters)
			}
		}
	}
	return count
}
