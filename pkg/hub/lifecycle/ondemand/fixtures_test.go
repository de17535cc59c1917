package ondemand

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/approval"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/fixture"
)

// bench is a reconciler on a fake hub with available managed clusters. On each of them, the add-on leaf needs base.
type bench struct {
	*Reconciler
	hub      client.WithWatch
	clock    *clocktesting.FakePassiveClock
	recorder *events.FakeRecorder
	// refuse is asked with each write of a ManagedClusterAddOn.
	refuse func(verb string, key types.NamespacedName) error
	// refuseRecords is true if refuse is asked with each write of an AddOnInstallation, too.
	refuseRecords bool
	// crash is asked with each write of any object, before it and after it.
	crash    func(write string) error
	writes   []string
	clusters int
	uids     int
	// requested is the time of the newest request of facts.
	requested time.Time
	// placements install base if they select the label. Without placements, its install strategy is Manual.
	placements []clusterv1beta1.Placement
}

var errCrash = errors.New("the process has ended")

func newBench(t *testing.T, clusters int) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(fleet.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	b := &bench{
		clock: clocktesting.NewFakePassiveClock(fixture.Now.Time), recorder: events.NewFakeRecorder(10_000), clusters: clusters,
		refuse: func(string, types.NamespacedName) error { return nil }, crash: func(string) error { return nil },
	}
	byName := func(o client.Object) []string { return []string{o.GetName()} }
	builder := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithInterceptorFuncs(b.interceptor()).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexName, byName).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexHosting, hubcache.HostingClusters).
		WithStatusSubresource(&clusterv1.ManagedCluster{}).WithIndex(&dependencyv1alpha1.AddOnInstallation{}, hubcache.IndexName, byName).
		WithIndex(&clusterv1beta1.PlacementDecision{}, hubcache.IndexPlacement, byName) // there are none
	for i := range clusters {
		builder.WithObjects(clusterOf(i), addOn(i, "leaf"))
	}
	b.hub = builder.Build()
	b.Reconciler = &Reconciler{Declarations: declarations.NewStore()}
	b.register(t, consenting(t, "1000"), fixture.Specified(t, "leaf", needing))
	b.lead()
	return b
}

// lead starts another leader, which knows only the stored objects.
func (b *bench) lead() {
	inputs := hubcache.Inputs{
		Reader: hubcache.NewReader(b.hub), Lazy: fleet.Objects{Reader: b.hub}, Watches: fixture.Watches(true),
		Installations: hubcache.NewInstallations(true), Settings: hubcache.NewSettings(true), Reported: noFacts{&b.requested}, Served: noFacts{},
	}
	b.Reconciler = &Reconciler{
		Clock: b.clock, Declarations: b.Declarations, Live: b.hub, Writer: b.hub, Objects: b.hub, Inputs: inputs,
		Assessments: assess.NewStore(), Recorder: b.recorder, Metrics: NewMetrics(prometheus.NewRegistry()),
		Assessor: assess.Assessor{
			Fleet: inputs.Reader, Live: b.hub, Acts: true,
			Loader: fleet.Loader{Reader: inputs, Memory: assess.NewMemory(b.clock), Offline: evaluation.OfflineHold},
		},
		InstallationEvents: approval.Events{Kind: approval.Installations, Clock: b.clock, Recorder: b.recorder},
		RemovalEvents:      approval.Events{Kind: approval.Removals, Clock: b.clock, Recorder: b.recorder},
		Changed:            trigger.New(), Evaluate: trigger.New(), RemovalDelay: time.Hour,
	}
	b.Assessments.Subscribe(b.Assessed)
}

// noFacts are the facts of a fleet without addon-agent, with the time of the newest request.
type noFacts struct{ requested *time.Time }

func (f noFacts) Facts(context.Context, *catalog.Catalog, string) (evaluation.Facts, error) {
	return evaluation.Facts{Requested: *f.requested}, nil
}
func (noFacts) APIFacts() evaluation.APIFacts { return evaluation.APIFacts{} }

// interceptor adds behavior of an API server that the fake client lacks: UIDs, generations and preconditions.
func (b *bench) interceptor() interceptor.Funcs {
	write := func(verb string, object client.Object, request func() error) error {
		kind := object.GetObjectKind().GroupVersionKind().Kind // an applied object has it
		if kind == "" {
			kind = fmt.Sprintf("%T", object)
			kind = kind[strings.LastIndex(kind, ".")+1:]
		}
		name := verb + " " + kind + " " + object.GetName()
		if err := b.crash("before " + name); err != nil {
			return err
		}
		_, records := object.(*dependencyv1alpha1.AddOnInstallation)
		if _, ok := object.(*addonv1alpha1.ManagedClusterAddOn); ok || b.refuseRecords && records {
			if err := b.refuse(verb, client.ObjectKeyFromObject(object)); err != nil {
				return err
			}
		}
		if err := request(); err != nil {
			return err
		}
		b.writes = append(b.writes, name)
		return b.crash("after " + name)
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.CreateOption) error {
			b.uids++
			object.SetUID(types.UID(fmt.Sprint("uid-", b.uids)))
			object.SetGeneration(1)
			return write("create", object, func() error { return hub.Create(ctx, object, options...) })
		},
		Update: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return write("update", object, func() error { return hub.Update(ctx, object, options...) })
		},
		Apply: func(ctx context.Context, hub client.WithWatch, applied runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return write("apply", applied.(client.Object), func() error { return hub.Apply(ctx, applied, options...) })
		},
		Delete: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return write("delete", object, func() error { return hub.Delete(ctx, object, options...) })
		},
	}
}

