package guard

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ruleOf tests the effect of the guard on a write.
func ruleOf(f *form) {
	var a addOn
	BeforeEach(func(ctx context.Context) {
		a = f.newAddOn(ctx)
	})
	progressing := entry("Progressing", "True", "Installing", "wait", earlyTime)

	Describe("in force", Ordered, ContinueOnFailure, func() {
		BeforeAll(f.arrive)

		It("changes Available with the write that sets Degraded, and does not make addon-manager an owner of it", func(ctx context.Context) {
			a.write(ctx, viaBeta, withConditions(progressing, availableTrue()))
			a.degrade(ctx, "True", required, missingBase, lateTime)
			object := a.get(ctx, viaStorage)
			Expect(conditionsOf(object)).To(ConsistOf(progressing, guarded(lateTime), entry("Degraded", "True", required, missingBase, lateTime)))
			Expect(ownedBy(object, manager)).To(And(
				ContainSubstring(`\"Degraded\"`), Not(ContainSubstring("Available")), Not(ContainSubstring("Progressing")),
			))

			By("the dependencies being satisfied again")
			a.degrade(ctx, "False", "DependenciesSatisfied", "", lateTime)
			Expect(find(a.write(ctx, viaBeta, setCondition(availableTrue())), "Available")).To(Equal(availableTrue()))
			Expect(ownedBy(a.get(ctx, viaStorage), manager)).NotTo(ContainSubstring("Available"))
		})

		It("does not make addon-manager an owner of Available where it writes the whole list, either", func(ctx context.Context) {
			a.write(ctx, viaStorage, withConditions(availableTrue()))
			object := a.object(viaStorage)
			patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []any{availableTrue(), fails(missingBase)}}})
			Expect(err).NotTo(HaveOccurred())
			Expect(f.client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(manager))).To(Succeed())
			Expect(find(object, "Available")).To(Equal(guarded(earlyTime)))
			Expect(ownedBy(object, manager)).To(And(ContainSubstring(`\"Degraded\"`), Not(ContainSubstring("Available"))))
		})

		for _, version := range []string{viaStorage, viaBeta} {
			It("makes a patch by another writer through "+version+" change nothing where False is stored", func(ctx context.Context) {
				a.write(ctx, version, withConditions(guarded(earlyTime), fails(missingBase)))
				for range 3 {
					original := a.get(ctx, viaStorage)
					answer := a.write(ctx, version, setCondition(availableTrue()))
					Expect(answer.GetResourceVersion()).To(Equal(original.GetResourceVersion()))
					Expect(a.get(ctx, viaStorage)).To(Equal(original))
				}
			})

			It("stores False for a patch by another writer through "+version+" where none is stored", func(ctx context.Context) {
				a.write(ctx, viaStorage, withConditions(fails(missingBase)))
				answer := a.write(ctx, version, setCondition(entry("Available", "True", "Fine", "", lateTime)))
				Expect(find(answer, "Available")).To(Equal(guarded(lateTime)))
				Expect(a.write(ctx, version, setCondition(availableTrue())).GetResourceVersion()).To(Equal(answer.GetResourceVersion()))
			})

			It("guards an update of the status through "+version, func(ctx context.Context) {
				a.write(ctx, version, withConditions(guarded(earlyTime), fails(missingBase)))
				original := a.get(ctx, viaStorage)
				answer := a.put(ctx, version, availableTrue(), fails(missingBase))
				Expect(answer.GetResourceVersion()).To(Equal(original.GetResourceVersion()))
				Expect(find(answer, "Available")).To(Equal(guarded(earlyTime)))
			})
		}

		It("lets a new writer own the condition, and then changes nothing", func(ctx context.Context) {
			a.write(ctx, viaStorage, withConditions(guarded(earlyTime), fails(missingBase)))
			original := a.get(ctx, viaStorage)
			answer := a.write(ctx, viaBeta, setCondition(availableTrue()))
			Expect(conditionsOf(answer)).To(Equal(conditionsOf(original)))
			Expect(ownedBy(answer, anotherWriter)).To(ContainSubstring("Available"))
			for range 3 {
				Expect(a.write(ctx, viaBeta, setCondition(availableTrue())).GetResourceVersion()).To(Equal(answer.GetResourceVersion()))
			}
		})

		It("lets the hub report that the cluster is lost, and does not bring that back", func(ctx context.Context) {
			lostCondition := entry("Available", "Unknown", "ManagedClusterLeaseUpdateStopped", "lost", lateTime)
			a.write(ctx, viaStorage, withConditions(guarded(earlyTime), fails(missingBase)))
			Expect(find(a.write(ctx, viaBeta, setCondition(lostCondition)), "Available")).To(Equal(lostCondition))
			Expect(find(a.write(ctx, viaBeta, setCondition(availableTrue())), "Available")).To(Equal(guarded(earlyTime)))
		})

		DescribeTable("gives every other value that another writer sets no effect",
			func(ctx context.Context, status, reason string) {
				a.write(ctx, viaStorage, withConditions(guarded(earlyTime), fails(missingBase)))
				a.write(ctx, viaBeta, setCondition(entry("Available", "True", "Fine", "", lateTime))) // to own every field of the condition
				original := a.get(ctx, viaStorage)
				answer := a.write(ctx, viaBeta, setCondition(entry("Available", status, reason, "another", lateTime)))
				Expect(answer.GetResourceVersion()).To(Equal(original.GetResourceVersion()))
				Expect(find(answer, "Available")).To(Equal(guarded(earlyTime)))
			},
			Entry("lease stopped", "False", "ManagedClusterAddOnLeaseUpdateStopped"),
			Entry("no lease", "Unknown", "ManagedClusterAddOnLeaseNotFound"),
			Entry("probe failed", "False", "ProbeUnavailable"),
			Entry("nothing installed", "Unknown", "WorkNotFound"),
		)

		const missingLease = "turns Unknown of a missing lease with the write that sets Degraded, and gives addon-manager no part of it"
		It(missingLease, func(ctx context.Context) {
			a.write(ctx, viaBeta, withConditions(entry("Available", "Unknown", "ManagedClusterAddOnLeaseNotFound", "unknown", earlyTime)))
			a.degrade(ctx, "True", required, missingBase, lateTime)
			object := a.get(ctx, viaStorage)
			Expect(find(object, "Available")).To(Equal(guarded(lateTime)))
			Expect(ownedBy(object, manager)).NotTo(ContainSubstring("Available"))
		})

		It("follows the message of Degraded", func(ctx context.Context) {
			a.write(ctx, viaStorage, withConditions(fails("another"), guarded(earlyTime)))
			answer := a.write(ctx, viaBeta, setCondition(availableTrue()))
			Expect(find(answer, "Available")).To(Equal(entry("Available", "False", required, "another", earlyTime)))
		})

		It("finds its conditions in any order", func(ctx context.Context) {
			a.write(ctx, viaStorage, withConditions(guarded(earlyTime), progressing, fails(missingBase)))
			answer := a.write(ctx, viaBeta, withConditions(fails(missingBase), progressing, availableTrue()))
			Expect(conditionsOf(answer)).To(Equal([]map[string]any{fails(missingBase), progressing, guarded(earlyTime)}))
		})

		It("passes add-ons without conditions, or with only one of them", func(ctx context.Context) {
			Expect(conditionsOf(a.write(ctx, viaBeta, withConditions(availableTrue())))).To(Equal([]map[string]any{availableTrue()}))
			Expect(conditionsOf(a.write(ctx, viaBeta, withConditions(fails(missingBase))))).To(Equal([]map[string]any{fails(missingBase)}))
			Expect(conditionsOf(a.write(ctx, viaBeta, withConditions()))).To(BeEmpty())
			Expect(conditionsOf(a.put(ctx, viaStorage))).To(BeEmpty())
		})

		DescribeTable("changes nothing while no Required dependency fails",
			func(ctx context.Context, degraded map[string]any) {
				a.write(ctx, viaStorage, withConditions(guarded(earlyTime), degraded))
				Expect(find(a.write(ctx, viaBeta, setCondition(availableTrue())), "Available")).To(Equal(availableTrue()))
			},
			Entry("but an Optional one", entry("Degraded", "True", "DependencyNotSatisfied", missingBase, earlyTime)),
			Entry("but something else is wrong", entry("Degraded", "True", "DiskFull", "", earlyTime)),
			Entry("any more", entry("Degraded", "False", required, "", earlyTime)),
		)
	})
}
