// Package lint is the verb of kubectl addon that checks declarations in files, before
// they are applied.
package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/files/fileerror"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/offline/objectfiles"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// ErrFound is returned when a declaration has an error.
var ErrFound = errors.New("there are errors")

// noName replaces the missing name of an add-on.
const noName = "(no name)"

type options struct {
	genericiooptions.IOStreams
	source *source.Source
	flags  *output.Flags
	live   bool
	result *report.Lint
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(formatSARIF)}
	command := &cobra.Command{
		Use:   "lint FILE|DIR...",
		Short: "Check declarations in files, before they are applied",
		Long: `Check the ClusterManagementAddOns in files and folders by the rules of admission and by the
schema of their CRD. It also finds mistakes that an API server accepts: unknown and
duplicate fields, dependencies without a message, long chains, version ranges that exclude
each other, and add-ons that are declared twice. It also checks what AddOnTemplates declare
by annotation. It needs no hub.

With --live or --from, the registrations on a hub count too. It also checks whether the
versions are known that dependencies compare: on how many managed clusters does the add-on
report one? With --live, it also checks add-ons with the install strategy Placements: is each
Required dependency installed on all managed clusters that the Placements select? For that, it
lists placementdecisions. For both, it lists managedclusters and managedclusteraddons.

A file that cannot be decoded is an error; the others are still checked. In folders, it
skips templates, which are files with {{.

It exits with 1 when there is an error. Warnings do not count.`,
		Example: `  # In a pipeline
  kubectl addon lint deploy/

  # For code scanning on GitHub, at the root of the repository
  kubectl addon lint deploy/ -o sarif > lint.sarif

  # Together with the registrations on the hub
  kubectl addon lint clustermanagementaddon.yaml --live`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.flags.Validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context(), args)
		},
	}
	command.Flags().BoolVar(&o.live, "live", false, "Check them together with the registrations and placements on the hub.")
	src.AddClusterFlags(command)
	o.flags.AddTo(command)
	return command
}

func (o *options) run(ctx context.Context, paths []string) error {
	files, err := manifest.Read(paths, o.In)
	for _, skipped := range files.Skipped {
		fmt.Fprintln(o.ErrOut, text.OneLine(skipped.Error()))
	}
	if err != nil {
		return cmdline.UsageError(err)
	}
	isLive := o.live || o.source.IsFile()
	hub := &hub{source: o.source, files: files}
	var registrations []addonv1alpha1.ClusterManagementAddOn
	if isLive {
		if registrations, err = hub.registrations(ctx); err != nil {
			return err
		}
	}
	o.result = files.Lint(registrations, isLive)
	o.result.Items = append(o.result.Items, objectFindings(files)...)
	if err := o.judgePlacements(ctx, files.Declared(), hub); err != nil {
		return err
	}
	if isLive {
		if err := o.judgeVersions(ctx, files, registrations, hub); err != nil {
			return err
		}
	}
	slices.SortStableFunc(o.result.Items, func(a, b report.LintFinding) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	if err := o.flags.Print(o.Out, o.result, func() error { return o.show(files) }); err != nil {
		return err
	}
	for _, finding := range o.result.Items {
		if finding.Severity == report.SeverityError {
			return fmt.Errorf("%w: correct them, and run this again: %s", ErrFound, o.command(paths))
		}
	}
	return nil
}

// objectFindings returns findings on the objects that would be part of a release.
func objectFindings(files *manifest.Files) []report.LintFinding {
	objects, _ := objectfiles.WithoutFileKinds(files.Objects)
	objects, _ = index.WithoutHooks(objects)
	return index.Findings(objects)
}

// command returns the command that repeats the checks.
func (o *options) command(paths []string) string {
	command := "kubectl addon lint"
	for _, path := range paths {
		command += " " + source.Quoted(path)
	}
	if o.live {
		command += " --live"
	}
	if !o.live && !o.source.IsFile() {
		return command // It needs no options of a hub.
	}
	return o.source.Command(command)
}

// formatSARIF is the format of lint itself.
const formatSARIF = "sarif"

func (o *options) show(files *manifest.Files) error {
	if o.flags.Is(formatSARIF) {
		return o.printSARIF(o.Out)
	}
	screen := terminal.ScreenOf(o.Out)
	for _, finding := range o.result.Items {
		location := text.OneLine(fileerror.Name(finding.Path))
		if finding.Line > 0 {
			location = fmt.Sprintf("%s:%d", location, finding.Line)
		}
		color := terminal.Yellow
		if finding.Severity == report.SeverityError {
			color = terminal.Red
		}
		fmt.Fprintln(o.Out, screen.Wrap(fmt.Sprintf("%s: %s%s: %s [%s]", location, subject(&finding),
			screen.Paint(color, string(finding.Severity)), text.OneLine(finding.Message), finding.Rule), 2))
	}
	if len(o.result.Items) == 0 {
		otherKinds := ""
		if len(files.Templates) > 0 {
			otherKinds = fmt.Sprintf(" and %d AddOnTemplates", len(files.Templates))
		}
		if len(files.Policies) > 0 {
			otherKinds += fmt.Sprintf(" and %d AddOnDependencyPolicies", len(files.Policies))
		}
		fmt.Fprintf(o.ErrOut, "No problems found in %d ClusterManagementAddOns%s.\n", len(files.Manifests), otherKinds)
	}
	return nil
}

// fileRules are the rules whose findings are about no add-on.
var fileRules = []review.Rule{report.RuleUnreadable, report.RuleUnknownKind, report.RuleInvalidPolicy}

// subject returns the add-on of a finding, as the beginning of a message. It is empty if the finding is about no add-on.
func subject(finding *report.LintFinding) string {
	if finding.AddOn == "" && slices.Contains(fileRules, finding.Rule) {
		return ""
	}
	return cmp.Or(text.Name(finding.AddOn), noName) + ": "
}

func (o *options) printSARIF(out io.Writer) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	return writeSARIF(out, o.result, folder)
}
