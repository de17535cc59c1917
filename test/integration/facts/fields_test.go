package facts

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// onFields returns an edge on an API with fields.
func onFields(name, group, kind string, fields ...string) addonv1alpha1.AddonDependency {
	edge := onAPI(name, group, kind)
	edge.API.Fields = fields
	return edge
}

// redefine sets the schema of the only version of a CRD.
func redefine(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, spec map[string]apiextensionsv1.JSONSchemaProps) {
	GinkgoHelper()
	Expect(managed.Get(ctx, client.ObjectKeyFromObject(crd), crd)).To(Succeed())
	original := crd.DeepCopy()
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", Properties: spec}},
	}
	Expect(managed.Patch(ctx, crd, client.MergeFrom(original))).To(Succeed())
}

var _ = Describe("Fields of APIs", func() {
	var c *cluster
	var group, gateway string
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		group, gateway = unique("group")+".example.com", unique("gateway")
	})
	var (
		text  = apiextensionsv1.JSONSchemaProps{Type: "string"}
		rules = apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{
			Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"verbs": text}},
		}}
	)

	It("are looked up in the schema of the managed cluster, as it changes", func(ctx context.Context) {
		startManager(ctx)
		c.startAgent()
		crd := define(ctx, group, "Widget", "v1")
		register(ctx, gateway, onFields("widgets", group, "Widget", "spec.validate", "spec.rules.verbs"))
		c.install(ctx, gateway)
		lacks := func(fields string) {
			GinkgoHelper()
			Eventually(c.degraded(ctx, gateway)).Should(Equal(failing + "Required API 'Widget." + group +
				"' does not have the required fields. (served, but its schema has no " + fields + ")"))
		}
		lacks("fields spec.rules.verbs, spec.validate")
		By("a field being added to the CRD")
		redefine(ctx, crd, map[string]apiextensionsv1.JSONSchemaProps{"rules": rules})
		lacks("field spec.validate")
		By("the other one being added")
		redefine(ctx, crd, map[string]apiextensionsv1.JSONSchemaProps{"rules": rules, "validate": text})
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
		By("a field being removed")
		redefine(ctx, crd, map[string]apiextensionsv1.JSONSchemaProps{"validate": text})
		lacks("field spec.rules.verbs")
		Expect(c.onHub.refusals.Load() + c.onManaged.refusals.Load()).To(BeZero())
	})

	It("are also looked up for built-in kinds", func(ctx context.Context) {
		c.startAgent()
		c.request(ctx, questions{APIs: []apiRequest{
			{API: api{Group: "apps", Version: "v1", Kind: "Deployment"}, Fields: []string{"spec.template.spec.containers.image", "spec.templates"}},
			{API: api{Kind: "ConfigMap"}, Fields: []string{"data", "metadata.labels"}},
		}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Deployment True v1", "ConfigMap True v1"))
		facts := must(c.facts(ctx)).Status.APIs
		Expect(facts[0].Fields).To(HaveExactElements(
			dependencyv1alpha1.FieldFact{Path: "spec.template.spec.containers.image", Found: metav1.ConditionTrue, Versions: []string{"v1"}},
			dependencyv1alpha1.FieldFact{Path: "spec.templates", Found: metav1.ConditionFalse},
		))
		Expect(facts[1].Fields).To(HaveEach(HaveField("Found", metav1.ConditionTrue)))
	})

	It("cost one read of the schema, and none while nothing changes", func(ctx context.Context) {
		c.startAgent()
		crd := define(ctx, group, "Widget", "v1")
		c.request(ctx, questions{APIs: []apiRequest{{API: api{Group: group, Kind: "Widget"}}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Widget True v1"))
		Expect(c.onManaged.schemas.Load()).To(BeZero(), "no field is requested")
		c.request(ctx, questions{APIs: []apiRequest{{API: api{Group: group, Kind: "Widget"}, Fields: []string{"spec"}}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Widget True v1"))
		Expect(must(c.facts(ctx)).Status.APIs[0].Fields).To(HaveExactElements(HaveField("Found", metav1.ConditionFalse)))
		Expect(c.onManaged.schemas.Load()).To(BeNumerically(">=", 1))
		schemasBefore := c.onManaged.schemas.Load()
		By("an annotation of the CRD, which is no change of its schema")
		Expect(managed.Get(ctx, client.ObjectKeyFromObject(crd), crd)).To(Succeed())
		original, requestsBefore := crd.DeepCopy(), c.onManaged.discoveries.Load()
		crd.Annotations = map[string]string{"example.com/note": "new"}
		Expect(managed.Patch(ctx, crd, client.MergeFrom(original))).To(Succeed())
		Eventually(c.onManaged.discoveries.Load).Should(BeNumerically(">", requestsBefore))
		Consistently(c.onManaged.schemas.Load).Should(Equal(schemasBefore))
	})

	It("are not known where addon-agent is too old to report them", func(ctx context.Context) {
		startManager(ctx)
		register(ctx, gateway, onFields("pods", "", "Pod", "spec.nodeName"))
		c.install(ctx, gateway)
		Eventually(c.requestedNames(ctx)).Should(HaveExactElements("Pod"))
		facts := must(c.facts(ctx))
		Expect(facts.Spec.APIs[0].Fields).To(HaveExactElements("spec.nodeName"))
		c.meddle(ctx, map[string]any{
			"observedGeneration": facts.Generation,
			"apis":               []any{map[string]any{"kind": "Pod", "served": "True", "versions": []string{"v1"}}},
		})
		Eventually(c.degraded(ctx, gateway)).Should(Equal(failing + "Required API 'Pod' is not known to have the required fields. " +
			"(served, but its fields are not known: the managed cluster's addon-agent is too old to report fields of APIs: upgrade it)"))
		By("its upgrade")
		c.startAgent()
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
	})
})
