package crds

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// page is the page for authors of add-ons. Its examples are tested here.
const page = "../../../docs/declaring-dependencies.md"

// situation returns a managed cluster on which every example has a finding.
func situation() (evaluation.Cluster, map[string]evaluation.Observation) {
	availableIn := func(version string) evaluation.Observation {
		return evaluation.Observation{
			Installed: true, Available: &metav1.Condition{Type: "Available", Status: metav1.ConditionTrue}, Version: version,
		}
	}
	kueue := availableIn("")
	kueue.Config = map[string]string{"mode": "proxy"}
	permissions := addonv1alpha1.AddonAPI{Group: "rbac.open-cluster-management.io", Version: "v1alpha1", Kind: "ClusterPermission"}
	return evaluation.Cluster{
			Name: "cluster1", Now: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), Labels: map[string]string{"network": "private"},
			KubernetesVersion: "v1.27.3-gke.100", OCMVersion: "1.3.1",
			Claims: map[string]string{"version.openshift.io": "4.15.2", "platform.open-cluster-management.io": "Azure"},
			Facts: evaluation.Facts{
				APIs: map[addonv1alpha1.AddonAPI]evaluation.APIFact{permissions: {Served: metav1.ConditionFalse}},
			},
		}, map[string]evaluation.Observation{
			"managed-serviceaccount": availableIn("0.5.0"), "cluster-proxy": availableIn("1.4.0"), "work-manager": availableIn("2.1.0-rc.1"),
			"search-collector": availableIn("v0.21.1"), "multicluster-kueue-manager": kueue,
		}
}

// expectedVerdicts has the verdicts on each example in that situation.
var expectedVerdicts = map[string]string{
	"cluster-gateway":    "managed-serviceaccount=Satisfied cluster-proxy=Satisfied",
	"token-broker":       "managed-serviceaccount=VersionMismatch work-manager=Satisfied",
	"token-cache":        "managed-serviceaccount=Satisfied",
	"prometheus":         "search-collector=VersionMismatch",
	"stream-gateway":     "multicluster-kueue-manager=SettingMismatch",
	"linked-gateway":     "managed-serviceaccount=Satisfied",
	"new-gateway":        "cluster-gateway=Satisfied",
	"patient-gateway":    "cluster-proxy=Satisfied",
	"bringing-gateway":   "managed-serviceaccount=Satisfied",
	"tunnel-user":        "cluster-proxy=Satisfied multiplexing=VersionMismatch",
	"remote-gateway":     "tunnel=Satisfied",
	"role-propagator":    "permission-api=APINotServed",
	"role-validator":     "permission-api=APINotServed",
	"placement-reporter": "placement-api=Held prometheus-operator=APINotServed",
	"cluster-permission": "",
	"gpu-operator": "requirements.kubernetes=RequirementNotMet requirements.ocm=Satisfied " +
		"requirements.claims[platform.open-cluster-management.io]=RequirementNotMet requirements.claims[version.openshift.io]=Satisfied",
	"multicluster-kueue-manager": "managed-serviceaccount=Satisfied cluster-proxy=Satisfied",
	"annotated-gateway":          "managed-serviceaccount=VersionMismatch requirements.kubernetes=RequirementNotMet",
}

var _ = Describe("the examples of docs/declaring-dependencies.md", func() {
	It("are accepted, and evaluated as the page says", func(ctx context.Context) {
		content, err := os.ReadFile(page)
		Expect(err).NotTo(HaveOccurred())
		var registrations []addonv1alpha1.ClusterManagementAddOn
		var templates []addonv1alpha1.AddOnTemplate
		var policies []dependencyv1alpha1.AddOnDependencyPolicy
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(content), -1) {
			example := &unstructured.Unstructured{}
			Expect(yaml.UnmarshalStrict([]byte(block[1]), &example.Object)).To(Succeed(), block[1])
			Expect(hubClient.Create(ctx, example, client.FieldValidation(metav1.FieldValidationStrict))).To(Succeed(), block[1])
			DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, example) })
			switch example.GetKind() {
			case "AddOnTemplate":
				templates = append(templates, decode[addonv1alpha1.AddOnTemplate](example))
				continue
			case "AddOnDependencyPolicy":
				policies = append(policies, decode[dependencyv1alpha1.AddOnDependencyPolicy](example))
				continue
			}
			registrations = append(registrations, decode[addonv1alpha1.ClusterManagementAddOn](readAddOn(ctx, "v1alpha1", example.GetName())))
		}
		for _, addOn := range registrations {
			Expect(catalog.New(registrations).Declaration(addOn.Name).Problems).To(BeEmpty(), addOn.Name)
		}
		cluster, observed := situation()
		Expect(verdicts(catalog.New(registrations), cluster, observed)).To(Equal(expectedVerdicts))

		Expect(policies).To(HaveLen(1))
		Expect(policy.Wrong(&policies[0], cluster.Now)).To(BeEmpty())
		cluster.Labels["tier"] = "edge"
		overridden := verdicts(catalog.New(registrations).WithPolicies(policy.Read(policies)), cluster, observed)
		Expect(overridden).To(And(
			HaveKeyWithValue(
				"tunnel-user",
				"cluster-proxy=Satisfied multiplexing=Satisfied",
			),
			HaveKeyWithValue("role-propagator", "permission-api=Waived"),
		))
		Expect(templates).To(HaveLen(1))
		template, ok := declaration.ReadTemplate(&templates[0])
		Expect(ok).To(BeTrue())
		Expect(template.Problems).To(BeEmpty())
		Expect(
			template.Edges,
		).To(HaveExactElements(HaveField("AddOn", "managed-serviceaccount"), HaveField("AddOn", "cluster-proxy")))
		Expect(templates[0].Spec.AddonName).To(Equal("token-broker"), "it is the next version of an example")
	})

	It("show every field", func() {
		content, err := os.ReadFile(page)
		Expect(err).NotTo(HaveOccurred())
		for _, field := range []string{
			"addOn:", "version:", "prereleases:", "identifiers:", "api:", "fields:", "docs:", "tolerate:", "clusterSelector:", "expression:",
			"type: IfInstalled", "type: Conflicts", "type: Optional",
			"requirements:", "kubernetes:", "ocm:", "claims:", "provides:", "waive:",
		} {
			Expect(string(content)).To(ContainSubstring(field))
		}
	})
})

// verdicts returns the verdicts on each add-on on a cluster.
func verdicts(catalog *catalog.Catalog, cluster evaluation.Cluster, observed map[string]evaluation.Observation) map[string]string {
	byAddOn := map[string]string{}
	evaluator := evaluation.New(catalog)
	for _, addOn := range catalog.AddOns() {
		var texts []string
		state := evaluator.State(addOn, cluster, func(name string) evaluation.Observation { return observed[name] })
		for _, finding := range evaluator.Evaluate(addOn, state) {
			texts = append(texts, fmt.Sprintf("%s=%s", finding.Name(), finding.Verdict))
		}
		byAddOn[addOn] = strings.Join(texts, " ")
	}
	return byAddOn
}

func decode[T any](object *unstructured.Unstructured) (value T) {
	GinkgoHelper()
	raw, err := json.Marshal(object)
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(raw, &value)).To(Succeed())
	return value
}
