package webhook

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The versions of OCM's add-on API.
const (
	storage     = "addon.open-cluster-management.io/v1alpha1"
	betaVersion = "addon.open-cluster-management.io/v1beta1"
)

func clusterManagementAddOn(version, name string, dependencies []any) *unstructured.Unstructured {
	spec := map[string]any{"addOnMeta": map[string]any{"displayName": name}}
	if dependencies != nil {
		spec["dependencies"] = dependencies
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": version,
		"kind":       "ClusterManagementAddOn",
		"metadata":   map[string]any{"name": name},
		"spec":       spec,
	}}
}

// required returns a declaration of Required dependencies.
func required(names ...string) []any {
	var dependencies []any
	for _, name := range names {
		dependencies = append(dependencies, map[string]any{"name": name, "type": "Required"})
	}
	return dependencies
}

// create creates an object, which is deleted after the spec.
func create(ctx context.Context, object *unstructured.Unstructured) {
	GinkgoHelper()
	Expect(hubClient.Create(ctx, object, client.FieldValidation(metav1.FieldValidationStrict))).To(Succeed())
	storageObject := object.DeepCopy()
	storageObject.SetAPIVersion(storage) // needs no conversion
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hubClient.Delete(ctx, storageObject)) })
}

func reference(version, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(version)
	object.SetKind("ClusterManagementAddOn")
	object.SetName(name)
	return object
}

func readObject(ctx context.Context, version, name string) *unstructured.Unstructured {
	GinkgoHelper()
	object := reference(version, name)
	Expect(hubClient.Get(ctx, types.NamespacedName{Name: name}, object)).To(Succeed())
	return object
}

func patch(ctx context.Context, version, name, body string) {
	GinkgoHelper()
	Expect(hubClient.Patch(ctx, reference(version, name), client.RawPatch(types.MergePatchType, []byte(body)))).To(Succeed())
}

func patchStatus(ctx context.Context, version, name, body string) {
	GinkgoHelper()
	Expect(hubClient.Status().Patch(ctx, reference(version, name), client.RawPatch(types.MergePatchType, []byte(body)))).To(Succeed())
}

func dependenciesOf(object *unstructured.Unstructured) []any {
	GinkgoHelper()
	dependencies, _, err := unstructured.NestedSlice(object.Object, "spec", "dependencies")
	Expect(err).NotTo(HaveOccurred())
	return dependencies
}
