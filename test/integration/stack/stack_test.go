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
		for seed := *first; seed < *first+uint64(*runs); seed++ {
			run := nameOf(seed)
			random := rand.New(rand.NewPCG(seed, 0))
			start := time.Now()
			if gitOps(run) {
				applyInRandomOrder(ctx, run, random)
			} else {
				installTop(ctx, run)
			}
			mend, disturbed := disturb(ctx, w, run, random)
			for _, cluster := range clusters {
				Eventually(history.Available.First).WithContext(ctx).WithTimeout(2*time.Minute).WithArguments(cluster, of(portal, run)).
					Should(BeNumerically(">", 0), "run %d on %s, with: %v", run, cluster, disturbed)
			}
			AddReportEntry("run", map[string]any{"seed": seed, "disturbed": disturbed, "took": time.Since(start).String()})
			inOrder(ctx, run)
			if !gitOps(run) {
				hasSettings(ctx, run)
			}
			if mend != nil {
				mend(ctx)
			}
			for _, cluster := range clusters { // from a lost one, nothing is removed in order
				Eventually(reached).WithContext(ctx).WithArguments(cluster).Should(Equal(metav1.ConditionTrue), cluster)
			}
			w.Cause("the stack is removed")
			for name := range needs {
				w.Removed(of(name, run))
			}
			remove(ctx, run, random)
		}
		findings, err := w.Findings(ctx)
		Expect(err).NotTo(HaveOccurred())
		findings = slices.DeleteFunc(findings, aboutLostCluster)
		Expect(findings).To(BeEmpty(), witness.Report(findings))
	}, NodeTimeout(25*time.Minute))

	It("holds up neither a lost cluster nor a detached one while it is removed", whileClustersLeave, NodeTimeout(3*time.Minute))
})

// aboutLostCluster reports whether controllers of Open Cluster Management disagree about a lost cluster: one writes that it is lost, and
// another may still write what it has read of the ManifestWork before.
func aboutLostCluster(finding witness.Finding) bool {
	const lost = "Unknown/ManagedClusterLeaseUpdateStopped"
	return finding.Kind == witness.Flip && !finding.Writer.Interlock() && strings.Contains(finding.Detail, lost)
}

// nameOf is the number in the names of a run. Where the spec is run once more, it has names of its own: what failed is still on the hub.
func nameOf(seed uint64) uint64 { return seed + 1000*uint64(CurrentSpecReport().NumAttempts-1) }

// gitOps reports whether GitOps applies the stack of a run.
func gitOps(run uint64) bool { return run%2 == 0 }

// installTop registers the stack and installs the top of it: Interlock has the others installed.
func installTop(ctx context.Context, run uint64) {
	GinkgoHelper()
	register(ctx, run, registered(run))
	for _, cluster := range clusters {
		Expect(hub.Client.Create(ctx, installed(cluster, of(portal, run)))).To(Succeed())
	}
}

// applyInRandomOrder applies everything at once, as GitOps does: first what is for the whole hub, then what is for the
// clusters. Interlock may have created some of it by then.
func applyInRandomOrder(ctx context.Context, run uint64, random *rand.Rand) {
	GinkgoHelper()
	register(ctx, run, shuffled(registered(run), random))
	var group errgroup.Group
	for _, object := range shuffled(all(run), random) {
		group.Go(func() error {
			return hub.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("gitops"), client.ForceOwnership)
		})
	}
	Expect(group.Wait()).To(Succeed())
}

// all are the add-ons of the stack on all clusters.
func all(run uint64) (all []*unstructured.Unstructured) {
	for _, cluster := range clusters {
		for _, name := range slices.Sorted(maps.Keys(needs)) {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
			object.SetAPIVersion(addonv1alpha1.GroupVersion.String())
			object.SetKind("ManagedClusterAddOn")
			object.SetNamespace(cluster)
			object.SetName(of(name, run))
			all = append(all, object)
		}
	}
	return all
}

// register registers the stack, and waits until the webhook knows.
func register(ctx context.Context, run uint64, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	for name, required := range needs {
		if len(required) > 0 {
			waitsAtCreation(ctx, name, run)
		}
	}
}

// disturb has two things fail, after some of the stack's works have been made.
func disturb(ctx context.Context, w *witness.Witness, run uint64, random *rand.Rand) (mend func(context.Context), disturbed []string) {
	GinkgoHelper()
	after := []int{random.IntN(8), random.IntN(8)}
	slices.Sort(after)
	for i, which := range random.Perm(len(disturbances))[:len(after)] {
		Eventually(func() int { return made(run) }).WithContext(ctx).Should(BeNumerically(">=", after[i]))
		one, cluster := disturbances[which], clusters[random.IntN(len(clusters))]
		disturbed = append(disturbed, one.name)
		w.Cause(one.name)
		if last := one.do(ctx, managed[cluster]); last != nil {
			mend = last
		}
	}
	return mend, disturbed
}

