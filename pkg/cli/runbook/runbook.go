// Package runbook is the verb of kubectl addon that prints the page of an alert, a verdict or a reason. It needs no hub and
// no network.
package runbook

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/deploy"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

type options struct {
	genericiooptions.IOStreams
	flags *output.Flags
	name  string
}

// NewCommand returns the verb.
func NewCommand(_ *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, flags: output.NewFlags()}
	command := &cobra.Command{
		Use:   "runbook [ALERT|VERDICT|REASON]",
		Short: "Show what an alert means, and what to do",
		Long: `Show what an alert, a verdict on a dependency or a reason of a condition means, where to
look, and how to repair it. Without a name, it lists all of them.

It needs no hub and no network: the plugin has the pages of its version. In the commands,
CLUSTER is the name of a managed cluster, ADDON that of an add-on which depends on another
one, and DEPENDENCY the other one.

It exits with 1 if there is no page of that name.`,
		Example: `  kubectl addon runbook InterlockDown

  # All pages
  kubectl addon runbook`,
		Args:              cobra.MaximumNArgs(1),
		RunE:              cmdline.RunE(o.complete, o.run),
		ValidArgsFunction: completeName,
	}
	o.flags.AddTo(command)
	return command
}

func (o *options) complete(args []string) error {
	if len(args) == 1 {
		o.name = args[0]
	}
	return o.flags.Validate()
}

func (o *options) run(context.Context) error {
	pages, err := readPages()
	if err != nil {
		return err
	}
	if o.name == "" {
		return o.flags.Print(o.Out, newPages(pages), func() error { return o.list(pages) })
	}
	i := slices.IndexFunc(pages, func(page report.RunbookPage) bool { return strings.EqualFold(page.Name, o.name) })
	if i < 0 {
		return fmt.Errorf("no page of %q: kubectl addon runbook lists all", text.Name(o.name))
	}
	return o.flags.Print(o.Out, newPages(pages[i:i+1]), func() error {
		_, err := fmt.Fprint(o.Out, pages[i].Text)
		return err
	})
}

func newPages(pages []report.RunbookPage) *report.Runbook {
	return &report.Runbook{TypeMeta: metav1.TypeMeta{APIVersion: report.APIVersion, Kind: "Runbook"}, Items: pages}
}

// list prints a table of all pages, alerts first.
func (o *options) list(pages []report.RunbookPage) error {
	rows := make([][]string, 0, len(pages))
	for _, page := range pages {
		rows = append(rows, []string{page.Name, page.Meaning})
	}
	return o.flags.Table(o.Out, []string{"NAME", "MEANING"}).Print(rows)
}

// readPages returns the pages that the plugin has, alerts first.
func readPages() ([]report.RunbookPage, error) {
	var object corev1.ConfigMap
	if err := yaml.UnmarshalStrict(deploy.Runbook, &object); err != nil {
		return nil, fmt.Errorf("read the pages in the plugin: %w", err)
	}
	var alerts, others []report.RunbookPage
	for _, name := range slices.Sorted(maps.Keys(object.Data)) {
		page := report.RunbookPage{Name: name, Meaning: meaningOf(object.Data[name]), Text: object.Data[name]}
		if strings.HasPrefix(name, "Interlock") {
			alerts = append(alerts, page)
		} else {
			others = append(others, page)
		}
	}
	return append(alerts, others...), nil
}

// meaningOf returns the first paragraph under the heading, in one line.
func meaningOf(page string) string {
	_, body, _ := strings.Cut(page, "\n\n")
	paragraph, _, _ := strings.Cut(body, "\n\n")
	meaning := strings.Join(strings.Fields(paragraph), " ")
	return strings.TrimPrefix(strings.TrimPrefix(meaning, "Meaning. "), "Meaning: ")
}

func completeName(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	pages, err := readPages()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, page := range pages {
		if strings.HasPrefix(page.Name, typed) {
			names = append(names, page.Name+"\t"+text.Cut(page.Meaning, 60))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
