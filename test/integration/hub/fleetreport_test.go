package hub

import (
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/names"
	dependencies "open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fleetreport"
)

// fleetReport reads the report on the fleet, which is nil if there is none. It is for Eventually.
func fleetReport() (*dependencies.FleetReport, error) {
	report := &dependencies.FleetReport{}
	err := hubClient.Get(ctx, types.NamespacedName{Name: dependencyv1alpha1.FleetReportName}, report)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return report, err
}

// fleetContent returns a report on the fleet as JSON, without its time and the fields that only the hub sets.
func fleetContent(report *dependencies.FleetReport) string {
	GinkgoHelper()
	report = report.DeepCopy()
	report.TypeMeta, report.ObjectMeta, report.Observed = metav1.TypeMeta{}, metav1.ObjectMeta{}, metav1.Time{}
	encoded, err := json.Marshal(report)
	Expect(err).NotTo(HaveOccurred())
	return string(encoded)
}

// takenFleetReport returns the report on the fleet that a snapshot of the hub has.
func takenFleetReport() *dependencies.FleetReport {
	GinkgoHelper()
	hub, err := snapshot.Take(ctx, hubClient, "")
	Expect(err).NotTo(HaveOccurred())
	return fleetreport.Of(GinkgoTB(), hub)
}

var _ = Describe("The report on the fleet", func() {
	const interval = 10 * time.Second

	It("agrees with the hub, is written where it changes, also by a new leader, and is deleted by a leader without reports", func() {
		cluster, other, leaf, base := newCluster(), newCluster(), unique("leaf"), unique("base")
		register(base)
		register(leaf, required(base))
		for _, name := range []string{cluster, other} {
			accept(name)
			installAvailable(name, base, leaf)
		}
		agrees := func(g Gomega) {
			g.Expect(fleetContent(must(fleetReport))).To(MatchJSON(fleetContent(takenFleetReport())))
		}
		causeOn := func(addOn string) func(g Gomega) *dependencyv1alpha1.FleetCause {
			return func(g Gomega) *dependencyv1alpha1.FleetCause {
				report := must(fleetReport)
				g.Expect(report).NotTo(BeNil())
				for i := range report.RootCauses {
					if report.RootCauses[i].AddOn == addOn {
						return &report.RootCauses[i]
					}
				}
				return nil
			}
		}
		manager1 := start(reporting(dependencyv1alpha1.ReportUnsatisfied))
		Eventually(fleetReport).ShouldNot(BeNil())
		Expect(must(fleetReport).Labels).To(HaveKeyWithValue(names.ManagedBy, names.AddonManager))
		Eventually(agrees).WithTimeout(2 * interval).Should(Succeed())
		Expect(must(fleetReport).Edges).To(ContainElement(dependencyv1alpha1.FleetEdge{
			AddOn: leaf, Dependency: base, Type: "Required", Verdicts: []dependencyv1alpha1.VerdictCount{{Verdict: "Satisfied", Clusters: 2}},
		}))

		By("a failure, which the next report has")
		before := must(fleetReport).Observed
		report(cluster, base, metav1.ConditionFalse, leaseStale)
		Eventually(causeOn(base)).WithTimeout(2 * interval).Should(HaveValue(And(
			HaveField("Clusters", BeEquivalentTo(1)), HaveField("AddOns", BeEquivalentTo(1)), HaveField("Examples", ConsistOf(cluster)),
			HaveField("Verdict", "NotAvailable"), HaveField("Reason", leaseStale))))
		Eventually(causeOn(base)).WithTimeout(2 * interval).Should(HaveField("Effects.FirstCluster", cluster))
		Eventually(agrees).WithTimeout(2 * interval).Should(Succeed())
		Expect(must(fleetReport).Observed.Sub(before.Time)).To(BeNumerically(">=", interval-time.Second))

		By("nothing changing, while no report is due and while one is")
		version := must(fleetReport).ResourceVersion
		unchanged := func() string { return must(fleetReport).ResourceVersion }
		Consistently(unchanged, interval+2*time.Second).Should(Equal(version))

		By("a new leader, which finds the same")
		manager1.stop()
		manager2 := start(reporting(dependencyv1alpha1.ReportUnsatisfied))
		manager2.rest()
		Consistently(unchanged, "3s").Should(Equal(version))

		By("another one, which finds another state")
		manager2.stop()
		report(other, base, metav1.ConditionFalse, leaseStale)
		manager3 := start(reporting(dependencyv1alpha1.ReportAll))
		Eventually(causeOn(base)).WithTimeout(2 * interval).Should(HaveField("Clusters", BeEquivalentTo(2)))
		Eventually(agrees).WithTimeout(2 * interval).Should(Succeed())

		By("a leader without reports")
		manager3.stop()
		start()
		Eventually(fleetReport).Should(BeNil())
	})

	It("is refused under another name", func() {
		report := takenFleetReport()
		report.Name = unique("fleet")
		Expect(hubClient.Create(ctx, report)).To(MatchError(ContainSubstring("the only AddOnFleetReport is named fleet")))
	})
})
