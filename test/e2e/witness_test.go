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

// witness sees every write of the add-ons of a hub and of their registrations,
// in the order of the writes.
type witness struct {
	mu sync.Mutex
	// writes of each add-on, and what they changed.
	writes map[types.NamespacedName][]write
	seen   int
	// empty are writes of Interlock that change nothing.
	empty []string
	// lost is what became of an add-on beside writes.
	lost []string

	before map[string]client.Object
	marked map[string]chan struct{}
	mark   string
	end    context.CancelFunc
	// applied is what the API server had counted when it began.
	applied float64
}

// write is one write of an add-on.
type write struct {
	number int // in the order of all
	// conditions has, of Available and Degraded, those whose status it changed,
	// with the new status, empty for none.
	conditions map[string]metav1.ConditionStatus
	// answer: it changed what Degraded says, which nobody but addon-manager does.
	answer bool
	by     []string
}

// markAnnotation is written last of all that a witness is to see.
const markAnnotation = "interlock.test/seen-until"

// markName is the registration that is marked, and the add-on, in a namespace
// of that name.
const markName = "witness"

func newWitness(applied float64) *witness {
	return &witness{
		writes: map[types.NamespacedName][]write{}, before: map[string]client.Object{}, marked: map[string]chan struct{}{},
		mark: time.Now().String(), applied: applied,
	}
}

func startWitness(ctx context.Context) *witness {
	GinkgoHelper()
	Eventually(expectGrafted(ctx)).Should(Succeed())
	register(ctx, markName)
	key := inNamespace(ctx, markName, markName)
	install(ctx, key)
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
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
		w.follow(watching, list)
	}
	return w
}

// follow records the writes of a kind of objects. It goes on where the API server
// ends the watch, for example when another conversion is configured.
func (w *witness) follow(ctx context.Context, list client.ObjectList) {
	GinkgoHelper()
	Expect(hub.List(ctx, list)).To(Succeed())
	items, err := meta.ExtractList(list)
	Expect(err).NotTo(HaveOccurred())
	w.mu.Lock()
	for _, item := range items {
		w.before[keyOf(item)] = item.(client.Object)
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
func (w *witness) record(event watch.Event) (last bool) {
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
	before, known := w.before[key]
	w.before[key] = object
	switch {
	case event.Type == watch.Deleted || !object.GetDeletionTimestamp().IsZero():
		w.lost = append(w.lost, key+" was deleted")
	case event.Type == watch.Modified && known:
		w.compare(key, before, object)
	}
	return false
}

func (w *witness) compare(key string, before, after client.Object) {
	by := writers(before, after)
	if equality.Semantic.DeepEqual(content(before), content(after)) && slices.ContainsFunc(by, isInterlock) {
		w.empty = append(w.empty, fmt.Sprintf("%s at version %s, by %s", key, after.GetResourceVersion(), by))
	}
	was, ok := before.(*addonv1alpha1.ManagedClusterAddOn)
	if !ok {
		return
	}
	is := after.(*addonv1alpha1.ManagedClusterAddOn)
	w.seen++
	seen := write{number: w.seen, conditions: map[string]metav1.ConditionStatus{}, by: by}
	seen.answer = !equality.Semantic.DeepEqual(degradedOf(content(was)), degradedOf(content(is)))
	for _, kind := range []string{available, degraded} {
		old, now := statusOf(was, kind), statusOf(is, kind)
		if old != now {
			seen.conditions[kind] = now
		}
	}
	w.writes[client.ObjectKeyFromObject(is)] = append(w.writes[client.ObjectKeyFromObject(is)], seen)
}

func statusOf(addOn *addonv1alpha1.ManagedClusterAddOn, kind string) metav1.ConditionStatus {
	return ptr.Deref(meta.FindStatusCondition(addOn.Status.Conditions, kind), metav1.Condition{}).Status
}

// answers counts, so far, what addon-manager wrote of leaf on all clusters.
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
	for _, one := range writes {
		if one.answer {
			count++
		}
	}
	return count
}

func degradedOf(addOn client.Object) *metav1.Condition {
	return meta.FindStatusCondition(addOn.(*addonv1alpha1.ManagedClusterAddOn).Status.Conditions, degraded)
}

// stop waits until all has been seen that was written before.
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

// content is what an object says, without what every write changes.
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

// writers are the field managers whose entries a write changed; where two
// writes in the same second leave the same entries, those with the newest.
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
