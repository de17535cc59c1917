// Package doctor is the verb of kubectl addon that checks Interlock itself. Each check has
// a file of its own.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/version"
)

// ErrUnwell is returned when a check fails.
var ErrUnwell = errors.New("a check failed")

type options struct {
	genericiooptions.IOStreams
	source    *source.Source
	flags     *output.Flags
	namespace string
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(), namespace: components.DefaultNamespace}
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether Interlock itself works",
		Long: `Check Interlock on a hub: the version of Open Cluster Management, Interlock's pods,
versions, rights and leader, its webhook and its console, the guard, the gates, the
graft, the records of declarations, addon-agent on the managed clusters and what it was
requested to report, the declarations of add-ons, and verdicts that are held. The line
below a check that failed, or that is worth a look, shows what to do.

It writes nothing. Whether the API server acts on the guard is found by what add-ons
report: none may be available while a Required dependency fails.

With -n or -l, it checks addon-agent on these managed clusters only.

It exits with 1 when a check fails. "?" marks a check that you have no right to make.`,
		Example: `  kubectl addon doctor

  # Installed in another namespace
  kubectl addon doctor --interlock-namespace interlock

  # Only what failed, for a program
  kubectl addon doctor -o jsonpath='{.items[?(@.status=="Failed")].found}'`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if src.IsFile() {
				return cmdline.UsageError(errors.New("--from: doctor needs a hub"))
			}
			if err := o.flags.Validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context())
		},
	}
	command.Flags().StringVar(&o.namespace, "interlock-namespace", o.namespace, "The namespace that Interlock is installed in.")
	src.AddClusterFlags(command)
	o.flags.AddTo(command)
	return command
}

func (o *options) run(ctx context.Context) error {
	diagnosis, err := Diagnose(ctx, o.source, o.namespace)
	if err != nil {
		return err
	}
	if err := o.flags.Print(o.Out, diagnosis, func() error { return Write(o.Out, o.source, diagnosis) }); err != nil {
		return err
	}
	if diagnosis.Failed() {
		return ErrUnwell
	}
	return nil
}

// Diagnose makes all checks of the Interlock that is installed in a namespace.
func Diagnose(ctx context.Context, src *source.Source, namespace string) (*report.Diagnosis, error) {
	fleet, err := src.Snapshot(ctx, src.Cluster())
	if err != nil {
		return nil, err
	}
	reader, _, err := src.Connect()
	if err != nil {
		return nil, err
	}
	return diagnose(ctx, newHub(reader, fleet, namespace, time.Now(), components.Plain(version.Version))), nil
}

// GuardCheck is the name of the check of the guard.
const GuardCheck = "guard"

// check is a named check of a hub.
type check struct {
	name string
	run  func(context.Context, *hub) []result
}

var checks = []check{
	{"open-cluster-management", checkOCM},
	{"addon-manager", checkAddonManager},
	{"leader", checkLeader},
	{"webhook", checkWebhook},
	{"console", checkConsole},
	{"versions", checkVersions},
	{"rights", checkRights},
	{GuardCheck, checkGuard},
	{"gates", checkGates},
	{"graft", checkGraft},
	{"records", checkRecords},
	{"agents", checkAgents},
	{"facts", checkFacts},
	{"declarations", checkDeclarations},
	{"installations", checkInstallLabels},
	{"held", checkHeldVerdicts},
	{"offline", checkOfflinePolicy},
}

func diagnose(ctx context.Context, h *hub) *report.Diagnosis {
	diagnosis := report.NewDiagnosis()
	for _, check := range checks {
		for _, result := range check.run(ctx, h) {
			diagnosis.Items = append(diagnosis.Items, report.CheckResult{
				Check: check.name, Status: result.status, Message: text.OneLine(result.message),
				Repair: result.repair,
			})
		}
	}
	return diagnosis
}

const markWidth = 2 // with the space behind the mark

var marks = map[report.CheckStatus]string{passed: "✔", failed: "✖", unknown: "?", note: "-"}

var colors = map[report.CheckStatus]terminal.Color{passed: terminal.Green, failed: terminal.Red}

// Write writes the results for people, each with the command that repairs it.
func Write(out io.Writer, src *source.Source, diagnosis *report.Diagnosis) error {
	var lines []string
	note := ""
	screen := terminal.ScreenOf(out)
	for _, item := range diagnosis.Items {
		lines = append(lines, screen.Paint(colors[item.Status], marks[item.Status])+" "+screen.Wrap(item.Message, markWidth))
		if item.Repair != "" {
			lines = append(lines, "  → "+src.Command(item.Repair))
		}
		note = cmp.Or(note, src.Note(item.Repair))
	}
	if note != "" {
		lines = append(lines, note)
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}
