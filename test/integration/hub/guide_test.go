package hub

import (
	"os"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

var _ = Describe("The guide for authors", func() {
	It("shows what happens in each order of installation", func() {
		const addOn, dependency = "hello", "managed-serviceaccount"
		applyExample("../../../docs/examples/hello.yaml")
		start()
		cluster, lostCluster := newCluster(), newCluster()
		steps := []func(){
			func() { install(cluster, addOn) },
			func() { install(cluster, dependency) },
			func() { report(cluster, dependency, metav1.ConditionTrue, leaseFresh) },
			func() { uninstall(cluster, dependency) },
		}
		page, err := os.ReadFile("../../../docs/author-guide.md")
		Expect(err).NotTo(HaveOccurred())
		rows := regexp.MustCompile("(?m)^\\| (.*) \\| `(True|False)`, `(\\w+)` \\| (?:`(.*)` )?\\|$").FindAllStringSubmatch(string(page), -1)
		Expect(rows).To(HaveLen(len(steps)), "rows of the page")
		for i, row := range rows {
			By(row[1])
			steps[i]()
			message := Not(HaveSuffix(")"))
			if row[4] != "" {
				message = ContainSubstring("(" + row[4]) // every message says "not installed or not available"
			}
			expected := matchDegraded(metav1.ConditionStatus(row[2]), row[3], message)
			Eventually(degradedOf(cluster, addOn)).Should(expected, row[0])
			Consistently(degradedOf(cluster, addOn)).Should(expected, row[0]) // the row before expects another condition
		}

		By("the dependency being available before")
		installAvailable(lostCluster, dependency)
		install(lostCluster, addOn)
		Consistently(degradedOf(lostCluster, addOn)).Should(BeNil())
	})
})

// applyExample creates the objects of a file, and refuses fields that the CRDs lack.
func applyExample(path string) {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.UnmarshalStrict([]byte(document), &object.Object)).To(Succeed())
		Expect(hubClient.Create(ctx, object, client.FieldValidation(metav1.FieldValidationStrict))).To(Succeed())
		DeferCleanup(func() { Expect(client.IgnoreNotFound(hubClient.Delete(ctx, object))).To(Succeed()) })
	}
}
