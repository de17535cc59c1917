package hub

import (
	"os"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

// proposalExample is an example of the page, with the conditions that the page shows for it.
type proposalExample struct {
	registration string
	shown        *addonv1alpha1.ManagedClusterAddOn
}

// proposalExamples reads docs/proposal.md.
func proposalExamples() (examples []proposalExample) {
	GinkgoHelper()
	page, err := os.ReadFile("../../../docs/proposal.md")
	Expect(err).NotTo(HaveOccurred())
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		var kind metav1.TypeMeta
		Expect(yaml.Unmarshal([]byte(block[1]), &kind)).To(Succeed())
		if kind.Kind == "ClusterManagementAddOn" {
			examples = append(examples, proposalExample{registration: block[1]})
			continue
		}
		current := &examples[len(examples)-1]
		current.shown = &addonv1alpha1.ManagedClusterAddOn{}
		Expect(yaml.UnmarshalStrict([]byte(block[1]), current.shown)).To(Succeed())
	}
	return examples
}

var _ = Describe("The proposal's examples", Ordered, func() {
	var cluster string
	BeforeAll(func() {
		start()
		cluster = newCluster()
	})

	It("are accepted as they are, and have the conditions that their page shows", func() {
		examples := proposalExamples()
		Expect(examples).To(HaveLen(2))
		for _, example := range examples {
			registration := &unstructured.Unstructured{}
			Expect(yaml.Unmarshal([]byte(example.registration), &registration.Object)).To(Succeed())
			// kubectl apply validates as strictly.
			Expect(hubClient.Create(ctx, registration, client.FieldValidation(metav1.FieldValidationStrict))).To(Succeed(), example.registration)
			DeferCleanup(func() { Expect(client.IgnoreNotFound(hubClient.Delete(ctx, registration))).To(Succeed()) })
			name := registration.GetName()
			Expect(example.shown.Name).To(Equal(name))

			By("the dependency missing: " + name)
			installAvailable(cluster, name)
			expected := meta.FindStatusCondition(example.shown.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionDegraded)
			Eventually(degradedOf(cluster, name)).Should(matchDegraded(expected.Status, expected.Reason, Equal(expected.Message)))
			Expect(readAddOn(cluster, name).Status.Conditions).To(ContainElement(
				And(HaveField("Type", available), HaveField("Status", metav1.ConditionTrue))), "Available is not addon-manager's")
			expectAvailable(name, must(degradedOf(cluster, name)), meta.FindStatusCondition(example.shown.Status.Conditions, available))
		}

		By("the dependency working")
		register("managed-serviceaccount")
		installAvailable(cluster, "managed-serviceaccount")
		for _, example := range examples {
			Eventually(degradedOf(cluster, example.shown.Name)).Should(satisfied())
		}
	})
})

// expectAvailable compares the decision of addon-agent about an add-on that renews its lease with the condition on the page.
func expectAvailable(name string, degraded, shown *metav1.Condition) {
	GinkgoHelper()
	moment := time.Now()
	decision := availability.Decide(availability.Input{
		AddOn: name, Degraded: degraded, Lease: availability.Lease{State: availability.LeaseFound, RenewTime: &moment}, GracePeriod: time.Minute,
		Now: moment,
	})
	Expect(decision.Condition).To(And(
		HaveField("Status", shown.Status), HaveField("Reason", shown.Reason), HaveField("Message", shown.Message)))
}
