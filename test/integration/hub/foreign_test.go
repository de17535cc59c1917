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

var _ = Describe("Somebody else's Degraded", func() {
	var manager *process
	var cluster, leaf, base string

	theirs := metav1.Condition{
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
		running(cluster, base, leaf)
		Expect(say(cluster, leaf, theirs)).To(Succeed())
		before := installed(cluster, leaf).ResourceVersion
		uninstall(cluster, base)
		manager.rest()
		Consistently(version(cluster, leaf)).Should(Equal(before))

		By("their problem ending, ours is told")
		over := theirs
		over.Status, over.Reason = metav1.ConditionFalse, "DiskFine"
		Expect(say(cluster, leaf, over)).To(Succeed())
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails(Not(ContainSubstring("Disk"))))
	})

	It("is left alone when all dependencies are satisfied, or none declared", func() {
		register(leaf, required(base))
		running(cluster, base, leaf)
		Expect(say(cluster, leaf, theirs)).To(Succeed())
		Expect(say(cluster, base, theirs)).To(Succeed())
		before := now(versions(cluster))
		manager.rest()
		Consistently(versions(cluster)).Should(Equal(before))
	})

	It("is overwritten by a Required failure, which keeps its words at the end", func() {
		register(leaf, required(base))
		running(cluster, base, leaf)
		Expect(say(cluster, leaf, theirs)).To(Succeed())
		since := now(degradedOf(cluster, leaf)).LastTransitionTime
		uninstall(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(
			HavePrefix("Required addon '"+base+"' "), HaveSuffix("; also Degraded: DiskFull: No space left")))
		Expect(now(degradedOf(cluster, leaf)).LastTransitionTime).To(Equal(since), "it was True before")

		By("our own message changing")
		install(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(
			ContainSubstring("being installed since "), HaveSuffix("; also Degraded: DiskFull: No space left")))

		By("the dependency being satisfied again")
		report(cluster, base, metav1.ConditionTrue, leaseFresh)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
	})

	// OCM's own controllers write through v1beta1. Without OCM's conversion
	// webhook the API server then refuses server-side apply: it cannot convert
	// v1alpha1's installNamespace, which its schema fills in.
	It("is no obstacle when its writer uses the other version of the API", func() {
		register(leaf, required(base))
		running(cluster, base, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(BeNil())
		other := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": cluster, "name": leaf}}}
		other.SetGroupVersionKind(schema.GroupVersionKind{
			Group: addonv1alpha1.GroupVersion.Group, Version: "v1beta1", Kind: "ManagedClusterAddOn",
		})
		patch := client.RawPatch(types.MergePatchType, []byte(`{"status": {"conditions": [{"type": "Available", "status": "True",
			"reason": "Theirs", "message": "", "lastTransitionTime": "2026-01-02T03:04:05Z"}]}}`))
		Expect(hubClient.Status().Patch(ctx, other, patch)).To(Succeed())

		uninstall(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		Expect(fleet.Available(installed(cluster, leaf)).Reason).To(Equal("Theirs"))
	})

	// A stock writer that polls, faster than any does. Its words may differ
	// from one time to the next; that must not make us answer each time.
	DescribeTable("that is written again every 200 ms is answered at a bounded rate",
		func(words func(round int) string) {
			register(leaf, required(base))
			install(cluster, leaf)
			Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
			uid := installed(cluster, leaf).UID

			before, rounds := requests("APPLY"), 0
			err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 6*time.Second, true, func(context.Context) (bool, error) {
				rounds++
				insists := theirs
				insists.Message = words(rounds)
				Expect(say(cluster, leaf, insists)).To(Succeed())
				return false, nil
			})
			Expect(wait.Interrupted(err)).To(BeTrue(), "%v", err)
			contested := sum(now(manager.series(metrics.NameContested, "addon", leaf))) // before it is answered again
			answers := requests("APPLY") - before
			AddReportEntry("contested", fmt.Sprintf("%d times overwritten, %.0f answers in 6 s", rounds, answers))
			Expect(rounds).To(BeNumerically(">", 10)) // fewer than 30 on a busy machine
			// At once, then after 0.5, 1, 2 and 4 s; a conflict now and then counts here.
			Expect(answers).To(BeNumerically("<=", 8))
			Expect(contested).To(And(BeNumerically(">=", 2), BeNumerically("<=", answers)))
			Eventually(told(uid)).Should(ContainElement(HavePrefix(status.EventContested + ": ")))

			By("the other writer giving up")
			Eventually(degradedOf(cluster, leaf)).Should(requiredFails(HaveSuffix("; also Degraded: DiskFull: " + words(rounds))))
		},
		Entry("with the same words", func(int) string { return "No space left" }),
		Entry("with other words each time", func(round int) string { return fmt.Sprintf("%d bytes left", 1000-round) }),
	)

	It("does not make addon-manager own more than its own condition", func() {
		register(leaf, required(base))
		running(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		report(cluster, leaf, metav1.ConditionFalse, leaseStale) // co-writes Degraded with the whole list
		running(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())

		var owned []string
		for _, entry := range installed(cluster, leaf).ManagedFields {
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
