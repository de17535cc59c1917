//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// witness records every write of the add-ons of a hub and of their registrations, in the order of the writes.
type witness struct {
	mu sync.Mutex
	// writes are the writes of each add-on, and their changes.
	writes map[types.NamespacedName][]write
	seen   int
	// empty are writes of Interlock that change nothing.
	empty []string
	// lost has the changes of add-ons that are not writes, such as deletions.
	lost []string

	objects map[string]client.Object
	marked  map[string]chan struct{}
	mark    string
	end     context.CancelFunc
	// applied is the API server's count of applies at the start.
	applied float64
}

// write is a write of an add-on.
type write struct {
	number int // in the order of all writes
	// conditions has Available and Degraded if the write changed their status. The value is the new status, or empty
	// if the condition was removed.
	conditions map[string]metav1.ConditionStatus
	// answer is true if the write changed the content of Degraded. Only addon-manager does that.
	answer   bool
	managers []string
}

// markAnnotation marks the last write that a witness records.
const markAnnotation = "interlock.test/seen-until"

// markName is the name of the registration and of the add-on that are marked, and of the add-on's namespace.
const markName = "witness"

func newWitness(applied float64) *witness {
	return &witness{
		writes: map[types.NamespacedName][]write{}, objects: map[string]client.Object{}, marked: map[string]chan struct{}{},
		mark: time.Now().String(), applied: applied,
	}
}

func startWitness(ctx context.Context) *witness {
	GinkgoHelper()
	Eventually(expectGrafted(ctx)).Should(Succeed())
	register(ctx, markName)
	key := inNamespace(ctx, markName, markName)
	install(ctx, key)
	watchCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	w := newWitness(applies(ctx))
	w.end = end
	DeferCleanup(func(ctx context.Context) {
		end()
		remove(ctx, hub, []client.Object{
			&addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: markName}},
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: markName}},
		})
	})
	for _, list := range []client.ObjectList{&addonv1alpha1.ManagedClusterAddOnList{}, &addonv1alpha1.ClusterManagementAddOnList{}} {
		w.follow(watchCtx, list)
	}
	return w
}

// follow records the writes of a kind of objects. It continues when the API server ends the watch, for example
// because another conversion is configured.
func (w *witness) follow(ctx context.Context, list client.ObjectList) {
	GinkgoHelper()
	Expect(hub.List(ctx, list)).To(Succeed())
	items, err := meta.ExtractList(list)
	Expect(err).NotTo(HaveOccurred())
	w.mu.Lock()
	for _, item := range items {
		w.objects[keyOf(item)] = item.(client.Object)
	}
	w.mu.Unlock()
	marked := make(chan struct{})
	w.marked[fmt.Sprintf("%T", list)] = marked
	watcher, err := toolswatch.NewRetryWatcherWithContext(ctx, list.GetResourceVersion(), &toolscache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return hub.Watch(ctx, list.DeepCopyObject().(client.ObjectList), &client.ListOptions{Raw: &options})
		},
	})
	Expect(err).NotTo(HaveOccurred())
	go func() {
		for event := range watcher.ResultChan() {
			if w.record(event) {
				close(marked)
				return
			}
		}
	}()
}

// record stores an event, and reports whether it is the last one.
func (w *witness) record(event watch.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	object, ok := event.Object.(client.Object)
	if !ok {
		w.lost = append(w.lost, fmt.Sprintf("the watch failed: %v", event.Object))
		return false
	}
	if object.GetAnnotations()[markAnnotation] == w.mark {
		return true
	}
	key := keyOf(object)
	previous, ok := w.objects[key]
	w.objects[key] = object
	switch {
	case event.Type == watch.Deleted || !object.GetDeletionTimestamp().IsZero():
		w.lost = append(w.lost, key+" was deleted")
	case event.Type == watch.Modified && ok:
		w.compare(key, previous, object)
	}
	return false
}

