package suggest

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/plan/suggestion"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	maxEvidence = 3 // pieces for a suggestion
	maxCommands = 3 // for a version of an add-on
	maxClusters = 5 // names
)

// formatYAML prints entries to paste, not the report.
const formatYAML = "yaml"

// show prints a row for each piece of evidence, or entries to paste.
func (o *options) show(workloads int) error {
	if o.flags.Is(formatYAML) {
		return o.printYAML(o.Out)
	}
	if err := o.showDependencies(workloads); err != nil || len(o.result.Versions) == 0 {
		return err
	}
	if len(o.result.Items) > 0 {
		fmt.Fprintln(o.Out)
	}
	if err := o.showVersions(); err != nil {
		return err
	}
	o.showCommands()
	return nil
}

func (o *options) showDependencies(workloads int) error {
	var rows [][]string
	for i := range o.result.Items {
		item := &o.result.Items[i]
		first := item.Because[:min(len(item.Because), maxEvidence)]
		for j, because := range first {
			if rest := len(item.Because) - len(first); j == maxEvidence-1 && rest > 0 {
				because += fmt.Sprintf(" (and %d more)", rest)
			}
			rows = append(rows, []string{item.AddOn, strings.Join(item.MayNeed, " or "), string(item.Dependency.Type), because})
		}
	}
	if len(rows) == 0 {
		fmt.Fprintf(o.ErrOut, "No undeclared dependencies found in %d AddOnTemplates and ManifestWorks.\n", workloads)
		return nil
	}
	table := o.flags.Table(o.Out, []string{"ADD-ON", "MAY NEED", "TYPE", "BECAUSE"})
	table.Spare = []string{"TYPE"}
	return table.Print(rows)
}

// showVersions prints a row for each suggested version.
func (o *options) showVersions() error {
	rows := make([][]string, 0, len(o.result.Versions))
	for i := range o.result.Versions {
		version := &o.result.Versions[i]
		cell := version.Version
		if cell == "" {
			cell = "-"
		}
		rows = append(rows, []string{version.AddOn, cell, strconv.Itoa(len(version.Clusters)), describeEvidence(version)})
	}
	fmt.Fprintln(o.Out, terminal.ScreenOf(o.Out).Wrap("No version of these add-ons is known. Their images have:", 0))
	return o.flags.Table(o.Out, []string{"ADD-ON", "VERSION", "CLUSTERS", "BECAUSE"}).Print(rows)
}

// describeEvidence describes the evidence for a version, or why no version can be suggested.
func describeEvidence(version *suggestion.Version) string {
	evidence := ""
	if len(version.Images) > 0 {
		evidence = "image " + text.Excerpt(text.OneLine(version.Images[0]))
		if rest := len(version.Images) - 1; rest > 0 {
			evidence += fmt.Sprintf(" (and %d more)", rest)
		}
	}
	switch {
	case version.Template != "":
		evidence = strings.TrimSuffix("AddOnTemplate "+text.Name(version.Template)+": "+evidence, ": ")
	case evidence != "":
		evidence = "ManifestWorks: " + evidence
	}
	if version.CannotTell == "" {
		return evidence
	}
	return strings.TrimSuffix("cannot tell: "+text.OneLine(version.CannotTell)+"; "+evidence, "; ")
}

// showCommands prints the commands that set the versions.
func (o *options) showCommands() {
	introduced, screen := false, terminal.ScreenOf(o.Out)
	for i := range o.result.Versions {
		commands := o.result.Versions[i].Commands
		for j, command := range commands {
			if !introduced {
				introduced = true
				fmt.Fprintln(o.Out, "\n"+screen.Wrap("To report these versions, set them, and again with each upgrade (--overwrite):", 0))
				if note := o.source.Note(command); note != "" {
					fmt.Fprintln(o.Out, screen.Wrap(note, 0))
				}
			}
			if j == maxCommands {
				fmt.Fprintf(o.Out, "     and %d more, which -o json has\n", len(commands)-maxCommands)
				break
			}
			fmt.Fprintln(o.Out, "run  "+o.source.Command(command))
		}
	}
}

// printYAML prints a document for each add-on, to be pasted into its spec, and for each object that could have a version.
func (o *options) printYAML(out io.Writer) error {
	documents := 0
	begin := func(object string) {
		if documents++; documents > 1 {
			fmt.Fprintln(out, "---")
		}
		fmt.Fprintf(out, "# for the %s\n", object)
	}
	for i := range o.result.Items {
		item := &o.result.Items[i]
		if i == 0 || o.result.Items[i-1].AddOn != item.AddOn {
			begin("ClusterManagementAddOn " + text.Name(item.AddOn))
			fmt.Fprintln(out, "dependencies:")
		}
		for _, because := range item.Because[:min(len(item.Because), maxEvidence)] {
			fmt.Fprintf(out, "# %s\n", text.OneLine(because))
		}
		entry, err := yaml.Marshal([]addonv1alpha1.AddonDependency{item.Dependency})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s  # message: what does not work without it\n", entry)
	}
	for i := range o.result.Versions {
		version := &o.result.Versions[i]
		if version.Version == "" {
			continue
		}
		begin(annotatedObject(version))
		fmt.Fprintf(out, "# %s\nmetadata:\n  annotations:\n    %s: %q\n",
			describeEvidence(version), addonv1alpha1.AddOnVersionAnnotation, version.Version)
	}
	return nil
}

// annotatedObject names the objects that the commands of a version annotate.
func annotatedObject(version *suggestion.Version) string {
	switch {
	case version.Template != "":
		return "AddOnTemplate " + text.Name(version.Template)
	case version.OnRegistration:
		return "ClusterManagementAddOn " + text.Name(version.AddOn)
	}
	clusters := strings.Join(version.Clusters[:min(len(version.Clusters), maxClusters)], ", ")
	if rest := len(version.Clusters) - maxClusters; rest > 0 {
		clusters += fmt.Sprintf(" and %d more", rest)
	}
	return fmt.Sprintf("ManagedClusterAddOn %s of %s", text.Name(version.AddOn), clusters)
}
