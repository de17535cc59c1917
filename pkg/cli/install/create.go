package install

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/steps"
)

// create creates an add-on on a managed cluster. One that exists is never changed.
func (o *options) create(ctx context.Context, key types.NamespacedName, options ...client.CreateOption) error {
	err := o.hub.Create(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByPlugin},
	}}, append(options, client.FieldOwner(planned.FieldManager))...)
	if apierrors.IsAlreadyExists(err) { // another writer was faster
		return nil
	}
	return err
}

// try adds to the plan what the hub would refuse. It writes nothing.
func (o *options) try(ctx context.Context, plan *steps.Plan) error {
	var all steps.Layer
	for _, layer := range plan.Layers {
		all = append(all, layer...)
	}
	return o.Try(ctx, plan, all, o.host, func(ctx context.Context, key types.NamespacedName) error {
		return o.create(ctx, key, client.DryRunAll)
	})
}

// install creates what a plan has, layer by layer.
func (o *options) install(ctx context.Context, fleet *planned.Fleet, plan *steps.Plan) error {
	for i, layer := range plan.Layers {
		name := planned.NameOf(i, plan)
		failed := planned.Each(ctx, layer, func(ctx context.Context, key types.NamespacedName) error { return o.create(ctx, key) })
		if len(failed) > 0 {
			return planned.Failed(ctx, name, "created", "the same command continues", failed, o.host)
		}
		o.Done(name, layer, "created")
		if !o.Wait {
			continue
		}
		if err := o.Await(ctx, name, layer, false); err != nil {
			return fmt.Errorf("%w; what was created stays, and the same command continues", err)
		}
	}
	if !o.Wait {
		return nil
	}
	return o.Await(ctx, strings.Join(o.AddOns, ", "), o.Named(fleet), false) // some were installed before
}
