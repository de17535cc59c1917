// Package uninstall removes the objects that Interlock wrote to a hub, and restores objects that it changed.
package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// StepGraft is the step that restores OCM's CRD.
const StepGraft = "graft"

// Options configure an uninstallation.
type Options struct {
	// Namespace is the namespace of addon-manager's Deployment.
	Namespace string
	// LeaseNamespace is the namespace of the lease of its leader election.
	LeaseNamespace string
	// Timeout bounds all steps together.
	Timeout time.Duration
	// Step is the name of a single step to run, such as StepGraft. It is empty for all steps. In any case, declarations are
	// recorded, and addon-manager is stopped because it would undo the step.
	Step string
	// Installed is Keep or Remove. If it is empty, Keep counts.
	Installed string
	// Out receives a line for each step.
	Out io.Writer
}

// uninstallation has the inputs of its steps.
type uninstallation struct {
	clock   clock.Clock
	hub     client.Client
	config  *rest.Config
	options Options
	// leaseHeld is true after it took the lease of the leader election.
	leaseHeld bool
	// unled is the time since when no addon-manager leads.
	unled time.Time
}

// step is a step of an uninstallation. It can be repeated, and succeeds if there is nothing to do.
type step struct {
	name string
	// run returns a short description of the result.
	run func(context.Context) (string, error)
	// first is true if all later steps need it.
	first bool
	// always is true if Options.Step does not exclude it.
	always bool
}

// Run runs all steps. A failure of one of the first two steps stops the others, because declarations would be lost, or a
// running addon-manager would write removed objects again. After other failures it continues. The error names the failed
// steps.
func Run(ctx context.Context, restConfig *rest.Config, options Options) error {
	scheme := runtime.NewScheme()
	if err := errors.Join(
		clientgoscheme.AddToScheme(scheme), addonv1alpha1.AddToScheme(scheme), dependencyv1alpha1.AddToScheme(scheme), clusterv1.Install(scheme),
	); err != nil {
		return err
	}
	restConfig = rest.CopyConfig(restConfig)
	restConfig.QPS = -1 // the API server's priority and fairness limits us
	hub, err := client.New(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	u := &uninstallation{clock: clock.RealClock{}, hub: hub, config: restConfig, options: options}
	steps := []step{
		{name: "records", run: u.record, first: true, always: true},
		{name: "addon-manager", run: u.stop, first: true, always: true},
		{name: "finalizers", run: u.removeFinalizers},
		{name: "installed", run: u.settleInstalled},
		{name: "agent", run: u.removeAgent},
		{name: "guard", run: u.removeGuard},
		{name: StepGraft, run: u.restoreCRD},
		{name: "facts", run: u.deleteFacts},
		{name: "reports", run: u.deleteReports},
		{name: "gates", run: u.removeGates},
		{name: "conditions", run: u.removeConditions},
		{name: "events", run: u.deleteEvents},
		{name: "lease", run: u.releaseLease, always: true},
	}
	return runSteps(ctx, options.Out, slices.DeleteFunc(steps, func(s step) bool {
		return options.Step != "" && s.name != options.Step && !s.always
	}))
}

func runSteps(ctx context.Context, out io.Writer, steps []step) error {
	var failures []error
	for i, step := range steps {
		summary, err := step.run(ctx)
		if err == nil {
			fmt.Fprintf(out, "%d/%d  %-14s %s\n", i+1, len(steps), step.name, summary)
			continue
		}
		fmt.Fprintf(out, "%d/%d  %-14s failed: %v\n", i+1, len(steps), step.name, err)
		failures = append(failures, fmt.Errorf("%s: %w", step.name, err))
		if step.first {
			return fmt.Errorf("nothing was removed: %w", errors.Join(failures...))
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("%d of %d steps failed. The others are done. Run this again to repeat the rest: %w",
			len(failures), len(steps), errors.Join(failures...))
	}
	return nil
}
