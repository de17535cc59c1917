package webhook

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// policyOf returns an AddOnDependencyPolicy with a spec, which need not match the schema.
func policyOf(name, spec string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(fmt.Sprintf(
		"apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnDependencyPolicy\nmetadata: {name: %s}\nspec: %s",
		name,
		spec,
	)), &object.Object)).To(Succeed())
	return object
}

var _ = Describe("A policy", func() {
	inDays := func(days int) string { return time.Now().AddDate(0, 0, days).UTC().Format(time.RFC3339) }

	DescribeTable(
		"is denied",
		func(ctx context.Context, override func() string, expected string) {
			object := policyOf("denied", "{overrides: [{addOn: a, dependency: b, "+override()+"}]}")
			Eventually(
				func() error { return hubClient.Create(ctx, object.DeepCopy(), client.DryRunAll) },
			).Should(MatchError(ContainSubstring(expected)))
		},
		Entry("with an invalid range", func() string { return "version: newest" },
			`policy 'denied': spec.overrides[0].version: Invalid value: "newest": must be a range of semantic versions`),
		Entry("with a waiver for more than a year", func() string { return fmt.Sprintf("waive: {reason: x, until: %q}", inDays(370)) },
			"spec.overrides[0].waive.until: "),
		Entry(
			"with a waiver of a type",
			func() string { return fmt.Sprintf("type: Optional, waive: {reason: x, until: %q}", inDays(1)) },
			"either waive, or version and type, must be set",
		),
		Entry(
			"with a waiver without an end",
			func() string { return "waive: {reason: x}" },
			"spec.overrides[0].waive.until: Required value",
		),
		Entry(
			"with a waiver without a reason",
			func() string { return fmt.Sprintf("waive: {until: %q}", inDays(1)) },
			"spec.overrides[0].waive.reason: Required value",
		),
		Entry("with an invalid type", func() string { return "type: Conflicts" }, `Unsupported value: "Conflicts"`),
		Entry("with an invalid time", func() string { return "waive: {reason: x, until: '2026-12-31t00:00:00z'}" },
			"spec.overrides[0].waive.until: Invalid value"),
		Entry("that overrides nothing", func() string { return "" }, "either waive, or version and type, must be set"),
		Entry(
			"that says two things of one dependency",
			func() string { return "type: Optional}, {addOn: a, dependency: b, type: Required" },
			"Duplicate value",
		),
	)

	It("is accepted, with a warning on what has no effect", func(ctx context.Context) {
		create(ctx, clusterManagementAddOn(storage, "gateway", required("base")))
		listening, warnings := listeningClient()
		object := policyOf("edge", fmt.Sprintf(`{overrides: [
			{addOn: gateway, dependency: base, waive: {reason: x, until: %q}},
			{addOn: gateway, dependency: bsae, type: Optional}]}`, inDays(365)))
		Expect(listening.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(hubClient.Delete(ctx, object)).To(Succeed()) })
		Expect(warnings.texts()).To(HaveExactElements("spec.overrides[1] has no effect: gateway declares no dependency of the name bsae"))
	})
})
