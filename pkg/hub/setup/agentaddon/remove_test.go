package agentaddon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
)

func object(resource schema.GroupVersionResource, kind, namespace, name string) *metav1.PartialObjectMetadata {
	made := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{addonv1beta1.AddonLabelKey: Name},
	}}
	made.APIVersion, made.Kind = resource.GroupVersion().String(), kind
	return made
}

// hubWith returns a hub that does not serve some resources.
func hubWith(t *testing.T, notServed []string, objects ...runtime.Object) *metadatafake.FakeMetadataClient {
	t.Helper()
	scheme := metadatafake.NewTestScheme()
	if err := metav1.AddMetaToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	hub := metadatafake.NewSimpleMetadataClient(scheme, objects...)
	hub.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if slices.Contains(notServed, action.GetResource().Resource) {
			return true, nil, apierrors.NewNotFound(action.GetResource().GroupResource(), "")
		}
		return false, nil, nil
	})
	return hub
}

func TestRemoveWithoutManifestWorkAPI(t *testing.T) {
	hub := hubWith(
		t, []string{"manifestworks"}, object(registrations, "ClusterManagementAddOn", "", Name),
		object(bindings, "RoleBinding", "cluster1", hubRoleBinding),
	)
	if err := Remove(t.Context(), hub); err != nil {
		t.Fatal(err)
	}
	if _, err := hub.Resource(registrations).Get(t.Context(), Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the registration is still there: %v", err)
	}
	if list, err := hub.Resource(bindings).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
		t.Errorf("%v are still there, error %v", list, err)
	}
}

func TestRemoveNamesTheClustersThatAreAway(t *testing.T) {
	hub := hubWith(t, nil, object(works, "ManifestWork", "cluster2", "w"), object(works, "ManifestWork", "cluster1", "w"))
	hub.PrependReactor("delete", "manifestworks", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, nil // no component removes the finalizer
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	err := Remove(ctx, hub)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "not yet removed from: cluster1, cluster2") {
		t.Errorf("got %v", err)
	}
}

// OCM also deletes the objects of a registration. A second request to delete an
// object that waits for its finalizers would be a write without a change.
func TestRemoveDeletesOnlyWhatIsAsItWasRead(t *testing.T) {
	installation := object(installations, "ManagedClusterAddOn", "cluster1", Name)
	installation.ResourceVersion = "7"
	hub := hubWith(t, nil, installation)
	refused := 0
	hub.PrependReactor("delete", "managedclusteraddons", func(action clienttesting.Action) (bool, runtime.Object, error) {
		preconditions := action.(clienttesting.DeleteAction).GetDeleteOptions().Preconditions
		if preconditions == nil || preconditions.ResourceVersion == nil || *preconditions.ResourceVersion != "7" {
			t.Errorf("preconditions %v", preconditions)
		}
		refused++
		conflict := apierrors.NewConflict(action.GetResource().GroupResource(), Name, errors.New("it has changed"))
		return refused == 1, nil, conflict
	})
	if err := Remove(t.Context(), hub); err != nil || refused != 2 {
		t.Errorf("%d requests, error %v", refused, err)
	}
}

func TestRemoveStopsWhereItMayNot(t *testing.T) {
	hub := hubWith(t, nil)
	hub.PrependReactor("list", "managedclusteraddons", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(action.GetResource().GroupResource(), "", errors.New("no"))
	})
	if err := Remove(t.Context(), hub); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "list managedclusteraddons") {
		t.Errorf("got %v", err)
	}
}
