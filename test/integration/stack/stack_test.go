package stack

import (
	"context"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/witness"
)

var _ = Describe("A stack of five add-ons on three clusters", Ordered, func() {
	It("is installed in order and removed as a unit, whatever fails meanwhile", func(ctx context.Context) {
		w, err := witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog})
		Expect(err).NotTo(HaveOccurred())
		defer w.Stop()
		for seed := *firstSeed; seed < *firstSeed+uint64(*runs); seed++ {
			run := nameOf(seed)
			random := rand.New(rand.NewPCG(seed, 0))
			start := time.Now()
			if gitOps(run) {
				applyInRandomOrder(ctx, run, random)
			} else {
				installTop(ctx, run)
			}
			mend, faults := disturb(ctx, w, run, random)
			for _, cluster := range clusters {
				Eventually(history.Available.First).WithContext(ctx).WithTimeout(2*time.Minute).WithArguments(cluster, runName(portal, run)).
					Should(BeNumerically(">", 0), "run %d on %s, with: %v", run, cluster, faults)
			}
			AddReportEntry("run", map[string]any{"seed": seed, "disturbed": faults, "took": time.Since(start).String()})
			expectOrder(ctx, run)
			if !gitOps(run) {
				expectSettings(ctx, run)
			}
			if mend != nil {
				mend(ctx)
			}
			for _, cluster := range clusters { // nothing is removed in order from a lost cluster
				Eventually(reached).WithContext(ctx).WithArguments(cluster).Should(Equal(metav1.ConditionTrue), cluster)
			}
			w.Cause("the stack is removed")
			for name := range requirements {
				w.Removed(runName(name, run))
			}
			remove(ctx, run, random)
		}
		findings, err := w.Findings(ctx)
		Expect(err).NotTo(HaveOccurred())
		findings = slices.DeleteFunc(findings, aboutLostCluster)
		Expect(findings).To(BeEmpty(), witness.Report(findings))
	}, NodeTimeout(25*time.Minute))

	It("blocks neither a lost cluster nor a detached one while it is removed", whileClustersLeave, NodeTimeout(3*time.Minute))
})

// aboutLostCluster reports whether OCM's controllers disagree about a lost cluster. One writes that the cluster is lost, and another
// may still write a status that it read from the ManifestWork before.
func aboutLostCluster(finding witness.Finding) bool {
	const unknownCondition = "Unknown/ManagedClusterLeaseUpdateStopped"
	return finding.Kind == witness.Flip && !finding.Writer.Interlock() && strings.Contains(finding.Detail, unknownCondition)
}

// nameOf returns the number in the names of a run. A repeated spec has names of its own, because objects of a failed attempt are still
// on the hub.
func nameOf(seed uint64) uint64 { return seed + 1000*uint64(CurrentSpecReport().NumAttempts-1) }

// gitOps reports whether GitOps applies the stack of a run.
func gitOps(run uint64) bool { return run%2 == 0 }

// installTop registers the stack and installs its top. Interlock installs the other add-ons.
func installTop(ctx context.Context, run uint64) {
	GinkgoHelper()
	register(ctx, run, registrations(run))
	for _, cluster := range clusters {
		Expect(hub.Client.Create(ctx, addOn(cluster, runName(portal, run)))).To(Succeed())
	}
}

// applyInRandomOrder applies everything at once, as GitOps does: first the objects of the whole hub, then those of the clusters.
// Interlock may have created some of the add-ons by then.
func applyInRandomOrder(ctx context.Context, run uint64, random *rand.Rand) {
	GinkgoHelper()
	register(ctx, run, shuffled(registrations(run), random))
	var group errgroup.Group
	for _, object := range shuffled(stackAddOns(run), random) {
		group.Go(func() error {
			return hub.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("gitops"), client.ForceOwnership)
		})
	}
	Expect(group.Wait()).To(Succeed())
}

// stackAddOns returns the add-ons of the stack on all clusters.
func stackAddOns(run uint64) (addOns []*unstructured.Unstructured) {
	for _, cluster := range clusters {
		for _, name := range slices.Sorted(maps.Keys(requirements)) {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
			object.SetAPIVersion(addonv1alpha1.GroupVersion.String())
			object.SetKind("ManagedClusterAddOn")
			object.SetNamespace(cluster)
			object.SetName(runName(name, run))
			addOns = append(addOns, object)
		}
	}
	return addOns
}

// register registers the stack, and waits until the webhook has read the registrations.
func register(ctx context.Context, run uint64, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	for name, required := range requirements {
		if len(required) > 0 {
			awaitGateAtCreation(ctx, name, run)
		}
	}
}

// disturb injects two faults, after some of the stack's works have been created.
func disturb(ctx context.Context, w *witness.Witness, run uint64, random *rand.Rand) (mend func(context.Context), faults []string) {
	GinkgoHelper()
	thresholds := []int{random.IntN(8), random.IntN(8)}
	slices.Sort(thresholds)
	for i, index := range random.Perm(len(disturbances))[:len(thresholds)] {
		Eventually(func() int { return countWorks(run) }).WithContext(ctx).Should(BeNumerically(">=", thresholds[i]))
		fault, cluster := disturbances[index], clusters[random.IntN(len(clusters))]
		faults = append(faults, fault.name)
		w.Cause(fault.name)
		if repair := fault.inject(ctx, managed[cluster]); repair != nil {
			mend = repair
		}
	}
	return mend, faults
}

