package configurer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

var base = types.NamespacedName{Namespace: "c", Name: "base"}

// recorder keeps emitted events, and the add-ons that they are on.
type recorder struct {
	*events.FakeRecorder
	addOns []string
}

// Eventf implements events.EventRecorder.
func (r *recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	r.addOns = append(r.addOns, regarding.(*corev1.ObjectReference).Name)
	r.FakeRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
}

// bench is a reconciler on a fake hub, on whose cluster c the add-on leaf requests the mode grpc of base.
type bench struct {
	*Reconciler
	hub      client.Client
	clock    *clocktesting.FakePassiveClock
	recorder *recorder
	// refused is the error of reads of a kind, or of "apply".
	refused map[string]error
	// applied counts writes of settings, and patched those of the annotation only.
	applied, patched int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	b := &bench{
		recorder: &recorder{FakeRecorder: events.NewFakeRecorder(100)},
		clock:    clocktesting.NewFakePassiveClock(fixture.Now.Time),
		refused:  map[string]error{},
	}
	registered := fixture.Specified(t, "base", `{installStrategy: {type: Manual}, supportedConfigs: [{group: addon.open-cluster-management.io,
		resource: addondeploymentconfigs, defaultConfig: {namespace: d, name: default}}]}`)
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: base.Namespace, Name: base.Name, UID: "uid",
		Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock},
	}}
	installed.Spec.Configs = []ocmv1alpha1.AddOnConfig{{
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupVersion.Group, Resource: fleet.ResourceConfig},
		ConfigReferent:      ocmv1alpha1.ConfigReferent{Namespace: base.Namespace, Name: "interlock-base"},
	}}
	displaced := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "default"}}
	displaced.Spec.AgentInstallNamespace = "agents"
	objects := []client.Object{&registered, installed, displaced, managed(metav1.ConditionTrue)}
	b.hub = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			kind := object.GetObjectKind().GroupVersionKind().Kind
			if _, isAddOn := object.(*addonv1alpha1.ManagedClusterAddOn); isAddOn {
				kind = "ManagedClusterAddOn"
			}
			if err := b.refused[kind]; err != nil {
				return err
			}
			return hub.Get(ctx, key, object, options...)
		},
		Apply: func(ctx context.Context, hub client.WithWatch, config runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if err := b.refused["apply"]; err != nil {
				return err
			}
			b.applied++
			return hub.Apply(ctx, config, options...)
		},
		Patch: func(ctx context.Context, hub client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if len(options) > 0 { // it is not one of the test
				if err := b.refused["patch"]; err != nil {
					return err
				}
				b.patched++
			}
			return hub.Patch(ctx, object, patch, options...)
		},
	}).Build()
	b.Reconciler = &Reconciler{Declarations: declarations.NewStore(), Requests: &RequestStore{}}
	b.restart()
	b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		registered, fixture.Specified(t, "leaf",
			"dependencies: [{name: base, install: Auto, settings: {variables: [{name: mode, value: grpc}]}}]"),
	})))
	b.request("leaf", "grpc")
	return b
}

// restart replaces the reconciler by the one of a new leader, which has only what is stored.
func (b *bench) restart() {
	b.Reconciler = &Reconciler{
		Clock: b.clock, Fleet: hubcache.NewReader(b.hub), Declarations: b.Declarations,
		Requests: &RequestStore{Changed: trigger.New(), requests: b.Requests.requests},
		Changes:  &Changes{Changed: trigger.New()}, Live: b.hub, Writer: b.hub, Recorder: b.recorder,
		Outcomes: hubcache.NewSettings(true), Evaluate: trigger.New(),
	}
}

// seal makes the add-on leaf request a sealed mode.
func (b *bench) seal(mode string) {
	finding := edgeWithSettings("base", mode)
	variables, _ := finding.Settings()
	for i := range variables {
		variables[i].Sealed = true
	}
	b.Requests.Update(types.NamespacedName{Namespace: base.Namespace, Name: "leaf"}, []evaluation.Finding{finding})
}

