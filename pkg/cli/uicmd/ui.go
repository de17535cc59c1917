// Package uicmd is the verb of kubectl addon that shows a fleet in a browser.
package uicmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report/console"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/pkg/text"
)

// loopback is the only address that the verb listens on.
const loopback = "127.0.0.1"

type options struct {
	genericiooptions.IOStreams
	source  *source.Source
	port    uint16
	groupBy string
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src}
	command := &cobra.Command{
		Use:   "ui",
		Short: "Show the fleet in a browser, with each change",
		Long: `Show the root causes, all add-ons on all managed clusters, and the graph of dependencies in a
browser, with each change, until interrupted. It prints the address to open.

The page comes from this program, which reads the hub with your rights, and writes nothing. It
listens on ` + loopback + ` only. The address has a token, so other users of this machine cannot read
the fleet. All browsers share one watch of the hub.`,
		Example: `  # The whole fleet
  kubectl addon ui

  # With the managed clusters grouped by region, on a port of your own
  kubectl addon ui --group-by region --port 8080

  # A file that kubectl addon snapshot has written
  kubectl addon ui --from fleet.json`,
		Args: cobra.NoArgs,
		RunE: cmdline.RunE(func([]string) error { return o.validate() }, o.run),
	}
	o.source.AddClusterFlags(command)
	command.Flags().Uint16Var(&o.port, "port", 0, "Port to listen on. If 0, a free one.")
	command.Flags().StringVar(&o.groupBy, "group-by", clusterv1beta2.ClusterSetLabel,
		"Group managed clusters by the values of this label.")
	return command
}

func (o *options) validate() error {
	if problems := validation.IsQualifiedName(o.groupBy); len(problems) > 0 {
		return fmt.Errorf("--group-by=%q: must be the name of a label: %s", o.groupBy, problems[0])
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	fleet, err := o.source.Snapshot(ctx, o.source.Cluster())
	if err != nil {
		return err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", net.JoinHostPort(loopback, strconv.Itoa(int(o.port))))
	if err != nil {
		return cmdline.UsageError(fmt.Errorf("--port=%d: %w", o.port, err))
	}
	token := rand.Text()
	address := listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	viewed := console.New(token, address, net.JoinHostPort("localhost", port))
	viewed.Update(fleet, o.overview)
	if err := viewed.Prepare(); err != nil {
		return err
	}
	fleet.OnEvaluation(nil) // viewers evaluate concurrently, and show no progress on the terminal
	fmt.Fprintf(o.Out, "Open http://%s/#token=%s\nCtrl-C ends it.\n", address, token)
	return o.serve(ctx, listener, viewed, fleet)
}

// serve serves the console, and follows the hub, until the context ends. A file does not change.
func (o *options) serve(ctx context.Context, listener net.Listener, viewed *console.Console, fleet *snapshot.Snapshot) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	server := &http.Server{
		Handler: viewed, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			cancel(fmt.Errorf("serve %s: %w", listener.Addr(), err))
		}
	}()
	defer server.Close()
	if o.source.IsFile() {
		<-ctx.Done()
	} else {
		o.follow(ctx, viewed, fleet)
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// overview returns the inputs of the overview of a state.
func (o *options) overview(fleet *snapshot.Snapshot) overview.Options {
	selection := o.source.Selection()
	if cluster := o.source.Cluster(); cluster != "" {
		selection += " on " + text.Name(cluster)
	}
	return overview.Options{
		Hub: o.source.Name(), Selection: selection, Cluster: o.source.Cluster(), Now: time.Now(), GroupBy: o.groupBy,
		Fixed: o.source.IsFile(), Notes: source.Notes(fleet), Command: o.source.Command, Note: o.source.Note,
	}
}
