package records

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

// bench is a reconciler on a fake hub.
type bench struct {
	*Reconciler
	hub    client.Client
	events chan string
	writes int
	// prunes changes a written object as the API server does.
	prunes func(*unstructured.Unstructured)
	fails  error
	// races writes as another writer, between a read and a write of Interlock.
	races func()
}

func newBench(t *testing.T, addOns ...client.Object) *bench {
	t.Helper()
	recorder := k8sevents.NewFakeRecorder(10)
	b := &bench{events: recorder.Events}
	byName := func(object client.Object) []string { return []string{object.GetName()} }
	indexed := fake.NewClientBuilder().WithReturnManagedFields().WithObjects(addOns...).
		WithIndex(declaring("", nil, nil), "metadata.name", byName)
	b.hub = indexed.WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, hub client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if b.writes++; b.fails != nil {
				return b.fails
			}
			if b.races != nil {
				b.races()
			}
			if b.prunes != nil {
				b.prunes(object.(*unstructured.Unstructured))
			}
			return hub.Patch(ctx, object, patch, options...)
		},
	}).Build()
	b.Reconciler = New(b.hub, recorder, prometheus.NewRegistry())
	b.Present = func() bool { return true }
	return b
}

// declaring returns an add-on that declares by field, by annotation or both.
func declaring(name string, dependencies []any, annotations map[string]string) *unstructured.Unstructured {
	addOn := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"addOnMeta": map[string]any{"displayName": name}}}}
	addOn.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ClusterManagementAddOn"))
	addOn.SetName(name)
	addOn.SetAnnotations(annotations)
	if dependencies != nil {
		_ = unstructured.SetNestedSlice(addOn.Object, dependencies, "spec", "dependencies")
	}
	return addOn
}

func onProxy(later bool) []any {
	entry := map[string]any{"name": "proxy", "type": "Required"}
	if later {
		entry["later"] = true // a property of a newer version
	}
	return []any{entry}
}

func byHand(text string) map[string]string {
	return map[string]string{addonv1alpha1.DependenciesAnnotation: text}
}

