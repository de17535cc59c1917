// Package versioncmd is the verb of kubectl addon that shows versions: of the plugin, and of
// what runs on the hub.
package versioncmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/version"
)

type options struct {
	genericiooptions.IOStreams
	source     *source.Source
	flags      *output.Flags
	namespace  string
	clientOnly bool
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(), namespace: components.DefaultNamespace}
	command := &cobra.Command{
		Use:   "version",
		Short: "Show the versions of the plugin, and of what runs on the hub",
		Long: `Show the version of the plugin, and the versions of Kubernetes, Open Cluster Management
and Interlock on the hub. The version of a part of Interlock is the tag of its image.

If the hub does not respond, it shows the version of the plugin, and exits with 3. --client
reads no hub.`,
		Example: `  kubectl addon version

  # Without a hub
  kubectl addon version --client -o yaml`,
		Args: cobra.NoArgs,
		RunE: cmdline.RunE(o.complete, o.run),
	}
	command.Flags().BoolVar(&o.clientOnly, "client", false, "Show only the version of the plugin.")
	command.Flags().StringVar(&o.namespace, "interlock-namespace", o.namespace, "The namespace that Interlock is installed in.")
	o.flags.AddTo(command)
	return command
}

func (o *options) complete([]string) error {
	if o.source.IsFile() {
		return errors.New("--from: version needs a hub, or --client without --from")
	}
	return o.flags.Validate()
}

func (o *options) run(ctx context.Context) error {
	versions := report.NewComponentVersions(report.ClientVersion{
		Version: version.Version, GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	})
	var hubErr error
	if !o.clientOnly {
		versions.Hub, hubErr = o.readHub(ctx)
	}
	if err := o.flags.Print(o.Out, versions, func() error { return o.print(versions) }); err != nil {
		return err
	}
	return hubErr
}

// readHub reads the versions on the hub. It returns nil if the hub does not respond.
func (o *options) readHub(ctx context.Context) (*report.HubVersions, error) {
	kubernetes, err := o.source.KubernetesVersion(ctx)
	if err != nil {
		return nil, err
	}
	reader, host, err := o.source.Connect()
	if err != nil {
		return nil, err
	}
	hub := components.Hub{Reader: reader, Namespace: o.namespace}
	return &report.HubVersions{
		Address:    host,
		Components: append([]report.Component{{Name: "Kubernetes", Status: report.ComponentInstalled, Version: kubernetes}}, read(ctx, hub)...),
	}, nil
}

func (o *options) print(versions *report.ComponentVersions) error {
	lines := []string{"Client Version: " + versions.ClientVersion.Version}
	if versions.Hub != nil {
		lines = append(lines, "Hub: "+text.OneLine(versions.Hub.Address))
		for _, component := range versions.Hub.Components {
			lines = append(lines, "  "+component.Name+": "+o.describe(component))
		}
	}
	_, err := fmt.Fprintln(o.Out, strings.Join(lines, "\n"))
	return err
}

func (o *options) describe(component report.Component) string {
	switch component.Status {
	case report.ComponentNotInstalled:
		return "not installed"
	case report.ComponentUnknown:
		return "not known: " + text.OneLine(component.Message)
	case report.ComponentInstalled:
	}
	return cmp.Or(text.OneLine(component.Version), "installed, in a version that is not known")
}