func (b *bench) request(dependent, mode string) {
	b.Requests.Update(types.NamespacedName{Namespace: base.Namespace, Name: dependent}, []evaluation.Finding{edgeWithSettings("base", mode)})
}

// reconcile returns the stored config, and the reasons of events since the last call.
func (b *bench) reconcile(t *testing.T) (config *addonv1alpha1.AddOnDeploymentConfig, emitted []string, result reconcile.Result) {
	t.Helper()
	result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: base})
	if err != nil {
		t.Fatal(err)
	}
	for len(b.recorder.Events) > 0 {
		emitted = append(emitted, strings.Fields(<-b.recorder.Events)[1])
	}
	config = &addonv1alpha1.AddOnDeploymentConfig{}
	if err := b.hub.Get(t.Context(), types.NamespacedName{Namespace: base.Namespace, Name: "interlock-base"},
		config); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return config, emitted, result
}

func (b *bench) change(t *testing.T, object client.Object, patch string) {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.hub.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, encoded)); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsAreWrittenOnce(t *testing.T) {
	b := newBench(t)
	b.FirstPass = firstpass.New()
	queued := triggertest.Enqueued(t, b.Requests.Changed)
	leaf := types.NamespacedName{Namespace: base.Namespace, Name: "leaf"}
	b.FirstPass.Add(leaf)
	b.FirstPass.Listed()
	b.FirstPass.Failed(leaf)
	if config, _, result := b.reconcile(t); config.Name != "" || !result.IsZero() {
		t.Errorf("at first: %v %v", config, result)
	}
	if b.FirstPass.Assessed(leaf); !slices.Equal(queued(), []string{base.String()}) {
		t.Error("is not triggered")
	}
	config, emitted, _ := b.reconcile(t)
	if config.Spec.AgentInstallNamespace != "agents" || len(config.Spec.CustomizedVariables) != 1 ||
		config.Spec.CustomizedVariables[0].Value != "grpc" || len(emitted) > 0 {
		t.Fatalf("got %v, %v", config.Spec, emitted)
	}
	if owners := config.OwnerReferences; len(owners) != 1 || owners[0].UID != "uid" || config.Labels[names.ManagedBy] != names.AddonManager {
		t.Errorf("got %v", config.ObjectMeta)
	}
	if b.reconcile(t); b.applied != 1 {
		t.Errorf("written %d times", b.applied)
	}
}

// An add-on that a user, GitOps or the plugin has installed gets settings, if it refers to the AddOnDeploymentConfig of Interlock.
func TestWhoeverRefersToThemGetsSettings(t *testing.T) {
	b := newBench(t)
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: base.Namespace, Name: base.Name}}
	b.change(t, installed, "metadata: {labels: null}")
	config, emitted, _ := b.reconcile(t)
	if len(config.Spec.CustomizedVariables) != 1 || config.Spec.CustomizedVariables[0].Value != "grpc" || len(emitted) > 0 {
		t.Errorf("got %v, %v", config.Spec, emitted)
	}
}

// OCM deploys an add-on that refers to an AddOnDeploymentConfig only once that exists. kubectl addon install creates dependencies first,
// so that nothing requests settings yet.
func TestTheReferenceIsEnough(t *testing.T) {
	b := newBench(t)
	b.Requests.Update(types.NamespacedName{Namespace: base.Namespace, Name: "leaf"}, nil)
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: base.Namespace, Name: base.Name}}
	b.change(t, installed, "metadata: {labels: null}")
	b.refer(t)
	if config, emitted, _ := b.reconcile(t); config.Name == "" || len(emitted) > 0 || b.applied != 1 {
		t.Errorf("got %v, %v", config.Spec, emitted)
	}
}

// managed is the managed cluster of base.
func managed(available metav1.ConditionStatus) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: base.Namespace}}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: available}}
	return cluster
}

