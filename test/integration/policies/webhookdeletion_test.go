package policies

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	webhookNamespace = "interlock-system"
	webhookName      = "interlock-webhook"
	allowDeletion    = "interlock.open-cluster-management.io/allow-deletion"
)

func service(namespace, name string) client.Object {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 443}}},
	}
}

func deployment(namespace, name string) client.Object {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
}

func namespaceOf(name string) client.Object {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// graftedCRD returns a CRD that converts through the webhook. It is not OCM's, so that other specs are not affected.
func graftedCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{
			Name: "grafts.example.com", Annotations: map[string]string{"interlock.open-cluster-management.io/graft": "{}"},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "grafts", Singular: "graft", Kind: "Graft", ListKind: "GraftList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: []string{"v1"}, ClientConfig: &apiextensionsv1.WebhookClientConfig{
						Service: &apiextensionsv1.ServiceReference{Namespace: webhookNamespace, Name: webhookName},
					},
				},
			},
		},
	}
}

// protect makes the policy read another CRD.
func protect(ctx context.Context, crd string) {
	GinkgoHelper()
	binding := &unstructured.Unstructured{}
	binding.SetAPIVersion("admissionregistration.k8s.io/v1")
	binding.SetKind("ValidatingAdmissionPolicyBinding")
	binding.SetName("interlock-webhook-deletion")
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(binding), binding)).To(Succeed())
	parameterBefore, _, err := unstructured.NestedString(binding.Object, "spec", "paramRef", "name")
	Expect(err).NotTo(HaveOccurred())
	setParameter := func(ctx context.Context, crdName string) error {
		return admin.Patch(ctx, binding, merge(`{"spec":{"paramRef":{"name":"`+crdName+`"}}}`))
	}
	Expect(setParameter(ctx, crd)).To(Succeed())
	DeferCleanup(setParameter, parameterBefore)
}

// deletion is a request that would delete objects of the webhook, among others.
type deletion func(ctx context.Context, options ...client.DeleteOption) error

func byName(object client.Object) deletion {
	return func(ctx context.Context, options ...client.DeleteOption) error {
		return admin.Delete(ctx, object, options...)
	}
}

func allOf(object client.Object, selecting ...client.DeleteAllOfOption) deletion {
	return func(ctx context.Context, options ...client.DeleteOption) error {
		deleteOptions := append([]client.DeleteAllOfOption{client.InNamespace(object.GetNamespace())}, selecting...)
		for _, option := range options {
			deleteOptions = append(deleteOptions, option.(client.DeleteAllOfOption))
		}
		return admin.DeleteAllOf(ctx, object, deleteOptions...)
	}
}

