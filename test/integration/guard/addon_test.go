package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
)

// The versions of the API through which an add-on is written.
const (
	viaStorage = "v1alpha1"
	viaBeta    = "v1beta1"

	group       = "addon.open-cluster-management.io"
	required    = "RequiredDependencyNotSatisfied"
	missingBase = "Required addon 'base' is not installed or not available. (not installed)"
	earlyTime   = "2026-03-01T10:00:00Z"
	lateTime    = "2026-03-01T11:00:00Z"

	// anotherWriter sorts after the manager that creates. managedFields of equal times are sorted by name. If their order changes a
	// second later, that is stored.
	anotherWriter = "writer"
	manager       = "interlock-addon-manager"
)

// addOn is a ManagedClusterAddOn in a namespace of its own. It is read and written as JSON, so that no field of the API server's
// response gets lost.
type addOn struct {
	*form
	cluster, name string
}

var clusters int

// newAddOn installs an add-on until the spec ends. A remaining add-on would be work for every addon-manager that starts.
func (f *form) newAddOn(ctx context.Context) addOn {
	GinkgoHelper()
	a := f.install(ctx)
	DeferCleanup(a.uninstall)
	return a
}

func (a addOn) uninstall(ctx context.Context) error {
	return client.IgnoreNotFound(a.client.Delete(ctx, a.object(viaStorage)))
}

func (f *form) install(ctx context.Context) addOn {
	GinkgoHelper()
	clusters++
	a := addOn{form: f, cluster: fmt.Sprintf("cluster%d", clusters), name: "gateway"}
	Expect(f.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.cluster}})).To(Succeed())
	Expect(f.client.Create(ctx, &addonv1alpha1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{Namespace: a.cluster, Name: a.name},
	})).To(Succeed())
	return a
}

func (a addOn) object(version string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(group + "/" + version)
	object.SetKind("ManagedClusterAddOn")
	object.SetNamespace(a.cluster)
	object.SetName(a.name)
	return object
}

func (a addOn) key() client.ObjectKey { return client.ObjectKey{Namespace: a.cluster, Name: a.name} }

func (a addOn) get(ctx context.Context, version string) *unstructured.Unstructured {
	GinkgoHelper()
	object := a.object(version)
	Expect(a.client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	return object
}

// write changes the status by a merge patch of the whole list of conditions, with the resourceVersion at which it was read. It repeats
// that after a conflict. It returns the object of the API server's response.
func (a addOn) write(ctx context.Context, version string, change func([]map[string]any) []map[string]any) *unstructured.Unstructured {
	GinkgoHelper()
	var answer *unstructured.Unstructured
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() (err error) {
		answer, err = a.tryWrite(ctx, version, change)
		return err
	})).To(Succeed())
	return answer
}

func (a addOn) tryWrite(
	ctx context.Context, version string, change func([]map[string]any) []map[string]any,
) (*unstructured.Unstructured, error) {
	object := a.object(version)
	if err := a.client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return nil, err
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": object.GetResourceVersion()},
		"status":   map[string]any{"conditions": change(conditionsOf(object))},
	})
	if err != nil {
		return nil, err
	}
	err = a.client.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(anotherWriter))
	return object, err
}

// put replaces the whole status, as an update does.
func (a addOn) put(ctx context.Context, version string, conditions ...map[string]any) *unstructured.Unstructured {
	GinkgoHelper()
	object := a.get(ctx, version)
	setConditions(object, conditions...)
	Expect(a.client.Status().Update(ctx, object, client.FieldOwner(anotherWriter))).To(Succeed())
	return object
}

// degrade applies only Degraded, as addon-manager does.
func (a addOn) degrade(ctx context.Context, status metav1.ConditionStatus, reason, message, transition string) {
	GinkgoHelper()
	transitionTime, err := time.Parse(time.RFC3339, transition)
	Expect(err).NotTo(HaveOccurred())
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	Expect(a.client.Get(ctx, a.key(), addOn)).To(Succeed())
	_, err = conditionwriter.Writer{Status: a.client, Live: a.client}.Apply(ctx, manager, addOn, metav1.Condition{
		Type: "Degraded", Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(transitionTime),
	})
	Expect(err).NotTo(HaveOccurred())
}

func entry(kind, status, reason, message, transition string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": transition}
}

func fails(message string) map[string]any {
	return entry("Degraded", "True", required, message, earlyTime)
}

func availableTrue() map[string]any {
	return entry("Available", "True", "Running", "it runs", earlyTime)
}

func guarded(transition string) map[string]any {
	return entry("Available", "False", required, missingBase, transition)
}

// setCondition sets one condition and keeps the others.
func setCondition(condition map[string]any) func([]map[string]any) []map[string]any {
	return func(conditions []map[string]any) []map[string]any {
		for i := range conditions {
			if conditions[i]["type"] == condition["type"] {
				conditions[i] = condition
				return conditions
			}
		}
		return append(conditions, condition)
	}
}

func withConditions(conditions ...map[string]any) func([]map[string]any) []map[string]any {
	return func([]map[string]any) []map[string]any { return conditions }
}

func conditionsOf(object *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	conditions := make([]map[string]any, len(list))
	for i, item := range list {
		conditions[i], _ = item.(map[string]any)
	}
	return conditions
}

func setConditions(object *unstructured.Unstructured, conditions ...map[string]any) {
	GinkgoHelper()
	list := make([]any, len(conditions))
	for i, condition := range conditions {
		list[i] = condition
	}
	Expect(unstructured.SetNestedSlice(object.Object, list, "status", "conditions")).To(Succeed())
}

func find(object *unstructured.Unstructured, kind string) map[string]any {
	for _, condition := range conditionsOf(object) {
		if condition["type"] == kind {
			return condition
		}
	}
	return nil
}

// ownedBy returns managedFields of a writer as one text.
func ownedBy(object *unstructured.Unstructured, writer string) string {
	var owned []string
	for _, fields := range object.GetManagedFields() {
		if fields.Manager == writer {
			owned = append(owned, string(fields.FieldsV1.Raw))
		}
	}
	return strings.Join(owned, "\n")
}
