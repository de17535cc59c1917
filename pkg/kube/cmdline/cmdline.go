// Package cmdline has the conventions of the command lines of Interlock's binaries:
// exit codes, and the source of a cluster's address.
package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"open-cluster-management.io/interlock/pkg/version"
)

// The exit codes.
const (
	ExitOK    = 0
	ExitError = 1 // the command or a check failed
	ExitUsage = 2 // the arguments or flags are wrong
	ExitHub   = 3 // the hub could not be read; only kubectl addon has it
)

const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// UsageError marks an error as caused by wrong arguments or flags.
func UsageError(err error) error { return usageError{err} }

type hubError struct{ error }

func (e hubError) Unwrap() error { return e.error }

// HubError marks an error as caused by the hub, not by the state of add-ons.
func HubError(err error) error { return hubError{err} }

type loggedError struct{ error }

func (e loggedError) Unwrap() error { return e.error }

// LoggedError marks an error that is in the log already. Run does not print it,
// so that each line of a log in JSON is JSON.
func LoggedError(err error) error { return loggedError{err} }

// Run executes the command, reports an error in one line on errOut, and
// returns the exit code.
func Run(ctx context.Context, command *cobra.Command, errOut io.Writer) int {
	command.SilenceUsage, command.SilenceErrors = true, true
	command.SetErr(errOut)
	command.Version = version.Version
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return UsageError(err) })
	called, err := command.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	wrongCall := errors.As(err, new(usageError)) || isUnknownArgument(err)
	if !errors.As(err, new(loggedError)) {
		fmt.Fprintf(errOut, "%s: %v\n", called.CommandPath(), err)
		if wrongCall {
			fmt.Fprintf(errOut, "See '%s --help'.\n", called.CommandPath())
		}
	}
	switch {
	case wrongCall:
		return ExitUsage
	case errors.As(err, new(hubError)):
		return ExitHub
	default:
		return ExitError
	}
}

// RunE runs a verb. An error of complete is a usage error.
func RunE(complete func(args []string) error, run func(context.Context) error) func(*cobra.Command, []string) error {
	return func(command *cobra.Command, args []string) error {
		if err := complete(args); err != nil {
			return UsageError(err)
		}
		return run(command.Context())
	}
}

// isUnknownArgument reports whether cobra made an error about arguments or
// sub-commands. These errors have no type.
func isUnknownArgument(err error) bool {
	text := err.Error()
	return slices.ContainsFunc([]string{"unknown command ", "required flag(s) ", "accepts ", "requires at least "},
		func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// ListenAddress returns an error that names the flag unless the value is an
// address to listen on, [host]:port, or "0" for none.
func ListenAddress(flag, value string) error {
	if value == "0" {
		return nil
	}
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf(`--%s=%q: must be [host]:port, or "0" for none`, flag, value)
	}
	return nil
}

// DNSLabel returns an error that names the flag unless the value is empty, or can be the name of a namespace or of a Service.
func DNSLabel(flag, value string) error {
	if problems := validation.IsDNS1123Label(value); value != "" && len(problems) > 0 {
		return fmt.Errorf("--%s=%q: %s", flag, value, problems[0])
	}
	return nil
}

// RestConfig returns the configuration of a kubeconfig file. Without a file, it
// is the configuration of $KUBECONFIG, or of the cluster that the process runs in.
func RestConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		if kubeconfig == "" {
			return nil, fmt.Errorf("no kubeconfig given and not inside a cluster: %w", err)
		}
		return nil, fmt.Errorf("kubeconfig %s: %w", kubeconfig, err)
	}
	return config, nil
}

// OwnNamespace returns the namespace of the pod that the process runs in, or
// the fallback outside a cluster.
func OwnNamespace(fallback string) string {
	namespace, err := os.ReadFile(namespaceFile)
	if err != nil || len(strings.TrimSpace(string(namespace))) == 0 {
		return fallback
	}
	return strings.TrimSpace(string(namespace))
}
