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
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
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

// marked is since when an add-on is not needed by the mark of the PlacementDecision that has it; zero: it has none that Interlock has
// written.
func marked(addOn *addonv1alpha1.ManagedClusterAddOn, placed placements) time.Time {
	of := placed[addOn.Name]
	if of == nil {
		return time.Time{}
	}
	for name, clusters := range of.stored {
		if !of.believed.Has(name) || !slices.Contains(clusters, addOn.Namespace) {
			continue
		}
		if since, err := time.Parse(time.RFC3339, of.marks[name][addOn.Namespace]); err == nil {
			return since
		}
	}
	return time.Time{}
}

// mark lets PlacementDecisions show since when add-ons are not needed that will be removed: a new leader goes on from there. Where the
// delay does not run, because the cluster is lost or a policy denies, there is no mark. A leader that does not know yet whether the delay
// runs leaves the mark as it is.
func (r *Reconciler) mark(ctx context.Context, placed placements) error {
	var failures []error
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
