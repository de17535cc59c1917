package hub

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

var _ = Describe("A cycle of dependencies", func() {
	var manager *process
	var cluster, a, b, c string
	BeforeEach(func() {
		manager = start()
		cluster = newCluster()
		a, b, c = unique("cycle-a"), unique("cycle-b"), unique("cycle-c")
	})

	cycleOf := func(members ...string) OmegaMatcher {
		return HaveSuffix("(dependency cycle: " + strings.Join(members, " → ") + ")")
	}

	It("of an add-on with itself can never be satisfied", func() {
		addOn := register(a, required(a))
		installAvailable(cluster, a)
		Eventually(degradedOf(cluster, a)).Should(requiredFails(cycleOf(a, a)))
		Eventually(eventsOf(addOn.UID)).Should(ContainElement(And(HavePrefix("DependencyCycle: "), ContainSubstring(a+" → "+a))))
		Eventually(manager.problem(a, declaration.ProblemCycle)).Should(HaveExactElements(1.0))
		Eventually(manager.unsatisfied(a, "verdict", "Cycle")).Should(HaveExactElements(1.0))
	})

	It("of two is reported on both in the same words, although both run", func() {
		register(b, required(a))
		register(a, required(b))
		installAvailable(cluster, a, b)
		for _, member := range []string{a, b} {
			Eventually(degradedOf(cluster, member)).Should(requiredFails(cycleOf(a, b, a)))
		}
	})

	It("of three is added to and removed from a live fleet", func() {
		register(c)
		register(b, required(c))
		register(a, required(b))
		installAvailable(cluster, c, b, a)
		manager.rest()

		declare(c, required(a))
		for _, member := range []string{a, b, c} {
			Eventually(degradedOf(cluster, member)).Should(requiredFails(cycleOf(a, b, c, a)))
		}
		declare(c)
		for _, member := range []string{a, b, c} {
			Eventually(degradedOf(cluster, member)).Should(satisfied())
			Eventually(manager.problem(member, declaration.ProblemCycle)).Should(BeEmpty())
			Eventually(manager.unsatisfied(member)).Should(BeEmpty())
		}
	})

	It("also fails the dependents of its members, which are on no cycle", func() {
		register(a, required(a))
		register(c, required(a))
		installAvailable(cluster, a, c)
		Eventually(degradedOf(cluster, a)).Should(requiredFails(cycleOf(a, a)))
		Eventually(degradedOf(cluster, c)).Should(requiredFails(ContainSubstring("(a Required dependency of its own is not satisfied)")))
		declare(a)
		Eventually(degradedOf(cluster, a)).Should(satisfied())
		Eventually(degradedOf(cluster, c)).Should(satisfied())
	})

	It("that an Optional dependency breaks is legal", func() {
		register(a, required(b))
		register(b, optional(a))
		installAvailable(cluster, a)
		Eventually(degradedOf(cluster, a)).Should(requiredFails(ContainSubstring("(not installed")))
		installAvailable(cluster, b)
		Eventually(degradedOf(cluster, a)).Should(satisfied())
		manager.rest()
		Expect(must(degradedOf(cluster, b))).To(Or(BeNil(), satisfied()), "for a moment it may have found that the other one misses it")

		uninstall(cluster, a)
		Eventually(degradedOf(cluster, b)).Should(optionalFails(ContainSubstring("(not installed")))
		Expect(must(manager.problem(b, declaration.ProblemCycle))).To(BeEmpty())

		By("becoming Required")
		installAvailable(cluster, a)
		declare(b, required(a))
		for _, member := range []string{a, b} {
			Eventually(degradedOf(cluster, member)).Should(requiredFails(cycleOf(a, b, a)))
		}
	})

	It("of many with long names still fits into an event", func() {
		long := strings.Repeat("long-", 40)
		members := make([]string, 12)
		for i := range members {
			members[i] = unique(long)
		}
		registration := register(members[0], required(members[1]))
		for i := 1; i < len(members); i++ {
			register(members[i], required(members[(i+1)%len(members)]))
		}
		Eventually(eventsOf(registration.UID)).Should(ContainElement(HavePrefix("DependencyCycle: ")))
	})
})
