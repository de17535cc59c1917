package agentaddon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
)

// removalPoll is the time between two passes of Remove.
const removalPoll = time.Second

var (
	registrations = schema.GroupVersionResource{Group: ocmv1alpha1.GroupName, Version: "v1alpha1", Resource: "clustermanagementaddons"}
	installations = schema.GroupVersionResource{Group: ocmv1alpha1.GroupName, Version: "v1alpha1", Resource: "managedclusteraddons"}
	templates     = schema.GroupVersionResource{Group: ocmv1alpha1.GroupName, Version: "v1alpha1", Resource: "addontemplates"}
	works         = schema.GroupVersionResource{Group: workv1.GroupName, Version: "v1", Resource: "manifestworks"}
	bindings      = schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}
)

// Remove deletes the agent on all managed clusters, and its objects on the hub:
// the registration, the add-ons, their works and role bindings, and the template.
// It returns when all objects are deleted. If the context ends first, the error names
// the clusters whose work agent has not removed the agent yet, for example lost clusters.
//
// addon-manager must not run meanwhile: it could install the agent again, or bind
// its rights. Remove needs the rights to delete clustermanagementaddons and
// addontemplates; to list, patch and delete managedclusteraddons; and to list and
// delete manifestworks and rolebindings. The hub may lack some of these APIs.
func Remove(ctx context.Context, hub metadata.Interface) error {
	for {
		clusters, err := removeOnce(ctx, hub)
		if err == nil && len(clusters) == 0 {
			// The template comes last: OCM needs it to remove the objects that it created from it.
			return remove(ctx, hub, templates, types.NamespacedName{Name: Name}, nil)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(remaining(clusters), ctx.Err())
		case <-time.After(removalPoll):
		}
	}
}

func remaining(clusters []string) error {
	if len(clusters) == 0 {
		return nil
	}
	slices.Sort(clusters)
	return fmt.Errorf("addon-agent is not yet removed from: %s", strings.Join(slices.Compact(clusters), ", "))
}

// removeOnce deletes the objects that still exist, and returns their clusters.
func removeOnce(ctx context.Context, hub metadata.Interface) ([]string, error) {
	// The registration comes first: OCM installs the add-on on each cluster that it selects.
	if err := remove(ctx, hub, registrations, types.NamespacedName{Name: Name}, nil); err != nil {
		return nil, err
	}
	byLabel := metav1.ListOptions{LabelSelector: ocmv1alpha1.AddonLabelKey + "=" + Name}
	byName := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, Name).String()}
	var clusters []string
	for _, kind := range []struct {
		resource schema.GroupVersionResource
		options  metav1.ListOptions
	}{{works, byLabel}, {installations, byName}, {bindings, byLabel}} {
		list, err := hub.Resource(kind.resource).List(ctx, kind.options)
		if notServed(err) {
			continue
		}
		if err != nil {
			return clusters, fmt.Errorf("list %s: %w", kind.resource.Resource, err)
		}
		for i := range list.Items {
			clusters = append(clusters, list.Items[i].Namespace)
			if err := discard(ctx, hub, kind.resource, &list.Items[i]); err != nil {
				return clusters, err
			}
		}
	}
	return clusters, nil
}

// discard deletes an object. It also removes the finalizer of a hosted add-on, because
// addon-manager, which sets and removes it otherwise, may not run.
func discard(ctx context.Context, hub metadata.Interface, resource schema.GroupVersionResource, object *metav1.PartialObjectMetadata) error {
	key := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	if object.DeletionTimestamp.IsZero() {
		if err := remove(ctx, hub, resource, key, &object.ResourceVersion); err != nil {
			return err
		}
	}
	if resource != installations || !slices.Contains(object.Finalizers, ocmv1alpha1.AddonHostingManifestFinalizer) {
		return nil
	}
	finalizers := slices.DeleteFunc(slices.Clone(object.Finalizers), func(f string) bool { return f == ocmv1alpha1.AddonHostingManifestFinalizer })
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": finalizers, "resourceVersion": object.ResourceVersion}})
	if err != nil {
		return err
	}
	_, err = hub.Resource(resource).Namespace(key.Namespace).Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	// After a conflict, the next pass reads the object again.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("take the finalizer off %s %s: %w", resource.Resource, key, err)
	}
	return nil
}

// remove deletes an object. With a version, it deletes the object only in that version:
// OCM also deletes the objects of a registration that was deleted, and a second request
// for the same object would be a needless write. The next pass reads the result.
func remove(ctx context.Context, hub metadata.Interface, resource schema.GroupVersionResource, key types.NamespacedName, version *string) error {
	options := metav1.DeleteOptions{}
	if version != nil {
		options.Preconditions = &metav1.Preconditions{ResourceVersion: version}
	}
	err := hub.Resource(resource).Namespace(key.Namespace).Delete(ctx, key.Name, options)
	if err != nil && !notServed(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete %s %s: %w", resource.Resource, key, err)
	}
	return nil
}

func notServed(err error) bool { return apierrors.IsNotFound(err) || meta.IsNoMatchError(err) }
