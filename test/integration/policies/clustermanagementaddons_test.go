package policies

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// annotationPatch returns a patch of annotations. It removes annotations with the value null.
func annotationPatch(annotations string) string {
	return `{"metadata":{"annotations":{` + annotations + `}}}`
}

// register creates an add-on that declares a dependency, and has every kind of metadata.
func register(ctx context.Context, version string) *unstructured.Unstructured {
	GinkgoHelper()
	addOn := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"dependencies": []any{map[string]any{"name": "before"}},
		"installStrategy": map[string]any{"type": "Placements", "placements": []any{
			map[string]any{"name": "before", "namespace": "n"},
		}},
	}}}
	addOn.SetAPIVersion(group + "/" + version)
	addOn.SetKind("ClusterManagementAddOn")
	addOn.SetGenerateName("add-on-")
	addOn.SetLabels(map[string]string{"label": "before"})
	addOn.SetAnnotations(map[string]string{"annotation": "before", addonv1alpha1.DependenciesAnnotation: "[]"})
	addOn.SetFinalizers([]string{"example.com/before"})
	Expect(admin.Create(ctx, addOn)).To(Succeed())
	return addOn
}

var _ = Describe("On a ClusterManagementAddOn", func() {
	for _, version := range versions {
		It("addon-manager changes only declarations and the record, through "+version, func(ctx context.Context) {
			addOn := register(ctx, version)
			for name, patch := range map[string]string{
				"fields":    `{"spec":{"dependencies":[{"name":"after"}],"requirements":{"ocm":">=1"},"provides":[{"kind":"K"}]}}`,
				"no fields": `{"spec":{"dependencies":null,"requirements":null,"provides":null}}`,
				"the record": annotationPatch(`"` + addonv1alpha1.DependenciesAnnotation +
					`":"{}","` + addonv1alpha1.RecordAnnotation + `":"d"`),
				"no record":           annotationPatch(`"` + addonv1alpha1.DependenciesAnnotation + `":null`),
				"nothing":             `{}`,
				"the same once again": `{"metadata":{"labels":{"label":"before"}}}`,
			} {
				Expect(clientOf(manager).Patch(ctx, addOn.DeepCopy(), merge(patch))).To(Succeed(), name)
			}
		})

		It("addon-manager changes no other field, creates and deletes no registration, through "+version, func(ctx context.Context) {
			addOn := register(ctx, version)
			userClient := clientOf(manager)
			for name, patch := range map[string]string{
				"install strategy":    `{"spec":{"installStrategy":{"placements":[{"name":"after","namespace":"n"}]}}}`,
				"no install strategy": `{"spec":{"installStrategy":null}}`,
				"display name":        `{"spec":{"addOnMeta":{"displayName":"after"}}}`,
				"label":               `{"metadata":{"labels":{"label":"after"}}}`,
				"no labels":           `{"metadata":{"labels":null}}`,
				"annotation":          annotationPatch(`"annotation":"after"`),
				"another annotation":  annotationPatch(`"added":"after"`),
				"annotation removed":  annotationPatch(`"annotation":null`),
				"finalizers":          `{"metadata":{"finalizers":null}}`,
				"owner":               `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"n","uid":"u"}]}}`,
				"generateName":        `{"metadata":{"generateName":"after-"}}`,
			} {
				Expect(userClient.Patch(ctx, addOn.DeepCopy(), merge(patch))).To(Satisfy(apierrors.IsForbidden), name)
			}
			status := merge(`{"status":{"installProgressions":[{"name":"p","namespace":"n"}]}}`)
			Expect(userClient.Status().Patch(ctx, addOn.DeepCopy(), status)).To(Satisfy(apierrors.IsForbidden))
			object := addOn.DeepCopy()
			object.SetName("created")
			object.SetResourceVersion("")
			object.SetFinalizers(nil)
			Expect(userClient.Create(ctx, object)).To(Satisfy(apierrors.IsForbidden))
			Expect(userClient.Delete(ctx, addOn.DeepCopy())).To(Satisfy(apierrors.IsForbidden))
			unchanged(ctx, addOn)
		})
	}
})