func (b *bench) reconcile(t *testing.T) reconcile.Result {
	t.Helper()
	result, err := b.Reconcile(t.Context(), reconcile.Request{})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (b *bench) read(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	addOn := declaring(name, nil, nil)
	if err := b.hub.Get(t.Context(), client.ObjectKey{Name: name}, addOn); err != nil {
		t.Fatal(err)
	}
	return addOn
}

// lose removes the field, like an API server whose CRD lacks it.
func (b *bench) lose(t *testing.T, name string) {
	t.Helper()
	addOn := b.read(t, name)
	unstructured.RemoveNestedField(addOn.Object, "spec", "dependencies")
	if err := b.hub.Update(t.Context(), addOn); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsAndRestores(t *testing.T) {
	b := newBench(t, declaring("recorded", onProxy(true), nil), declaring("silent", nil, nil),
		declaring("by-hand", nil, byHand("- name: proxy")))
	if delay := b.reconcile(t).RequeueAfter; delay != 0 || b.writes != 1 {
		t.Errorf("again after %s, %d writes", delay, b.writes)
	}
	const record = `{"dependencies":[{"later":true,"name":"proxy","type":"Required"}]}`
	if got := b.read(t, "recorded").GetAnnotations()[addonv1alpha1.DependenciesAnnotation]; got != record {
		t.Errorf("recorded %s", got)
	}
	b.reconcile(t)
	if b.writes != 1 {
		t.Errorf("%d writes", b.writes)
	}

	b.lose(t, "recorded")
	b.Present = func() bool { return false }
	b.reconcile(t)
	if lost := testutil.ToFloat64(b.lost); b.writes != 1 || lost != 1 || len(b.events) > 0 {
		t.Errorf("the CRD lacks the field: %d writes, %v lost", b.writes, lost)
	}
	b.Present = func() bool { return true }
	b.reconcile(t)
	b.reconcile(t)
	fields, _, _ := unstructured.NestedSlice(b.read(t, "recorded").Object, "spec", "dependencies")
	if entry := fields[0].(map[string]any); entry["later"] != true || b.writes != 3 {
		t.Errorf("restored %v with %d writes", fields, b.writes)
	}
	if len(b.events) != 1 || !strings.HasPrefix(<-b.events, "Normal DeclarationRestored") {
		t.Error("one event says that it was restored")
	}
	if lost, restored := testutil.ToFloat64(b.lost), testutil.ToFloat64(b.restored); lost != 0 || restored != 1 {
		t.Errorf("%v lost, %v restored", lost, restored)
	}
}

// Without admission, no component removes the record together with the field.
func TestMakesNoRecordWithoutAGraft(t *testing.T) {
	b := newBench(t, declaring("field", onProxy(false), nil))
	b.Present = func() bool { return false }
	b.CRDChanged()
	b.reconcile(t)
	if annotations := b.read(t, "field").GetAnnotations(); b.writes != 0 || len(annotations) > 0 {
		t.Errorf("%d writes, annotations %v", b.writes, annotations)
	}
}

func TestReportsARecordThatWasRemoved(t *testing.T) {
	b := newBench(t)
	b.Present = func() bool { return false }
	old := fixture.Annotated("removed", "")
	old.Annotations, _ = declaration.Keep(nil, declarationOf(declaring("removed", onProxy(false), nil)), nil)
	updated := old
	updated.Annotations = nil
	q := newQueue(t)
	b.changes().Update(t.Context(), event.TypedUpdateEvent[registration]{ObjectOld: &old, ObjectNew: &updated}, q)
	if len(b.events) != 1 || q.Len() != 1 {
		t.Fatalf("%d events, %d keys", len(b.events), q.Len())
	}
	b.Present = func() bool { return true } // admission removed both
	b.changes().Update(t.Context(), event.TypedUpdateEvent[registration]{ObjectOld: &old, ObjectNew: &updated}, q)
	if len(b.events) != 1 {
		t.Error("a removal is reported as a loss")
	}
	if event := <-b.events; !strings.HasPrefix(event, "Warning DeclarationRemoved") || !strings.Contains(event, `[{"name":"proxy"`) {
		t.Errorf("event %q does not show what was declared", event)
	}
}

// Server-side apply of the author conflicts with another owner of the fields, and does
// not remove them.
func TestRestoresForTheAuthor(t *testing.T) {
	b := newBench(t, declaring("applied", onProxy(false), nil))
	b.reconcile(t)
	b.lose(t, "applied")
	remaining := b.read(t, "applied")
	remaining.SetLabels(map[string]string{"by": "author"})
	if err := b.hub.Update(t.Context(), remaining, client.FieldOwner("author")); err != nil {
		t.Fatal(err)
	}

	writes := b.writes
	b.races = func() {
		if b.writes != writes+2 { // the second write gives the fields up
			return
		}
		relabeled := b.read(t, "applied")
		relabeled.SetLabels(map[string]string{"by": "another"})
		if err := b.hub.Update(t.Context(), relabeled, client.FieldOwner("another")); err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile(t)
	owners := fmt.Sprint(b.read(t, "applied").GetManagedFields())
	if strings.Contains(owners, names.AddonManager) || !strings.Contains(owners, "another") {
		t.Errorf("owned by %s", owners)
	}
	if len(b.events) != 1 || b.writes != writes+3 {
		t.Errorf("%d writes, %d events", b.writes-writes, len(b.events))
	}
}

func TestRetriesAfterConflicts(t *testing.T) {
	b := newBench(t, declaring("busy", onProxy(false), nil))
	races := 3
	b.races = func() {
		if races--; races < 0 {
			return
		}
		addOn := b.read(t, "busy")
		addOn.SetLabels(map[string]string{"left": strconv.Itoa(races)})
		if races == 0 {
			_ = unstructured.SetNestedSlice(addOn.Object, []any{map[string]any{"name": "tunnel", "type": "Required"}}, "spec", "dependencies")
		}
		if err := b.hub.Update(t.Context(), addOn); err != nil {
			t.Fatal(err)
		}
	}
	if delay := b.reconcile(t).RequeueAfter; delay != 0 || b.writes != 4 {
		t.Errorf("again after %s, %d writes", delay, b.writes)
	}
	const record = `{"dependencies":[{"name":"tunnel","type":"Required"}]}`
	if got := b.read(t, "busy"); got.GetAnnotations()[addonv1alpha1.DependenciesAnnotation] != record || got.GetLabels()["left"] != "0" {
		t.Errorf("recorded %v", got.GetAnnotations())
	}

	b = newBench(t, declaring("deleted", onProxy(false), nil))
	b.races = func() {
		if err := client.IgnoreNotFound(b.hub.Delete(t.Context(), declaring("deleted", nil, nil))); err != nil {
			t.Fatal(err)
		}
	}
	if delay := b.reconcile(t).RequeueAfter; delay != 0 {
		t.Errorf("an add-on that was deleted is tried again after %s", delay)
	}
}

func TestRetriesPrunedFields(t *testing.T) {
	b := newBench(t, declaring("x", onProxy(false), nil))
	b.reconcile(t)
	b.lose(t, "x")
	b.prunes = func(addOn *unstructured.Unstructured) {
		unstructured.RemoveNestedField(addOn.Object, "spec", "dependencies")
	}
	for _, want := range []time.Duration{retryFirst, 2 * retryFirst, 4 * retryFirst} {
		if delay := b.reconcile(t).RequeueAfter; delay != want {
			t.Errorf("again after %s, want %s", delay, want)
		}
	}
	b.prunes, b.fails = nil, apierrors.NewInvalid(schema.GroupKind{Kind: "ClusterManagementAddOn"}, "x", nil)
	if delay := b.reconcile(t).RequeueAfter; delay != 8*retryFirst || len(b.events) > 0 {
		t.Errorf("refused: again after %s, %d events", delay, len(b.events))
	}
	b.fails = nil
	if delay := b.reconcile(t).RequeueAfter; delay != 0 || len(b.events) != 1 {
		t.Errorf("restored: again after %s, %d events", delay, len(b.events))
	}
}

func TestReadsAgainOnceTheCRDIsInUse(t *testing.T) {
	b := newBench(t)
	b.CRDChanged()
	if delay := b.reconcile(t).RequeueAfter; delay != settleTime {
		t.Errorf("again after %s", delay)
	}
	if delay := b.reconcile(t).RequeueAfter; delay != 0 {
		t.Errorf("once more after %s", delay)
	}
}

func TestRequire(t *testing.T) {
	b := newBench(t, declaring("field", onProxy(false), nil), declaring("same", onProxy(false), byHand("- name: proxy")),
		declaring("annotation", nil, byHand("- name: x")))
	if err := Require(t.Context(), b.hub); err != nil || b.writes != 1 {
		t.Errorf("%d writes, error %v", b.writes, err)
	}
	var differ []client.Object
	for i := range 7 {
		differ = append(differ, declaring(fmt.Sprintf("x%d", i), onProxy(false), byHand("- name: other")))
	}
	err := Require(t.Context(), newBench(t, differ...).hub)
	if err == nil || !strings.Contains(err.Error(), "ClusterManagementAddOns x0, x1, x2, x3, x4 and 2 more would be lost") {
		t.Errorf("error %v", err)
	}
	b = newBench(t, declaring("field", onProxy(false), nil))
	b.fails = errors.New("etcd is on fire")
	if err := Require(t.Context(), b.hub); err == nil || !strings.Contains(err.Error(), "field would be lost") {
		t.Errorf("error %v", err)
	}
	absent := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return &meta.NoKindMatchError{}
		},
	}).Build()
	if err := Require(t.Context(), absent); err != nil {
		t.Errorf("without OCM: %v", err)
	}
}

