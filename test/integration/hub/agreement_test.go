package hub

import (
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

var _ = Describe("The plugin", func() {
	for _, policy := range []evaluation.OfflinePolicy{evaluation.OfflineHold, evaluation.OfflineStrict} {
		It("agrees with every condition and report that addon-manager has written, with --offline="+string(policy), func() {
			manager := lead(policy)
			world := newShaken()
			for round := range 8 {
				By(fmt.Sprintf("round %d", round))
				for range 12 {
					world.shake()
				}
				manager.rest()
				Eventually(disagreements).WithArguments(world.clusters).WithTimeout(45 * time.Second).Should(BeEmpty())
			}
		})
	}

	It("agrees once an agent has been dead for longer than its facts are held", func() {
		lead(evaluation.OfflineHold)
		cluster, leaf := newCluster(), unique("leaf")
		registerSpec(leaf, `dependencies: [{name: kinds, api: {group: agreed.io, kind: Kind}, message: It makes kinds.}]`)
		accept(cluster)
		installAvailable(cluster, leaf, agentAddOn)
		Eventually(reportFacts).WithArguments(cluster, metav1.ConditionTrue, "1.0.0").Should(BeTrue())
		report(cluster, agentAddOn, metav1.ConditionFalse, leaseStale)
		Eventually(degradedOf(cluster, leaf)).WithTimeout(2 * evaluation.ReportTime).Should(requiredFails(
			ContainSubstring("It makes kinds. (not known: the managed cluster's addon-agent does not run (" + agentAddOn + ": Available=False"),
		))
		Eventually(disagreements).WithArguments([]string{cluster}).Should(BeEmpty())
		Expect(printedReport(cluster).Edges[0].RootCauses).To(HaveExactElements(HaveField("Verdict", string(evaluation.APINotServed))))

		By("the agent coming back")
		report(cluster, agentAddOn, metav1.ConditionTrue, leaseFresh)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
		Eventually(disagreements).WithArguments([]string{cluster}).Should(BeEmpty())
	})
})

const agentAddOn = "interlock-agent"

// lead starts an addon-manager that leads, keeps all reports, and publishes its policy.
func lead(policy evaluation.OfflinePolicy) *process {
	GinkgoHelper()
	manager := start(reporting(dependencyv1alpha1.ReportAll), func(o *hub.Options) { o.LeaderElection, o.Offline = true, policy })
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: names.AddonManager}}
	DeferCleanup(func() { // other specs have an addon-manager that does not elect itself
		manager.stop()
		Expect(hubClient.Delete(ctx, lease)).To(Succeed())
	})
	Eventually(func() (string, error) {
		hubState, err := snapshot.Take(ctx, hubClient, "none")
		if err != nil {
			return "", err
		}
		return string(hubState.Policy()) + hubState.Manager.Unread, nil
	}).WithTimeout(time.Minute).Should(Equal(string(policy)))
	return manager
}

// discoverer is a client of the hub that also discovers its APIs, as the plugin's client does.
type discoverer struct{ client.Client }

// Discovery implements snapshot.Discoverer.
func (discoverer) Discovery() (apidiscovery.API, error) {
	documents, err := discovery.NewDiscoveryClientForConfig(hubCluster.Config)
	if err != nil {
		return apidiscovery.API{}, err
	}
	return apidiscovery.API{REST: documents.RESTClient(), Client: "the test"}, nil
}

// disagreements returns the conditions and reports that differ between addon-manager and the plugin.
func disagreements(clusters []string) []string {
	GinkgoHelper()
	hubState, err := snapshot.Take(ctx, discoverer{hubClient}, "")
	Expect(err).NotTo(HaveOccurred())
	plugin := printedReports()
	var differ []string
	compared := 0
	for _, cluster := range clusters {
		findings := hubState.Evaluated(cluster)
		for _, addOn := range hubState.Installed(cluster) {
			compared++
			degraded := fleet.Degraded(addOn)
			if degraded != nil {
				degraded.Message = text.Final(degraded.Message)
			}
			expected := condition.Decide(
				condition.Stored{Degraded: degraded, Replaced: fleet.ReplacedDegraded(addOn)},
				findings(addOn.Name), metav1.NewTime(hubState.Taken),
			).Degraded
			sameReason := degraded != nil && expected != nil && expected.Reason == degraded.Reason
			if expected != nil && (!sameReason || !unknowable(findings(addOn.Name))) {
				differ = append(differ, fmt.Sprintf("%s on %s has %v, and would have %v", addOn.Name, cluster, degraded, *expected))
			}
		}
		differ = append(differ, differences(cluster, must(reportOn(cluster)), plugin[cluster])...)
	}
	Expect(compared).To(BeNumerically(">", 0))
	return differ
}

// unknowable reports whether only the memory of addon-manager decides about an edge: the AddOnTemplate that ran before a rollout. The
// message of the finding then mentions it.
func unknowable(findings []evaluation.Finding) bool {
	for _, finding := range findings {
		if finding.HeldBecause() != "" {
			return true
		}
	}
	return false
}

// printedReports returns the reports of all clusters that kubectl addon report prints, by cluster.
func printedReports() map[string]*dependencyReport {
	GinkgoHelper()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	command := cli.NewCommand(streams)
	command.SetArgs([]string{"report", "-A", "--all", "-o", "json", "--kubeconfig", hubCluster.Kubeconfig()})
	Expect(command.ExecuteContext(ctx)).To(Succeed())
	list := &dependencyv1alpha1.AddOnDependencyReportList{}
	Expect(json.Unmarshal(out.Bytes(), list)).To(Succeed())
	reports := map[string]*dependencyReport{}
	for i := range list.Items {
		reports[list.Items[i].Name] = &list.Items[i]
	}
	return reports
}
