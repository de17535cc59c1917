package guard

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ruleOf is what the guard does to a write.
func ruleOf(f *form) {
	var a addOn
	BeforeEach(func(ctx context.Context) {
		a = f.newAddOn(ctx)
	})
	progressing := entry("Progressing", "True", "Installing", "wait", early)

	Describe("in force", Ordered, ContinueOnFailure, func() {
		BeforeAll(f.arrive)

		It("turns Available with the write that sets Degraded, and gives addon-manager no part of it", func(ctx context.Context) {
			a.write(ctx, viaBeta, withConditions(progressing, runs()))
			a.degrade(ctx, "True", required, missing, late)
			object := a.read(ctx, viaStorage)
			Expect(conditionsOf(object)).To(ConsistOf(progressing, held(late), entry("Degraded", "True", required, missing, late)))
			Expect(ownedBy(object, manager)).To(And(
				ContainSubstring(`\"Degraded\"`), Not(ContainSubstring("Available")), Not(ContainSubstring("Progressing")),
			))

			By("the dependencies being satisfied again")
			a.degrade(ctx, "False", "DependenciesSatisfied", "", late)
			Expect(find(a.write(ctx, viaBeta, say(runs())), "Available")).To(Equal(runs()))
			Expect(ownedBy(a.read(ctx, viaStorage), manager)).NotTo(ContainSubstring("Available"))
		})

		It("gives addon-manager no part of Available where it writes the whole list, either", func(ctx context.Context) {
			a.write(ctx, viaStorage, withConditions(runs()))
			object := a.object(viaStorage)
			patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []any{runs(), fails(missing)}}})
			Expect(err).NotTo(HaveOccurred())
			Expect(f.client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(manager))).To(Succeed())
			Expect(find(object, "Available")).To(Equal(held(early)))
			Expect(ownedBy(object, manager)).To(And(ContainSubstring(`\"Degraded\"`), Not(ContainSubstring("Available"))))
		})

		for _, version := range []string{viaStorage, viaBeta} {
			It("makes a patch by another writer through "+version+" change nothing where False is stored", func(ctx context.Context) {
				a.write(ctx, version, withConditions(held(early), fails(missing)))
				for range 3 {
					original := a.read(ctx, viaStorage)
					answer := a.write(ctx, version, say(runs()))
					Expect(answer.GetResourceVersion()).To(Equal(original.GetResourceVersion()))
					Expect(a.read(ctx, viaStorage)).To(Equal(original))
				}
			})

			It("stores False for a patch by another writer through "+version+" where none is stored", func(ctx context.Context) {
				a.write(ctx, viaStorage, withConditions(fails(missing)))
				answer := a.write(ctx, version, say(entry("Available", "True", "Fine", "", late)))
				Expect(find(answer, "Available")).To(Equal(held(late)))
				Expect(a.write(ctx, version, say(runs())).GetResourceVersion()).To(Equal(answer.GetResourceVersion()))
			})

			It("guards an update of the status through "+version, func(ctx context.Context) {
				a.write(ctx, version, withConditions(held(early), fails(missing)))
				original := a.read(ctx, viaStorage)
				answer := a.put(ctx, version, runs(), fails(missing))
				Expect(answer.GetResourceVersion()).To(Equal(original.GetResourceVersion()))
				Expect(find(answer, "Available")).To(Equal(held(early)))
			})
		}

		It("lets a writer that is new to the condition come to own it, and then changes nothing", func(ctx context.Context) {
			a.write(ctx, viaStorage, withConditions(held(early), fails(missing)))
			original := a.read(ctx, viaStorage)
			answer := a.write(ctx, viaBeta, say(runs()))
			Expect(conditionsOf(answer)).To(Equal(conditionsOf(original)))
			Expect(ownedBy(answer, anotherWriter)).To(ContainSubstring("Available"))
			for range 3 {
				Expect(a.write(ctx, viaBeta, say(runs())).GetResourceVersion()).To(Equal(answer.GetResourceVersion()))
			}
		})

		It("lets the hub report that the cluster is lost, and does not bring that back", func(ctx context.Context) {
			lost := entry("Available", "Unknown", "ManagedClusterLeaseUpdateStopped", "lost", late)
			a.write(ctx, viaStorage, withConditions(held(early), fails(missing)))
			Expect(find(a.write(ctx, viaBeta, say(lost)), "Available")).To(Equal(lost))
			Expect(find(a.write(ctx, viaBeta, say(runs())), "Available")).To(Equal(held(early)))
		})

		DescribeTable("makes every other condition that another writer sets change nothing",
			func(ctx context.Context, status, reason string) {
				a.write(ctx, viaStorage, withConditions(held(early), fails(missing)))
				a.write(ctx, viaBeta, say(entry("Available", "True", "Fine", "", late))) // comes to own every field of the condition
				original := a.read(ctx, viaStorage)
				answer := a.write(ctx, viaBeta, say(entry("Available", status, reason, "another", late)))
				Expect(answer.GetResourceVersion()).To(Equal(original.GetResourceVersion()))
				Expect(find(answer, "Available")).To(Equal(held(early)))
			},
			Entry("lease stopped", "False", "ManagedClusterAddOnLeaseUpdateStopped"),
			Entry("no lease", "Unknown", "ManagedClusterAddOnLeaseNotFound"),
			Entry("probe failed", "False", "ProbeUnavailable"),
			Entry("nothing installed", "Unknown", "WorkNotFound"),
		)

		const missingLease = "turns Unknown of a missing lease with the write that sets Degraded, and gives addon-manager no part of it"
		It(missingLease, func(ctx context.Context) {
			a.write(ctx, viaBeta, withConditions(entry("Available", "Unknown", "ManagedClusterAddOnLeaseNotFound", "unknown", early)))
			a.degrade(ctx, "True", required, missing, late)
			object := a.read(ctx, viaStorage)
			Expect(find(object, "Available")).To(Equal(held(late)))
			Expect(ownedBy(object, manager)).NotTo(ContainSubstring("Available"))
		})

		It("follows the message of Degraded", func(ctx context.Context) {
			a.write(ctx, viaStorage, withConditions(fails("another"), held(early)))
			answer := a.write(ctx, viaBeta, say(runs()))
			Expect(find(answer, "Available")).To(Equal(entry("Available", "False", required, "another", early)))
		})

		It("finds its conditions in any order", func(ctx context.Context) {
			a.write(ctx, viaStorage, withConditions(held(early), progressing, fails(missing)))
			answer := a.write(ctx, viaBeta, withConditions(fails(missing), progressing, runs()))
			Expect(conditionsOf(answer)).To(Equal([]map[string]any{fails(missing), progressing, held(early)}))
		})

		It("passes what has no conditions, or not both", func(ctx context.Context) {
			Expect(conditionsOf(a.write(ctx, viaBeta, withConditions(runs())))).To(Equal([]map[string]any{runs()}))
			Expect(conditionsOf(a.write(ctx, viaBeta, withConditions(fails(missing))))).To(Equal([]map[string]any{fails(missing)}))
			Expect(conditionsOf(a.write(ctx, viaBeta, withConditions()))).To(BeEmpty())
			Expect(conditionsOf(a.put(ctx, viaStorage))).To(BeEmpty())
		})

		DescribeTable("has nothing to say while no Required dependency fails",
			func(ctx context.Context, degraded map[string]any) {
				a.write(ctx, viaStorage, withConditions(held(early), degraded))
				Expect(find(a.write(ctx, viaBeta, say(runs())), "Available")).To(Equal(runs()))
			},
			Entry("but an Optional one", entry("Degraded", "True", "DependencyNotSatisfied", missing, early)),
			Entry("but something else is wrong", entry("Degraded", "True", "DiskFull", "", early)),
			Entry("any more", entry("Degraded", "False", required, "", early)),
		)
	})
}
