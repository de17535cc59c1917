// Package planned has the common parts of the verbs of kubectl addon that write: the managed clusters, the output of the plan, the question
// before it is carried out, and the wait for each layer.
package planned

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
)

// FieldManager is the field manager of the plugin. It distinguishes add-ons of the plugin from those that another writer has taken over.
const FieldManager = addonv1alpha1.InstalledByPlugin

// Options are the flags and arguments of such a verb.
type Options struct {
	genericiooptions.IOStreams
	Source *source.Source
	Flags  *output.Flags
	// Hub writes, once a plan has been made.
	Hub client.Client
	// Verbs are the required rights to ManagedClusterAddOns, such as create.
	Verbs []string
	// AddOns are the arguments, each once.
	AddOns []string
	// Only is true if the plan is only printed.
	Only bool
	// Wait is true if each layer waits for the one before.
	Wait bool

	clusters []string
	labels   string
	selector labels.Selector
	yes      bool
	host     string
	timeout  time.Duration
	ends     time.Time
	warnings *warnings
	// absences caches whether Placements do not exist.
	absences map[types.NamespacedName]bool
}

// AddFlags adds the flags. does is the name of the verb, such as "install".
func (o *Options) AddFlags(command *cobra.Command, does string) {
	flags := command.Flags()
	flags.StringSliceVar(&o.clusters, "cluster", nil, "The managed cluster to "+does+" on. Can be repeated. Here, this is no cluster of the kubeconfig.")
	flags.StringVarP(&o.labels, "selector", "l", "", "All managed clusters with these labels, as kubectl get -l.")
	flags.BoolVar(&o.Only, "plan", false, "Only show the plan.")
	flags.BoolVarP(&o.yes, "yes", "y", false, "Do not ask.")
	flags.BoolVar(&o.Wait, "wait", false, "Wait for each layer before the next one, and for the last one.")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "How long to wait for all layers together. A negative time waits for a week for each.")
	o.Flags.AddTo(command)
	_ = flags.MarkHidden("no-headers") // it has no effect here
}

// Complete reads the arguments. Its error is a usage error.
func (o *Options) Complete(args []string) (err error) {
	for _, name := range args {
		if name == "" {
			return errors.New("ADDON is empty: name an add-on")
		}
		if !slices.Contains(o.AddOns, name) {
			o.AddOns = append(o.AddOns, name)
		}
	}
	if len(o.AddOns) == 0 {
		return errors.New("name an add-on")
	}
	if namespace := *o.Source.Config.Namespace; namespace != "" {
		switch {
		case len(o.clusters) > 0:
			return fmt.Errorf("-n %s and --cluster: use --cluster only, which can be repeated", namespace)
		case o.labels != "":
			return fmt.Errorf("-n %s and --selector: use --selector only", namespace)
		}
		o.clusters = []string{namespace}
	}
	o.clusters = slices.Compact(slices.Sorted(slices.Values(o.clusters)))
	switch {
	case len(o.clusters) == 0 && o.labels == "":
		return errors.New("name the managed clusters: --cluster or --selector")
	case len(o.clusters) > 0 && o.labels != "":
		return errors.New("--cluster and --selector: choose one")
	case slices.Contains(o.clusters, ""):
		return errors.New("--cluster is empty: name a managed cluster")
	case o.Source.IsFile() && !o.Only:
		return errors.New("--from needs --plan: a file cannot be changed")
	case !o.Only && !o.yes && !terminal.Answers(o.In):
		return errors.New("standard input is no terminal, so it cannot be asked whether to go on: use --yes, or --plan to see what would be done")
	}
	if o.labels != "" {
		if o.selector, err = labels.Parse(o.labels); err != nil {
			return fmt.Errorf("--selector=%q: %w", o.labels, err)
		}
	}
	return o.validate()
}
