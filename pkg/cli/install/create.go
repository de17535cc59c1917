package install

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

// create creates an add-on on a managed cluster. One that exists is never changed.
func (o *options) create(ctx context.Context, key types.NamespacedName, options ...client.CreateOption) error {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByPlugin},
	}}
	addOn.Spec.Configs = o.configs(key)
	err := o.Hub.Create(ctx, addOn, append(options, client.FieldOwner(planned.FieldManager))...)
	if apierrors.IsAlreadyExists(err) { // another writer was faster
		return nil
	}
	return err
}

// try adds the refusals of the hub to the plan. It writes nothing.
func (o *options) try(ctx context.Context, plan *steps.Plan) error {
	return o.Try(ctx, plan, slices.Concat(plan.Layers...), func(ctx context.Context, key types.NamespacedName) error {
		if err := o.applyVariables(ctx, key, client.DryRunAll); err != nil {
			return err
		}
		return o.create(ctx, key, client.DryRunAll)
	})
}

// install creates the add-ons of a plan, layer by layer. Variables are written before the add-on that refers to them: if the command is interrupted
// between the two, the same command continues.
func (o *options) install(ctx context.Context, hub *planned.Fleet, plan *steps.Plan) error {
	const continues = "the same command continues"
	if err := o.Write(ctx, plan, planned.Writes{
		Each: func(ctx context.Context, key types.NamespacedName) error {
			if err := o.applyVariables(ctx, key); err != nil {
				return err
			}
			return o.create(ctx, key)
		},
		Done:       "created",
		Failed:     func([]steps.Layer) string { return continues },
		Unfinished: func([]steps.Layer) string { return "what was created stays, and " + continues },
	}); err != nil || !o.Wait {
		return err
	}
	return o.Await(ctx, strings.Join(o.AddOns, ", "), o.Named(hub), false) // some were installed before
}