func (w *witness) compare(key string, previous, current client.Object) {
	managers := writers(previous, current)
	if equality.Semantic.DeepEqual(content(previous), content(current)) && slices.ContainsFunc(managers, isInterlock) {
		w.empty = append(w.empty, fmt.Sprintf("%s at version %s, by %s", key, current.GetResourceVersion(), managers))
	}
	oldAddOn, ok := previous.(*addonv1alpha1.ManagedClusterAddOn)
	if !ok {
		return
	}
	newAddOn := current.(*addonv1alpha1.ManagedClusterAddOn)
	w.seen++
	seen := write{number: w.seen, conditions: map[string]metav1.ConditionStatus{}, managers: managers}
	seen.answer = !equality.Semantic.DeepEqual(degradedOf(content(oldAddOn)), degradedOf(content(newAddOn)))
	for _, kind := range []string{available, degraded} {
		oldStatus, newStatus := statusOf(oldAddOn, kind), statusOf(newAddOn, kind)
		if oldStatus != newStatus {
			seen.conditions[kind] = newStatus
		}
	}
	w.writes[client.ObjectKeyFromObject(newAddOn)] = append(w.writes[client.ObjectKeyFromObject(newAddOn)], seen)
}

func statusOf(addOn *addonv1alpha1.ManagedClusterAddOn, kind string) metav1.ConditionStatus {
	return ptr.Deref(meta.FindStatusCondition(addOn.Status.Conditions, kind), metav1.Condition{}).Status
}

// answers returns how often addon-manager has written to leaf so far, on all clusters.
func (w *witness) answers() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := 0
	for key, writes := range w.writes {
		if key.Name == leaf {
			count += answersAmong(writes)
		}
	}
	return count
}

func answersAmong(writes []write) int {
	count := 0
	for _, write := range writes {
		if write.answer {
			count++
		}
	}
	return count
}

func degradedOf(addOn client.Object) *metav1.Condition {
	return meta.FindStatusCondition(addOn.(*addonv1alpha1.ManagedClusterAddOn).Status.Conditions, degraded)
}

// stop waits until all earlier writes have been recorded.
func (w *witness) stop(ctx context.Context) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, markAnnotation, w.mark))
	for _, object := range []client.Object{
		&addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: markName, Name: markName}},
		&addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: markName}},
	} {
		Expect(hub.Patch(ctx, object, patch)).To(Succeed())
	}
	for kind, marked := range w.marked {
		Eventually(marked).Should(BeClosed(), "the watch of %s has not seen all", kind)
	}
	w.end()
}

// content returns an object without the fields that every write changes.
func content(object client.Object) client.Object {
	stripped := object.DeepCopyObject().(client.Object)
	stripped.SetResourceVersion("")
	stripped.SetManagedFields(nil)
	if addOn, ok := stripped.(*addonv1alpha1.ManagedClusterAddOn); ok {
		for i := range addOn.Status.Conditions {
			addOn.Status.Conditions[i].LastTransitionTime = metav1.Time{}
		}
	}
	return stripped
}

// writers returns the field managers whose entries a write changed. If two writes in the same second leave the same
// entries, it returns the managers of the newest entries.
func writers(before, after client.Object) []string {
	var changed, newest []string
	var last time.Time
	for _, entry := range after.GetManagedFields() {
		isEntry := func(old metav1.ManagedFieldsEntry) bool { return equality.Semantic.DeepEqual(old, entry) }
		if !slices.ContainsFunc(before.GetManagedFields(), isEntry) {
			changed = append(changed, entry.Manager)
		}
		switch {
		case entry.Time == nil || entry.Time.Time.Before(last):
		case entry.Time.After(last):
			newest, last = []string{entry.Manager}, entry.Time.Time
		default:
			newest = append(newest, entry.Manager)
		}
	}
	if len(changed) == 0 {
		return newest
	}
	return changed
}

func isInterlock(manager string) bool { return strings.HasPrefix(manager, "interlock-") }

func keyOf(object runtime.Object) string {
	return fmt.Sprintf("%T %s", object, client.ObjectKeyFromObject(object.(client.Object)))
}
