package graft

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/names"
)

// crdFile is OCM's CRD from the api module of this program, with
// Interlock's fields.
const crdFile = "crds/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"

// schemas are the schemas that this program ships.
type schemas struct {
	// properties has the schemas of Interlock's fields.
	properties map[string]any
	// crd has exactly the fields that the conversion knows.
	crd map[string]any
}

func loadSchemas() (schemas, error) {
	raw, err := manifests.CRDs.ReadFile(crdFile)
	if err != nil {
		return schemas{}, fmt.Errorf("read manifests: %w", err)
	}
	encoded, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return schemas{}, fmt.Errorf("manifests/%s: %w", crdFile, err)
	}
	crd := map[string]any{}
	if err := json.Unmarshal(encoded, &crd); err != nil { // keeps integers, like the API server
		return schemas{}, fmt.Errorf("manifests/%s: %w", crdFile, err)
	}
	properties, err := crdgraft.SpecProperties(crd, addonv1alpha1.GroupVersion.Version, addonv1alpha1.GraftedSpecFields()...)
	return schemas{properties: properties, crd: crd}, err
}

var crdKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition")

// readCRD reads the CRD as unstructured, so that unknown fields are kept.
func readCRD(ctx context.Context, reader client.Reader) (*unstructured.Unstructured, error) {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(crdKind)
	if err := reader.Get(ctx, client.ObjectKey{Name: CRDName}, crd); err != nil {
		return nil, fmt.Errorf("read CRD %s: %w", CRDName, err)
	}
	return crd, nil
}

// update writes the CRD if it differs from the desired one, and reports whether it did. A write of
// another writer since the read causes a conflict.
func update(ctx context.Context, writer client.Writer, crd *unstructured.Unstructured, desired map[string]any) (bool, error) {
	if desired == nil || equal(crd.Object, desired) {
		return false, nil
	}
	if err := writer.Update(ctx, &unstructured.Unstructured{Object: desired}, client.FieldOwner(names.AddonManager)); err != nil {
		return false, fmt.Errorf("write CRD %s: %w", CRDName, err)
	}
	return true, nil
}

// Grafted reports whether the hub has the CRD, with a graft.
func Grafted(ctx context.Context, hub client.Reader) (bool, error) {
	crd, err := readCRD(ctx, hub)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return crdgraft.Grafted(crd.Object), nil
}

// Restore removes the graft from the CRD, and reports whether there was
// anything to remove. Stop addon-manager first: it would graft again.
func Restore(ctx context.Context, hub client.Client) (bool, error) {
	removed, err := rewrite(ctx, hub, crdgraft.Remove)
	if err != nil {
		return removed, err
	}
	// The first write still owns the fields that it restored, so a second write is needed.
	disowned, err := rewrite(ctx, hub, withoutOwnership)
	return removed || disowned, err
}

// rewrite changes the CRD, and reports whether it wrote it.
func rewrite(ctx context.Context, hub client.Client, change func(crd map[string]any) (map[string]any, error)) (bool, error) {
	wrote := false
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		crd, err := readCRD(ctx, hub)
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		desired, err := change(crd.Object)
		if err != nil {
			return err
		}
		wrote, err = update(ctx, hub, crd, desired)
		return err
	})
	return wrote, err
}

// withoutOwnership returns the CRD without Interlock's entries in managedFields.
func withoutOwnership(crd map[string]any) (map[string]any, error) {
	changed := (&unstructured.Unstructured{Object: crd}).DeepCopy()
	entries := changed.GetManagedFields()
	isOwn := func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == names.AddonManager }
	kept := slices.DeleteFunc(slices.Clone(entries), isOwn)
	switch {
	case len(kept) == len(entries):
		return crd, nil
	case len(kept) == 0:
		kept = []metav1.ManagedFieldsEntry{{}} // this empties the list
	}
	changed.SetManagedFields(kept)
	return changed.Object, nil
}

func conversionOf(crd map[string]any) map[string]any {
	conversion, _, _ := unstructured.NestedMap(crd, "spec", "conversion")
	return conversion
}

func equal(a, b map[string]any) bool {
	return equality.Semantic.DeepEqual(a, b)
}
