package policies

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var _ = Describe("Since when a ManagedClusterAddOn is not needed, addon-manager", func() {
	const (
		mark        = `"dependency.addon.open-cluster-management.io/unused-since"`
		installedBy = `{"metadata":{"labels":{"dependency.addon.open-cluster-management.io/installed-by":"interlock"}}}`
	)
	annotations := func(value, more string) string {
		return `{"metadata":{"annotations":{` + mark + `:` + value + `}` + more + `}}`
	}
	for _, version := range versions {
		It("writes to one that it has created, and changes nothing else, through "+version, func(ctx context.Context) {
			addOn := install(ctx, version, "cluster1")
			const since = `"2026-08-01T12:00:00Z"`
			Expect(as(manager).Patch(ctx, addOn.DeepCopy(), merge(annotations(since, "")))).To(Satisfy(apierrors.IsForbidden), "a user's")
			Expect(admin.Patch(ctx, addOn, merge(installedBy))).To(Succeed())
			for what, patch := range map[string]string{
				"another annotation": annotations(since+`,"annotation":"after"`, ""),
				"one more":           annotations(since+`,"added":"after"`, ""),
				"one less":           annotations(since+`,"annotation":null`, ""),
				"a label":            annotations(since, `,"labels":{"label":"after"}`),
				"its own label":      annotations(since, `,"labels":{"dependency.addon.open-cluster-management.io/installed-by":null}`),
				"a finalizer":        annotations(since, `,"finalizers":null`),
				"an owner":           annotations(since, `,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"n","uid":"u"}]`),
				"a spec": `{"metadata":{"annotations":{` + mark + `:` + since + `}},` +
					`"spec":{"configs":[{"group":"g","resource":"r","name":"n"}]}}`,
			} {
				Expect(as(manager).Patch(ctx, addOn.DeepCopy(), merge(patch))).To(Satisfy(apierrors.IsForbidden), what)
			}
			unchanged(ctx, addOn)
			Expect(as(withoutLifecycle).Patch(ctx, addOn.DeepCopy(), merge(annotations(since, "")))).To(Satisfy(apierrors.IsForbidden))
			for _, value := range []string{since, `"2026-08-01T13:00:00Z"`, "null"} {
				Expect(as(manager).Patch(ctx, addOn.DeepCopy(), merge(annotations(value, "")))).To(Succeed(), value)
			}
		})
	}
})
