package versions

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// fleetSize is over how many managed clusters the rollout goes: more take minutes to start.
//
//	ROLLOUT_CLUSTERS=10 go test ./test/integration/versions -ginkgo.focus 'cluster by cluster'
func fleetSize() int {
	GinkgoHelper()
	text, given := os.LookupEnv("ROLLOUT_CLUSTERS")
	if !given {
		return 2
	}
	size, err := strconv.Atoi(text)
	Expect(err).NotTo(HaveOccurred(), "ROLLOUT_CLUSTERS")
	return size
}

// rollout watches an add-on on all clusters while another AddOnTemplate is rolled out.
type rollout struct {
	mutex sync.Mutex
	// runs is which template runs, by cluster, and degraded what Degraded says.
	runs, degraded map[string]string
	// mixed is how often some clusters ran one template, and some the other.
	mixed int
	// wrong are the states in which a cluster was degraded by what it does not run.
	wrong []string
}

func (r *rollout) observe(addOn *addonv1alpha1.ManagedClusterAddOn) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, reference := range addOn.Status.ConfigReferences {
		if reference.ConfigGroupResource == templates && reference.LastAppliedConfig != nil {
			r.runs[addOn.Namespace] = reference.LastAppliedConfig.Name
		}
	}
	degraded := meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionDegraded)
	if degraded == nil {
		return
	}
	r.degraded[addOn.Namespace] = string(degraded.Status)
	if degraded.Status == metav1.ConditionTrue && r.runs[addOn.Namespace] != "rolling-2" {
		r.wrong = append(r.wrong, fmt.Sprintf("%s runs %s: %s", addOn.Namespace, r.runs[addOn.Namespace], degraded.Message))
	}
	different := map[string]bool{}
	for _, runs := range r.runs {
		different[runs] = true
	}
	if len(different) > 1 {
		r.mixed++
	}
}

// clusters returns on how many clusters a template runs, and on how many the add-on is degraded.
func (r *rollout) clusters(template string) func() (runs, degraded int) {
	return func() (runs, degraded int) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		for cluster, name := range r.runs {
			if name == template {
				runs++
			}
			if r.degraded[cluster] == string(metav1.ConditionTrue) {
				degraded++
			}
		}
		return runs, degraded
	}
}

func watchRollout(ctx context.Context, name string) *rollout {
	GinkgoHelper()
	watched, err := hub.Client.Watch(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.MatchingFields{"metadata.name": name})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watched.Stop)
	r := &rollout{runs: map[string]string{}, degraded: map[string]string{}}
	go func() {
		for event := range watched.ResultChan() {
			if addOn, is := event.Object.(*addonv1alpha1.ManagedClusterAddOn); is {
				r.observe(addOn)
			}
		}
	}()
	return r
}

var _ = Describe("A rollout over a fleet", func() {
	It("changes verdicts cluster by cluster, where the new template runs, with and without addon-agent", func(ctx context.Context) {
		size := fleetSize()
		for i := len(managed) + 1; i <= size; i++ {
			cluster, err := hub.Join(ctx, fmt.Sprintf("fleet%d", i), ocm.JoinOptions{WorkAgent: true})
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(cluster.Stop)
		}
		v1, v2 := template("rolling", "rolling-1"), template("rolling", "rolling-2")
		v2.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: `[{name: needed-by-v2}]`}
		create(ctx, v1)
		create(ctx, v2)
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "rolling"}}
		//nolint:staticcheck // v1alpha1 has no other field for it
		registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ConfigGroupResource: templates}}
		for _, object := range ocm.Everywhere() {
			create(ctx, object)
		}
		registration.Spec.InstallStrategy = ocm.OneByOne(v1.Name)
		seen := watchRollout(ctx, "rolling")
		create(ctx, registration)
		patience := time.Duration(size)*15*time.Second + time.Minute
		Eventually(seen.clusters(v1.Name)).WithTimeout(patience).Should(Equal(size))

		observer.Cause("another template is rolled out")
		original := registration.DeepCopy()
		registration.Spec.InstallStrategy = ocm.OneByOne(v2.Name)
		Expect(hub.Client.Patch(ctx, registration, client.MergeFrom(original))).To(Succeed())
		started := time.Now()
		Eventually(func(g Gomega) {
			runs, degraded := seen.clusters(v2.Name)()
			g.Expect(runs).To(Equal(size), "clusters that run the new template")
			g.Expect(degraded).To(Equal(size), "clusters that are degraded by what it needs")
		}).WithTimeout(patience).Should(Succeed())
		AddReportEntry("rollout", fmt.Sprintf("over %d clusters in %s; both templates ran in %d of the states observed",
			size, time.Since(started).Round(time.Second), seen.mixed))
		Expect(seen.wrong).To(BeEmpty())
		Expect(seen.mixed).NotTo(BeZero(), "it was not a cluster at a time")
	}, NodeTimeout(20*time.Minute))
})
