package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

var _ = Describe("The add-ons of a cluster", func() {
	It("are stored as the API server would store them, and differ in their UIDs", func(ctx context.Context) {
		const late = "installed-late"
		Expect(fleet.Hub.Install(ctx, fleet.Clusters[1], late)).To(Succeed())
		uids := sets.New[types.UID]()
		read := func(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
			addOn := &addonv1alpha1.ManagedClusterAddOn{}
			Expect(fleet.Hub.Client.Get(ctx, types.NamespacedName{Namespace: cluster, Name: name}, addOn)).To(Succeed())
			Expect(uids.Has(addOn.UID)).To(BeFalse(), "UID of %s", addOn.UID)
			uids.Insert(addOn.UID)
			return addOn
		}
		installed, copied := read(fleet.Clusters[1], late), read(fleet.Clusters[1], simulator.Leaf)
		Expect(copied.Status.RelatedObjects).To(ContainElement(HaveField("Namespace", fleet.Clusters[1])), "its ManifestWork")
		Expect(copied.Namespace).To(Equal(fleet.Clusters[1]))
		Expect(copied.Status.Conditions).To(HaveLen(len(installed.Status.Conditions)))
		Expect(read(fleet.Clusters[0], simulator.Leaf).Spec).To(Equal(copied.Spec))
		Expect(fleet.Hub.Uninstall(ctx, fleet.Clusters[1], late)).To(Succeed())
	})
})
