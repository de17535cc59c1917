package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	pluginMethod = `A dependency is down on a third of the clusters. Each verb of kubectl addon that reads the fleet runs as a process. ` +
		`Just before, a second process only reads the registrations, the add-ons and the managed clusters, in pages of 500 as the ` +
		`plugin does. The time of the verb beyond that list counts, from start to exit, and the greatest resident memory of ` +
		`the verb's process. The bound on the time counts for fleets of up to 10,000 add-ons; ` +
		`in larger ones, only the whole time of the verb is measured.`
	pluginBoundSeconds = 2.0
	pluginBoundMiB     = 500.0
	pluginFleet        = 10_000
	thirds             = 3
)

// pluginVerbs are the measured command lines. EDGED and ROOT stand for add-ons, CLUSTER for a managed cluster where
// the root is down, DECLARED for a file.
var pluginVerbs = []string{
	"why", "why EDGED", "why EDGED -n CLUSTER", "tree EDGED", "tree ROOT --dependents", "status -A", "status -A --failing",
	"status -A -o wide", "status --summary", "report", "report --all", "graph", "impact --remove ROOT", "describe EDGED",
	"lint DECLARED --live", "events", "events EDGED", "wait EDGED --for=available --timeout=0s", "snapshot -",
}

const declarationFile = `apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata: {name: cluster-gateway}
spec:
  installStrategy: {type: Manual}
  dependencies: [{name: managed-serviceaccount, message: Credentials cannot be issued.}]
`

func plugin(ctx context.Context, s *session, results *result.Scenario) (err error) {
	down := s.everyNth(thirds)
	if err := errors.Join(s.setAvailable(ctx, down, simulator.Root, false), s.settle(ctx, down)); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.setAvailable(ctx, down, simulator.Root, true), s.settle(ctx, nil))
	}()
	file := filepath.Join(s.dir, "declared.yaml")
	if err := os.WriteFile(file, []byte(declarationFile), 0o600); err != nil {
		return err
	}
	user, err := s.fleet.Hub.User("plugin")
	if err != nil {
		return err
	}
	placeholders := strings.NewReplacer("EDGED", "cluster-gateway", "ROOT", simulator.Root, "CLUSTER", down[0], "DECLARED", file)
	for range s.repetitions {
		for _, verb := range pluginVerbs {
			list, err := s.pagedListIfBounded(ctx)
			if err != nil {
				return err
			}
			took, peak, err := s.runPlugin(ctx, append(strings.Fields(placeholders.Replace(verb)), "--kubeconfig", user.Kubeconfig))
			if err != nil {
				return fmt.Errorf("kubectl addon %s: %w", verb, err)
			}
			s.addVerb(results, verb, (took - list).Seconds(), peak)
			if list > 0 {
				results.Measure("paged list", "s", list.Seconds())
			}
		}
	}
	return nil
}

// pagedListIfBounded returns the time of the list if the time beyond it has a bound, otherwise zero. With 100,000
// add-ons, the list takes as long as the verb.
func (s *session) pagedListIfBounded(ctx context.Context) (time.Duration, error) {
	if s.installed() > pluginFleet {
		return 0, nil
	}
	return s.pagedList(ctx)
}

// addVerb adds the figures of a verb.
func (s *session) addVerb(results *result.Scenario, verb string, beyond, peak float64) {
	if name := verb + ": time beyond the list"; s.installed() <= pluginFleet {
		results.Bound(name, "s", beyond, result.MedianAtMost, pluginBoundSeconds)
	} else {
		results.Measure(verb+": time", "s", beyond)
	}
	results.Bound(verb+": peak memory", "MiB", peak, result.NeverAbove, pluginBoundMiB)
}

// runPlugin returns the running time of the plugin, and its greatest resident memory in MiB. Another process measures
// it: the kernel also counts the memory of the process that starts one, and the memory of this process is large.
func (s *session) runPlugin(ctx context.Context, args []string) (time.Duration, float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	command := exec.CommandContext(ctx, self, append([]string{measureCommand, filepath.Join(s.bin, "kubectl-addon")}, args...)...)
	var errOut strings.Builder
	command.Stderr = &errOut
	output, err := command.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, errOut.String())
	}
	var seconds, peak float64
	if _, err := fmt.Sscan(string(output), &seconds, &peak); err != nil {
		return 0, 0, fmt.Errorf("read %q: %w", output, err)
	}
	return time.Duration(seconds * float64(time.Second)), peak, nil
}

// measureCommand runs this program again, to run another one.
const measureCommand = "measure"

func newMeasureCommand() *cobra.Command {
	return &cobra.Command{
		Use: measureCommand + " PROGRAM ARGUMENT...", Short: "Print how many seconds a program runs, and its peak memory in MiB",
		Hidden: true, DisableFlagParsing: true, Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error { return measureProgram(command.Context(), args) },
	}
}

// measureProgram accepts exit code 1, because that is a result: a check that has failed.
func measureProgram(ctx context.Context, args []string) error {
	program := exec.CommandContext(ctx, args[0], args[1:]...)
	program.Stderr = os.Stderr
	started := time.Now()
	err := program.Run()
	took := time.Since(started)
	var exitErr *exec.ExitError
	if err != nil && (!errors.As(err, &exitErr) || exitErr.ExitCode() != cmdline.ExitError) {
		return err
	}
	usage, ok := program.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not report the memory of a process")
	}
	fmt.Println(took.Seconds(), float64(usage.Maxrss)/1024) // in KiB, on Linux
	return nil
}

// pagedList returns the running time of a process that only reads the lists, in pages.
func (s *session) pagedList(ctx context.Context) (time.Duration, error) {
	command, err := s.child(ctx, pagesCommand)
	if err != nil {
		return 0, err
	}
	started := time.Now()
	err = command.Run()
	return time.Since(started), err
}

// listPages reads the lists one after the other, and keeps nothing.
func listPages(ctx context.Context, config *rest.Config) error {
	scheme, err := simulator.NewScheme()
	if err != nil {
		return err
	}
	hub, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	return errors.Join(
		snapshot.Each(ctx, hub, "clustermanagementaddons", "", func(*addonv1alpha1.ClusterManagementAddOnList) {}),
		snapshot.Each(ctx, hub, "managedclusteraddons", "", func(*addonv1alpha1.ManagedClusterAddOnList) {}),
		snapshot.Each(ctx, hub, "managedclusters", "", func(*clusterv1.ManagedClusterList) {}),
	)
}
