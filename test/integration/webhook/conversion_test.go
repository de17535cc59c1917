package webhook

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var declaredDependencies = []any{
	map[string]any{"name": "proxy", "type": "Required", "message": "No credentials: <&> ü"},
	map[string]any{"name": "metrics", "type": "Optional"},
}

var _ = Describe("Beside writers of v1beta1", func() {
	It("keeps spec.dependencies of objects that are created through v1beta1", func(ctx context.Context) {
		create(ctx, clusterManagementAddOn(betaVersion, "created", declaredDependencies))
		Expect(dependenciesOf(readObject(ctx, storage, "created"))).To(Equal(declaredDependencies))
		Expect(dependenciesOf(readObject(ctx, betaVersion, "created"))).To(Equal(declaredDependencies))
	})

	It("shows spec.dependencies in lists of v1beta1", func(ctx context.Context) {
		create(ctx, clusterManagementAddOn(storage, "listed", declaredDependencies))
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(betaVersion)
		list.SetKind("ClusterManagementAddOnList")
		Expect(hubClient.List(ctx, list)).To(Succeed())
		for i := range list.Items {
			Expect(list.Items[i].GetAPIVersion()).To(Equal(betaVersion))
			if list.Items[i].GetName() == "listed" {
				Expect(dependenciesOf(&list.Items[i])).To(Equal(declaredDependencies))
				return
			}
		}
		Fail("the list lacks the object")
	})

	DescribeTable("loses no dependency to a write of v1beta1", func(ctx context.Context, write func(context.Context, string)) {
		create(ctx, clusterManagementAddOn(storage, "written", declaredDependencies))
		write(ctx, "written")
		Expect(dependenciesOf(readObject(ctx, storage, "written"))).To(Equal(declaredDependencies))
		Expect(dependenciesOf(readObject(ctx, betaVersion, "written"))).To(Equal(declaredDependencies))
	},
		Entry("labels", func(ctx context.Context, name string) {
			patch(ctx, betaVersion, name, `{"metadata":{"labels":{"a":"b"}}}`)
			Expect(readObject(ctx, storage, name).GetLabels()).To(HaveKeyWithValue("a", "b"))
		}),
		Entry("spec", func(ctx context.Context, name string) {
			patch(ctx, betaVersion, name, `{"spec":{"defaultConfigs":[{"group":"g","resource":"r","name":"n"}]}}`)
			configs, _, err := unstructured.NestedSlice(readObject(ctx, storage, name).Object, "spec", "supportedConfigs")
			Expect(err).NotTo(HaveOccurred())
			Expect(configs).To(ConsistOf(HaveKeyWithValue("defaultConfig", HaveKeyWithValue("name", "n"))))
		}),
		Entry("an empty patch of status", func(ctx context.Context, name string) {
			patchStatus(ctx, betaVersion, name, `{"status":{}}`)
		}),
		Entry("status", func(ctx context.Context, name string) {
			patchStatus(
				ctx, betaVersion, name,
				`{"status":{"defaultConfigReferences":[{"group":"g","resource":"r","desiredConfig":{"name":"n","specHash":"h"}}]}}`,
			)
			Expect(readObject(ctx, storage, name).Object["status"]).To(HaveKey("defaultconfigReferences"))
		}),
		Entry("an update of the whole object as it was read", func(ctx context.Context, name string) {
			object := readObject(ctx, betaVersion, name)
			object.SetAnnotations(map[string]string{"a": "b"})
			Expect(hubClient.Update(ctx, object)).To(Succeed())
		}),
		Entry("server-side apply of other fields", func(ctx context.Context, name string) {
			object := clusterManagementAddOn(betaVersion, name, nil)
			Expect(unstructured.SetNestedField(object.Object, "applied", "spec", "addOnMeta", "description")).To(Succeed())
			Expect(hubClient.Apply(
				ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("stock"), client.ForceOwnership,
			)).To(Succeed())
			object = clusterManagementAddOn(betaVersion, name, nil)
			Expect(hubClient.Apply(
				ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("stock"), client.ForceOwnership,
			)).To(Succeed())
			Expect(readObject(ctx, storage, name).Object["spec"]).To(HaveKeyWithValue("addOnMeta", Not(HaveKey("description"))))
		}),
	)

	It("loses no field of a newer OCM to these writers, or to a change through v1beta1", func(ctx context.Context) {
		addNewerFields(ctx)
		object := clusterManagementAddOn(storage, "newer", declaredDependencies)
		for _, path := range [][]string{{"spec", newField}, {"spec", "addOnMeta", newField}, {"spec", "installStrategy", newField}} {
			Expect(unstructured.SetNestedField(object.Object, "kept", path...)).To(Succeed())
		}
		Eventually(func() error {
			return hubClient.Create(ctx, object.DeepCopy(), client.FieldValidation("Strict"), client.DryRunAll)
		}).Should(Succeed())
		create(ctx, object)
		patch(ctx, betaVersion, "newer", `{"metadata":{"labels":{"a":"b"}},"spec":{"`+newField+`":"changed"}}`)
		patchStatus(ctx, betaVersion, "newer", `{"status":{"`+newField+`":"told"}}`)
		for _, version := range []string{storage, betaVersion} {
			Eventually(func(g Gomega) {
				object := readObject(ctx, version, "newer")
				g.Expect(object.Object["spec"]).To(And(
					HaveKeyWithValue(newField, "changed"),
					HaveKeyWithValue("addOnMeta", HaveKeyWithValue(newField, "kept")),
					HaveKeyWithValue("installStrategy", HaveKeyWithValue(newField, "kept"))))
				g.Expect(object.Object["status"]).To(HaveKeyWithValue(newField, "told"))
			}).Should(Succeed())
		}
	})

	It("changes dependencies through v1beta1", func(ctx context.Context) {
		create(ctx, clusterManagementAddOn(storage, "changed", declaredDependencies))
		patch(ctx, betaVersion, "changed", `{"spec":{"dependencies":[{"name":"metrics"}]}}`)
		Expect(dependenciesOf(readObject(ctx, storage, "changed"))).To(Equal(required("metrics")))
		patch(ctx, betaVersion, "changed", `{"spec":{"dependencies":null}}`)
		Expect(readObject(ctx, storage, "changed").Object["spec"]).NotTo(HaveKey("dependencies"))
	})
})

const newField = "newerField"

// addNewerFields adds fields to the CRD that no type of the api module has.
func addNewerFields(ctx context.Context) {
	GinkgoHelper()
	var crd apiextensionsv1.CustomResourceDefinition
	Expect(hubClient.Get(ctx, types.NamespacedName{Name: crdName}, &crd)).To(Succeed())
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	for _, version := range crd.Spec.Versions {
		spec, status := version.Schema.OpenAPIV3Schema.Properties["spec"], version.Schema.OpenAPIV3Schema.Properties["status"]
		for _, properties := range []map[string]apiextensionsv1.JSONSchemaProps{
			spec.Properties, spec.Properties["addOnMeta"].Properties, spec.Properties["installStrategy"].Properties, status.Properties,
		} {
			properties[newField] = text
		}
	}
	Expect(hubClient.Update(ctx, &crd)).To(Succeed())
}
