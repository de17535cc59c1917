// Package describe is the verb of kubectl addon that shows the dependencies of an add-on
// and the APIs that it provides, before it is installed.
package describe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

type options struct {
	genericiooptions.IOStreams
	source *source.Source
	flags  *output.Flags
	files  []string
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags()}
	command := &cobra.Command{
		Use:   "describe ADDON | -f FILE",
		Short: "Show what an add-on needs and provides, before it is installed",
		Long: `Show what an add-on depends on, in which versions and when, what it requires of the
platform, which APIs it provides, and what depends on it. Where its AddOnTemplates declare
something, it shows that too. The add-on is registered on the hub, or in a file. A file
needs no hub.`,
		Example: `  # A registered add-on
  kubectl addon describe cluster-gateway

  # An add-on in a file
  kubectl addon describe -f clustermanagementaddon.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args)+len(o.files) == 0 {
				return cmdline.UsageError(errors.New("name an add-on, or a file with -f"))
			}
			if err := o.flags.Validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context(), args)
		},
	}
	command.Flags().StringSliceVarP(&o.files, "filename", "f", nil, "File with ClusterManagementAddOns, - for standard input. Can be repeated.")
	o.flags.AddTo(command)
	return command
}

func (o *options) run(ctx context.Context, args []string) error {
	input, names, err := o.read(ctx, args)
	if err != nil {
		return err
	}
	for i, name := range names {
		description := report.Describe(input.registrations, input.templates, name)
		if err := o.flags.Print(o.Out, description, func() error {
			if i > 0 {
				fmt.Fprintln(o.Out)
			}
			return o.printDescription(description)
		}); err != nil {
			return err
		}
	}
	return nil
}

// declarations has the objects that declare dependencies.
type declarations struct {
	registrations []addonv1alpha1.ClusterManagementAddOn
	templates     []addonv1alpha1.AddOnTemplate
}

// read returns the declarations, and the names of the add-ons to describe.
func (o *options) read(ctx context.Context, args []string) (declarations, []string, error) {
	if len(o.files) > 0 {
		return o.readFiles(args)
	}
	registrations, err := o.source.Registrations(ctx)
	if err != nil {
		return declarations{}, nil, err
	}
	for _, addOn := range registrations {
		if addOn.Name == args[0] {
			templates, err := o.source.Templates(ctx, addOn)
			return declarations{registrations, templates}, args, err
		}
	}
	return declarations{}, nil, fmt.Errorf("add-on %q is not registered: kubectl get clustermanagementaddons lists what is", args[0])
}

func (o *options) readFiles(args []string) (declarations, []string, error) {
	files, err := manifest.Read(o.files, o.In)
	if err := cmp.Or(err, files.Err()); err != nil {
		return declarations{}, nil, cmdline.UsageError(err)
	}
	var input declarations
	var names []string
	for _, file := range files.Manifests {
		input.registrations = append(input.registrations, file.AddOn)
		if len(args) == 0 || args[0] == file.AddOn.Name {
			names = append(names, file.AddOn.Name)
		}
	}
	for _, file := range files.Templates {
		input.templates = append(input.templates, file.Template)
	}
	if len(names) == 0 {
		return declarations{}, nil, fmt.Errorf("add-on %q is not in these files", append(args, "")[0])
	}
	return input, names, nil
}

var heading = []string{"NEEDS", "TYPE", "WHAT", "WHEN", "WITHOUT IT"}

func (o *options) printDescription(description *report.Description) error {
	out, screen := o.Out, terminal.ScreenOf(o.Out)
	title := text.Name(description.AddOn)
	if description.Version != "" {
		title += " " + text.OneLine(description.Version)
	}
	if description.Declared != "" {
		title += ", declared in " + text.OneLine(description.Declared)
	}
	fmt.Fprintln(out, screen.Wrap(title, 2))
	if err := o.printNeeds(description.Needs, description.Problems); err != nil {
		return err
	}
	if description.Bundle {
		fmt.Fprintln(out, screen.Wrap("It is a bundle: it has no agent, and is available where all that it requires is, where Interlock's lifecycle is on.", 2))
	}
	if description.Ordering != "" {
		fmt.Fprintln(out, screen.Wrap("Its first installation on a managed cluster waits for what it needs there, where Interlock's lifecycle is on.", 2))
	}
	if description.Ordering == addonv1alpha1.OrderingInstallAndUpgrade {
		fmt.Fprintln(out, screen.Wrap("So does another AddOnTemplate, for what it needs itself.", 2))
	}
	o.printLists([]list{
		{"Provides", description.Provides},
		{"Needed by", description.NeededBy},
		{"Does not work beside it", description.ConflictsWith},
	}, description.Needs, description.Problems)
	for _, template := range description.Templates {
		name := text.Name(template.Template)
		if template.Version != "" {
			name += " " + text.OneLine(template.Version)
		}
		fmt.Fprintln(out)
		fmt.Fprintln(out, screen.Wrap("Where the AddOnTemplate "+name+" runs, instead:", 2))
		if err := o.printNeeds(template.Needs, template.Problems); err != nil {
			return err
		}
		o.printLists([]list{{"Provides", template.Provides}}, template.Needs, template.Problems)
	}
	return nil
}

// printNeeds prints the needs of a declaration, which may have problems.
func (o *options) printNeeds(needs []report.Need, problems []string) error {
	var rows [][]string
	for _, need := range needs {
		subject, condition := need.Subject, need.Condition
		if need.Registered != nil && !*need.Registered {
			subject += " (not registered)"
		}
		if need.Tolerate != "" {
			subject += ", unavailable for " + need.Tolerate + " at most"
		}
		if need.Install != "" {
			subject += ", installed if its owner consents"
		}
		if need.Removal != "" {
			subject += ", and removed with its last dependent"
		}
		if need.Config != "" || need.Settings != nil {
			subject += ", with settings (below)"
		}
		if condition == "" {
			condition = "always"
		}
		rows = append(rows, []string{need.Name, string(need.Type), subject, condition, need.Message})
	}
	switch {
	case len(rows) == 0 && len(problems) > 0:
		fmt.Fprintln(o.Out, "Its dependencies are not known.")
	case len(rows) == 0:
		fmt.Fprintln(o.Out, "It has no dependencies.")
	default:
		needsTable := o.flags.Table(o.Out, heading)
		needsTable.Whole = true // people read this table for the authors' texts
		return needsTable.Print(rows)
	}
	return nil
}

// list is a list with its title.
type list struct {
	title string
	items []string
}

// printLists prints the parts of a description that have no column in the table of needs.
func (o *options) printLists(lists []list, needs []report.Need, problems []string) {
	screen := terminal.ScreenOf(o.Out)
	for _, list := range lists {
		if len(list.items) > 0 {
			fmt.Fprintln(o.Out, screen.Wrap(list.title+": "+text.OneLine(strings.Join(list.items, ", ")), 2))
		}
	}
	for _, need := range needs {
		if need.Config != "" {
			line := fmt.Sprintf("Settings of %s: %s", need.Name, need.Config)
			if need.ConfigMessage != "" {
				line += " (" + need.ConfigMessage + ")"
			}
			fmt.Fprintln(o.Out, screen.Wrap(text.OneLine(line), 2))
		}
		if need.Settings != nil {
			fmt.Fprintln(o.Out, screen.Wrap(text.OneLine(fmt.Sprintf("Set for %s: %s", need.Name, listed(need.Settings))), 2))
		}
		if need.Docs != "" { // not wrapped, for terminals that open links
			fmt.Fprintf(o.Out, "About %s: %s\n", text.OneLine(need.Name), text.OneLine(need.Docs))
		}
	}
	for _, problem := range problems {
		fmt.Fprintln(o.Out, screen.Wrap("Problem: "+text.OneLine(problem), 2))
	}
}

// listed returns a list of variables with their values.
func listed(settings *addonv1alpha1.DependencySettings) string {
	var variables []string
	for _, variable := range settings.Variables {
		item := variable.Name + "=" + variable.Value
		if variable.ValueFrom != "" {
			item = variable.Name + " from " + variable.ValueFrom
		}
		if variable.Required {
			item += " (required)"
		}
		variables = append(variables, item)
	}
	joined := strings.Join(variables, ", ")
	if settings.Policy == addonv1alpha1.SettingsSeal {
		joined += "; sealed"
	}
	return joined
}
