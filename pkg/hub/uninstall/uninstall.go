// Package uninstall takes back what Interlock wrote to a hub, so that its
// objects are as they were before.
package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Options say what to take back, and how long that may take.
type Options struct {
	// Namespace that addon-manager is deployed in.
	Namespace string
	// LeaseNamespace is where its replicas elect their leader.
	LeaseNamespace string
	// Timeout bounds all steps together.
	Timeout time.Duration
	// Out takes a line for each step.
	Out io.Writer
}

// step is one thing to take back. Each can be done again, and where there is
// nothing to do.
type step struct {
	name string
	// run returns what was done, in a few words.
	run func(context.Context) (string, error)
	// first: without it the others are in vain.
	first bool
}

// Run takes everything back. What fails does not keep the other steps from
// being tried, unless addon-manager cannot be stopped: it would write again what
// is taken back. The error says which steps are left.
func Run(ctx context.Context, restConfig *rest.Config, options Options) error {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), addonv1alpha1.AddToScheme(scheme)); err != nil {
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
	stop := &stopper{clock: clock.RealClock{}, hub: hub, options: options}
	return runSteps(ctx, options.Out, []step{
		{name: "addon-manager", run: stop.run, first: true},
		{name: "guard", run: (&guardRemover{hub: hub, config: restConfig}).run},
		{name: "graft", run: (&ungrafter{hub: hub}).run},
		{name: "conditions", run: (&cleaner{hub: hub, out: options.Out}).run},
		{name: "events", run: (&eventRemover{hub: hub, options: options}).run},
		{name: "lease", run: stop.release},
	})
}

func runSteps(ctx context.Context, out io.Writer, steps []step) error {
	var failures []error
	for i, step := range steps {
		done, err := step.run(ctx)
		if err == nil {
			fmt.Fprintf(out, "%d/%d  %-14s %s\n", i+1, len(steps), step.name, done)
			continue
		}
		fmt.Fprintf(out, "%d/%d  %-14s failed: %v\n", i+1, len(steps), step.name, err)
		failures = append(failures, fmt.Errorf("%s: %w", step.name, err))
		if step.first {
			return fmt.Errorf("nothing was taken back: %w", errors.Join(failures...))
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("%d of %d steps failed; what is done stays done, and it can be run again: %w",
			len(failures), len(steps), errors.Join(failures...))
	}
	return nil
}