// made counts the works of a run that OCM has made.
func made(run uint64) (count int) {
	for _, cluster := range clusters {
		for name := range needs {
			if history.Made.First(cluster, of(name, run)) > 0 {
				count++
			}
		}
	}
	return count
}

// inOrder expects each work of a run to be made after what its add-on requires was available, on each cluster. Where admission did not
// answer, the add-on has no gate.
func inOrder(ctx context.Context, run uint64) {
	GinkgoHelper()
	var ungated []types.NamespacedName
	for _, cluster := range clusters {
		for name, required := range needs {
			byAdmission := gitOps(run) || name == portal // the gate is closed by admission, and not by who creates the add-on
			work := history.Made.First(cluster, of(name, run))
			Expect(work).To(BeNumerically(">", 0))
			for _, need := range required {
				if byAdmission && work <= history.Available.First(cluster, of(need, run)) && gateOf(ctx, cluster, of(name, run)) == "" {
					ungated = append(ungated, types.NamespacedName{Namespace: cluster, Name: of(name, run)})
					continue
				}
				Expect(work).To(BeNumerically(">", history.Available.First(cluster, of(need, run))), "run %d: %s needs %s on %s", run, name, need,
					cluster)
			}
		}
	}
	wereUnanswered("without a gate", ungated)
}

// wereUnanswered expects that admission did not answer when add-ons were created that are not prepared.
func wereUnanswered(how string, addOns []types.NamespacedName) {
	GinkgoHelper()
	unanswered, err := ocmsuite.Unanswered(hub)
	Expect(err).NotTo(HaveOccurred())
	for _, addOn := range addOns {
		Expect(unanswered).To(HaveKey(addOn), how)
		AddReportEntry(how, addOn.String()+": "+unanswered[addOn])
	}
}

// hasSettings expects what the top of the stack wishes for the tunnel in what OCM deploys.
func hasSettings(ctx context.Context, run uint64) {
	GinkgoHelper()
	for _, cluster := range clusters {
		work := &workv1.ManifestWork{}
		Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "addon-" + of("tunnel", run) + "-deploy-0"}, work)).To(Succeed())
		Expect(string(work.Spec.Workload.Manifests[0].Raw)).To(ContainSubstring(`{"name":"MODE","value":"grpc"}`))
	}
}

// remove removes the stack: what GitOps installed all at once, and otherwise the top with all that only it needed. In either
// way, an add-on is gone before what it requires.
func remove(ctx context.Context, run uint64, random *rand.Rand) {
	GinkgoHelper()
	if gitOps(run) {
		deleteInRandomOrder(ctx, run, random)
	} else {
		out, err := exec.CommandContext(ctx, plugin, "uninstall", of(portal, run), "--cascade=unit", "--yes", "--wait",
			"--cluster", strings.Join(clusters, ","), "--kubeconfig", hub.Kubeconfig()).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", out)
	}
	var unprepared []types.NamespacedName
	for _, cluster := range clusters {
		for name := range needs {
			Eventually(history.Removed.First).WithContext(ctx).WithArguments(cluster, of(name, run)).Should(BeNumerically(">", 0), name)
		}
		for name, required := range needs {
			for _, need := range required {
				if gitOps(run) && history.Waits.First(cluster, of(need, run)) == 0 {
					unprepared = append(unprepared, types.NamespacedName{Namespace: cluster, Name: of(need, run)})
					continue
				}
				if reason := history.NotTogether(cluster, of(need, run), of(name, run)); reason != "" {
					AddReportEntry("not removed together", reason)
					continue
				}
				Expect(history.Removed.First(cluster, of(need, run))).To(
					BeNumerically(">", history.Removed.First(cluster, of(name, run))), "run %d: %s needs %s on %s", run, name, need, cluster)
			}
		}
	}
	wereUnanswered("without a finalizer", unprepared)
}

func deleteInRandomOrder(ctx context.Context, run uint64, random *rand.Rand) {
	GinkgoHelper()
	var group errgroup.Group
	for _, object := range shuffled(all(run), random) {
		group.Go(func() error { return hub.Client.Delete(ctx, object) })
	}
	Expect(group.Wait()).To(Succeed())
}

// gateOf is the gate of an add-on; empty: it has none.
func gateOf(ctx context.Context, cluster, name string) string {
	GinkgoHelper()
	addOn := installed(cluster, name)
	Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
	return addOn.Annotations[interlockv1alpha1.GateAnnotation]
}

func shuffled[T any](all []T, random *rand.Rand) []T {
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
