package suggest

import (
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxEvidence is how much evidence is shown for one suggestion.
const maxEvidence = 3

// formatYAML prints entries to paste, not the report.
const formatYAML = "yaml"

// show prints a row for each piece of evidence, or entries to paste.
func (o *options) show(workloads int) error {
	if o.flags.Is(formatYAML) {
		return o.printYAML(o.Out)
	}
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

// printYAML prints a document for each add-on, to be pasted into its spec.
func (o *options) printYAML(out io.Writer) error {
	for i := range o.found.Items {
		one := &o.found.Items[i]
		if i == 0 || o.found.Items[i-1].AddOn != one.AddOn {
			if i > 0 {
				fmt.Fprintln(out, "---")
			}
			fmt.Fprintf(out, "# for the ClusterManagementAddOn %s\ndependencies:\n", text.Name(one.AddOn))
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
	return nil
}
