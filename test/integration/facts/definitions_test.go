package facts

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// define creates a CRD on the managed cluster, and removes it after the spec.
func define(ctx context.Context, group, kind string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	return defineOn(ctx, managed, group, kind, versions...)
}

// defineOn creates a CRD on the managed cluster or on the hub, and removes it after the spec.
func defineOn(
	ctx context.Context, clusterClient client.Client, group, kind string, versions ...string,
) *apiextensionsv1.CustomResourceDefinition {
	GinkgoHelper()
	plural := strings.ToLower(kind) + "s"
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: plural, Singular: strings.ToLower(kind), Kind: kind, ListKind: kind + "List",
			},
		},
	}
	for i, version := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: i == 0,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
		})
	}
	Expect(clusterClient.Create(ctx, crd)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(client.IgnoreNotFound(clusterClient.Delete(ctx, crd))).To(Succeed())
	})
	return crd
}

// aggregate registers a version of a group with an API server that does not exist, and removes it after the spec.
func aggregate(ctx context.Context, group, version string) {
	GinkgoHelper()
	service := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": version + "." + group},
		"spec": map[string]any{
			"group": group, "version": version, "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
			"insecureSkipTLSVerify": true, "service": map[string]any{"namespace": "default", "name": "gone"},
		},
	}}
	Expect(managed.Create(ctx, service)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(client.IgnoreNotFound(managed.Delete(ctx, service))).To(Succeed())
	})
}
