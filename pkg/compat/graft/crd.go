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

// crdFile is OCM's CRD as the api module of this program ships it, with
// Interlock's fields.
const crdFile = "crds/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"

// schemas are those that this program ships.
type schemas struct {
	// properties are the schemas of Interlock's fields.
	properties map[string]any
	// known is a CRD that has only fields that the conversion knows.
	known map[string]any
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
	known := map[string]any{}
	if err := json.Unmarshal(encoded, &known); err != nil { // keeps integers, as the API server does
		return schemas{}, fmt.Errorf("manifests/%s: %w", crdFile, err)
	}
	properties, err := crdgraft.SpecProperties(known, addonv1alpha1.GroupVersion.Version, addonv1alpha1.GraftedSpecFields()...)
	return schemas{properties: properties, known: known}, err
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

// update writes the CRD if it differs from the one that was read. A write of
// another writer in between makes it a conflict.
func update(ctx context.Context, writer client.Writer, crd *unstructured.Unstructured, desired map[string]any) (wrote bool, err error) {
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

// Restore gives the CRD back as it was found, and reports whether there was
// anything to give back. Stop an addon-manager that grafts before: it would
// graft again.
func Restore(ctx context.Context, hub client.Client) (changed bool, err error) {
	changed, err = rewrite(ctx, hub, crdgraft.Remove)
	if err != nil {
		return changed, err
	}
	// A second write: the first one still owns the fields that it restored.
	forgot, err := rewrite(ctx, hub, forget)
	return changed || forgot, err
}

// rewrite writes what change returns, if it differs from the CRD.
func rewrite(ctx context.Context, hub client.Client, change func(crd map[string]any) (map[string]any, error)) (wrote bool, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
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

// forget returns the CRD without Interlock's entries in managedFields.
func forget(crd map[string]any) (map[string]any, error) {
	forgotten := (&unstructured.Unstructured{Object: crd}).DeepCopy()
	all := forgotten.GetManagedFields()
	others := slices.DeleteFunc(slices.Clone(all), func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == names.AddonManager })
	switch {
	case len(others) == len(all):
		return crd, nil
	case len(others) == 0:
		others = []metav1.ManagedFieldsEntry{{}} // this empties the list
	}
	forgotten.SetManagedFields(others)
	return forgotten.Object, nil
}

func conversionOf(crd map[string]any) map[string]any {
	conversion, _, _ := unstructured.NestedMap(crd, "spec", "conversion")
	return conversion
}

func equal(a, b map[string]any) bool {
	return equality.Semantic.DeepEqual(a, b)
}
