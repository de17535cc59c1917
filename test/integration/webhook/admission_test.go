package webhook

import (
	"context"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// warningLog records the warnings that kubectl would print.
type warningLog struct {
	mutex    sync.Mutex
	warnings []string
}

func (t *warningLog) HandleWarningHeader(_ int, _, text string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.warnings = append(t.warnings, text)
}

func (t *warningLog) texts() []string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return append([]string(nil), t.warnings...)
}

// listeningClient returns a client and its warnings.
func listeningClient() (client.Client, *warningLog) {
	GinkgoHelper()
	listener := &warningLog{}
	config := rest.CopyConfig(hub.Config)
	config.WarningHandler = listener
	listening, err := client.New(config, client.Options{Scheme: hubClient.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return listening, listener
}

func annotatedRegistration(version, name, annotation string) *unstructured.Unstructured {
	object := clusterManagementAddOn(version, name, nil)
	object.SetAnnotations(map[string]string{addonv1alpha1.DependenciesAnnotation: annotation})
	return object
}

var _ = Describe("Registering an add-on", func() {
	for _, version := range []string{storage, betaVersion} {
		Context("through "+version, func() {
			DescribeTable("is denied", func(ctx context.Context, object func() *unstructured.Unstructured, message string) {
				create(ctx, clusterManagementAddOn(storage, "base", required("gateway")))
				Eventually(func() error { return hubClient.Create(ctx, object(), client.DryRunAll) }).
					Should(MatchError(And(ContainSubstring("denied the request: "), ContainSubstring(message))))
			},
				Entry("for itself", func() *unstructured.Unstructured {
					return clusterManagementAddOn(version, "gateway", required("gateway"))
				}, "spec.dependencies: dependency cycle: gateway → gateway"),
				Entry("for a cycle", func() *unstructured.Unstructured {
					return clusterManagementAddOn(version, "gateway", required("base"))
				}, "dependency cycle: base → gateway → base; make one of these dependencies Optional"),
				Entry("for a cycle by the annotation", func() *unstructured.Unstructured {
					return annotatedRegistration(version, "gateway", "[{name: base}]")
				}, "base → gateway → base"),
				Entry("for alternatives that all wait for it", func() *unstructured.Unstructured {
					edge := map[string]any{"name": "any", "anyOf": []any{map[string]any{"addOn": "base"}, map[string]any{"addOn": "gateway"}}}
					return clusterManagementAddOn(version, "gateway", []any{edge})
				}, `each alternative of "any" waits for the add-on itself: dependency cycle: base → gateway → base`),
				Entry("for one alternative by the annotation", func() *unstructured.Unstructured {
					return annotatedRegistration(version, "gateway", "[{name: any, anyOf: [{addOn: other}]}]")
				}, "anyOf: Invalid value: 1: must have at least 2 items"),
				Entry("for a duplicate name", func() *unstructured.Unstructured {
					return clusterManagementAddOn(version, "gateway", required("other", "other"))
				}, `spec.dependencies[1].name: "other" is declared more than once`),
				Entry("for an annotation that is no list", func() *unstructured.Unstructured {
					return annotatedRegistration(version, "gateway", "base")
				}, "metadata.annotations["),
			)

			It("warns of names that are not registered and of two declarations", func(ctx context.Context) {
				listening, listener := listeningClient()
				object := annotatedRegistration(version, "unsure", "[]")
				Expect(unstructured.SetNestedSlice(object.Object, required("missing"), "spec", "dependencies")).To(Succeed())
				Expect(listening.Create(ctx, object, client.DryRunAll)).To(Succeed())
				Expect(listener.texts()).To(ConsistOf(
					ContainSubstring(`spec.dependencies: "missing" has no ClusterManagementAddOn on this hub`),
					ContainSubstring("is ignored because spec.dependencies is set")))
			})

			It("warns of version ranges that exclude each other, that exclude nothing, or that have no version to check", func(ctx context.Context) {
				edge := func(name, accepted string) map[string]any { return map[string]any{"name": name, "version": accepted} }
				for _, object := range []*unstructured.Unstructured{
					clusterManagementAddOn(storage, "needed", nil), clusterManagementAddOn(storage, "any", nil),
					clusterManagementAddOn(storage, "first", []any{edge("needed", ">= 2")}),
				} {
					create(ctx, object)
				}
				listening, listener := listeningClient()
				Eventually(func(g Gomega) {
					requestsBefore := len(listener.texts())
					conflicting := clusterManagementAddOn(version, "second", []any{edge("needed", "< 2"), edge("any", ">= 0.0.0")})
					g.Expect(listening.Create(ctx, conflicting, client.DryRunAll)).To(Succeed())
					g.Expect(listener.texts()[requestsBefore:]).To(ConsistOf(
						ContainSubstring(`spec.dependencies[0]: "needed" is needed in version < 2 here, and in >= 2 by "first"`),
						ContainSubstring(`spec.dependencies[0]: no version of "needed" is set on its ClusterManagementAddOn or an AddOnTemplate`),
						ContainSubstring(`spec.dependencies[1]: every release of "any" is in the range ">= 0.0.0"`)))
				}).Should(Succeed())
			})
		})
	}

	It("leaves an invalid registration editable, except its declaration", func(ctx context.Context) {
		for _, version := range []string{storage, betaVersion} {
			patch(ctx, version, badBefore, `{"metadata":{"labels":{"a":"b"}}}`)
			patch(ctx, version, badBefore, `{"spec":{"addOnMeta":{"description":"`+version+`"}}}`)
			patchStatus(ctx, version, badBefore, `{"status":{}}`)
			body := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"dependencies":[{"name":"`+badBefore+`","message":"other"}]}}`))
			Expect(hubClient.Patch(ctx, reference(version, badBefore), body)).To(MatchError(ContainSubstring("bad-before → bad-before")))
		}
		patch(ctx, betaVersion, badBefore, `{"spec":{"dependencies":[]}}`)
	})
})
