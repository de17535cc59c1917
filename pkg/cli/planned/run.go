package planned

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/steps"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// Verb is what a verb does in its own way.
type Verb struct {
	Texts
	// Also is what the plan needs to know beyond what Placements select.
	Also snapshot.Additions
	// Known reports whether the plan has a warning of the hub, which is then not shown again; nil: it has none.
	Known func(warning string) bool
	// Check returns an error for an add-on that cannot be named.
	Check func(on *Fleet, addOn string) error
	// Plan plans on the managed clusters as they are, and Try adds what the hub would refuse.
	Plan func(ctx context.Context, on *Fleet) (*steps.Plan, error)
	Try  func(ctx context.Context, plan *steps.Plan) error
	// Print prints a plan.
	Print func(on *Fleet, plan *steps.Plan) error
	// Same reports whether two plans do the same.
	Same func(one, other *steps.Plan) bool
	// Do does what a plan has.
	Do func(ctx context.Context, on *Fleet, plan *steps.Plan) error
}

// Run shows a plan, asks, and does what it has.
func (o *Options) Run(ctx context.Context, verb Verb) error {
	on, plan, err := o.plan(ctx, verb)
	if err != nil {
		return err
	}
	if err := verb.Print(on, plan); err != nil {
		return err
	}
	switch {
	case !plan.Feasible():
		return Infeasible(plan, verb.Texts)
	case o.Only:
		return nil
	}
	if size := size(plan); size > 0 && !o.yes {
		if err := o.Confirm(ctx, fmt.Sprintf("\n%s %s?", verb.Writes, text.Count(size, "ManagedClusterAddOn"))); err != nil {
			return err
		}
		_, again, err := o.plan(ctx, verb) // the hub may have changed meanwhile
		if err != nil {
			return err
		}
		if !verb.Same(plan, again) {
			return fmt.Errorf("nothing was %s: the hub has changed since the plan was made, so look at a new one", verb.Done)
		}
		plan = again
	}
	return verb.Do(ctx, on, plan)
}

// Fleet reads the managed clusters again, while a plan is carried out.
func (o *Options) Fleet(ctx context.Context, also snapshot.Additions) (*Fleet, error) {
	also.Placements = true
	return o.fleet(ctx, also)
}

// plan reads the hub and plans. Where it can be, each write is tried, so that what the hub refuses is in the plan.
func (o *Options) plan(ctx context.Context, verb Verb) (*Fleet, *steps.Plan, error) {
	verb.Also.Placements = true
	on, err := o.fleet(ctx, verb.Also)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range o.AddOns {
		if err := verb.Check(on, name); err != nil {
			return nil, nil, err
		}
	}
	if o.Hub == nil && !o.Source.IsFile() {
		o.warnings = &warnings{known: verb.Known, shown: sets.New[string]()}
		if o.Hub, o.host, err = o.Source.ConnectToWrite(o.warnings.has); err != nil {
			return nil, nil, err
		}
	}
	plan, err := verb.Plan(ctx, on)
	if err != nil {
		return nil, nil, source.HubError(err, o.host)
	}
	if o.Source.IsFile() {
		return on, plan, nil
	}
	o.warnings.collect(on)
	defer o.warnings.show(o.ErrOut)
	return on, plan, verb.Try(ctx, plan)
}

// Writes are what is done to each add-on of a plan on each managed cluster.
type Writes struct {
	Each func(context.Context, types.NamespacedName) error
	// Done is as "created".
	Done string
	// Gone: a layer is done once its add-ons are gone.
	Gone bool
	// Recheck returns an error if the layers that are left may not be written any more; nil: they always may. It is called before each layer
	// but the first one.
	Recheck func(ctx context.Context, left []steps.Layer) error
	// Failed and Unfinished get the layers that are left where one could not be written, or was not done in time. They return what
	// continues.
	Failed, Unfinished func(left []steps.Layer) string
}

// Write writes what a plan has, layer by layer.
func (o *Options) Write(ctx context.Context, plan *steps.Plan, writes Writes) error {
	for i, layer := range plan.Layers {
		name := fmt.Sprintf("layer %d of %d", i+1, len(plan.Layers))
		if i > 0 && writes.Recheck != nil {
			if err := writes.Recheck(ctx, plan.Layers[i:]); err != nil {
				return fmt.Errorf("%s: %w; %s", name, err, writes.Unfinished(plan.Layers[i:]))
			}
		}
		if failed := each(ctx, layer, writes.Each); len(failed) > 0 {
			return o.failed(ctx, name, writes.Done, writes.Failed(plan.Layers[i:]), failed)
		}
		o.print(name, layer, writes.Done)
		if !o.Wait {
			continue
		}
		if err := o.Await(ctx, name, layer, writes.Gone); err != nil {
			return fmt.Errorf("%w; %s", err, writes.Unfinished(plan.Layers[i+1:]))
		}
	}
	return nil
}

// validate returns an error where an output is chosen that cannot be had.
func (o *Options) validate() error {
	if o.Flags.Chosen() && !o.Only {
		return errors.New("--output needs --plan")
	}
	return o.Flags.Validate()
}
