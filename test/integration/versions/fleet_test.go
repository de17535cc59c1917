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

// fleetSize returns the number of managed clusters of the rollout. More clusters take minutes to start.
//
//	ROLLOUT_CLUSTERS=10 go test ./test/integration/versions -ginkgo.focus 'cluster by cluster'
func fleetSize() int {
	GinkgoHelper()
	text, ok := os.LookupEnv("ROLLOUT_CLUSTERS")
	if !ok {
		return 2
	}
	size, err := strconv.Atoi(text)
	Expect(err).NotTo(HaveOccurred(), "ROLLOUT_CLUSTERS")
	return size
}

// rollout observes an add-on on all clusters while another AddOnTemplate is rolled out.
type rollout struct {
	mutex sync.Mutex
	// templates has the AddOnTemplate that runs on each cluster. degraded has the status of Degraded there.
	templates, degraded map[string]string
	// mixed counts the states in which the clusters did not all run the same template.
	mixed int
	// mistakes has the states in which a cluster was degraded because of a template that it does not run.
	mistakes []string
}

func (r *rollout) observe(addOn *addonv1alpha1.ManagedClusterAddOn) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, reference := range addOn.Status.ConfigReferences {
		if reference.ConfigGroupResource == templates && reference.LastAppliedConfig != nil {
			r.templates[addOn.Namespace] = reference.LastAppliedConfig.Name
		}
	}
	degraded := meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionDegraded)
	if degraded == nil {
		return
	}
	r.degraded[addOn.Namespace] = string(degraded.Status)
	if degraded.Status == metav1.ConditionTrue && r.templates[addOn.Namespace] != "rolling-2" {
		r.mistakes = append(r.mistakes, fmt.Sprintf("%s runs %s: %s", addOn.Namespace, r.templates[addOn.Namespace], degraded.Message))
	}
	distinct := map[string]bool{}
	for _, name := range r.templates {
		distinct[name] = true
	}
	if len(distinct) > 1 {
		r.mixed++
	}
}

// clusters returns the number of clusters that run a template, and of those on which the add-on is degraded.
func (r *rollout) clusters(template string) func() (updated, degraded int) {
	return func() (updated, degraded int) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		for cluster, name := range r.templates {
			if name == template {
				updated++
			}
			if r.degraded[cluster] == string(metav1.ConditionTrue) {
				degraded++
			}
		}
		return updated, degraded
	}
}

func watchRollout(ctx context.Context, name string) *rollout {
	GinkgoHelper()
	watcher, err := hub.Client.Watch(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.MatchingFields{"metadata.name": name})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watcher.Stop)
	r := &rollout{templates: map[string]string{}, degraded: map[string]string{}}
	go func() {
		for event := range watcher.ResultChan() {
			if addOn, ok := event.Object.(*addonv1alpha1.ManagedClusterAddOn); ok {
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
		observed := watchRollout(ctx, "rolling")
		create(ctx, registration)
		patience := time.Duration(size)*15*time.Second + time.Minute
		Eventually(observed.clusters(v1.Name)).WithTimeout(patience).Should(Equal(size))

		observer.Cause("another template is rolled out")
		original := registration.DeepCopy()
		registration.Spec.InstallStrategy = ocm.OneByOne(v2.Name)
		Expect(hub.Client.Patch(ctx, registration, client.MergeFrom(original))).To(Succeed())
		started := time.Now()
		Eventually(func(g Gomega) {
			updated, degraded := observed.clusters(v2.Name)()
			g.Expect(updated).To(Equal(size), "clusters that run the new template")
			g.Expect(degraded).To(Equal(size), "clusters that are degraded by what it needs")
		}).WithTimeout(patience).Should(Succeed())
		AddReportEntry("rollout", fmt.Sprintf("over %d clusters in %s; both templates ran in %d of the states observed",
			size, time.Since(started).Round(time.Second), observed.mixed))
		Expect(observed.mistakes).To(BeEmpty())
		Expect(observed.mixed).NotTo(BeZero(), "it was not a cluster at a time")
	}, NodeTimeout(20*time.Minute))
})
