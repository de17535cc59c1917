package policies

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var _ = Describe("Annotations of a ManagedClusterAddOn that it has created", func() {
	const installedBy = `{"metadata":{"labels":{"dependency.addon.open-cluster-management.io/installed-by":"interlock"}}}`
	for _, version := range versions {
		It("are not addon-manager's to write, through "+version, func(ctx context.Context) {
			addOn := install(ctx, version, "cluster1")
			Expect(admin.Patch(ctx, addOn, merge(installedBy))).To(Succeed())
			for _, patch := range []string{
				`{"metadata":{"annotations":{"added":"after"}}}`, `{"metadata":{"annotations":{"annotation":"after"}}}`,
				`{"metadata":{"annotations":{"annotation":null}}}`,
				`{"metadata":{"labels":{"dependency.addon.open-cluster-management.io/installed-by":null}}}`,
			} {
				Expect(clientOf(manager).Patch(ctx, addOn.DeepCopy(), merge(patch))).To(Satisfy(apierrors.IsForbidden), patch)
			}
			unchanged(ctx, addOn)
		})
	}
})