func TestChangesThatEnqueue(t *testing.T) {
	inField, annotated := fixture.Registrations("x: proxy")[0], fixture.Annotated("x", "- name: proxy")
	silent := fixture.Registrations("x:")[0]
	complete, lost := inField, silent
	complete.Annotations = annotated.Annotations
	lost.Annotations, _ = declaration.Keep(nil, declarationOf(declaring("x", onProxy(false), nil)), nil)
	b := newBench(t)
	for name, test := range map[string]struct {
		old, updated registration
		want         bool
	}{
		"declared by field":       {&silent, &inField, true},
		"declared by annotation":  {&silent, &annotated, false},
		"not declared any more":   {&inField, &silent, false},
		"something else changed":  {&inField, &inField, false},
		"its fields are missing":  {&lost, &lost, true},
		"declared by both, alike": {&annotated, &complete, false},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			b.changes().Update(t.Context(), event.TypedUpdateEvent[registration]{ObjectOld: test.old, ObjectNew: test.updated}, q)
			if got := q.Len() > 0; got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
	q := newQueue(t)
	b.changes().Create(t.Context(), event.TypedCreateEvent[registration]{Object: &silent}, q)
	silently := q.Len()
	b.changes().Create(t.Context(), event.TypedCreateEvent[registration]{Object: &inField}, q)
	if silently != 0 || q.Len() != 1 {
		t.Error("at a start, only what lacks a record is read")
	}
}

func newQueue(t *testing.T) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	t.Helper()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	return q
}
