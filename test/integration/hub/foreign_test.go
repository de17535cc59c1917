package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/hub/status"
	"open-cluster-management.io/interlock/pkg/names"
)

var _ = Describe("Another writer's Degraded", func() {
	var manager *process
	var cluster, leaf, base string

	foreignCondition := metav1.Condition{
		Type: addonv1alpha1.ManagedClusterAddOnConditionDegraded, Status: metav1.ConditionTrue, Reason: "DiskFull", Message: "No space left",
	}
	BeforeEach(func() {
		manager = start()
		cluster = newCluster()
		leaf, base = unique("leaf"), unique("base")
		register(base)
	})

	It("is left alone when only an Optional dependency fails", func() {
		register(leaf, optional(base))
		installAvailable(cluster, base, leaf)
		Expect(setAsOCM(cluster, leaf, foreignCondition)).To(Succeed())
		versionBefore := readAddOn(cluster, leaf).ResourceVersion
		uninstall(cluster, base)
		manager.rest()
		Consistently(version(cluster, leaf)).Should(Equal(versionBefore))

		By("reporting the own finding once the foreign one is resolved")
		resolved := foreignCondition
		resolved.Status, resolved.Reason = metav1.ConditionFalse, "DiskFine"
		Expect(setAsOCM(cluster, leaf, resolved)).To(Succeed())
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails(Not(ContainSubstring("Disk"))))
	})

	It("is left alone when all dependencies are satisfied, or none declared", func() {
		register(leaf, required(base))
		installAvailable(cluster, base, leaf)
		Expect(setAsOCM(cluster, leaf, foreignCondition)).To(Succeed())
		Expect(setAsOCM(cluster, base, foreignCondition)).To(Succeed())
		versionsBefore := must(versions(cluster))
		manager.rest()
		Consistently(versions(cluster)).Should(Equal(versionsBefore))
	})

	It("is overwritten by a Required failure, which appends its message", func() {
		register(leaf, required(base))
		installAvailable(cluster, base, leaf)
		Expect(setAsOCM(cluster, leaf, foreignCondition)).To(Succeed())
		transition := must(degradedOf(cluster, leaf)).LastTransitionTime
		uninstall(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(
			HavePrefix("Required addon '"+base+"' "), HaveSuffix("; also Degraded: DiskFull: No space left")))
		Expect(must(degradedOf(cluster, leaf)).LastTransitionTime).To(Equal(transition), "it was True before")

		By("our own message changing")
		install(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(
			ContainSubstring("being installed since "), HaveSuffix("; also Degraded: DiskFull: No space left")))

		By("the dependency being satisfied again")
		report(cluster, base, metav1.ConditionTrue, leaseFresh)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
	})

	// OCM's own controllers write through v1beta1. Without OCM's conversion webhook, the API server then refuses server-side apply. It
	// cannot convert v1alpha1's installNamespace, which its schema fills in.
	It("is no obstacle when its writer uses the other version of the API", func() {
		register(leaf, required(base))
		installAvailable(cluster, base, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(BeNil())
		betaAddOn := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": cluster, "name": leaf}}}
		betaAddOn.SetGroupVersionKind(schema.GroupVersionKind{
			Group: addonv1alpha1.GroupVersion.Group, Version: "v1beta1", Kind: "ManagedClusterAddOn",
		})
		patch := client.RawPatch(types.MergePatchType, []byte(`{"status": {"conditions": [{"type": "Available", "status": "True",
			"reason": "Theirs", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}}`))
		Expect(hubClient.Status().Patch(ctx, betaAddOn, patch)).To(Succeed())

		uninstall(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		Expect(fleet.Available(readAddOn(cluster, leaf)).Reason).To(Equal("Theirs"))
	})

	// The stock writer of this spec polls faster than any real one does. Its message may differ from one write to the next. That must
	// not make Interlock correct it each time.
	DescribeTable("that is written again every 200 ms is corrected at a bounded rate",
		func(words func(round int) string) {
			register(leaf, required(base))
			install(cluster, leaf)
			Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
			uid := readAddOn(cluster, leaf).UID

			requestsBefore, rounds := requests("APPLY"), 0
			err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 6*time.Second, true, func(context.Context) (bool, error) {
				rounds++
				insists := foreignCondition
				insists.Message = words(rounds)
				Expect(setAsOCM(cluster, leaf, insists)).To(Succeed())
				return false, nil
			})
			Expect(wait.Interrupted(err)).To(BeTrue(), "%v", err)
			contested := sum(must(manager.series(metrics.NameContested, "addon", leaf))) // before it is corrected again
			answers := requests("APPLY") - requestsBefore
			AddReportEntry("contested", fmt.Sprintf("%d times overwritten, %.0f answers in 6 s", rounds, answers))
			Expect(rounds).To(BeNumerically(">", 10)) // fewer than 30 on a busy machine
			// The writes come at once, then after 0.5, 1, 2 and 4 s. An occasional conflict counts here, too.
			Expect(answers).To(BeNumerically("<=", 8))
			Expect(contested).To(And(BeNumerically(">=", 2), BeNumerically("<=", answers)))
			Eventually(eventsOf(uid)).Should(ContainElement(HavePrefix(status.EventContested + ": ")))

			By("the other writer giving up")
			Eventually(degradedOf(cluster, leaf)).Should(requiredFails(HaveSuffix("; also Degraded: DiskFull: " + words(rounds))))
		},
		Entry("with the same message", func(int) string { return "No space left" }),
		Entry("with another message each time", func(round int) string { return fmt.Sprintf("%d bytes left", 1000-round) }),
	)

	It("does not make addon-manager own more than its own condition", func() {
		register(leaf, required(base))
		installAvailable(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		report(cluster, leaf, metav1.ConditionFalse, leaseStale) // co-writes Degraded with the whole list
		installAvailable(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())

		var owned []string
		for _, entry := range readAddOn(cluster, leaf).ManagedFields {
			if entry.Manager != names.AddonManager {
				continue
			}
			Expect(entry.Operation).To(Equal(metav1.ManagedFieldsOperationApply))
			Expect(entry.Subresource).To(Equal("status"))
			var fields map[string]map[string]map[string]any
			Expect(json.Unmarshal(entry.FieldsV1.Raw, &fields)).To(Succeed())
			Expect(fields).To(HaveLen(1))
			for condition := range fields["f:status"]["f:conditions"] {
				owned = append(owned, strings.TrimPrefix(condition, "k:"))
			}
		}
		Expect(owned).To(ConsistOf(MatchJSON(`{"type":"Degraded"}`)))
	})
})
