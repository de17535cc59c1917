package hubcmd

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

func newInstall(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src}
	command := &cobra.Command{
		Use:   "install RELEASE",
		Short: "Install Interlock on a hub",
		Long: `Install Interlock on a hub from a release: a folder with its files, its chart as a file or a
folder, or oci:// with the reference of the chart.

First it checks the hub: the versions of Kubernetes and of Open Cluster Management, your
rights, the registry, and that no other tool has installed Interlock. Each check that fails
names the command that repairs it, and nothing is written then. It finds missing rights and
refusals by trying all objects as a dry run.

Then it pushes the images with --registry, applies the objects, waits until Interlock runs,
and makes the checks of kubectl addon doctor. If it is interrupted, run it again.

It exits with 1 when a check fails.`,
		Example: `  # From the folder of a release, with its images in a registry of yours
  kubectl addon hub install bin/release --registry registry.example.com/team

  # From a registry that has the release
  kubectl addon hub install oci://registry.example.com/charts/interlock:0.1.0

  # What it would do
  kubectl addon hub install bin/release --registry registry.example.com/team --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: cmdline.RunE(o.complete, o.run),
	}
	o.addFlags(command)
	return command
}

func newUpgrade(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, upgrade: true}
	command := &cobra.Command{
		Use:   "upgrade [RELEASE]",
		Short: "Upgrade Interlock on a hub, or change its values",
		Long: `Upgrade what kubectl addon hub install has installed. The values of the installation stay, and
--values and --set change some of them. Without RELEASE, the version stays too.

It makes the same checks as install, and refuses an older version. Objects that the new
version does not have are deleted once the new pods run.`,
		Example: `  kubectl addon hub upgrade oci://registry.example.com/charts/interlock:0.2.0

  # Other values of the same version
  kubectl addon hub upgrade --set agent.install=true

  # In a pipeline: install, or upgrade
  kubectl addon hub upgrade --install bin/release --registry registry.example.com/team`,
		Args: cobra.MaximumNArgs(1),
		RunE: cmdline.RunE(o.complete, o.run),
	}
	o.addFlags(command)
	command.Flags().BoolVar(&o.install, "install", false, "Install if nothing is installed.")
	command.Flags().BoolVar(&o.resetValues, "reset-values", false, "Forget the values of the installation.")
	command.Flags().BoolVar(&o.allowDowngrade, "allow-downgrade", false, "Accept a version that is older than the installed one.")
	return command
}
