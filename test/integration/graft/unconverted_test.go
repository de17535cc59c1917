package graft

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/hub/records"
	"open-cluster-management.io/interlock/pkg/names"
)

var _ = Describe("On a hub whose CRD has no conversion", func() {
	BeforeEach(func(ctx context.Context) {
		Expect(hub.Operator.Stop(ctx)).To(Succeed(), "it would overwrite the CRD of an older OCM")
		DeferCleanup(hub.Operator.Start)
	})

	DescribeTable("adds the fields, adds no conversion, and restores the CRD", func(ctx context.Context, version, file, mark string) {
		oldCRD := writeOldCRD(ctx, version, file)
		manager := manage(ctx, true) // no webhook is needed
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		graftedCRD := present(ctx)
		Expect(graftedCRD.GetAnnotations()).To(HaveKeyWithValue(names.OCMVersion, mark))
		strategy, _, _ := unstructured.NestedString(graftedCRD.Object, "spec", "conversion", "strategy")
		Expect(strategy).To(Equal("None"))
		register(ctx, storage, "unconverted")
		Eventually(dependencies(ctx, storage, "unconverted")).Should(Equal(declaredDependencies))
		manager.stop()
		Expect(graft.Restore(ctx, admin)).To(BeTrue())
		Expect(unmanaged(present(ctx))).To(Equal(oldCRD))
		Expect(graft.Restore(ctx, admin)).To(BeFalse())
	},
		Entry("of v1alpha1 alone", "1.0.0", v1alpha1File, "1.0.1"),
		Entry("of both versions", "1.2.9", v1beta1File, "1.2.10"),
	)

	It("adds the properties that a field of OCM's lacks, and restores them when writers lose them", func(ctx context.Context) {
		oldCRD := writeOldCRD(ctx, "1.4.0", v1beta1File, proposed)
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		whole := []any{map[string]any{
			"name": "proxy", "type": "Required", "message": "No credentials", "version": ">= 1",
			"when": map[string]any{"clusterSelector": map[string]any{"matchLabels": map[string]any{"network": "private"}}},
		}}
		object := registration(storage, "nested")
		Expect(unstructured.SetNestedSlice(object.Object, whole, "spec", "dependencies")).To(Succeed())
		create(ctx, object)
		Eventually(func(ctx context.Context) string { return annotation(ctx, "nested") }).WithContext(ctx).ShouldNot(BeEmpty(), "no webhook runs")
		manager.stop()

		By("only OCM's field being left, through which others write")
		Expect(graft.Restore(ctx, admin)).To(BeTrue())
		Expect(unmanaged(present(ctx))).To(Equal(oldCRD))
		Eventually(func(g Gomega, ctx context.Context) {
			label := merge(fmt.Sprintf(`{"metadata":{"labels":{"at":"%d"}}}`, time.Now().UnixNano()))
			g.Expect(admin.Patch(ctx, registration(betaVersion, "nested"), label)).To(Succeed())
			g.Expect(dependencies(ctx, storage, "nested")()).To(Equal(declaredDependencies))
		}).WithContext(ctx).Should(Succeed())
		nextManager := manage(ctx, true)
		Eventually(nextManager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		Eventually(dependencies(ctx, betaVersion, "nested")).Should(Equal(whole))
		Eventually(eventsOn(ctx, "nested")).Should(ContainElement(records.EventRestored))
	})
})

var _ = Describe("OCM's operator", func() {
	It("overwrites other writers' changes of its CRD, unless the CRD is marked as newer", func(ctx context.Context) {
		stock(ctx)
		version := marked(ctx)()
		change := func() {
			GinkgoHelper()
			Expect(admin.Patch(ctx, crdKey(), merge(`{"spec":{"names":{"shortNames":["changed"]}}}`))).To(Succeed())
		}
		changed := func() []string {
			names, _, _ := unstructured.NestedStringSlice(present(ctx).Object, "spec", "names", "shortNames")
			return names
		}
		change()
		Eventually(changed).ShouldNot(ContainElement("changed"), "without another cause")

		Expect(admin.Patch(
			ctx, crdKey(), merge(`{"metadata":{"annotations":{"`+names.OCMVersion+`":"`+graftVersion(version)+`"}}}`),
		)).To(Succeed())
		change()
		generationBefore := present(ctx).GetGeneration()
		Expect(hub.Reconciled(ctx)).To(Succeed())
		Expect(changed()).To(ConsistOf("changed"))
		Expect(present(ctx).GetGeneration()).To(Equal(generationBefore))
	})
})
