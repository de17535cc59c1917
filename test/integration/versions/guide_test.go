package versions

import (
	"context"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

var _ = Describe("The add-on of the guide for authors", func() {
	It("is deployed by OCM, has its dependency and its version, with and without addon-agent", func(ctx context.Context) {
		content, err := os.ReadFile("../../../docs/examples/hello.yaml")
		Expect(err).NotTo(HaveOccurred())
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			object := &unstructured.Unstructured{}
			Expect(yaml.UnmarshalStrict([]byte(document), &object.Object)).To(Succeed())
			create(ctx, object)
		}
		register(ctx, "greeter", `[{name: hello, type: IfInstalled, version: ">= 0.2"}]`)
		for _, cluster := range []string{withAgent, withoutAgent} {
			install(ctx, cluster, "hello")
			install(ctx, cluster, "greeter")
		}
		for _, cluster := range []string{withAgent, withoutAgent} {
			Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, "hello").Should(Equal("True RequiredDependencyNotSatisfied: " +
				"Required addon 'managed-serviceaccount' is not installed or not available. The greeting cannot be sent. " +
				"(not installed: it has no ClusterManagementAddOn on this hub)"))
			Eventually(degradedOf).WithContext(ctx).WithArguments(cluster, "greeter").WithTimeout(unanswered).Should(
				HaveSuffix("(version 0.1.0 from its AddOnTemplate)"))
			Eventually(func() error {
				return managed[cluster].Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: "hello"}, &appsv1.Deployment{})
			}).Should(Succeed())
		}
	}, NodeTimeout(3*time.Minute))
})
