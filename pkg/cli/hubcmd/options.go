package hubcmd

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/strvals"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/offline/airgap/registry"
)

// options are the arguments and flags of install and upgrade.
type options struct {
	genericiooptions.IOStreams
	source *source.Source

	// upgrade is whether an installation exists that is to be changed.
	upgrade bool
	// release is the argument. An upgrade without one keeps the version.
	release                       string
	namespace                     string
	registry                      string
	images                        string
	insecure                      bool
	valueFiles                    []string
	set                           []string
	resetValues, install          bool
	takeOwnership, allowDowngrade bool
	dryRun                        bool
	output                        string
	timeout                       time.Duration
}

func (o *options) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.namespace, "interlock-namespace", components.DefaultNamespace, "The namespace for Interlock. It is created if it does not exist.")
	flags.StringVar(&o.registry, "registry", "",
		"Push the images of the release to this `REGISTRY[/REPOSITORY]`, with the credentials of docker login, and have the pods use them.")
	flags.StringVar(&o.images, "images", "", "A `FOLDER` with addon-manager.tar and addon-agent.tar, if they are not beside the chart.")
	flags.BoolVar(&o.insecure, "insecure", false, "The registry is on loopback, and may have no TLS.")
	flags.StringArrayVarP(&o.valueFiles, "values", "f", nil, "A `FILE` with values of the chart; - for standard input. May be repeated.")
	flags.StringArrayVar(&o.set, "set", nil, "A value of the chart, as `NAME=VALUE`, such as agent.install=true. May be repeated.")
	flags.BoolVar(&o.takeOwnership, "take-ownership", false,
		"Take over objects that exist already, and fields that others have changed. Objects of Helm stay Helm's.")
	flags.BoolVar(&o.dryRun, "dry-run", false, "Only check the hub, and show what would be done.")
	flags.StringVarP(&o.output, "output", "o", "", "With --dry-run, print the objects: yaml or json.")
	flags.DurationVar(&o.timeout, "timeout", defaultTimeout, "How long to wait until Interlock runs.")
}

const defaultTimeout = 5 * time.Minute

// complete checks arguments and flags.
func (o *options) complete(args []string) error {
	if len(args) > 0 {
		o.release = args[0]
	}
	switch {
	case len(args) > 0 && o.release == "":
		return errors.New("RELEASE is empty: name a folder, a chart, or oci:// with the reference of a chart")
	case o.source.IsFile():
		return errors.New("--from: this verb needs a hub. Name the release without --from")
	case !slices.Contains([]string{"", "yaml", "json"}, o.output):
		return fmt.Errorf("--output=%q: choose yaml or json", o.output)
	case o.output != "" && !o.dryRun:
		return errors.New("--output needs --dry-run")
	case o.timeout <= 0:
		return fmt.Errorf("--timeout=%s: it has to be longer than 0", o.timeout)
	case strings.Contains(o.registry, "://"):
		return fmt.Errorf("--registry=%q: leave out the protocol, as in registry.example.com/team", o.registry)
	case o.images != "" && o.registry == "":
		return errors.New("--images needs --registry, where the images are pushed to")
	}
	o.registry = strings.TrimSuffix(o.registry, "/")
	return nil
}

func (o *options) client() registry.Client { return registry.Client{Insecure: o.insecure} }

// values returns the values of the flags on top of earlier ones, as Helm merges them.
func (o *options) values(earlier map[string]any) (map[string]any, error) {
	values := map[string]any{}
	if !o.resetValues {
		values = loader.MergeMaps(values, earlier)
	}
	for _, path := range o.valueFiles {
		content, err := regularfile.ReadAll(path, o.In)
		if err != nil {
			return nil, fmt.Errorf("--values: %w", err)
		}
		more := map[string]any{}
		if err := yaml.UnmarshalStrict(content, &more); err != nil {
			return nil, fmt.Errorf("--values: %s: %w", path, err)
		}
		values = loader.MergeMaps(values, more)
	}
	// strvals changes maps in place, and some belong to the earlier values.
	values, err := clone(values)
	if err != nil {
		return nil, err
	}
	for _, assignment := range o.set {
		if err := strvals.ParseInto(assignment, values); err != nil {
			return nil, fmt.Errorf("--set=%q: %w", assignment, err)
		}
	}
	if images, ok := values["images"].(map[string]any); ok && o.registry != "" {
		for _, name := range slices.Sorted(maps.Keys(images)) {
			if name == "prefix" || name == "tag" {
				return nil, fmt.Errorf("--registry=%s decides images.%s, and values set it to %q: choose one", o.registry, name, images[name])
			}
		}
	}
	return values, nil
}

func clone(values map[string]any) (map[string]any, error) {
	content, err := yaml.Marshal(values)
	if err != nil {
		return nil, err
	}
	cloned := map[string]any{}
	return cloned, yaml.Unmarshal(content, &cloned)
}

// results returns the stream for results of checks. With --output, standard output has the objects only.
func (o *options) results() io.Writer {
	if o.output != "" {
		return o.ErrOut
	}
	return o.Out
}