func TestNothingIsWrittenToALostCluster(t *testing.T) {
	b := newBench(t)
	set := func(available string) {
		b.change(t, managed(""), "status: {conditions: [{type: ManagedClusterConditionAvailable, status: '"+available+"'}]}")
	}
	set("Unknown")
	if b.reconcile(t); b.applied != 0 {
		t.Errorf("written %d times", b.applied)
	}
	set("True")
	enqueued := triggertest.Enqueued(t, b.Requests.Changed)
	b.clusters().UpdateFunc(t.Context(), event.TypedUpdateEvent[*clusterv1.ManagedCluster]{
		ObjectOld: managed(metav1.ConditionUnknown), ObjectNew: managed(metav1.ConditionTrue),
	}, nil)
	if got := enqueued(); !slices.Equal(got, []string{base.String()}) {
		t.Errorf("enqueued %q", got)
	}
	if b.reconcile(t); b.applied != 1 {
		t.Errorf("written %d times", b.applied)
	}
}

// A default that is gone for a moment, as while GitOps replaces it, is no empty one.
func TestADefaultThatIsGone(t *testing.T) {
	b := newBench(t)
	previous, _, _ := b.reconcile(t)
	byDefault := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "default"}}
	byDefault.Spec.AgentInstallNamespace = "agents"
	if err := b.hub.Delete(t.Context(), byDefault.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	enqueued := triggertest.Enqueued(t, b.Changes.Changed)
	b.Changes.Config(client.ObjectKeyFromObject(byDefault))
	if !slices.Equal(enqueued(), []string{base.String()}) {
		t.Error("the deletion is not noticed")
	}
	config, emitted, _ := b.reconcile(t)
	if config.ResourceVersion != previous.ResourceVersion || !slices.Equal(emitted, []string{EventUnset}) {
		t.Errorf("gone: %+v, emitted %q", config.Spec, emitted)
	}
	if err := b.hub.Create(t.Context(), byDefault); err != nil {
		t.Fatal(err)
	}
	if config, _, _ := b.reconcile(t); config.ResourceVersion != previous.ResourceVersion || b.applied != 1 {
		t.Errorf("back: %+v, written %d times", config.Spec, b.applied)
	}
}

func TestWhatIsNotSet(t *testing.T) {
	addOn := func() client.Object {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: base.Namespace, Name: base.Name}}
	}
	for name, test := range map[string]struct {
		reason  string
		prepare func(t *testing.T, b *bench)
		emitted []string
		want    settings.Obstacle
	}{
		"Displaced": {"its user refers to another one", func(t *testing.T, b *bench) {
			t.Helper()
			b.change(t, addOn(),
				"spec: {configs: [{group: addon.open-cluster-management.io, resource: addondeploymentconfigs, namespace: c, name: mine}]}")
		}, []string{EventUnset}, settings.NotReferred},
		"Unsupported": {"it can have none", func(t *testing.T, b *bench) {
			t.Helper()
			b.change(t, &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: base.Name}}, "spec: {supportedConfigs: []}")
		}, []string{EventUnset}, settings.NotSupported},
		"Foreign": {"one of a user has its name", func(t *testing.T, b *bench) {
			t.Helper()
			foreign := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: base.Namespace, Name: "interlock-base"}}
			if err := b.hub.Create(t.Context(), foreign); err != nil {
				t.Fatal(err)
			}
		}, []string{EventUnset}, settings.NotOwned},
		"NotRegistered": {"it has no registration", func(_ *testing.T, b *bench) {
			b.Declarations.Set(evaluation.New(catalog.New(nil)))
		}, nil, settings.NotRegistered},
		"Terminating": {"it is being deleted", func(t *testing.T, b *bench) {
			t.Helper()
			b.change(t, addOn(), "metadata: {finalizers: [example.com/kept]}")
			_ = b.hub.Delete(t.Context(), addOn())
		}, nil, settings.NoObstacle},
		"Unreachable": {"its cluster is not available", func(t *testing.T, b *bench) {
			t.Helper()
			b.change(t, managed(metav1.ConditionTrue), "status: {conditions: []}")
		}, nil, settings.NoObstacle},
		"Held": {"a request is not known", func(_ *testing.T, b *bench) { b.request("other", "") }, nil, settings.NoObstacle},
		"Deleted": {"it is gone", func(t *testing.T, b *bench) {
			t.Helper()
			_ = b.hub.Delete(t.Context(), addOn())
		}, nil, settings.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			test.prepare(t, b)
			if _, emitted, _ := b.reconcile(t); !slices.Equal(emitted, test.emitted) || b.applied > 0 {
				t.Errorf("%s: emitted %v, written %d times", test.reason, emitted, b.applied)
			}
			if _, emitted, _ := b.reconcile(t); len(emitted) > 0 {
				t.Errorf("%s: emitted again: %v", test.reason, emitted)
			}
			if got := b.Outcomes.Outcome(base); !got.Equal(settings.Outcome{Obstacle: test.want}) {
				t.Errorf("%s: outcome %v", test.reason, got)
			}
		})
	}
}

