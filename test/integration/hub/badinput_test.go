package hub

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

var _ = DescribeTable("The schema refuses, and names the field:",
	func(entry addonv1alpha1.AddonDependency, field, value string) {
		addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: unique("refused")}}
		addOn.Spec.InstallStrategy.Type = "Manual"
		addOn.Spec.Dependencies = []addonv1alpha1.AddonDependency{required("base"), entry}
		Expect(hubClient.Create(ctx, addOn)).To(MatchError(And(ContainSubstring(field), ContainSubstring(value))))
	},
	Entry("an unknown type", addonv1alpha1.AddonDependency{Name: "x", Type: "Sometimes"}, "spec.dependencies[1].type", `"Sometimes"`),
	Entry("an empty name", addonv1alpha1.AddonDependency{}, "spec.dependencies[1].name", "at least 1"),
)

var _ = Describe("Bad input", Ordered, func() {
	var manager *process
	var cluster string // cluster is a namespace without a ManagedCluster

	// add registers an add-on with a declaration and installs it.
	add := func(prefix, annotation string, dependencies ...addonv1alpha1.AddonDependency) *addonv1alpha1.ClusterManagementAddOn {
		GinkgoHelper()
		addOn := register(unique(prefix), dependencies...)
		if annotation != "" {
			annotate(addOn.Name, annotation)
		}
		install(cluster, addOn.Name)
		return addOn
	}
	expectReported := func(addOn *addonv1alpha1.ClusterManagementAddOn, reason declaration.ProblemReason, note string) {
		GinkgoHelper()
		Eventually(manager.problem(addOn.Name, reason)).ShouldNot(BeEmpty())
		Eventually(eventsOf(addOn.UID)).Should(ContainElement(And(HavePrefix(string(reason)+": "), ContainSubstring(note))))
	}

	BeforeAll(func() {
		manager = start()
		cluster = newCluster()
		for _, annotation := range []string{
			"no: list", "- name: [", "\x00", strings.Repeat("- ", 5000), bomb(),
			"- {name: x, type: Sometimes}", "- {type: Required}", "- {name: x, shape: round}",
		} {
			addOn := add("annotated", annotation)
			expectReported(addOn, declaration.ProblemInvalid, "metadata.annotations["+addonv1alpha1.DependenciesAnnotation+"]")
		}
	})

	It("a dependency that is not registered is reported", func() {
		addOn := add("unregistered", "", required("no-such-add-on"))
		Eventually(degradedOf(cluster, addOn.Name)).Should(requiredFails(ContainSubstring("(not installed")))
		expectReported(addOn, declaration.ProblemNotRegistered, `"no-such-add-on" has no ClusterManagementAddOn`)
	})

	It("a duplicate name counts once, as its stricter entry", func() {
		addOn := add("twice", "", optional("no-such-add-on"), required("no-such-add-on"))
		Eventually(degradedOf(cluster, addOn.Name)).Should(requiredFails(Not(ContainSubstring("Optional"))))
		expectReported(addOn, declaration.ProblemDuplicate, "spec.dependencies[1].name")
	})

	It("a name of blanks, which the schema lets pass, leaves the add-on as it is", func() {
		addOn := add("blank", "", required(" "))
		expectReported(addOn, declaration.ProblemInvalid, "spec.dependencies[0].name")
		Expect(must(degradedOf(cluster, addOn.Name))).To(BeNil())
	})

	DescribeTable("a message of 100 kB and more is shortened to the size limit of a condition",
		func(character string, length int) {
			entry := required("no-such-add-on")
			entry.Message = strings.Repeat(character, length)
			addOn := add("wordy", "", entry)
			Eventually(degradedOf(cluster, addOn.Name)).Should(requiredFails(
				HavePrefix("Required addon 'no-such-add-on' is not installed or not available. "+character),
				ContainSubstring("… (not installed")))
			message := must(degradedOf(cluster, addOn.Name)).Message
			Expect(utf8.RuneCountInString(message)).To(And(BeNumerically("<=", 32768), BeNumerically(">", 32000)))
			Eventually(eventsOf(readAddOn(cluster, addOn.Name).UID)).Should(ConsistOf(HaveSuffix("…")))
		},
		Entry("of one byte each", "a", 100_000), Entry("of four bytes each", "🔌", 40_000),
	)

	It("256 dependencies are all evaluated, and named as far as they fit", func() {
		var dependencies []addonv1alpha1.AddonDependency
		for i := range 256 {
			dependencies = append(dependencies, required(fmt.Sprintf("no-such-add-on-%03d", i)))
			dependencies[i].Message = strings.Repeat("m", 100)
		}
		addOn := add("needy", "", dependencies...)
		Eventually(degradedOf(cluster, addOn.Name)).Should(requiredFails(
			HavePrefix("Required addon 'no-such-add-on-000' "), MatchRegexp(`\(not installed: [^()]+\); and \d+ more$`)))
		Expect(len(must(degradedOf(cluster, addOn.Name)).Message)).To(BeNumerically("<=", 32768))
		Eventually(func() (int, error) {
			series, err := manager.unsatisfied(addOn.Name)()
			return len(series), err
		}).Should(Equal(256))
	})

	It("a number that OCM's types cannot hold leaves every registration readable, its own included", func() {
		addOn := add("absurd", "", required("no-such-add-on"))
		change := func(body string) {
			GinkgoHelper()
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ClusterManagementAddOn"))
			object.SetName(addOn.Name)
			Expect(hubClient.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(body)))).To(Succeed())
		}
		change(`{"spec":{"installStrategy":{"type":"Placements","placements":[{"namespace":"default","name":"none",` +
			`"rolloutStrategy":{"type":"Progressive","progressive":{"maxConcurrency":99999999999}}}]}}}`)
		Eventually(degradedOf(cluster, addOn.Name)).Should(requiredFails())
		change(`{"spec":{"dependencies":null}}`) // before a reason is cleared, a list confirms that there are no dependencies
		Eventually(degradedOf(cluster, addOn.Name)).Should(satisfied())
	})

	It("does not delay others: beside all of it, a healthy pair converges at once", func() {
		for i := range 3 { // the bad input stays while the pair is evaluated
			add("self", "", required(fmt.Sprintf("self-%d", i+1)))
			add("wordy", "", addonv1alpha1.AddonDependency{Name: "no-such-add-on", Message: strings.Repeat("b", 100_000)})
			add("annotated", "- name: [")
		}
		base, leaf := unique("base"), unique("leaf")
		register(base)
		register(leaf, required(base))
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).WithTimeout(5 * time.Second).Should(requiredFails())
		installAvailable(cluster, base)
		started := time.Now()
		Eventually(degradedOf(cluster, leaf)).WithTimeout(5 * time.Second).Should(satisfied())
		AddReportEntry("converged", time.Since(started).String())
	})
})

// bomb returns YAML that would unfold to billions of entries.
func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		previous := fmt.Sprintf("*a%d", i-1)
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Join([]string{
			previous, previous, previous, previous, previous, previous, previous, previous, previous, previous,
		}, ", "))
	}
	return text
}
