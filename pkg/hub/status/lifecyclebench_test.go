package status

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"golang.org/x/time/rate"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/fixture"
)

// lifecycleHub is a fake hub with a reconciler that runs the lifecycle.
type lifecycleHub struct {
	client.WithWatch
	*Reconciler
	events chan string
	// writes has the kinds of the writes: "conditions" or "gate". refuses has errors by kind.
	writes  []string
	refuses map[string]error
}

// newLifecycleHub returns a hub with registrations, AddOnTemplates, a managed cluster that may be lost, and add-ons there.
func newLifecycleHub(
	t *testing.T,
	registrations []addonv1alpha1.ClusterManagementAddOn,
	templates []addonv1alpha1.AddOnTemplate,
	lost bool,
	addOns ...client.Object,
) *lifecycleHub {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: leaf.Namespace}}
	status := metav1.ConditionTrue
	if lost {
		status = metav1.ConditionUnknown
	}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
	objects := append([]client.Object{cluster}, addOns...)
	for i := range templates {
		objects = append(objects, templates[i].DeepCopy())
	}
	h := &lifecycleHub{refuses: map[string]error{}}
	h.WithWatch = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexHosting, hubcache.HostingClusters).
		WithStatusSubresource(&addonv1alpha1.ManagedClusterAddOn{}).Build()
	writer := interceptor.NewClient(h.WithWatch, interceptor.Funcs{SubResourceApply: h.apply, Patch: h.patch})
	fakeClock, reader := clocktesting.NewFakeClock(fixture.Now.Time), hubcache.NewReader(h.WithWatch)
	recorder := events.NewFakeRecorder(10)
	h.events = recorder.Events
	h.Reconciler = &Reconciler{
		Clock: fakeClock, Declarations: declarations.NewStore(), Store: assess.NewStore(), Memory: assess.NewMemory(fakeClock),
		Writer: conditionwriter.Writer{Status: writer, Live: writer}, Client: writer, Live: h.WithWatch,
		Assessor: assess.Assessor{
			Fleet: reader, Live: h.WithWatch, Acts: true, Loader: fleet.Loader{Offline: evaluation.OfflineHold, Reader: hubcache.Inputs{
				Reader:        reader,
				Lazy:          fleet.Objects{Reader: h.WithWatch},
				Watches:       fixture.Watches(true),
				Installations: hubcache.NewInstallations(true), Settings: hubcache.NewSettings(true),
				Reported: emptyInputs{},
				Served:   emptyInputs{},
			}},
		},
		Backoff: backoff.New(fakeClock), Metrics: metrics.New(prometheus.NewRegistry()), Recorder: recorder, Evaluate: trigger.New(),
		Messages: rate.NewLimiter(gate.MessagesPerSecond, gate.MessagesAtOnce),
	}
	h.Store.Subscribe(h.review)
	h.Declarations.Set(evaluation.New(catalog.New(registrations, templates...)))
	return h
}

// patch opens a gate.
func (h *lifecycleHub) patch(
	ctx context.Context,
	c client.WithWatch,
	object client.Object,
	patch client.Patch,
	o ...client.PatchOption,
) error {
	h.writes = append(h.writes, "gate")
	if err := h.refuses["gate"]; err != nil {
		return err
	}
	return c.Patch(ctx, object, patch, o...)
}

// apply stores an apply configuration as an API server does. The fake client would replace the list of conditions.
func (h *lifecycleHub) apply(
	ctx context.Context,
	hub client.Client,
	_ string,
	configuration runtime.ApplyConfiguration,
	_ ...client.SubResourceApplyOption,
) error {
	h.writes = append(h.writes, "conditions")
	if err := h.refuses["conditions"]; err != nil {
		return err
	}
	applied, stored := &addonv1alpha1.ManagedClusterAddOn{}, &addonv1alpha1.ManagedClusterAddOn{}
	content, err := json.Marshal(configuration)
	if err = errors.Join(err, json.Unmarshal(content, applied), hub.Get(ctx, client.ObjectKeyFromObject(applied), stored)); err != nil {
		return err
	}
	for _, condition := range applied.Status.Conditions {
		meta.SetStatusCondition(&stored.Status.Conditions, condition)
	}
	if applied.Status.HealthCheck.Mode != "" {
		stored.Status.HealthCheck = applied.Status.HealthCheck
	}
	err = hub.Status().Update(ctx, stored)
	configuration.(interface{ SetResourceVersion(version string) }).SetResourceVersion(stored.ResourceVersion) // as in the response
	return err
}