var _ = Describe("The objects of the webhook, while it converts", Ordered, func() {
	webhookObjects := []client.Object{service(webhookNamespace, webhookName), deployment(webhookNamespace, webhookName)}
	byFieldName := client.MatchingFields{"metadata.name": webhookName}
	refusal := MatchError(And(ContainSubstring("is grafted"), ContainSubstring(allowDeletion)))

	BeforeAll(func(ctx context.Context) {
		for _, namespace := range []string{webhookNamespace, "elsewhere"} {
			for _, object := range []client.Object{
				namespaceOf(namespace), service(namespace, webhookName), deployment(namespace, webhookName),
				service(namespace, "a-first"), service(namespace, "other"), deployment(namespace, "other"),
			} {
				Expect(admin.Create(ctx, object)).To(Succeed())
			}
		}
		crd := graftedCRD()
		Expect(admin.Create(ctx, crd)).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return admin.Delete(ctx, crd) })
		protect(ctx, crd.Name)
		Eventually(func() error { return admin.Delete(ctx, webhookObjects[0], client.DryRunAll) }).Should(refusal)
	})

	DescribeTable("are not deleted", func(ctx context.Context, request deletion) {
		for _, options := range [][]client.DeleteOption{
			{client.DryRunAll},
			{client.GracePeriodSeconds(0)},
			{client.PropagationPolicy(metav1.DeletePropagationForeground)},
			{client.PropagationPolicy(metav1.DeletePropagationOrphan)},
		} {
			Expect(request(ctx, options...)).To(refusal, "%v", options)
		}
		for _, object := range webhookObjects {
			Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			Expect(object.GetDeletionTimestamp()).To(BeNil())
		}
	},
		Entry("with their namespace", byName(namespaceOf(webhookNamespace))),
		Entry("the Service, by name", byName(webhookObjects[0])),
		Entry("the Deployment, by name", byName(webhookObjects[1])),
		Entry("the Service, selected by name", allOf(webhookObjects[0], byFieldName)),
		Entry("the Deployment, selected by name", allOf(webhookObjects[1], byFieldName)),
		Entry("the Service, with all in the namespace", allOf(webhookObjects[0])),
		Entry("the Deployment, with all in the namespace", allOf(webhookObjects[1])),
	)

	It("are not deleted with other namespaces: the API server has no such request", func(ctx context.Context) {
		Expect(admin.DeleteAllOf(ctx, &corev1.Namespace{})).To(MatchError(ContainSubstring("the server does not allow this method")))
	})

	DescribeTable("can be deleted", func(ctx context.Context, annotatedObject client.Object, requests ...deletion) {
		for _, request := range requests {
			annotate := func(value string) {
				patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, allowDeletion, value)
				Expect(admin.Patch(ctx, annotatedObject, merge(patch))).To(Succeed())
			}
			for _, value := range []string{`"false"`, `""`, "null"} {
				annotate(value)
				Eventually(func() error { return request(ctx, client.DryRunAll) }).Should(refusal, value)
			}
			annotate(`"true"`)
			// For moments, the API server's own copy of a namespace is outdated.
			Eventually(func() error { return request(ctx, client.DryRunAll) }).Should(Succeed())
			annotate("null")
		}
	},
		Entry("the Service with its annotation", service(webhookNamespace, webhookName),
			byName(webhookObjects[0]), allOf(webhookObjects[0], byFieldName)),
		Entry("the Deployment with its annotation", deployment(webhookNamespace, webhookName),
			byName(webhookObjects[1]), allOf(webhookObjects[1], byFieldName)),
		Entry("all with that of the namespace", namespaceOf(webhookNamespace), byName(namespaceOf(webhookNamespace)),
			byName(webhookObjects[0]), byName(webhookObjects[1]), allOf(webhookObjects[0]), allOf(webhookObjects[1])),
	)

	DescribeTable("others are deleted", func(ctx context.Context, request deletion) {
		Expect(request(ctx, client.DryRunAll)).To(Succeed())
	},
		Entry("another Service", byName(service(webhookNamespace, "other"))),
		Entry("another Deployment", byName(deployment(webhookNamespace, "other"))),
		Entry("all other Services", allOf(webhookObjects[0], client.MatchingFields{"metadata.name": "other"})),
		Entry("objects of the same names in another namespace", byName(service("elsewhere", webhookName))),
		Entry("all Services elsewhere", allOf(service("elsewhere", ""))),
		Entry("all Deployments elsewhere", allOf(deployment("elsewhere", ""))),
		Entry("another namespace", byName(namespaceOf("elsewhere"))),
	)

	It("are deleted once the CRD is given back", func(ctx context.Context) {
		crd := graftedCRD()
		Expect(admin.Patch(ctx, crd, merge(`{"metadata":{"annotations":{"interlock.open-cluster-management.io/graft":null}}}`))).To(Succeed())
		for _, request := range []deletion{
			byName(namespaceOf(webhookNamespace)),
			byName(webhookObjects[0]),
			allOf(webhookObjects[0]),
			allOf(webhookObjects[1]),
		} {
			Eventually(func() error { return request(ctx, client.DryRunAll) }).Should(Succeed())
		}
		Expect(admin.Patch(ctx, crd, merge(`{"metadata":{"annotations":{"interlock.open-cluster-management.io/graft":"{}"}}}`))).To(Succeed())
		Eventually(func() error { return byName(webhookObjects[0])(ctx, client.DryRunAll) }).Should(refusal)
	})

	It("are deleted with a namespace whose deletion was admitted", func(ctx context.Context) {
		Expect(admin.Patch(ctx, namespaceOf(webhookNamespace), merge(annotationPatch(`"`+allowDeletion+`":"true"`)))).To(Succeed())
		Expect(admin.Delete(ctx, namespaceOf(webhookNamespace))).To(Succeed())
		Expect(admin.Patch(ctx, namespaceOf(webhookNamespace), merge(annotationPatch(`"`+allowDeletion+`":null`)))).To(Succeed())
		for _, object := range webhookObjects {
			Eventually(func() error { return allOf(object)(ctx) }).Should(Succeed())
			Expect(client.IgnoreNotFound(admin.Get(ctx, client.ObjectKeyFromObject(object), object))).To(Succeed())
		}
	})
})
