//go:build e2e

package e2e

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func describeUpgrade() {
	It("is upgraded under load without a flap, and without a write that says nothing new", func(ctx context.Context) {
		loaded := fleetOf(ctx, "loaded", 4)
		quiet := fleetOf(ctx, "quiet", 4)
		DeferCleanup(func(ctx context.Context) {
			dissolve(ctx, loaded)
			dissolve(ctx, quiet)
		})
		for i, cluster := range quiet { // half of them broken, and so left
			flip(ctx, cluster, i%2 == 0)
			expectLeaf(ctx, cluster, i%2 == 0)
		}
		witness := startWitness(ctx)
		flips := 0
		load := func() {
			flips++
			for _, cluster := range loaded {
				flip(ctx, cluster, flips%2 == 0)
				expectLeaf(ctx, cluster, flips%2 == 0)
			}
		}
		load()
		for _, name := range []string{addonManager, webhook} {
			step("upgrade %s", name)
			upgrade(ctx, name)
			Eventually(func(g Gomega) {
				load()
				rolledOut(ctx, hub, namespace, name)(g)
			}).WithTimeout(3 * time.Minute).Should(Succeed())
		}
		load()
		Expect(leader(ctx)).NotTo(BeEmpty())
		load()
		step("look at what was written: %d rounds of flips", flips)
		seen := witness.stop(ctx, types.NamespacedName{Namespace: quiet[0], Name: leaf})
		Expect(seen.empty).To(BeEmpty(), "writes that say nothing new")
		for key, changes := range seen.changes {
			if key.Name == leaf && slices.Contains(loaded, key.Namespace) {
				Expect(changes[degraded]).To(BeNumerically("==", flips), "%s: Degraded changes once with each flip", key)
				continue
			}
			if key.Name == base && slices.Contains(loaded, key.Namespace) {
				continue
			}
			Expect(changes).To(BeEmpty(), "%s: nothing happened that its conditions could tell", key)
		}
	})
}

// upgrade gives a Deployment the next version's image, as an upgrade does.
func upgrade(ctx context.Context, name string) {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	Expect(hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)).To(Succeed())
	before := deployment.DeepCopy()
	deployment.Spec.Template.Spec.Containers[0].Image = images + "addon-manager:" + nextVersion
	Expect(hub.Patch(ctx, deployment, client.MergeFrom(before))).To(Succeed())
}