func TestAConflictIsReportedToEach(t *testing.T) {
	b := newBench(t)
	b.request("other", "http")
	config, emitted, _ := b.reconcile(t)
	if !slices.Equal(emitted, []string{EventConflict, EventConflict}) || len(config.Spec.CustomizedVariables) > 0 {
		t.Errorf("got %v, %v", emitted, config.Spec)
	}
	if got := b.Outcomes.Outcome(base); !got.Equal(settings.Outcome{Conflicts: []string{"mode"}}) {
		t.Errorf("outcome %v", got)
	}
	b.request("other", "grpc")
	if config, emitted, _ := b.reconcile(t); len(emitted) > 0 || len(config.Spec.CustomizedVariables) != 1 {
		t.Errorf("got %v, %v", emitted, config.Spec)
	}
	if got := b.Outcomes.Outcome(base); !got.Equal(settings.Outcome{}) {
		t.Errorf("outcome %v", got)
	}
}

// A failed read or write is tried again, and emits no event.
func TestErrors(t *testing.T) {
	for _, kind := range []string{"ManagedClusterAddOn", "AddOnDeploymentConfig", "apply"} {
		b := newBench(t)
		b.refused[kind] = errors.New("the hub is busy")
		if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: base}); err == nil || !strings.Contains(err.Error(),
			"the hub is busy") {
			t.Errorf("%s: %v", kind, err)
		}
		if len(b.recorder.Events) > 0 || b.applied > 0 {
			t.Errorf("%s: %d events, %d writes", kind, len(b.recorder.Events), b.applied)
		}
	}
}

// refer sets the status that OCM writes for a reference to an AddOnDeploymentConfig that does not exist.
func (b *bench) refer(t *testing.T) {
	t.Helper()
	b.change(t, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: base.Namespace, Name: base.Name}},
		"status: {configReferences: [{group: addon.open-cluster-management.io, resource: addondeploymentconfigs, "+
			"name: interlock-base, namespace: c, desiredConfig: {name: interlock-base, namespace: c, specHash: ''}}]}")
}