// countWorks returns how many works of a run OCM has created.
func countWorks(run uint64) (count int) {
	for _, cluster := range clusters {
		for name := range requirements {
			if history.Made.First(cluster, runName(name, run)) > 0 {
				count++
			}
		}
	}
	return count
}

// expectOrder expects on each cluster that OCM creates each work of a run after the dependencies of its add-on are available. Where
// admission did not respond, the add-on has no gate.
func expectOrder(ctx context.Context, run uint64) {
	GinkgoHelper()
	var ungated []types.NamespacedName
	for _, cluster := range clusters {
		for name, required := range requirements {
			byAdmission := gitOps(run) || name == portal // admission closes the gate, not the creator of the add-on
			work := history.Made.First(cluster, runName(name, run))
			Expect(work).To(BeNumerically(">", 0))
			for _, need := range required {
				if byAdmission && work <= history.Available.First(cluster, runName(need, run)) && gateOf(ctx, cluster, runName(name, run)) == "" {
					ungated = append(ungated, types.NamespacedName{Namespace: cluster, Name: runName(name, run)})
					continue
				}
				Expect(work).To(BeNumerically(">", history.Available.First(cluster, runName(need, run))), "run %d: %s needs %s on %s", run, name, need,
					cluster)
			}
		}
	}
	expectUnanswered("without a gate", ungated)
}

// expectUnanswered expects that admission did not respond when add-ons that are not prepared were created.
func expectUnanswered(origin string, addOns []types.NamespacedName) {
	GinkgoHelper()
	unanswered, err := ocmsuite.Unanswered(hub)
	Expect(err).NotTo(HaveOccurred())
	for _, addOn := range addOns {
		Expect(unanswered).To(HaveKey(addOn), origin)
		AddReportEntry(origin, addOn.String()+": "+unanswered[addOn])
	}
}

// expectSettings expects that OCM deploys the top's settings for the tunnel.
func expectSettings(ctx context.Context, run uint64) {
	GinkgoHelper()
	for _, cluster := range clusters {
		work := &workv1.ManifestWork{}
		Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "addon-" + runName("tunnel", run) + "-deploy-0"}, work)).
			To(Succeed())
		Expect(string(work.Spec.Workload.Manifests[0].Raw)).To(ContainSubstring(`{"name":"MODE","value":"grpc"}`))
	}
}

// remove removes the stack. GitOps removes all of it at once. Otherwise the top is removed, with the dependencies that only the top
// needed. In either case, an add-on is deleted before its dependencies.
func remove(ctx context.Context, run uint64, random *rand.Rand) {
	GinkgoHelper()
	if gitOps(run) {
		deleteInRandomOrder(ctx, run, random)
	} else {
		out, err := exec.CommandContext(ctx, plugin, "uninstall", runName(portal, run), "--cascade=unit", "--yes", "--wait",
			"--cluster", strings.Join(clusters, ","), "--kubeconfig", hub.Kubeconfig()).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", out)
	}
	var unprepared []types.NamespacedName
	for _, cluster := range clusters {
		for name := range requirements {
			Eventually(history.Removed.First).WithContext(ctx).WithArguments(cluster, runName(name, run)).Should(BeNumerically(">", 0), name)
		}
		for name, required := range requirements {
			for _, need := range required {
				if gitOps(run) && history.Waits.First(cluster, runName(need, run)) == 0 {
					unprepared = append(unprepared, types.NamespacedName{Namespace: cluster, Name: runName(need, run)})
					continue
				}
				if reason := history.NotTogether(cluster, runName(need, run), runName(name, run)); reason != "" {
					AddReportEntry("not removed together", reason)
					continue
				}
				Expect(history.Removed.First(cluster, runName(need, run))).To(
					BeNumerically(">", history.Removed.First(cluster, runName(name, run))), "run %d: %s needs %s on %s", run, name, need, cluster)
			}
		}
	}
	expectUnanswered("without a finalizer", unprepared)
}

func deleteInRandomOrder(ctx context.Context, run uint64, random *rand.Rand) {
	GinkgoHelper()
	var group errgroup.Group
	for _, object := range shuffled(stackAddOns(run), random) {
		group.Go(func() error { return hub.Client.Delete(ctx, object) })
	}
	Expect(group.Wait()).To(Succeed())
}

// gateOf returns the gate of an add-on. It is empty if the add-on has no gate.
func gateOf(ctx context.Context, cluster, name string) string {
	GinkgoHelper()
	addOn := addOn(cluster, name)
	Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
	return addOn.Annotations[interlockv1alpha1.GateAnnotation]
}

func shuffled[T any](items []T, random *rand.Rand) []T {
	random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items
}
