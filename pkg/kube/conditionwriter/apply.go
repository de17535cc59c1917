// Package conditionwriter writes conditions of a ManagedClusterAddOn.
package conditionwriter

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Writer writes conditions.
type Writer struct {
	Status client.StatusClient
	// Live reads from the API server. A cache has too few of an add-on's conditions
	// to write all of them.
	Live client.Reader
}

// Apply writes desired to the add-on as the field manager owner. The write has the
// resourceVersion of the add-on: if another writer was first, it fails with a
// conflict, and the condition is decided again.
//
// The API server keeps the fields of each writer in the API version of the write,
// and converts the object to all of these versions for every server-side apply. If
// it cannot, it rejects the apply with a 500. That happens while OCM's conversion
// webhook is down. Without a webhook it happens after any write through v1beta1,
// because v1beta1 lacks v1alpha1's installNamespace. Merge patches still work.
//
// It returns the new resourceVersion of the add-on.
func (w Writer) Apply(
	ctx context.Context, owner string, addOn *addonv1alpha1.ManagedClusterAddOn, desired metav1.Condition,
) (string, error) {
	return w.ApplyStatus(ctx, owner, addOn, Status{Conditions: []metav1.Condition{desired}})
}

// Status has the fields of an add-on's status that a writer owns.
type Status struct {
	// Conditions are all conditions that the writer owns. A condition that it applied before and now leaves out is removed.
	Conditions []metav1.Condition
	// HealthCheck is the mode of the health check. If it is empty, the writer does not own the mode.
	HealthCheck ocmv1alpha1.HealthCheckMode
}

// ApplyStatus is Apply for all fields that the owner has in the status of the add-on, in a single write.
func (w Writer) ApplyStatus(
	ctx context.Context, owner string, addOn *addonv1alpha1.ManagedClusterAddOn, desired Status,
) (string, error) {
	resourceVersion, err := w.apply(ctx, owner, addOn, desired)
	if status := apierrors.APIStatus(nil); errors.As(err, &status) && status.Status().Code == http.StatusInternalServerError {
		resourceVersion, err = w.merge(ctx, owner, addOn, desired)
	}
	return resourceVersion, err
}

// apply writes the conditions by server-side apply. It forces ownership, because
// OCM's writers send the whole list of conditions and so own these too.
func (w Writer) apply(
	ctx context.Context, owner string, addOn *addonv1alpha1.ManagedClusterAddOn, desired Status,
) (string, error) {
	conditions := make([]any, 0, len(desired.Conditions))
	for _, condition := range desired.Conditions {
		conditions = append(conditions, map[string]any{
			"type":               condition.Type,
			"status":             string(condition.Status),
			"reason":             condition.Reason,
			"message":            condition.Message,
			"lastTransitionTime": condition.LastTransitionTime.UTC().Format(time.RFC3339),
		})
	}
	status := map[string]any{"conditions": conditions}
	if desired.HealthCheck != "" {
		status["healthCheck"] = map[string]any{"mode": string(desired.HealthCheck)}
	}
	configuration := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": addonv1alpha1.GroupVersion.String(),
		"kind":       "ManagedClusterAddOn",
		"metadata": map[string]any{
			"namespace":       addOn.Namespace,
			"name":            addOn.Name,
			"resourceVersion": addOn.ResourceVersion,
		},
		"status": status,
	}}
	err := w.Status.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration),
		client.FieldOwner(owner), client.ForceOwnership)
	return configuration.GetResourceVersion(), err // of the response
}

// merge writes the whole list of conditions, as OCM's writers do. The other
// conditions stay as they are stored.
func (w Writer) merge(
	ctx context.Context, owner string, addOn *addonv1alpha1.ManagedClusterAddOn, desired Status,
) (string, error) {
	live := &addonv1alpha1.ManagedClusterAddOn{}
	if err := w.Live.Get(ctx, client.ObjectKeyFromObject(addOn), live); err != nil {
		return "", err
	}
	live.ResourceVersion = addOn.ResourceVersion // causes a conflict if it was written since
	original := live.DeepCopy()
	for _, condition := range desired.Conditions {
		meta.SetStatusCondition(&live.Status.Conditions, condition)
	}
	if desired.HealthCheck != "" {
		live.Status.HealthCheck.Mode = desired.HealthCheck
	}
	err := w.Status.Status().Patch(ctx, live,
		client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{}), client.FieldOwner(owner))
	return live.ResourceVersion, err
}
