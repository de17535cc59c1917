package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// marks are since when an add-on is not needed, by managed cluster. They are on PlacementDecisions, because the ManagedClusterAddOns there are not
// Interlock's.
type marks map[string]string

// readMarks reads those of an annotation. What cannot be read says nothing.
func readMarks(annotation string) (read marks) {
	if json.Unmarshal([]byte(annotation), &read) != nil {
		return nil
	}
	return read
}

func markOf(since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return since.UTC().Format(time.RFC3339)
}

// marked is since when an add-on is not needed by its mark, or by that of the PlacementDecision that has it; zero: it has none that
// Interlock has written.
func marked(addOn *addonv1alpha1.ManagedClusterAddOn, placed placements) time.Time {
	text, believed := addOn.Annotations[addonv1alpha1.UnusedSinceAnnotation], installation.MarkedBy(names.AddonManager, addOn.ManagedFields)
	if of := placed[addOn.Name]; of != nil {
		for name, clusters := range of.stored {
			if slices.Contains(clusters, addOn.Namespace) {
				text, believed = of.marks[name][addOn.Namespace], of.believed.Has(name)
			}
		}
	}
	if !believed {
		return time.Time{}
	}
	since, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return since
}

// mark lets the objects of the hub show since when add-ons are not needed that will be removed: a new leader goes on from there. Where the
// delay does not run, because the cluster is lost or a policy denies, there is no mark. A leader that does not know yet whether the delay
// runs leaves the mark as it is.
func (r *Reconciler) mark(ctx context.Context, declared *evaluation.Evaluator, of removing, placed placements) error {
	var failures []error
	for target := range sets.New(of.unused...).Union(r.marked).Difference(sets.New(of.Now...)) {
		if declared.Consent(target.AddOn) != catalog.ByPlacement && !r.removals.Awaits(target) {
			failures = append(failures, r.markAddOn(ctx, target, markOf(r.removals.Since(target))))
		}
	}
	for addOn, one := range placed {
		for name, version := range one.versions {
			if desired := r.marksOf(addOn, one, name); !maps.Equal(desired, one.marks[name]) {
				failures = append(failures, r.markDecision(ctx, name, version, desired))
			}
		}
	}
	return errors.Join(failures...)
}

// marksOf are the marks that a PlacementDecision of an add-on is to have. A mark of another writer is not kept: it would
// become Interlock's.
func (r *Reconciler) marksOf(addOn string, of *placed, decision string) marks {
	desired := marks{}
	for _, cluster := range of.decided[decision] {
		target := installation.Target{Cluster: cluster, AddOn: addOn}
		since := markOf(r.removals.Since(target))
		if r.removals.Awaits(target) && of.believed.Has(decision) {
			since = of.marks[decision][cluster]
		}
		if since != "" {
			desired[cluster] = since
		}
	}
	return desired
}

// findMarked finds, once, what the leader before has marked.
func (r *Reconciler) findMarked(ctx context.Context) error {
	if r.marked != nil {
		return nil
	}
	var all addonv1alpha1.ManagedClusterAddOnList
	if err := r.Inputs.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list add-ons: %w", err)
	}
	r.marked = sets.New[installation.Target]()
	for i := range all.Items {
		if one := &all.Items[i]; fleet.InstalledByInterlock(one) && one.Annotations[addonv1alpha1.UnusedSinceAnnotation] != "" {
			r.marked.Insert(installation.Target{Cluster: one.Namespace, AddOn: one.Name})
		}
	}
	return nil
}

// markAddOn marks an add-on that Interlock has created, or removes its mark.
func (r *Reconciler) markAddOn(ctx context.Context, target installation.Target, since string) error {
	key := types.NamespacedName{Namespace: target.Cluster, Name: target.AddOn}
	found, err := r.Inputs.AddOn(ctx, key)
	switch {
	case err != nil:
		return err
	case found == nil || !found.DeletionTimestamp.IsZero() || !fleet.InstalledByInterlock(found):
		r.marked.Delete(target)
		return nil
	case found.Annotations[addonv1alpha1.UnusedSinceAnnotation] != since:
		stub := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		if err := r.annotate(ctx, stub, found.ResourceVersion, since); err != nil {
			return err
		}
	}
	if r.marked.Insert(target); since == "" {
		r.marked.Delete(target)
	}
	return nil
}

// markDecision writes the marks of a PlacementDecision.
func (r *Reconciler) markDecision(ctx context.Context, name, version string, all marks) error {
	since := ""
	if len(all) > 0 {
		text, err := json.Marshal(all)
		if err != nil {
			return err
		}
		since = string(text)
	}
	stub := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: addonv1alpha1.InstallNamespace, Name: name}}
	return r.annotate(ctx, stub, version, since)
}

// annotate writes a mark, or removes it if it is empty, in the state of the object that was decided on.
func (r *Reconciler) annotate(ctx context.Context, object client.Object, version, since string) error {
	var value *string
	if since != "" {
		value = &since
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": version, "annotations": map[string]*string{addonv1alpha1.UnusedSinceAnnotation: value},
	}})
	if err != nil {
		return err
	}
	switch err := r.Writer.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(names.AddonManager)); {
	case apierrors.IsConflict(err): // the cache is behind
		r.Changed.EnqueueAfter(gather, Key)
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("write %s of %T %s: %w", addonv1alpha1.UnusedSinceAnnotation, object, client.ObjectKeyFromObject(object), err)
	}
	return nil
}
