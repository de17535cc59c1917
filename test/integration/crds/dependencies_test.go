package crds

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	group   = "addon.open-cluster-management.io"
	crdName = "clustermanagementaddons." + group
)

// bothVersions runs a table once for each version that is served.
var bothVersions = []TableEntry{
	Entry("through v1alpha1", "v1alpha1"),
	Entry("through v1beta1", "v1beta1"),
}

var _ = Describe("the CRD of ClusterManagementAddOn", func() {
	It("is established, structural, and stored as v1alpha1", func(ctx context.Context) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		Expect(hubClient.Get(ctx, types.NamespacedName{Name: crdName}, crd)).To(Succeed())
		conditions := map[apiextensionsv1.CustomResourceDefinitionConditionType]apiextensionsv1.ConditionStatus{}
		for _, condition := range crd.Status.Conditions {
			conditions[condition.Type] = condition.Status
		}
		Expect(conditions).To(HaveKeyWithValue(apiextensionsv1.Established, apiextensionsv1.ConditionTrue))
		Expect(conditions).NotTo(HaveKey(apiextensionsv1.NonStructuralSchema))
		Expect(crd.Status.StoredVersions).To(ConsistOf("v1alpha1"))
		Expect(crd.Spec.Conversion.Strategy).To(Equal(apiextensionsv1.NoneConverter))
	})

	DescribeTable("defaults type to Required and shows dependencies in both versions", func(ctx context.Context, version string) {
		object := create(ctx, version, fieldsOf("name", "cluster-proxy"),
			fieldsOf("name", "search", "type", "Optional", "message", "no search"))
		expected := []any{
			fieldsOf("name", "cluster-proxy", "type", "Required"),
			fieldsOf("name", "search", "type", "Optional", "message", "no search"),
		}
		for _, version := range []string{"v1alpha1", "v1beta1"} {
			Expect(dependenciesOf(readAddOn(ctx, version, object.GetName()))).To(Equal(expected), version)
		}
	}, bothVersions)

	DescribeTable("keeps dependencies when the status is written", func(ctx context.Context, version string) {
		object := create(ctx, "v1alpha1", fieldsOf("name", "cluster-proxy"))
		stored := readAddOn(ctx, version, object.GetName())
		patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"defaultconfigReferences":[]}}`))
		Expect(hubClient.Status().Patch(ctx, stored, patch)).To(Succeed())
		Expect(dependenciesOf(readAddOn(ctx, "v1alpha1", object.GetName()))).To(HaveLen(1))
	}, bothVersions)

	DescribeTable("leaves an add-on without dependencies alone", func(ctx context.Context, version string) {
		object := create(ctx, version)
		spec := readAddOn(ctx, version, object.GetName()).Object["spec"]
		Expect(spec).To(HaveKey("addOnMeta"))
		Expect(spec).NotTo(HaveKey("dependencies"))
	}, bothVersions)

	DescribeTable("accepts large values", func(ctx context.Context, count, messageSize int) {
		dependencies := make([]any, 0, count)
		for i := range count {
			dependencies = append(dependencies,
				fieldsOf("name", fmt.Sprintf("addon-%d", i), "message", strings.Repeat("x", messageSize)))
		}
		object := create(ctx, "v1alpha1", dependencies...)
		Expect(dependenciesOf(readAddOn(ctx, "v1beta1", object.GetName()))).To(HaveLen(count))
	},
		Entry("256 dependencies", 256, 10),
		Entry("a message of 100 kB", 1, 100_000),
	)

	DescribeTable("refuses 257 dependencies", func(ctx context.Context, version string) {
		dependencies := make([]any, 257)
		for i := range dependencies {
			dependencies[i] = fieldsOf("name", fmt.Sprintf("addon-%d", i))
		}
		err := hubClient.Create(ctx, clusterManagementAddOn(version, dependencies...))
		Expect(err).To(MatchError(ContainSubstring("spec.dependencies: Too many: 257: must have at most 256 items")))
	}, bothVersions)

	for _, version := range []string{"v1alpha1", "v1beta1"} {
		DescribeTable("refuses through "+version, func(ctx context.Context, entry any, field, complaint string) {
			err := hubClient.Create(ctx, clusterManagementAddOn(version, entry), client.FieldValidation(metav1.FieldValidationStrict))
			Expect(apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)).To(BeTrue(), "got error %v", err)
			Expect(err).To(MatchError(And(ContainSubstring("spec.dependencies[0]"+field), ContainSubstring(complaint))))
		},
			Entry("an unknown type", fieldsOf("name", "a", "type", "Soft"), ".type", `supported values: "Optional", "Required"`),
			Entry("an empty type", fieldsOf("name", "a", "type", ""), ".type", `supported values: "Optional", "Required"`),
			Entry("an empty name", fieldsOf("name", ""), ".name", "should be at least 1 chars long"),
			Entry("no name", fieldsOf("type", "Optional"), ".name", "Required value"),
			Entry("a name that is no string", map[string]any{"name": int64(1)}, ".name", "must be of type string"),
			Entry("an entry that is no object", "a", "", "must be of type object"),
			Entry("an unknown field", fieldsOf("name", "a", "kind", "x"), ".kind", "unknown field"),
		)
	}
})

// fieldsOf returns a map of keys and values that alternate.
func fieldsOf(pairs ...string) map[string]any {
	fields := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	return fields
}

func clusterManagementAddOn(version string, dependencies ...any) *unstructured.Unstructured {
	spec := map[string]any{"addOnMeta": map[string]any{"displayName": "test"}}
	if len(dependencies) > 0 {
		spec["dependencies"] = dependencies
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version,
		"kind":       "ClusterManagementAddOn",
		"metadata":   map[string]any{"generateName": "addon-"},
		"spec":       spec,
	}}
}

func create(ctx context.Context, version string, dependencies ...any) *unstructured.Unstructured {
	GinkgoHelper()
	addOn := clusterManagementAddOn(version, dependencies...)
	Expect(hubClient.Create(ctx, addOn, client.FieldValidation(metav1.FieldValidationStrict))).To(Succeed())
	DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, addOn) })
	return addOn
}

func readAddOn(ctx context.Context, version, name string) *unstructured.Unstructured {
	GinkgoHelper()
	addOn := &unstructured.Unstructured{}
	addOn.SetAPIVersion(group + "/" + version)
	addOn.SetKind("ClusterManagementAddOn")
	Expect(hubClient.Get(ctx, types.NamespacedName{Name: name}, addOn)).To(Succeed())
	return addOn
}

func dependenciesOf(addOn *unstructured.Unstructured) []any {
	GinkgoHelper()
	dependencies, _, err := unstructured.NestedSlice(addOn.Object, "spec", "dependencies")
	Expect(err).NotTo(HaveOccurred())
	return dependencies
}
