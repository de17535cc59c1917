// Package status is the verb of kubectl addon that lists add-ons on managed
// clusters with both of their conditions.
package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/cmdline"
)

// ErrUnsatisfied is returned with --check when a Required dependency is unsatisfied.
var ErrUnsatisfied = errors.New("required dependencies are not satisfied")

type options struct {
	genericiooptions.IOStreams
	config        *genericclioptions.ConfigFlags
	allNamespaces bool
	check         bool
	output        string
	name          string
	namespace     string
	implied       bool   // the namespace is that of the kubeconfig, not of -n
	host          string // of the hub
}

// NewCommand returns the verb. config names the hub and the namespace.
func NewCommand(config *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, config: config}
	command := &cobra.Command{
		Use:   "status [ADDON]",
		Short: "List add-ons on managed clusters: available, degraded, and why",
		Long: `List the add-ons of a managed cluster, or of all, with both of their
conditions and the reason and message that matter: those of Degraded while it
is True, else those of Available. A managed cluster is the namespace of its name:
name it with -n, or list all with -A. Without either, the namespace of the
kubeconfig counts, which usually is no managed cluster.`,
		Example: `  # All add-ons on one managed cluster
  kubectl addon status -n cluster1

  # All add-ons on all managed clusters
  kubectl addon status -A

  # One add-on on every cluster
  kubectl addon status cluster-gateway -A

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
	command.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "List the add-ons of all managed clusters.")
	command.Flags().BoolVar(&o.check, "check", false, "Exit 1 when a Required dependency of a listed add-on is not satisfied, or the managed cluster or add-on does not exist.")
	command.Flags().StringVarP(&o.output, "output", "o", "", `Output format: "json", "yaml", or a table when empty.`)
	return command
}

func (o *options) complete(args []string) error {
	if len(args) == 1 {
		o.name = args[0]
	}
	if o.allNamespaces {
		return nil
	}
	namespace, named, err := o.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	o.namespace, o.implied = namespace, !named
	return nil
}

func (o *options) validate() error {
	if !slices.Contains([]string{"", "json", "yaml"}, o.output) {
		return fmt.Errorf("--output=%q: must be json or yaml", o.output)
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	hub, err := o.connect()
	if err != nil {
		return err
	}
	addOns, err := o.list(ctx, hub)
	if err != nil {
		return err
	}
	// A check of a name that does not exist must not succeed.
	if len(addOns) == 0 && !o.allNamespaces {
		if err := o.checkCluster(ctx, hub); err != nil {
			return err
		}
	}
	if o.name != "" {
		addOns = slices.DeleteFunc(addOns, func(a addonv1alpha1.ManagedClusterAddOn) bool { return a.Name != o.name })
		if len(addOns) == 0 {
			return errors.New(o.nothingFound())
		}
	}
	rows := Rows(addOns)
	if err := o.print(rows); err != nil {
		return err
	}
	if o.check && slices.ContainsFunc(rows, Row.Unsatisfied) {
		return ErrUnsatisfied
	}
	return nil
}

func (o *options) connect() (client.Client, error) {
	restConfig, err := o.config.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	o.host = restConfig.Host
	hub, err := client.New(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("reach the hub: %w", err)
	}
	return hub, nil
}

func (o *options) list(ctx context.Context, hub client.Client) ([]addonv1alpha1.ManagedClusterAddOn, error) {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := hub.List(ctx, &list, client.InNamespace(o.namespace)); err != nil {
		return nil, fmt.Errorf("list managedclusteraddons: %w (is %s an Open Cluster Management hub?)", err, o.host)
	}
	return list.Items, nil
}

// checkCluster returns an error unless the managed cluster exists. Only a
// check needs the right to read ManagedClusters.
func (o *options) checkCluster(ctx context.Context, hub client.Client) error {
	cluster := &metav1.PartialObjectMetadata{}
	cluster.SetGroupVersionKind(schema.GroupVersionKind{Group: clusterv1.GroupName, Version: "v1", Kind: "ManagedCluster"})
	err := hub.Get(ctx, client.ObjectKey{Name: o.namespace}, cluster)
	switch {
	case apierrors.IsNotFound(err) && o.implied:
		return fmt.Errorf("no managed cluster named: the kubeconfig's namespace %q is none on this hub; name one with -n CLUSTER, or list all with -A", o.namespace)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("no managed cluster %q on this hub: name another with -n, or list all with -A", o.namespace)
	case err != nil && o.check:
		return fmt.Errorf("no add-ons found in namespace %q, and whether it is a managed cluster is not known: %w", o.namespace, err)
	default:
		return nil
	}
}

func (o *options) print(rows []Row) error {
	if o.output != "" {
		return o.printData(rows)
	}
	if len(rows) == 0 {
		fmt.Fprintln(o.ErrOut, o.nothingFound())
		return nil
	}
	cells := make([][]string, 0, len(rows))
	for _, row := range rows {
		cells = append(cells, row.Cells())
	}
	return table.Print(o.Out, Heading, cells)
}

// printData prints the rows as a list of their own: they are no Kubernetes objects.
func (o *options) printData(rows []Row) error {
	printer, err := genericclioptions.NewJSONYamlPrintFlags().ToPrinter(o.output)
	if err != nil {
		return err
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("print %s: %w", o.output, err)
	}
	if err := printer.PrintObj(&runtime.Unknown{Raw: text}, o.Out); err != nil {
		return fmt.Errorf("print %s: %w", o.output, err)
	}
	return nil
}

func (o *options) nothingFound() string {
	what := "No add-ons found"
	if o.name != "" {
		what = fmt.Sprintf("No add-on %q found", o.name)
	}
	if o.allNamespaces {
		return what + " on any managed cluster."
	}
	where := fmt.Sprintf("managed cluster %q", o.namespace)
	if o.implied {
		where += ", the kubeconfig's namespace"
	}
	return fmt.Sprintf("%s on %s; name another with -n, or all with -A.", what, where)
}