func clusterOf(i int) *clusterv1.ManagedCluster {
	name := fmt.Sprintf("cluster%03d", i)
	joined := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	joined.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	return joined
}

func addOn(i int, name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: clusterOf(i).Name, Name: name}}
}

func keyOn(i int, name string) types.NamespacedName {
	return client.ObjectKeyFromObject(addOn(i, name))
}

// needing is the registration of leaf, which has base installed and removed.
const needing = "{dependencies: [{name: base, install: Auto, removal: WithLastDependent}]}"

// consenting is the registration of base, whose owner consents, and approves a change of so many managed clusters.
func consenting(t *testing.T, approved string) addonv1alpha1.ClusterManagementAddOn {
	t.Helper()
	registered := fixture.Specified(t, "base", "{installStrategy: {type: Manual}}")
	registered.Annotations = map[string]string{
		addonv1alpha1.InstallOnDemandAnnotation: "true",
		addonv1alpha1.ApproveInstallAnnotation:  approved, addonv1alpha1.ApproveRemovalAnnotation: approved,
	}
	return registered
}

// register replaces all registrations.
func (b *bench) register(t *testing.T, addOns ...addonv1alpha1.ClusterManagementAddOn) {
	t.Helper()
	b.Declarations.Set(evaluation.New(catalog.New(addOns).Consented(catalog.Placements{Items: b.placements})))
	previous := b.crash
	defer func() { b.crash = previous }()
	b.crash = func(string) error { return nil }
	for i := range addOns {
		stored := addOns[i].DeepCopy()
		if err := client.IgnoreNotFound(b.hub.Delete(t.Context(), stored.DeepCopy())); err != nil {
			t.Fatal(err)
		}
		stored.ResourceVersion = ""
		if err := b.hub.Create(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
}

// assess lets all add-ons on managed clusters be assessed.
func (b *bench) assess(t *testing.T) {
	t.Helper()
	declared := b.Declarations.Current()
	for i := range b.clusters {
		for _, name := range declared.AddOns() {
			addOn, err := b.Inputs.AddOn(t.Context(), keyOn(i, name))
			if err != nil {
				t.Fatal(err)
			}
			if addOn == nil {
				b.Assessments.Delete(keyOn(i, name))
				continue
			}
			state, err := b.Assessor.Loader.Load(t.Context(), declared, keyOn(i, name), b.clock.Now())
			if err != nil {
				t.Fatal(err)
			}
			b.Assessments.Set(keyOn(i, name), declared, outcome.Assessment{Findings: declared.Evaluate(name, state)})
		}
	}
}

// round assesses all add-ons, and decides on base on all managed clusters. It returns the writes and the error.
func (b *bench) round(t *testing.T, delay time.Duration) (writes []string, failed error) {
	t.Helper()
	b.clock.SetTime(b.clock.Now().Add(delay))
	b.writes = nil
	b.assess(t)
	var failures []error
	for _, key := range append([]types.NamespacedName{Everything}, b.subjects()...) {
		_, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
		failures = append(failures, err)
	}
	writes = b.writes
	if b.placements != nil {
		b.place(t)
	}
	return writes, errors.Join(failures...)
}

func (b *bench) subjects() (keys []types.NamespacedName) {
	for i := range b.clusters {
		for _, name := range []string{"base", "mid"} {
			keys = append(keys, keyOn(i, name))
		}
	}
	return keys
}

// settle lets rounds pass until nothing is written any more. It returns all that was written.
func (b *bench) settle(t *testing.T) (failures []string) {
	t.Helper()
	for range 10 {
		writes, err := b.round(t, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if failures = append(failures, writes...); len(writes) == 0 {
			return failures
		}
	}
	t.Fatalf("no end of writes: %q", failures)
	return nil
}

// stored describes the AddOnInstallation of base on the first managed cluster. It is empty if there is none.
func (b *bench) stored(t *testing.T) string {
	t.Helper()
	object := &dependencyv1alpha1.AddOnInstallation{}
	err := b.hub.Get(t.Context(), keyOn(0, "base"), object)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		return ""
	}
	text := string(object.Status.Phase)
	for _, condition := range object.Status.Conditions {
		if condition.Reason != text {
			text += " " + condition.Reason
		}
	}
	return text
}

// installed counts the managed clusters on which base is installed.
func (b *bench) installed(t *testing.T) (count int) {
	t.Helper()
	for i := range b.clusters {
		addOn, err := b.Inputs.AddOn(t.Context(), keyOn(i, "base"))
		if err != nil {
			t.Fatal(err)
		}
		if addOn != nil {
			count++
		}
	}
	return count
}

func (b *bench) delete(t *testing.T, object client.Object) {
	t.Helper()
	if err := b.hub.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) create(t *testing.T, object client.Object) {
	t.Helper()
	if err := b.hub.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// emitted returns the reasons of the events since the last call.
func (b *bench) emitted() (reasons []string) {
	for len(b.recorder.Events) > 0 {
		reasons = append(reasons, strings.Fields(<-b.recorder.Events)[1])
	}
	return reasons
}
