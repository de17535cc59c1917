// Package describe is the verb of kubectl addon that says what an add-on needs and
// brings, before it is installed.
package describe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/manifest"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
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
func NewCommand(from *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: from, flags: output.NewFlags()}
	command := &cobra.Command{
		Use:   "describe ADDON | -f FILE",
		Short: "Say what an add-on needs and brings, before it is installed",
		Long: `Say what an add-on depends on, in which versions and when, what it requires of the
platform, which APIs it brings, and what depends on it. It describes an add-on that is
registered on the hub, or one in a file, without a hub.`,
		Example: `  # One that is registered
  kubectl addon describe cluster-gateway

  # One that is not, yet
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
	all, names, err := o.read(ctx, args)
	if err != nil {
		return err
	}
	for i, name := range names {
		found := report.Describe(all, name)
		if err := o.flags.Print(o.Out, found, func() error {
			if i > 0 {
				fmt.Fprintln(o.Out)
			}
			return printDescription(o.Out, found)
		}); err != nil {
			return err
		}
	}
	return nil
}

// read returns what is registered, and which of it to describe.
func (o *options) read(ctx context.Context, args []string) (all []addonv1alpha1.ClusterManagementAddOn, names []string, err error) {
	files, err := manifest.Read(o.files, o.In)
	if err := cmp.Or(err, files.Err()); err != nil {
		return nil, nil, cmdline.UsageError(err)
	}
	for _, one := range files.Manifests {
		all = append(all, one.AddOn)
		if len(args) == 0 || args[0] == one.AddOn.Name {
			names = append(names, one.AddOn.Name)
		}
	}
	if len(o.files) > 0 && len(names) == 0 {
		return nil, nil, fmt.Errorf("add-on %q is not in these files", args[0])
	}
	if len(o.files) > 0 {
		return all, names, nil
	}
	fleet, err := o.source.Registrations(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, addOn := range fleet {
		if addOn.Name == args[0] {
			return fleet, args, nil
		}
	}
	return nil, nil, fmt.Errorf("add-on %q is not registered: kubectl get clustermanagementaddons lists what is", args[0])
}

var heading = []string{"NEEDS", "TYPE", "WHAT", "WHEN", "WITHOUT IT"}

func printDescription(out io.Writer, found *report.Description) error {
	title := text.Name(found.AddOn)
	if found.Version != "" {
		title += " " + text.OneLine(found.Version)
	}
	if found.Declared != "" {
		title += ", declared in " + text.OneLine(found.Declared)
	}
	fmt.Fprintln(out, title)
	var rows [][]string
	for _, need := range found.Needs {
		what, when := need.What, need.When
		if need.Registered != nil && !*need.Registered {
			what += " (not registered)"
		}
		if when == "" {
			when = "always"
		}
		rows = append(rows, []string{need.Name, string(need.Type), what, when, evaluation.WithDocs(need.Message, need.Docs)})
	}
	switch {
	case len(rows) == 0 && len(found.Problems) > 0:
		fmt.Fprintln(out, "It is not known what it needs.")
	case len(rows) == 0:
		fmt.Fprintln(out, "It needs nothing.")
	default:
		shown := table.New(out, heading)
		shown.Uncut = true // what an author wrote is why it is read
		if err := shown.Print(rows); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		title string
		items []string
	}{{"It brings", found.Provides}, {"Needed by", found.NeededBy}} {
		if len(list.items) > 0 {
			fmt.Fprintf(out, "%s: %s\n", list.title, text.OneLine(strings.Join(list.items, ", ")))
		}
	}
	for _, problem := range found.Problems {
		fmt.Fprintf(out, "Wrong: %s\n", text.OneLine(problem))
	}
	return nil
}
