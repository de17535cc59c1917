// Package statuscmd is the verb of kubectl addon that lists add-ons on managed
// clusters with both of their conditions.
package statuscmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
)

// ErrUnsatisfied is returned with --check when a Required dependency is unsatisfied.
var ErrUnsatisfied = errors.New("required dependencies are not satisfied")

type options struct {
	genericiooptions.IOStreams
	filter
	source        *source.Source
	flags         *output.Flags
	allNamespaces bool
	check         bool
	summary       bool
	live          bool
	watch         bool
	labels        string // the value of --selector
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(output.Wide, output.Name)}
	command := &cobra.Command{
		Use:   "status [ADDON]",
		Short: "List add-ons on managed clusters: available, degraded, and why",
		Long: `List the add-ons of a managed cluster, or of all, with their conditions Available and
Degraded. Reason and message are those of Degraded while it is True, else those of
Available. Installations and upgrades that wait for dependencies are in a list of their own,
with what they wait for, and since when; to a pipe, a watch lists them as rows of their own.

Name the managed cluster with -n, or list all with -A. Without either, it takes the namespace
of the kubeconfig, which is usually no managed cluster. With --selector, --summary, --waiting
or --from, it lists all.`,
		Example: `  # All add-ons on one managed cluster
  kubectl addon status -n cluster1

  # What does not work in the whole fleet, or on some clusters?
  kubectl addon status -A --failing
  kubectl addon status -l environment=production --failing

  # Which installations and upgrades wait, and for what?
  kubectl addon status --waiting

  # One add-on on every cluster
  kubectl addon status cluster-gateway -A

  # How often is each dependency satisfied, and which versions wait on how many clusters?
  kubectl addon status --summary

  # Follow a rollout
  kubectl addon status cluster-gateway -A -w

  # In a pipeline: exit 1 while a Required dependency is missing on cluster1
  kubectl addon status -n cluster1 --check`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context())
		},
	}
	o.addFlags(command)
	return command
}

func (o *options) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the add-ons of all managed clusters.")
	flags.BoolVar(&o.check, "check", false,
		"Exit 1 when a Required dependency of a listed add-on is not satisfied, "+
			"the managed cluster or add-on does not exist, or no managed cluster matches -l.")
	flags.BoolVar(&o.failing, "failing", false,
		"List only add-ons that are degraded, or not known to be available; "+
			"and those of which an installation or an upgrade waits, in a list of their own.")
	flags.BoolVar(&o.waiting, "waiting", false,
		"List only installations and upgrades that wait for dependencies: what runs, what waits, since when, and for what.")
	flags.StringSliceVar(&o.reasons, "reason", nil, "List only add-ons with this reason. Can be repeated.")
	flags.StringVarP(&o.labels, "selector", "l", "", "List only the add-ons of managed clusters with these labels, as kubectl get -l.")
	flags.BoolVar(&o.summary, "summary", false,
		"Count the verdicts on each dependency over the managed clusters, and the installations and upgrades that wait.")
	flags.BoolVar(&o.live, "live", false, "With --summary: "+source.Live)
	flags.BoolVarP(&o.watch, "watch", "w", false, "Show the list again with each change, until interrupted. A pipe gets each change.")
	o.flags.AddTo(command)
}

func (o *options) complete(args []string) error {
	if len(args) == 1 {
		o.name = args[0]
	}
	if o.labels != "" {
		selector, err := labels.Parse(o.labels)
		if err != nil {
			return cmdline.UsageError(fmt.Errorf("--selector=%q: %w", o.labels, err))
		}
		o.selector = selector
	}
	cluster := *o.source.Config.Namespace
	if o.allNamespaces || cluster != "" || o.selector != nil || o.summary || o.waiting || o.source.IsFile() {
		if !o.allNamespaces {
			o.namespace = cluster
		}
		return nil
	}
	namespace, _, err := o.source.Config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return cmdline.HubError(fmt.Errorf("read kubeconfig: %w", err))
	}
	o.namespace, o.implied = namespace, true
	return nil
}