// Without an event, a refusal or a missing default is in the log only, and the add-on is never deployed.
func TestWhatKeepsAConfigFromBeingCreated(t *testing.T) {
	resource := schema.GroupResource{Group: addonv1alpha1.GroupVersion.Group, Resource: fleet.ResourceConfig}
	missing := func(t *testing.T, b *bench) {
		t.Helper()
		byDefault := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "default"}}
		if err := b.hub.Delete(t.Context(), byDefault); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error) func(*testing.T, *bench) {
		return func(_ *testing.T, b *bench) { b.refused["apply"] = err }
	}
	forbidden := refused(apierrors.NewForbidden(resource, "interlock-base", errors.New("exceeded quota: settings")))
	for name, test := range map[string]struct {
		prepare     func(*testing.T, *bench)
		unrequested bool
		on, note    string
	}{
		"Refused": {
			forbidden, false, "leaf",
			"OCM does not deploy 'base' until AddOnDeploymentConfig 'interlock-base' with its settings exists: the hub refuses to store " +
				`its settings: addondeploymentconfigs.addon.open-cluster-management.io "interlock-base" is forbidden: exceeded quota: settings`,
		},
		"RefusedWithoutADependent":    {forbidden, true, "base", "is forbidden: exceeded quota: settings"},
		"AFailingWebhook":             {refused(apierrors.NewInternalError(errors.New("calling webhook"))), false, "leaf", "calling webhook"},
		"NoNamespace":                 {refused(apierrors.NewNotFound(resource, "c")), false, "leaf", "not found"},
		"NoDefault":                   {missing, false, "leaf", "exists: its default AddOnDeploymentConfig 'd/default' is not found"},
		"NoDefaultWithoutADependent":  {missing, true, "base", "exists: its default AddOnDeploymentConfig 'd/default' is not found"},
		"BusyIsNoRefusal":             {refused(apierrors.NewTooManyRequests("later", 1)), false, "", ""},
		"ConflictIsNoRefusal":         {refused(apierrors.NewConflict(resource, "interlock-base", nil)), false, "", ""},
		"NoConnectionIsNoRefusal":     {refused(errors.New("connection refused")), false, "", ""},
		"BusyWithoutADependentEither": {refused(apierrors.NewTooManyRequests("later", 1)), true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.refer(t)
			if test.unrequested {
				b.Requests.Update(types.NamespacedName{Namespace: base.Namespace, Name: "leaf"}, nil)
			}
			test.prepare(t, b)
			for range 3 { // it is tried again
				_, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: base})
				if (err != nil) != (b.refused["apply"] != nil) {
					t.Fatal(err)
				}
			}
			if test.on == "" {
				if len(b.recorder.addOns) > 0 {
					t.Errorf("emitted %s", <-b.recorder.Events)
				}
				return
			}
			if !slices.Equal(b.recorder.addOns, []string{test.on}) {
				t.Fatalf("events on %q, want one on %s", b.recorder.addOns, test.on)
			}
			if got := <-b.recorder.Events; !strings.HasPrefix(got, "Warning "+EventUnset+" ") || !strings.Contains(got, test.note) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestARefusedChange(t *testing.T) {
	b := newBench(t)
	b.reconcile(t)
	b.request("leaf", "http")
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: fleet.ResourceConfig}, "interlock-base", errors.New("a rule denies it"))
	b.refused["apply"] = denied
	refuse := func() {
		t.Helper()
		if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: base}); !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
		if got := <-b.recorder.Events; !strings.Contains(got, "No setting of 'base' is set: the hub refuses to store its settings. What is set "+
			"stays as it is until then: ") {
			t.Errorf("got %q", got)
		}
	}
	refuse()
	delete(b.refused, "apply")
	if config, emitted, _ := b.reconcile(t); mode(config) != "http" || len(emitted) > 0 {
		t.Errorf("got %v, emitted %q", config.Spec, emitted)
	}
	b.refused["apply"] = denied
	b.request("leaf", "quic")
	refuse()
}

func TestANewAddOnRefersToItsSettings(t *testing.T) {
	b := newBench(t)
	for addOn, want := range map[string]int{"base": 1, "leaf": 0} {
		configs, err := Configs(t.Context(), b.Live, b.Declarations.Current(), types.NamespacedName{Namespace: "c", Name: addOn})
		if err != nil || len(configs) != want || want > 0 && configs[0].Name != "interlock-base" {
			t.Errorf("%s: %v %v", addOn, configs, err)
		}
	}
}

func TestChangesConcernCopiesToo(t *testing.T) {
	changes := &Changes{Changed: trigger.New()}
	source := types.NamespacedName{Namespace: "d", Name: "default"}
	changes.setDisplaced(source, base)
	if !changes.copies[source].Has(base) {
		t.Error("it is not remembered")
	}
	changes.setDisplaced(types.NamespacedName{}, base)
	if len(changes.copies)+len(changes.sources) > 0 {
		t.Errorf("it is not forgotten: %v", changes.copies)
	}
}
