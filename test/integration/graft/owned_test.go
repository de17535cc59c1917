package graft

import (
	"context"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/hub/records"
)

var _ = Describe("On a hub whose CRDs are the user's, with OCM's conversion", func() {
	It("keeps a record when a write through v1beta1 deletes a field, and restores the field if grafting is on", func(ctx context.Context) {
		stock(ctx)
		Expect(hub.Operator.Stop(ctx)).To(Succeed(), "it would overwrite the CRD")
		DeferCleanup(hub.Operator.Start)
		writeOwnCRD(ctx)
		serveWebhook()
		ungrafting := manage(ctx, false)
		Eventually(func(ctx context.Context) string { // until admission responds
			register(ctx, storage, "owned")
			record := annotation(ctx, "owned")
			if record == "" {
				Expect(admin.Delete(ctx, registration(storage, "owned"))).To(Succeed())
			}
			return record
		}).WithContext(ctx).ShouldNot(BeEmpty())
		install(ctx, "owned")
		Eventually(degraded(ctx, "owned")).Should(Equal("True RequiredDependencyNotSatisfied"))

		By("a client that writes through v1beta1")
		Expect(admin.Patch(ctx, registration(betaVersion, "owned"), merge(`{"metadata":{"labels":{"written":"meanwhile"}}}`))).To(Succeed())
		Expect(dependencies(ctx, storage, "owned")()).To(BeEmpty())
		Expect(annotation(ctx, "owned")).NotTo(BeEmpty())
		Consistently(degraded(ctx, "owned")).Should(Equal("True RequiredDependencyNotSatisfied"))
		Expect(dependencies(ctx, storage, "owned")()).To(BeEmpty(), "grafting is off")
		ungrafting.stop()

		By("grafting being turned on")
		grafting := manage(ctx, true)
		Eventually(grafting.state).Should(Equal(metricState(graft.ReasonNative, 1)))
		Eventually(dependencies(ctx, storage, "owned")).Should(Equal(declaredDependencies))
		Expect(admin.Patch(ctx, registration(betaVersion, "owned"), merge(`{"metadata":{"labels":{"written":"again"}}}`))).To(Succeed())
		Eventually(dependencies(ctx, storage, "owned")).Should(Equal(declaredDependencies))
		Eventually(eventsOn(ctx, "owned")).Should(ContainElement(records.EventRestored))
		Expect(degraded(ctx, "owned")()).To(Equal("True RequiredDependencyNotSatisfied"))
	})
})

// writeOwnCRD overwrites OCM's CRD with Interlock's from manifests/crds, and keeps the conversion.
func writeOwnCRD(ctx context.Context) {
	GinkgoHelper()
	content, err := os.ReadFile("../../../manifests/crds/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml")
	Expect(err).NotTo(HaveOccurred())
	desired := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal(content, &desired.Object)).To(Succeed())
	object := present(ctx)
	conversion, _, _ := unstructured.NestedMap(object.Object, "spec", "conversion")
	Expect(unstructured.SetNestedMap(desired.Object, conversion, "spec", "conversion")).To(Succeed())
	Eventually(func() error { return overwrite(ctx, desired.Object, present(ctx).GetResourceVersion()) }).Should(Succeed())
	// The API server serves the field a moment later.
	Eventually(func() error {
		probe := registration(storage, "probe")
		Expect(unstructured.SetNestedSlice(probe.Object, declaredDependencies, "spec", "dependencies")).To(Succeed())
		return admin.Create(ctx, probe, client.DryRunAll, client.FieldValidation("Strict"))
	}).Should(Succeed())
}