func (o *options) validate() error {
	if err := o.flags.Validate(); err != nil {
		return err
	}
	rowOptions := []struct {
		flag  string
		isSet bool
	}{
		{"--check", o.check},
		{"--failing", o.failing},
		{"--waiting", o.waiting},
		{"--reason", len(o.reasons) > 0},
		{"--watch", o.watch},
		{"-o name", o.flags.Is(output.Name)},
	}
	if o.summary {
		for _, option := range rowOptions {
			if option.isSet {
				return fmt.Errorf("--summary and %s: choose one; a summary has no rows of add-ons", option.flag)
			}
		}
	}
	switch {
	case o.live && !o.summary:
		return errors.New("--live: only with --summary; without it, status always reads the managed clusters")
	case o.live && o.source.IsFile():
		return errors.New("--live and --from: choose one")
	case o.waiting && o.failing:
		return errors.New("--waiting and --failing: choose one; --failing lists what waits, too")
	case o.watch && o.source.IsFile():
		return errors.New("--watch and --from: choose one; a file does not change")
	case o.watch && o.check:
		return errors.New("--watch and --check: choose one; a watch does not end")
	case o.watch && (o.flags.IsData() || o.flags.Is(output.Wide)):
		return errors.New("--watch and --output: a watch prints a table, or -o name")
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	switch {
	case o.summary:
		return o.runSummary(ctx)
	case o.watch:
		return o.runWatch(ctx)
	}
	allRows, readTime, err := o.read(ctx)
	if err != nil {
		return err
	}
	if o.name != "" && len(allRows) == 0 {
		return o.notFoundError()
	}
	if o.check && o.selectsNone() {
		return fmt.Errorf("no managed cluster to check has the labels %s: kubectl get managedclusters --show-labels lists them", o.selector)
	}
	rows := slices.DeleteFunc(slices.Clone(allRows), func(row Row) bool { return !o.keeps(row) })
	if err := o.print(rows, len(allRows), readTime); err != nil {
		return err
	}
	if err := o.noteInstallations(ctx); err != nil {
		return err
	}
	o.noteWithoutInterlock(ctx, allRows)
	if o.check && slices.ContainsFunc(rows, Row.Unsatisfied) {
		return fmt.Errorf("%w: %s", ErrUnsatisfied, o.source.Command(o.whyCommand()))
	}
	return nil
}

// noteWithoutInterlock prints a note if no add-on has Degraded because Interlock is not installed. With wide output, the snapshot has
// printed a note.
func (o *options) noteWithoutInterlock(ctx context.Context, rows []Row) {
	isDecided := slices.ContainsFunc(rows, func(row Row) bool { return row.Degraded != "" })
	if len(rows) == 0 || isDecided || o.flags.Chosen() || o.source.IsFile() || !o.source.WithoutInterlock(ctx) {
		return
	}
	fmt.Fprintf(o.ErrOut, "Interlock is not installed on this hub, so no condition depends on dependencies. %s finds what fails.\n",
		o.source.Command(o.whyCommand()))
}

// whyCommand returns the command that finds the causes for the listed add-ons.
func (o *options) whyCommand() string {
	command := "kubectl addon why"
	if o.name != "" {
		command += " " + source.Quoted(o.name)
	}
	if o.namespace != "" {
		command += " -n " + source.Quoted(o.namespace)
	}
	return command
}

// notFoundError returns the error for a named add-on that is not installed.
func (o *options) notFoundError() error {
	message := o.emptyMessage()
	if o.namespace != "" || o.selector != nil {
		return errors.New(message)
	}
	return fmt.Errorf("%s: %s lists what is installed", strings.TrimSuffix(message, "."), o.source.Command("kubectl addon status -A"))
}

// read reads the rows of the named add-on and clusters. It also returns the time at which they were read.
func (o *options) read(ctx context.Context) ([]Row, time.Time, error) {
	if !o.source.IsFile() && !o.flags.Is(output.Wide) {
		addOns, err := o.readHub(ctx)
		return slices.DeleteFunc(Rows(addOns), func(row Row) bool { return !o.isNamed(row) }), time.Now(), err
	}
	hub, err := o.source.Snapshot(ctx, o.namespace)
	if err != nil {
		return nil, time.Time{}, err
	}
	o.selectIn(hub)
	rows := slices.DeleteFunc(rowsOf(hub.AddOns), func(row Row) bool { return !o.isNamed(row) })
	addInstallations(rows, hub)
	if o.flags.Is(output.Wide) {
		addEdges(rows, hub) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
	}
	return rows, hub.Taken, nil
}

// readHub reads add-ons only, because the user may have no other right.
func (o *options) readHub(ctx context.Context) ([]addonv1alpha1.ManagedClusterAddOn, error) {
	h, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	addOns, err := h.list(ctx)
	// A check of a name that does not exist must not succeed.
	if err == nil && len(addOns) == 0 && o.namespace != "" {
		err = h.checkCluster(ctx, o.check)
	}
	return addOns, err
}

// connect connects to the hub, and selects the managed clusters there.
func (o *options) connect(ctx context.Context) (*hub, error) {
	client, host, err := o.source.Connect()
	if err != nil {
		return nil, err
	}
	h := &hub{WithWatch: client, host: host, filter: &o.filter}
	return h, h.selectClusters(ctx)
}

func (o *options) runSummary(ctx context.Context) error {
	stored, err := o.storedReport(ctx)
	switch {
	case err != nil:
		return err
	case stored != nil:
		return o.printStored(stored)
	}
	hub, err := o.source.Snapshot(ctx, o.namespace)
	if err != nil {
		return err
	}
	o.selectIn(hub)
	summary := report.FindSummary(hub, o.hasCluster, o.name)
	if o.name != "" && len(summary.Items) == 0 && source.CheckInstalled(hub, o.name, o.namespace) != nil {
		return o.notFoundError()
	}
	return o.flags.Print(o.Out, summary, func() error { return o.printSummary(summary) })
}
