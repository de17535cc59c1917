package suggest

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/suggestion"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// maxEvidence is how much evidence is shown for one suggestion.
	maxEvidence = 3
	// maxCommands is how many commands are shown for one version of an add-on.
	maxCommands = 3
	// maxClusters is how many managed clusters are named.
	maxClusters = 5
)

// formatYAML prints entries to paste, not the report.
const formatYAML = "yaml"

// show prints a row for each piece of evidence, or entries to paste.
func (o *options) show(workloads int) error {
	if o.flags.Is(formatYAML) {
		return o.printYAML(o.Out)
	}
	if err := o.showDependencies(workloads); err != nil || len(o.found.Versions) == 0 {
		return err
	}
	if len(o.found.Items) > 0 {
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
	for i := range o.found.Items {
		one := &o.found.Items[i]
		shown := one.Because[:min(len(one.Because), maxEvidence)]
		for j, because := range shown {
			if more := len(one.Because) - len(shown); j == maxEvidence-1 && more > 0 {
				because += fmt.Sprintf(" (and %d more)", more)
			}
			rows = append(rows, []string{one.AddOn, strings.Join(one.MayNeed, " or "), string(one.Dependency.Type), because})
		}
	}
	if len(rows) == 0 {
		fmt.Fprintf(o.ErrOut, "No undeclared dependencies found in %d AddOnTemplates and ManifestWorks.\n", workloads)
		return nil
	}
	shown := o.flags.Table(o.Out, []string{"ADD-ON", "MAY NEED", "TYPE", "BECAUSE"})
	shown.Spare = []string{"TYPE"}
	return shown.Print(rows)
}

// showVersions prints a row for each version of an add-on that reports none.
func (o *options) showVersions() error {
	rows := make([][]string, 0, len(o.found.Versions))
	for i := range o.found.Versions {
		version := &o.found.Versions[i]
		shown := version.Version
		if shown == "" {
			shown = "-"
		}
		rows = append(rows, []string{version.AddOn, shown, strconv.Itoa(len(version.Clusters)), becauseOf(version)})
	}
	fmt.Fprintln(o.Out, terminal.ScreenOf(o.Out).Wrap("No version of these add-ons is known. Their images have:", 0))
	return o.flags.Table(o.Out, []string{"ADD-ON", "VERSION", "CLUSTERS", "BECAUSE"}).Print(rows)
}

// becauseOf describes the evidence for a version, or why there is none.
func becauseOf(version *suggestion.Version) string {
	evidence := ""
	if len(version.Images) > 0 {
		evidence = "image " + text.Excerpt(text.OneLine(version.Images[0]))
		if more := len(version.Images) - 1; more > 0 {
			evidence += fmt.Sprintf(" (and %d more)", more)
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
	for i := range o.found.Versions {
		commands := o.found.Versions[i].Commands
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
	begin := func(of string) {
		if documents++; documents > 1 {
			fmt.Fprintln(out, "---")
		}
		fmt.Fprintf(out, "# for the %s\n", of)
	}
	for i := range o.found.Items {
		one := &o.found.Items[i]
		if i == 0 || o.found.Items[i-1].AddOn != one.AddOn {
			begin("ClusterManagementAddOn " + text.Name(one.AddOn))
			fmt.Fprintln(out, "dependencies:")
		}
		for _, because := range one.Because[:min(len(one.Because), maxEvidence)] {
			fmt.Fprintf(out, "# %s\n", text.OneLine(because))
		}
		entry, err := yaml.Marshal([]addonv1alpha1.AddonDependency{one.Dependency})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s  # message: what does not work without it\n", entry)
	}
	for i := range o.found.Versions {
		version := &o.found.Versions[i]
		if version.Version == "" {
			continue
		}
		begin(annotated(version))
		fmt.Fprintf(out, "# %s\nmetadata:\n  annotations:\n    %s: %q\n", becauseOf(version), addonv1alpha1.AddOnVersionAnnotation, version.Version)
	}
	return nil
}

// annotated names the objects that the commands of a version are about.
func annotated(version *suggestion.Version) string {
	switch {
	case version.Template != "":
		return "AddOnTemplate " + text.Name(version.Template)
	case version.OnRegistration:
		return "ClusterManagementAddOn " + text.Name(version.AddOn)
	}
	clusters := strings.Join(version.Clusters[:min(len(version.Clusters), maxClusters)], ", ")
	if more := len(version.Clusters) - maxClusters; more > 0 {
		clusters += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("ManagedClusterAddOn %s of %s", text.Name(version.AddOn), clusters)
}
