//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// sight is what was seen of all add-ons of the hub.
type sight struct {
	// empty are writes after which nothing was different but the version.
	empty []string
	// changes counts, for each add-on, by the condition, how often its status changed.
	changes map[types.NamespacedName]map[string]int
}

// lastAnnotation marks the last write that a witness is to see.
const lastAnnotation = "interlock.test/last"

// witness watches all add-ons of the hub.
type witness struct {
	watch watch.Interface
	done  chan sight
}

func startWitness(ctx context.Context) *witness {
	GinkgoHelper()
	var list addonv1alpha1.ManagedClusterAddOnList
	Expect(hub.List(ctx, &list)).To(Succeed())
	watching, err := hub.Watch(context.WithoutCancel(ctx), &addonv1alpha1.ManagedClusterAddOnList{},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	Expect(err).NotTo(HaveOccurred())
	last := map[types.NamespacedName]*addonv1alpha1.ManagedClusterAddOn{}
	seen := sight{changes: map[types.NamespacedName]map[string]int{}}
	for i := range list.Items {
		key := client.ObjectKeyFromObject(&list.Items[i])
		last[key], seen.changes[key] = &list.Items[i], map[string]int{}
	}
	w := &witness{watch: watching, done: make(chan sight, 1)}
	go func() {
		for event := range watching.ResultChan() {
			addOn, ok := event.Object.(*addonv1alpha1.ManagedClusterAddOn)
			if !ok {
				seen.empty = append(seen.empty, fmt.Sprintf("the watch failed: %v", event.Object))
				continue
			}
			key := client.ObjectKeyFromObject(addOn)
			if before, known := last[key]; known && event.Type == watch.Modified {
				seen.compare(key, before, addOn)
			}
			last[key] = addOn
			if addOn.Annotations[lastAnnotation] != "" {
				break
			}
		}
		w.done <- seen
	}()
	return w
}

// stop returns what was seen of all that was written before, by a mark on one
// add-on: the watch tells everything in its order.
func (w *witness) stop(ctx context.Context, mark types.NamespacedName) sight {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: mark.Namespace, Name: mark.Name}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+lastAnnotation+`":"yes"}}}`))
	Expect(hub.Patch(ctx, addOn, patch)).To(Succeed())
	var seen sight
	Eventually(w.done).Should(Receive(&seen), "the watch has ended early")
	w.watch.Stop()
	return seen
}

func (s *sight) compare(key types.NamespacedName, before, after *addonv1alpha1.ManagedClusterAddOn) {
	strip := func(addOn *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
		stripped := addOn.DeepCopy()
		stripped.ResourceVersion, stripped.ManagedFields, stripped.TypeMeta = "", nil, metav1.TypeMeta{}
		return stripped
	}
	if equality.Semantic.DeepEqual(strip(before), strip(after)) {
		s.empty = append(s.empty, fmt.Sprintf("%s at version %s, by %s", key, after.ResourceVersion, lastWriter(after)))
	}
	for _, condition := range after.Status.Conditions {
		was := meta.FindStatusCondition(before.Status.Conditions, condition.Type)
		if was == nil || was.Status != condition.Status {
			s.changes[key][condition.Type]++
		}
	}
}

// lastWriter is the field manager whose entry is the newest.
func lastWriter(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	newest := slices.MaxFunc(addOn.ManagedFields, func(a, b metav1.ManagedFieldsEntry) int { return a.Time.Compare(b.Time.Time) })
	return newest.Manager
}
