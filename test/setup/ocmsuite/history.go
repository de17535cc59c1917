package ocmsuite

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/teardown"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// History has the versions of a hub at which add-ons first reached a state. All objects of a hub share one count of
// versions.
type History struct {
	// Made has the creation of each add-on's work. Available and Removed have the first version at which the add-on
	// was so.
	Made, Available, Removed Versions
	// Waits has the first version with the finalizer that makes the add-on wait for its dependents.
	Waits Versions

	mutex sync.Mutex
	// deleted has the start of each add-on's deletion.
	deleted map[types.NamespacedName]deletion
	// reachability has the changes of the hub's connection to each managed cluster, oldest first.
	reachability map[string][]reach
}

type deletion struct {
	since   time.Time
	version uint64
}

type reach struct {
	version uint64
	lost    bool
}

// NotTogether returns the reason why Interlock may remove an add-on before its dependent, although both are removed.
// Either their deletions are too far apart to count as one, or the cluster was lost meanwhile. It is empty if there
// is no such reason.
func (h *History) NotTogether(cluster, addOn, dependent string) string {
	removed := h.Removed.First(cluster, addOn)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	first, second := h.deleted[types.NamespacedName{Namespace: cluster, Name: addOn}], h.deleted[types.NamespacedName{Namespace: cluster, Name: dependent}]
	if first.version == 0 || second.version == 0 {
		return ""
	}
	if between := second.since.Sub(first.since); between >= teardown.BatchTime-time.Second { // deletion timestamps are whole seconds
		return fmt.Sprintf("%s was deleted %s after %s", dependent, between, addOn)
	}
	lost := false
	for _, change := range h.reachability[cluster] {
		if change.version > first.version && lost || change.version > removed {
			break
		}
		lost = change.lost
	}
	if lost {
		return cluster + " was lost while " + addOn + " was removed"
	}
	return ""
}

// Versions are the versions at which add-ons first reached a state.
type Versions struct {
	mutex sync.Mutex
	first map[types.NamespacedName]uint64
}

// First returns the version for an add-on on a cluster. It is zero until the add-on reaches the state.
func (v *Versions) First(cluster, addOn string) uint64 {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.first[types.NamespacedName{Namespace: cluster, Name: addOn}]
}

func (v *Versions) record(cluster, addOn string, version uint64, reached bool) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.first == nil {
		v.first = map[types.NamespacedName]uint64{}
	}
	if key := (types.NamespacedName{Namespace: cluster, Name: addOn}); reached && v.first[key] == 0 {
		v.first[key] = version
	}
}

// Follow keeps the history of a hub until the suite ends.
func Follow(hub *ocm.Hub) *History {
	GinkgoHelper()
	h := &History{deleted: map[types.NamespacedName]deletion{}, reachability: map[string][]reach{}}
	follow(hub, &workv1.ManifestWorkList{}, func(object client.Object, version uint64, deleted bool) {
		name := strings.TrimSuffix(strings.TrimPrefix(object.GetName(), "addon-"), "-deploy-0")
		h.Made.record(object.GetNamespace(), name, version, !deleted)
	})
	follow(hub, &addonv1alpha1.ManagedClusterAddOnList{}, func(object client.Object, version uint64, deleted bool) {
		cluster, name := object.GetNamespace(), object.GetName()
		conditions := object.(*addonv1alpha1.ManagedClusterAddOn).Status.Conditions
		h.Available.record(cluster, name, version,
			!deleted && meta.IsStatusConditionTrue(conditions, addonv1alpha1.ManagedClusterAddOnConditionAvailable))
		h.Waits.record(cluster, name, version, slices.Contains(object.GetFinalizers(), interlockv1alpha1.WaitForDependentsFinalizer))
		h.Removed.record(cluster, name, version, deleted)
		h.recordDeletion(object, version)
	})
	follow(hub, &clusterv1.ManagedClusterList{}, func(object client.Object, version uint64, _ bool) {
		h.recordReach(object.(*clusterv1.ManagedCluster), version)
	})
	return h
}

func (h *History) recordDeletion(addOn client.Object, version uint64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	key := client.ObjectKeyFromObject(addOn)
	if since := addOn.GetDeletionTimestamp(); since != nil && h.deleted[key].version == 0 {
		h.deleted[key] = deletion{since.Time, version}
	}
}

func (h *History) recordReach(cluster *clusterv1.ManagedCluster, version uint64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	lost := meta.IsStatusConditionPresentAndEqual(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable, metav1.ConditionUnknown)
	if changes := h.reachability[cluster.Name]; len(changes) == 0 || changes[len(changes)-1].lost != lost {
		h.reachability[cluster.Name] = append(changes, reach{version, lost})
	}
}

func follow(hub *ocm.Hub, list client.ObjectList, record func(object client.Object, version uint64, deleted bool)) {
	GinkgoHelper()
	watcher, err := hub.Client.Watch(context.Background(), list)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watcher.Stop)
	go func() {
		defer GinkgoRecover()
		for event := range watcher.ResultChan() {
			object, isObject := event.Object.(client.Object)
			if !isObject {
				continue
			}
			version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
			Expect(err).NotTo(HaveOccurred())
			record(object, version, event.Type == watch.Deleted)
		}
	}()
}
