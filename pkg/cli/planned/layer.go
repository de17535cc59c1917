package planned

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/cli/wait"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/text"
)

// atOnce is the number of requests that are sent at the same time.
const atOnce = 16

// each calls a function for each step of the plugin in a layer, on each managed cluster. It makes several calls at the same time, and returns
// the errors by add-on.
func each(ctx context.Context, layer steps.Layer, call func(context.Context, types.NamespacedName) error) map[types.NamespacedName]error {
	var group errgroup.Group
	group.SetLimit(atOnce)
	var lock sync.Mutex
	failed := map[types.NamespacedName]error{}
	for _, step := range layer {
		if !step.ByPlugin() {
			continue
		}
		for _, cluster := range step.Clusters {
			group.Go(func() error {
				key := types.NamespacedName{Namespace: cluster, Name: step.AddOn}
				if err := call(ctx, key); err != nil {
					lock.Lock()
					defer lock.Unlock()
					failed[key] = err
				}
				return nil
			})
		}
	}
	_ = group.Wait() // the errors are in the map
	return failed
}

// Await waits until all add-ons of a layer are complete, also those that OCM installs or removes. name is the name of the layer.
func (o *Options) Await(ctx context.Context, name string, layer steps.Layer, removal bool) error {
	addOns := map[string][]string{}
	for _, step := range layer {
		for _, cluster := range step.Clusters {
			addOns[cluster] = append(addOns[cluster], step.AddOn)
		}
	}
	if o.ends.IsZero() {
		o.ends = time.Now().Add(o.timeout)
	}
	remaining := o.timeout
	if remaining >= 0 {
		remaining = max(time.Until(o.ends), 0).Round(time.Millisecond)
	}
	progress := terminal.NewProgress(o.Out)
	streams := o.IOStreams
	streams.Out = progress.Below()
	err := wait.Waiter{
		IOStreams: streams, Source: o.Source, AddOns: addOns, Removal: removal, Timeout: remaining, Limit: o.timeout,
		Show: func(line string) { progress.Show(name + ": " + line) },
	}.Wait(ctx)
	progress.Finish()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Named returns the named add-ons on the managed clusters as one layer.
func (o *Options) Named(fleet *Fleet) steps.Layer {
	var clusters []string
	for i := range fleet.Clusters {
		clusters = append(clusters, fleet.Clusters[i].Name)
	}
	var layer steps.Layer
	for _, name := range o.AddOns {
		layer = append(layer, steps.Step{AddOn: name, Clusters: clusters})
	}
	return layer
}

// print prints the completed steps of a layer.
func (o *Options) print(name string, layer steps.Layer, participle string) {
	for _, step := range layer {
		if step.ByPlugin() {
			fmt.Fprintf(o.Out, "%s: %s %s %s\n", name, text.Name(step.AddOn), participle, steps.On(slices.Sorted(slices.Values(step.Clusters))))
		}
	}
}