// settle reconciles leaf until no write follows, and returns it.
func (h *lifecycleHub) settle(t *testing.T) *addonv1alpha1.ManagedClusterAddOn {
	t.Helper()
	for previous := -1; previous != len(h.writes); {
		previous = len(h.writes)
		if _, err := h.Reconcile(t.Context(), reconcile.Request{NamespacedName: leaf}); err != nil {
			t.Fatal(err)
		}
		if previous > 7 {
			t.Fatalf("it does not settle: %q", h.writes)
		}
	}
	return h.read(t, leaf.Name)
}

// read returns an add-on as it is stored.
func (h *lifecycleHub) read(t *testing.T, name string) *addonv1alpha1.ManagedClusterAddOn {
	t.Helper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := h.Get(t.Context(), types.NamespacedName{Namespace: leaf.Namespace, Name: name}, addOn); err != nil {
		t.Fatal(err)
	}
	return addOn
}

// faults lets one write fail, each time on a new hub. says is the error for a write that the hub refuses. After the failure, leaf reaches
// the expected state.
func faults(
	t *testing.T,
	write, says string,
	start func(*testing.T) *lifecycleHub,
	asItHasToBe func(*addonv1alpha1.ManagedClusterAddOn) bool,
) {
	t.Helper()
	broken := errors.New("the hub is busy")
	for name, test := range map[string]struct {
		refused error
		retries bool
		fails   string
	}{
		"Conflict": {apierrors.NewConflict(resource, leaf.Name, broken), true, ""},
		"NotFound": {apierrors.NewNotFound(resource, leaf.Name), false, ""},
		"Refused":  {broken, false, says + ": the hub is busy"},
	} {
		t.Run(name, func(t *testing.T) {
			hub := start(t)
			hub.refuses[write] = test.refused
			result, err := hub.Reconcile(t.Context(), reconcile.Request{NamespacedName: leaf})
			if (err == nil) != (test.fails == "") || err != nil && err.Error() != test.fails || result.IsZero() == test.retries {
				t.Errorf("%+v, %v", result, err)
			}
			delete(hub.refuses, write)
			if leafAddOn := hub.settle(t); !asItHasToBe(leafAddOn) {
				t.Errorf("after it: %+v", leafAddOn.Status.Conditions)
			}
		})
	}
}

// insist lets another writer set conditions again and again. The test fails if each of these writes is corrected at once.
func (h *lifecycleHub) insist(t *testing.T, conditions ...metav1.Condition) {
	t.Helper()
	waited := false
	for range 3 {
		leafAddOn := h.settle(t)
		leafAddOn.Status.Conditions = conditions
		if err := h.Status().Update(t.Context(), leafAddOn); err != nil {
			t.Fatal(err)
		}
		result, err := h.Reconcile(t.Context(), reconcile.Request{NamespacedName: leaf})
		if err != nil {
			t.Fatal(err)
		}
		waited = waited || result.RequeueAfter > 0
	}
	if !waited {
		t.Error("it is written again at once, each time")
	}
}

// since returns a condition that has had its status for an hour.
func since(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type:               kind,
		Status:             status,
		Reason:             reason,
		Message:            message,
		LastTransitionTime: metav1.NewTime(fixture.Now.Add(-time.Hour)),
	}
}

// emptyInputs has no reported facts and no APIs of the hub.
type emptyInputs struct{}

func (emptyInputs) Facts(context.Context, *catalog.Catalog, string) (evaluation.Facts, error) {
	return evaluation.Facts{}, nil
}

func (emptyInputs) APIFacts() evaluation.APIFacts { return nil }
