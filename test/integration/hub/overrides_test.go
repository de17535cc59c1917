package hub

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	gomegatypes "github.com/onsi/gomega/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/test/fixture"
)

// statusTimeout is the longest time until the statuses of policies follow the fleet.
const statusTimeout = policies.Settled + reportTimeout

// override creates an AddOnDependencyPolicy.
func override(spec string) *dependencyv1alpha1.AddOnDependencyPolicy {
	GinkgoHelper()
	policy := fixture.Policy(GinkgoTB(), unique("policy"), spec)
	create(&policy)
	return &policy
}

// statusOf reads the status of a policy.
func statusOf(policy *dependencyv1alpha1.AddOnDependencyPolicy) func() (dependencyv1alpha1.AddOnDependencyPolicyStatus, error) {
	return func() (dependencyv1alpha1.AddOnDependencyPolicyStatus, error) {
		stored := &dependencyv1alpha1.AddOnDependencyPolicy{}
		err := hubClient.Get(ctx, types.NamespacedName{Name: policy.Name}, stored)
		return stored.Status, err
	}
}

// matchStatus matches a status by a condition and its other fields.
func matchStatus(kind string, status metav1.ConditionStatus, message string, fields gstruct.Fields) gomegatypes.GomegaMatcher {
	return And(gstruct.MatchFields(gstruct.IgnoreExtras, fields), WithTransform(
		func(s dependencyv1alpha1.AddOnDependencyPolicyStatus) string {
			if condition := meta.FindStatusCondition(s.Conditions, kind); condition != nil {
				return fmt.Sprintf("%s: %s", condition.Status, condition.Message)
			}
			return ""
		}, And(HavePrefix(string(status)+": "), ContainSubstring(message))))
}

