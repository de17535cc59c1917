package hub

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

var _ = Describe("A chain of Required dependencies on a hub without guard and agents", func() {
	var manager *process
	var cluster, otherCluster, head, middle, tail, base string
	BeforeEach(func() {
		manager = start()
		cluster, otherCluster = newCluster(), newCluster()
		head, middle, tail, base = unique("first"), unique("middle"), unique("last"), unique("base")
		register(base)
		register(tail, required(base))
		register(middle, required(tail))
		register(head, required(middle))
		for _, cluster := range []string{cluster, otherCluster} {
			installAvailable(cluster, base, tail, middle, head)
		}
		manager.rest()
	})

	It("fails and recovers at once, with one write for each add-on", func() {
		versionsBefore := must(versions(otherCluster))
		for range 2 {
			appliesBefore := applies()
			report(cluster, base, metav1.ConditionFalse, leaseStale)
			Eventually(degradedOf(cluster, head)).Should(requiredFails(
				ContainSubstring("addon '"+middle+"'"), ContainSubstring("(a Required dependency of its own is not satisfied)")))
			Expect(must(degradedOf(cluster, middle))).To(requiredFails(ContainSubstring("(a Required dependency of its own is not satisfied)")))
			Expect(must(degradedOf(cluster, tail))).To(requiredFails(ContainSubstring("(Available=False, " + leaseStale)))
			manager.rest()
			Expect(applies() - appliesBefore).To(BeEquivalentTo(3))

			By("Available following, as an agent or the guard have it")
			for _, addOn := range []string{tail, middle, head} {
				report(cluster, addOn, metav1.ConditionFalse, requiredReason)
			}
			manager.rest()
			Expect(applies()-appliesBefore).To(BeEquivalentTo(3), "the findings are the same")

			for _, addOn := range []string{head, middle, tail, base} {
				report(cluster, addOn, metav1.ConditionTrue, leaseFresh)
			}
			Eventually(degradedOf(cluster, head)).Should(satisfied())
			manager.rest()
			Expect(applies() - appliesBefore).To(BeEquivalentTo(6))
			Expect(must(versions(otherCluster))).To(Equal(versionsBefore))
		}
	})

	It("counts one root cause with three victims, and how long it took to react", func() {
		count := func(name string, labels ...string) func() (float64, error) {
			return func() (float64, error) {
				values, err := manager.series(name, labels...)()
				return sum(values), err
			}
		}
		report(cluster, base, metav1.ConditionFalse, leaseStale)
		Eventually(count(metrics.NameRoots, "addon", base, "verdict", "NotAvailable")).Should(BeEquivalentTo(1))
		Eventually(count(metrics.NameVictims, "addon", base)).Should(BeEquivalentTo(3))
		Expect(manager.series(metrics.NameRoots, "addon", tail)()).To(BeEmpty(), "it is a victim")
		Expect(count(metrics.NameRequiring, "addon", base)()).To(BeEquivalentTo(2))
		Expect(count(metrics.NameEdges, "addon", tail, "dependency", base)()).To(BeEquivalentTo(2))

		report(cluster, base, metav1.ConditionTrue, leaseFresh)
		Eventually(manager.series(metrics.NameRoots, "addon", base)).Should(BeEmpty())
		Eventually(manager.series(metrics.NameVictims, "addon", base)).Should(BeEmpty())
		for _, reaction := range []condition.Reaction{condition.ReactionNoticed, condition.ReactionPropagated, condition.ReactionRecovered} {
			Eventually(count(metrics.NameReaction, "reaction", string(reaction))).Should(BeNumerically(">=", 1), string(reaction))
		}
	})

	It("evaluates nothing but the add-on itself when only the message changes", func() {
		newBase := unique("another")
		declare(tail, required(base), required(newBase))
		Eventually(degradedOf(cluster, head)).Should(requiredFails())
		manager.rest()
		evaluationsBefore := manager.evaluations()
		report(cluster, base, metav1.ConditionFalse, leaseStale)
		Eventually(degradedOf(cluster, tail)).Should(requiredFails(ContainSubstring("'"+base+"'"), ContainSubstring("'"+newBase+"'")))
		manager.rest()
		Expect(manager.evaluations()-evaluationsBefore).To(BeNumerically("<=", 2), "the add-on, and again for its own write")
	})
})

var _ = Describe("A Required dependency that recovers while an Optional one is held", func() {
	It("takes its reason with it", func() {
		start()
		cluster := newCluster()
		leaf, base, extra := unique("leaf"), unique("base"), unique("extra")
		register(base)
		register(extra)
		installAvailable(cluster, extra)
		versionAnnotation(cluster, extra, "1.0.0")
		onVersion := addonv1alpha1.AddonDependency{Name: extra, Type: addonv1alpha1.DependencyTypeOptional, Version: ">= 2"}
		register(leaf, required(base), onVersion)
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("'" + base + "'")))

		installAvailable(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails(HaveSuffix("Optional ones are not known yet: '" + extra + "'.")))
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(optionalFails(ContainSubstring("version 1.0.0")))
	})
})
