package hub

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/pkg/names"
	dependencies "open-cluster-management.io/interlock/pkg/report"
)

type dependencyReport = dependencyv1alpha1.AddOnDependencyReport

func reporting(scope dependencyv1alpha1.ReportScope) func(*hub.Options) {
	return func(o *hub.Options) { o.Reports = scope }
}

// reportOn reads the report on a cluster, which is nil if there is none. It is for Eventually.
func reportOn(cluster string) func() (*dependencyReport, error) {
	return func() (*dependencyReport, error) {
		report := &dependencyReport{}
		err := hubClient.Get(ctx, types.NamespacedName{Namespace: cluster, Name: cluster}, report)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return report, err
	}
}

// verdictsOf reads the edges of a report as "addOn>dependency verdict".
func verdictsOf(cluster string) func() ([]string, error) {
	return func() ([]string, error) {
		report, err := reportOn(cluster)()
		if report == nil {
			return nil, err
		}
		verdicts := []string{}
		for _, edge := range report.Edges {
			text := fmt.Sprintf("%s>%s %s", edge.AddOn, edge.Dependency, edge.Verdict)
			if edge.Held {
				text += " held"
			}
			verdicts = append(verdicts, text)
		}
		return verdicts, err
	}
}

// printedReport returns the report on a cluster that kubectl addon report prints.
func printedReport(cluster string, flags ...string) *dependencyReport {
	GinkgoHelper()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	command := cli.NewCommand(streams)
	command.SetArgs(append([]string{"report", "-n", cluster, "-o", "json", "--kubeconfig", hubCluster.Kubeconfig()}, flags...))
	Expect(command.ExecuteContext(ctx)).To(Succeed())
	list := &dependencyv1alpha1.AddOnDependencyReportList{}
	Expect(json.Unmarshal(out.Bytes(), list)).To(Succeed())
	Expect(list.Items).To(HaveLen(1))
	return &list.Items[0]
}

// content returns a report without the fields that only the hub sets.
func content(report *dependencyReport) *dependencyReport {
	report = report.DeepCopy()
	report.TypeMeta, report.ObjectMeta = metav1.TypeMeta{}, metav1.ObjectMeta{Namespace: report.Namespace, Name: report.Name}
	return report
}

// countChanges counts the changes of the report on a cluster until the spec ends.
func countChanges(cluster string) *atomic.Int32 {
	GinkgoHelper()
	var count atomic.Int32
	watcher, err := hubClient.Watch(ctx, &dependencyv1alpha1.AddOnDependencyReportList{}, client.InNamespace(cluster))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watcher.Stop)
	go func() {
		for event := range watcher.ResultChan() {
			if event.Type == watch.Added || event.Type == watch.Modified || event.Type == watch.Deleted {
				count.Add(1)
			}
		}
	}()
	return &count
}

