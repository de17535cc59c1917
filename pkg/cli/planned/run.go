package planned

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// Verb has the functions that differ between the verbs.
type Verb struct {
	Texts
	// Additions are the parts of the hub that the plan reads besides Placements.
	Additions snapshot.Additions
	// Shown are the warnings of the hub that the plan shows. They are not shown again. Plan may add to the set, which may be nil.
	Shown sets.Set[string]
	// Check returns an error for an add-on that cannot be named.
	Check func(fleet *Fleet, addOn string) error
	// Plan makes the plan for the current state of the managed clusters. Try adds the writes that the hub would refuse.
	Plan func(ctx context.Context, fleet *Fleet) (*steps.Plan, error)
	Try  func(ctx context.Context, plan *steps.Plan) error
	// Print prints a plan.
	Print func(fleet *Fleet, plan *steps.Plan) error
	// Same reports whether two plans have the same steps.
	Same func(a, b *steps.Plan) bool
	// Do carries out a plan.
	Do func(ctx context.Context, fleet *Fleet, plan *steps.Plan) error
}

// Run shows a plan, asks for a confirmation, and carries the plan out.
func (o *Options) Run(ctx context.Context, verb Verb) error {
	fleet, plan, err := o.plan(ctx, verb)
	if err != nil {
		return err
	}
	if err := verb.Print(fleet, plan); err != nil {
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
		_, current, err := o.plan(ctx, verb) // the hub may have changed meanwhile
		if err != nil {
			return err
		}
		if !verb.Same(plan, current) {
			return fmt.Errorf("nothing was %s: the hub has changed since the plan was made, so look at a new one", verb.Done)
		}
		plan = current
	}
	return verb.Do(ctx, fleet, plan)
}

// Fleet reads the managed clusters once more, while a plan is being carried out.
func (o *Options) Fleet(ctx context.Context, additions snapshot.Additions) (*Fleet, error) {
	additions.Placements = true
	return o.fleet(ctx, additions)
}

// plan reads the hub and makes a plan. It tries each write as a dry run, so that the plan contains the refusals of the hub. A file accepts no
// dry runs.
func (o *Options) plan(ctx context.Context, verb Verb) (*Fleet, *steps.Plan, error) {
	verb.Additions.Placements = true
	fleet, err := o.fleet(ctx, verb.Additions)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range o.AddOns {
		if err := verb.Check(fleet, name); err != nil {
			return nil, nil, err
		}
	}
	if o.Hub == nil && !o.Source.IsFile() {
		o.warnings = &warnings{inPlan: verb.Shown, shown: sets.New[string]()}
		if o.Hub, o.host, err = o.Source.ConnectToWrite(o.warnings.handle); err != nil {
			return nil, nil, err
		}
	}
	plan, err := verb.Plan(ctx, fleet)
	if err != nil {
		return nil, nil, source.HubError(err, o.host)
	}
	if o.Source.IsFile() {
		return fleet, plan, nil
	}
	o.warnings.collect(fleet)
	defer o.warnings.show(o.ErrOut)
	return fleet, plan, verb.Try(ctx, plan)
}

// Writes are the writes of a plan, one for each add-on on each managed cluster.
type Writes struct {
	Each func(context.Context, types.NamespacedName) error
	// Done is a participle for messages, such as "created".
	Done string
	// Gone is true if a layer is complete once its add-ons are gone.
	Gone bool
	// Recheck returns an error if the remaining layers may not be written any more. It is called before each layer but the first one. It may
	// be nil.
	Recheck func(ctx context.Context, remaining []steps.Layer) error
	// Failed and Unfinished return how to continue after a layer that could not be written, or that was not complete in time.
	Failed, Unfinished func(remaining []steps.Layer) string
}

// Write writes the layers of a plan, one after the other.
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

// validate returns an error if the chosen output is impossible.
func (o *Options) validate() error {
	if o.Flags.Chosen() && !o.Only {
		return errors.New("--output needs --plan")
	}
	return o.Flags.Validate()
}