var _ = Describe("An administrator's policy", func() {
	var manager *process
	var cluster, leaf, base string
	BeforeEach(func() {
		manager = start()
		cluster, leaf, base = newCluster(), unique("leaf"), unique("base")
		accept(cluster)
		register(base)
		register(leaf, required(base))
		installAvailable(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(not installed")))
	})

	It("counts on the managed clusters that it selects, instead of what is declared", func() {
		edge := override(fmt.Sprintf(`
clusterSelector: {matchLabels: {tier: edge}}
overrides:
- {addOn: %s, dependency: %s, type: Optional}
- {addOn: %[1]s, dependency: mistyped, type: Optional}`, leaf, base))
		Eventually(
			statusOf(edge),
			statusTimeout,
		).Should(matchStatus(dependencyv1alpha1.PolicyAccepted, metav1.ConditionTrue, "", gstruct.Fields{
			"ObservedGeneration": Equal(int64(1)), "AddOns": BeZero(), "Clusters": BeZero(),
		}))
		Expect(must(degradedOf(cluster, leaf))).To(requiredFails())

		label(cluster, "tier", "edge")
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails(
			ContainSubstring(
				"Optional addon '%s'",
				base,
			),
			ContainSubstring("; overridden by AddOnDependencyPolicy '%s')", edge.Name),
		))
		Eventually(
			statusOf(edge),
			statusTimeout,
		).Should(matchStatus(dependencyv1alpha1.PolicyConflicting, metav1.ConditionFalse, "", gstruct.Fields{
			"AddOns": Equal(int32(1)), "Clusters": Equal(int32(1)), "Overrides": Equal([]dependencyv1alpha1.OverrideStatus{
				{AddOn: leaf, Dependency: base, Clusters: 1},
				{AddOn: leaf, Dependency: "mistyped", Message: leaf + " declares no dependency of the name mistyped"},
			}),
		}))
		manager.rest()
		writesBefore := writes()
		manager.stop()
		start().rest()
		Expect(writes()).To(Equal(writesBefore), "a restart writes nothing")

		Expect(hubClient.Delete(ctx, edge)).To(Succeed())
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(Not(ContainSubstring("overridden"))))
	})

	It("waives a dependency until a moment, and not longer", func() {
		end := time.Now().Add(5 * time.Second).Truncate(time.Second)
		waiver := override(fmt.Sprintf(`overrides: [{addOn: %s, dependency: %s, waive: {reason: mirrored by hand, until: %q}}]`,
			leaf, base, end.UTC().Format(time.RFC3339)))
		Eventually(
			degradedOf(cluster, leaf),
		).Should(matchDegraded(metav1.ConditionFalse, satisfiedReason, Equal("All declared dependencies are satisfied or waived.")))
		Expect(must(manager.series(metrics.NameWaived, "addon", leaf))).To(HaveExactElements(1.0))
		Eventually(
			statusOf(waiver),
			statusTimeout,
		).Should(matchStatus(dependencyv1alpha1.PolicyAccepted, metav1.ConditionTrue, "", gstruct.Fields{"Clusters": Equal(int32(1))}))

		Eventually(degradedOf(cluster, leaf), statusTimeout).Should(requiredFails(ContainSubstring("(not installed")))
		Expect(time.Now()).To(BeTemporally(">=", end))
		Expect(must(manager.series(metrics.NameWaived, "addon", leaf))).To(BeEmpty())
		Eventually(eventsOf(waiver.UID)).Should(ContainElements(
			And(
				HavePrefix(policies.EventWaived+": "),
				ContainSubstring("%s → %s is waived on 1 cluster until ", leaf, base),
				HaveSuffix("mirrored by hand"),
			),
			And(HavePrefix(policies.EventWaiverEnded+": "), ContainSubstring("the waiver ended at ")),
		))
	})

	It("loses to a stricter contradicting policy, and both policies report that", func() {
		optionalPolicy := override(fmt.Sprintf("overrides: [{addOn: %s, dependency: %s, type: Optional}]", leaf, base))
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails())
		requiredPolicy := override(fmt.Sprintf("overrides: [{addOn: %s, dependency: %s, type: Required}]", leaf, base))
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		opponents := map[*dependencyv1alpha1.AddOnDependencyPolicy]string{
			optionalPolicy: requiredPolicy.Name,
			requiredPolicy: optionalPolicy.Name,
		}
		for policy, opponent := range opponents {
			Eventually(statusOf(policy), statusTimeout).Should(matchStatus(
				dependencyv1alpha1.PolicyConflicting,
				metav1.ConditionTrue,
				fmt.Sprintf(
					"%s → %s: AddOnDependencyPolicy '%s' says something else on 1 cluster (%s). The stricter counts.",
					leaf,
					base,
					opponent,
					cluster,
				),
				gstruct.Fields{},
			))
			Eventually(eventsOf(policy.UID)).Should(ContainElement(HavePrefix(policies.EventConflicting + ": ")))
		}
		Expect(hubClient.Delete(ctx, requiredPolicy)).To(Succeed())
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails())
		Eventually(
			statusOf(optionalPolicy),
			statusTimeout,
		).Should(matchStatus(dependencyv1alpha1.PolicyConflicting, metav1.ConditionFalse, "", gstruct.Fields{}))
	})

	It("changes nothing if it is invalid, and reports the reason", func() {
		versionBefore := must(version(cluster, leaf))
		invalid := override(fmt.Sprintf("overrides: [{addOn: %s, dependency: %s, version: newest}]", leaf, base))
		Eventually(statusOf(invalid), statusTimeout).Should(matchStatus(dependencyv1alpha1.PolicyAccepted, metav1.ConditionFalse,
			`spec.overrides[0].version: Invalid value: "newest"`, gstruct.Fields{}))
		Expect(must(version(cluster, leaf))).To(Equal(versionBefore))
		Eventually(eventsOf(invalid.UID)).Should(ContainElement(HavePrefix(policies.EventInvalid + ": ")))
		installAvailable(cluster, base)
		manager.rest()
		Expect(must(degradedOf(cluster, leaf))).To(requiredFails(), "what the administrator wants is not known")
	})
})
