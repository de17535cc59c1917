package uninstallcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/text"
)

// try adds the deletions to the plan that the hub would refuse. It writes nothing. On each managed cluster, it tries only the first
// layer, because later layers are required until that layer is deleted.
func (o *options) try(ctx context.Context, plan *steps.Plan) error {
	return o.Try(ctx, plan, first(plan), func(ctx context.Context, key types.NamespacedName) error {
		if o.force == "" {
			return o.delete(ctx, key, client.DryRunAll)
		}
		if err := o.annotate(ctx, key, client.DryRunAll); err != nil {
			return err
		}
		if err := o.delete(ctx, key, client.DryRunAll); o.LacksRight(ctx, key, err) || !planned.Refused(err) {
			return err
		}
		return nil // the annotation was not stored
	})
}

// first returns the first deletions on each managed cluster.
func first(plan *steps.Plan) steps.Layer {
	var firstSteps steps.Layer
	seen := sets.New[string]()
	for _, layer := range plan.Layers {
		clusters := sets.New[string]()
		for _, step := range layer {
			if step.Clusters = sets.List(sets.New(step.Clusters...).Difference(seen)); step.ByPlugin() && len(step.Clusters) > 0 {
				firstSteps = append(firstSteps, step)
				clusters.Insert(step.Clusters...)
			}
		}
		seen = seen.Union(clusters)
	}
	return firstSteps
}

// uninstall deletes the add-ons of a plan, layer by layer.
func (o *options) uninstall(ctx context.Context, plan *steps.Plan) error {
	return o.Write(ctx, plan, planned.Writes{
		Each: func(ctx context.Context, key types.NamespacedName) error {
			if o.force != "" {
				if err := o.annotate(ctx, key); err != nil {
					return err
				}
			}
			return o.delete(ctx, key)
		},
		Done: "deleted", Gone: true, Failed: o.continueWith, Recheck: o.recheck,
		Unfinished: func(remaining []steps.Layer) string {
			if len(remaining) == 0 {
				return "all deletions have been requested"
			}
			return o.continueWith(remaining)
		},
	})
}

func addOn(key types.NamespacedName) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
}

// recheck returns an error if a change of the hub forbids the deletion of the remaining layers.
func (o *options) recheck(ctx context.Context, remaining []steps.Layer) error {
	fleet, err := o.reread(ctx)
	if err != nil {
		return err
	}
	problems := steps.Recheck(fleet.Declared, o.removal(), remaining, fleet.Clusters)
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, 0, len(problems))
	for i := range problems {
		texts = append(texts, text.OneLine(problems[i].String()))
	}
	return fmt.Errorf("nothing more was deleted, because the hub has changed since the plan was made: %s", strings.Join(texts, "; "))
}

// delete deletes an add-on from a managed cluster, unless it is deleted already. It returns a conflict if the add-on was created again
// after the plan was made.
func (o *options) delete(ctx context.Context, key types.NamespacedName, options ...client.DeleteOption) error {
	if uid := o.uids[key]; uid != "" {
		options = append(options, client.Preconditions{UID: &uid})
	}
	return client.IgnoreNotFound(o.Hub.Delete(ctx, addOn(key), options...))
}

// annotate writes the reason of a forced deletion.
func (o *options) annotate(ctx context.Context, key types.NamespacedName, options ...client.PatchOption) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{addonv1alpha1.ForceAnnotation: o.force}}})
	if err != nil {
		return err
	}
	err = o.Hub.Patch(ctx, addOn(key), client.RawPatch(types.MergePatchType, patch), append(options, client.FieldOwner(planned.FieldManager))...)
	return client.IgnoreNotFound(err)
}
