package status

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"golang.org/x/time/rate"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/names"
)

var (
	leaf     = types.NamespacedName{Namespace: "cluster1", Name: "leaf"}
	resource = schema.GroupResource{Group: addonv1alpha1.GroupVersion.Group, Resource: "managedclusteraddons"}
	aTime    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

type (
	queue     = trigger.Queue
	installed = *addonv1alpha1.ManagedClusterAddOn
)

// bench is a reconciler on a fake hub, with the events that it emits. The add-on "leaf"
// requires "base".
type bench struct {
	*Reconciler
	clock    *clocktesting.FakeClock
	registry *prometheus.Registry
	events   chan string
	hub      client.Client
	applies  int
	refusal  error // of the API server to the next write
	lazy     *lazy
	inputs   *hubcache.Inputs
}

// lazy has the state of the lazy watches.
type lazy struct {
	configs, ocm bool
	version      string
	facts        evaluation.Facts
	// templates are the versions of AddOnTemplates by name, once they have been read.
	templatesRead bool
	templates     map[string]string
}

// Demand and Late implement hubcache.Watches.
func (k *lazy) Demand(inputs input.Set) bool { return k.Ready(inputs) }
func (*lazy) Late(input.Set) bool            { return false }

// Ready implements hubcache.Watches.
func (k *lazy) Ready(inputs input.Set) bool {
	return map[input.Set]bool{input.Config: k.configs, input.OCM: k.ocm, input.Versions: k.templatesRead}[inputs]
}

// lazyReader reads configs from the hub, and versions from lazy.
type lazyReader struct {
	client.Reader
	*lazy
}

func (r lazyReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	switch into := object.(type) {
	case *addonv1alpha1.AddOnTemplate:
		into.SetAnnotations(map[string]string{addonv1alpha1.AddOnVersionAnnotation: r.templates[key.Name]})
	case *metav1.PartialObjectMetadata: // of the CRD
		into.SetAnnotations(map[string]string{names.OCMVersion: r.version})
	default:
		return r.Reader.Get(ctx, key, into, options...)
	}
	return nil
}

func (k *lazy) Facts(context.Context, *catalog.Catalog, string) (evaluation.Facts, error) {
	return k.facts, nil
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	registration := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}}
	registration.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "base"}}
	store := declarations.NewStore()
	store.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{registration})))
	recorder := events.NewFakeRecorder(100)

	b := &bench{
		lazy:     &lazy{configs: true, ocm: true, version: "1.3.1"},
		clock:    clocktesting.NewFakeClock(aTime),
		registry: prometheus.NewRegistry(),
		events:   recorder.Events,
	}
	b.hub = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexHosting, hubcache.HostingClusters).
		WithStatusSubresource(&addonv1alpha1.ManagedClusterAddOn{}).Build()
	writer := interceptor.NewClient(b.hub.(client.WithWatch), interceptor.Funcs{
		SubResourceApply: func(context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
			b.applies++
			return b.refusal
		},
	})
	measured := metrics.New(b.registry)
	measured.SetAddOns([]string{leaf.Name})
	memory := assess.NewMemory(b.clock)
	b.inputs = &hubcache.Inputs{
		Reader:        hubcache.NewReader(b.hub),
		Lazy:          fleet.Objects{Reader: lazyReader{b.hub, b.lazy}},
		Watches:       b.lazy,
		Installations: hubcache.NewInstallations(false), Settings: hubcache.NewSettings(false),
		Reported: b.lazy,
	}
	b.Reconciler = &Reconciler{
		Clock: b.clock, Writer: conditionwriter.Writer{Status: writer, Live: writer}, Declarations: store, Store: assess.NewStore(),
		Backoff: backoff.New(b.clock), Metrics: measured, Recorder: recorder,
		Messages: rate.NewLimiter(gate.MessagesPerSecond, gate.MessagesAtOnce),
		Assessor: assess.Assessor{
			Fleet: hubcache.NewReader(b.hub), Live: b.hub,
			Loader: fleet.Loader{Reader: b.inputs, Memory: memory, Offline: evaluation.OfflineHold},
		},
		Memory: memory, Client: writer, Live: b.hub, Evaluate: trigger.New(),
	}
	return b
}

func (b *bench) reconcile(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return b.Reconcile(t.Context(), reconcile.Request{NamespacedName: leaf})
}

// read replaces the client for reads of the reconciler.
func (b *bench) read(reader client.Reader) {
	b.Assessor.Fleet, b.inputs.Reader = hubcache.NewReader(reader), hubcache.NewReader(reader)
	b.inputs.Lazy = fleet.Objects{Reader: lazyReader{reader, b.lazy}}
}

// findings loads and evaluates the state of the add-on.
func (b *bench) findings(t *testing.T) []evaluation.Finding {
	t.Helper()
	evaluator := b.Declarations.Current()
	state, err := b.Assessor.Loader.Load(t.Context(), evaluator, leaf, aTime)
	if err != nil {
		t.Fatal(err)
	}
	return evaluator.Evaluate(leaf.Name, state)
}

func (b *bench) emitted() []string {
	var emitted []string
	for {
		select {
		case event := <-b.events:
			emitted = append(emitted, event)
		default:
			return emitted
		}
	}
}

// expectWrites compares the counter of writes with lines of its labels.
func (b *bench) expectWrites(t *testing.T, lines ...string) {
	t.Helper()
	text := "# HELP " + metrics.NameWrites + " " + metrics.Help[metrics.NameWrites] + "\n# TYPE " + metrics.NameWrites + " counter\n"
	for _, line := range lines {
		text += metrics.NameWrites + line + "\n"
	}
	if err := testutil.GatherAndCompare(b.registry, strings.NewReader(text), metrics.NameWrites); err != nil {
		t.Error(err)
	}
}

func addOn(name string, conditions ...metav1.Condition) *addonv1alpha1.ManagedClusterAddOn {
	object := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: leaf.Namespace, Name: name}}
	object.Status.Conditions = conditions
	return object
}

func conditionOf(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(aTime)}
}

// failing is a reader that cannot read one kind.
type failing struct {
	client.Reader
	kind string
	err  error
}

func (f failing) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if fmt.Sprintf("%T", object) == f.kind {
		return f.err
	}
	return f.Reader.Get(ctx, key, object, options...)
}

func (f failing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if fmt.Sprintf("%T", list) == f.kind+"List" {
		return f.err
	}
	return f.Reader.List(ctx, list, options...)
}