var _ = Describe("The report on a cluster", func() {
	var cluster, leaf, middle, base string

	prepare := func() {
		cluster, leaf, middle, base = newCluster(), unique("leaf"), unique("middle"), unique("base")
		register(base)
		register(middle, required(base))
		register(leaf, required(middle), optional("nowhere"))
		accept(cluster)
		installAvailable(cluster, base, middle)
	}
	cleanUp := func() {
		DeferCleanup(func() {
			_ = hubClient.DeleteAllOf(ctx, &dependencyReport{}, client.InNamespace(cluster))
		})
	}

	It("is created, changes, equals the plugin's output, and is deleted once all dependencies are satisfied", func() {
		prepare()
		cleanUp()
		manager := start(reporting(dependencyv1alpha1.ReportUnsatisfied))
		manager.rest()
		Consistently(reportOn(cluster), "1500ms").Should(BeNil())

		storedReport := func() *dependencyReport { return must(reportOn(cluster)) }
		installAvailable(cluster, leaf)
		Eventually(verdictsOf(cluster)).Should(HaveExactElements(leaf + ">nowhere NotInstalled"))
		Expect(storedReport().Labels).To(HaveKeyWithValue(names.ManagedBy, names.AddonManager))
		Expect(storedReport().OwnerReferences).To(BeEmpty())

		report(cluster, base, metav1.ConditionFalse, leaseStale)
		Eventually(verdictsOf(cluster)).Should(HaveExactElements(
			leaf+">"+middle+" NotAvailable", middle+">"+base+" NotAvailable", leaf+">nowhere NotInstalled"))
		Eventually(func(g Gomega) {
			g.Expect(content(printedReport(cluster))).To(Equal(content(storedReport())))
		}).Should(Succeed())
		Expect(storedReport().Edges[0].RootCauses).To(ConsistOf(dependencyv1alpha1.ReportedCause{
			Dependent: middle, Target: base, Verdict: "NotAvailable", Reason: leaseStale,
		}))
		for _, edge := range storedReport().Edges {
			Expect(edge.Since).NotTo(BeNil(), edge.Dependency)
		}

		By("a leader that restarts, which writes nothing")
		manager.stop()
		version, changes := storedReport().ResourceVersion, countChanges(cluster)
		manager2 := start(reporting(dependencyv1alpha1.ReportUnsatisfied))
		manager2.rest()
		Consistently(func() string { return storedReport().ResourceVersion }, "2s").Should(Equal(version))
		Expect(changes.Load()).To(BeEquivalentTo(1), "the watch begins with it")

		By("all being satisfied")
		report(cluster, base, metav1.ConditionTrue, leaseFresh)
		uninstall(cluster, leaf)
		Eventually(reportOn(cluster)).Should(BeNil())
	})

	It("has all edges with --reports=all, and keeps its verdicts while the cluster is lost", func() {
		prepare()
		cleanUp()
		start(reporting(dependencyv1alpha1.ReportAll))
		installAvailable(cluster, leaf)
		edges := []string{leaf + ">nowhere NotInstalled", leaf + ">" + middle + " Satisfied", middle + ">" + base + " Satisfied"}
		Eventually(verdictsOf(cluster)).Should(HaveExactElements(edges))
		Eventually(func(g Gomega) {
			g.Expect(content(printedReport(cluster, "--all"))).To(Equal(content(must(reportOn(cluster)))))
		}).Should(Succeed())

		lose(cluster, base, middle, leaf)
		var heldEdges []string
		for _, edge := range edges {
			heldEdges = append(heldEdges, edge+" held")
		}
		Eventually(verdictsOf(cluster)).Should(ConsistOf(heldEdges))
		Expect(must(reportOn(cluster)).Summary).To(Equal(dependencyv1alpha1.ReportSummary{Unsatisfied: 1, Held: 3}))

		reach(cluster, metav1.ConditionTrue)
		for _, addOn := range []string{base, middle, leaf} {
			report(cluster, addOn, metav1.ConditionTrue, leaseFresh)
		}
		Eventually(verdictsOf(cluster)).Should(HaveExactElements(edges))
	})

	It("has the installations and upgrades that wait, as the plugin prints them, and is deleted when nothing waits", func() {
		prepare()
		cleanUp()
		start(reporting(dependencyv1alpha1.ReportUnsatisfied))
		annotate := func(value string) {
			patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, addonv1alpha1.GateAnnotation, value)
			Expect(hubClient.Patch(ctx, readAddOn(cluster, middle), client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
		}
		waitingEntries := func() ([]string, error) {
			report, err := reportOn(cluster)()
			if report == nil {
				return nil, err
			}
			var entries []string
			for _, wait := range report.Waiting {
				text := fmt.Sprintf("%s %s %q", wait.AddOn, wait.Kind, wait.Template)
				for _, edge := range wait.Dependencies {
					text += " " + edge.Dependency + " " + edge.Verdict
				}
				entries = append(entries, text)
			}
			return entries, err
		}
		upgradable := metav1.Condition{
			Type: "Upgradable", Status: metav1.ConditionFalse, Reason: "WaitingForDependencies", Message: "as tested",
		}
		patch := []byte(`{"status":{"relatedObjects":[` +
			`{"group":"addon.open-cluster-management.io","resource":"addontemplates","name":"next"}]}}`)
		Consistently(reportOn(cluster), "1500ms").Should(BeNil())

		annotate(`"closed"`)
		Eventually(waitingEntries).Should(HaveExactElements(middle + ` Installation ""`))
		report(cluster, base, metav1.ConditionFalse, leaseStale)
		Eventually(waitingEntries).Should(HaveExactElements(middle + ` Installation "" ` + base + " NotAvailable"))
		Expect(must(reportOn(cluster)).Summary).To(Equal(dependencyv1alpha1.ReportSummary{Failing: 1, Waiting: 1, Unsatisfied: 1}))
		report(cluster, base, metav1.ConditionTrue, leaseFresh)

		annotate("null")
		Eventually(reportOn(cluster)).Should(BeNil())
		Expect(hubClient.Status().Patch(ctx, readAddOn(cluster, middle), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
		Expect(setAsOCM(cluster, middle, upgradable)).To(Succeed())
		Eventually(waitingEntries).Should(HaveExactElements(middle + ` Upgrade "next"`))
		Eventually(func(g Gomega) {
			g.Expect(content(printedReport(cluster))).To(Equal(content(must(reportOn(cluster)))))
		}).Should(Succeed())
		upgradable.Status = metav1.ConditionTrue
		Expect(setAsOCM(cluster, middle, upgradable)).To(Succeed())
		Eventually(reportOn(cluster)).Should(BeNil())
	})

	It("is written once a second at most, while its add-ons change all the time", func() {
		prepare()
		cleanUp()
		start(reporting(dependencyv1alpha1.ReportUnsatisfied))
		installAvailable(cluster, leaf)
		Eventually(reportOn(cluster)).ShouldNot(BeNil())
		changes, start := countChanges(cluster), time.Now()
		for i := 0; time.Since(start) < 4*time.Second; i++ {
			report(cluster, base, []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionTrue}[i%2], fmt.Sprint("Change", i))
		}
		report(cluster, base, metav1.ConditionFalse, "Last")
		Eventually(verdictsOf(cluster)).Should(ContainElement(middle + ">" + base + " NotAvailable"))
		took := time.Since(start)
		Expect(changes.Load()).To(BeNumerically("<=", 2+took/time.Second), "one more is what the watch begins with")
	})

	It("is no larger than its bound, and counts the omitted entries", func() {
		cluster, leaf = newCluster(), unique("leaf")
		cleanUp()
		var nowhere []addonv1alpha1.AddonDependency
		for i := range 40 {
			nowhere = append(nowhere, required(fmt.Sprintf("%s-%02d", strings.Repeat("x", 200), i)))
		}
		for i := range 10 {
			name := fmt.Sprintf("%s-%d", leaf, i)
			register(name, nowhere...)
			install(cluster, name)
		}
		start(reporting(dependencyv1alpha1.ReportUnsatisfied))
		Eventually(func(g Gomega) {
			report := must(reportOn(cluster))
			g.Expect(report).NotTo(BeNil())
			g.Expect(report.Summary.Unsatisfied).To(BeEquivalentTo(400))
			g.Expect(len(report.Edges) + len(report.NeededBy) + int(report.Summary.LeftOut)).To(Equal(440))
			g.Expect(report.Summary.LeftOut).To(BeNumerically(">", 0))
			encoded, err := json.Marshal(report)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(len(encoded)).To(And(BeNumerically(">", dependencies.MaxBytes/2), BeNumerically("<=", dependencies.MaxBytes)))
		}).Should(Succeed())
	})

	It("is deleted by a leader without reports, and not created again", func() {
		prepare()
		installAvailable(cluster, leaf)
		manager1 := start(reporting(dependencyv1alpha1.ReportUnsatisfied))
		Eventually(reportOn(cluster)).ShouldNot(BeNil())
		manager1.stop()
		manager2 := start()
		Eventually(reportOn(cluster)).Should(BeNil())
		report(cluster, base, metav1.ConditionFalse, leaseStale)
		manager2.rest()
		Consistently(reportOn(cluster), "1500ms").Should(BeNil())
	})
})
