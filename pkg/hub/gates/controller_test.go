package gates

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/actingbench"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

var leaf = actingbench.Leaf

// bench is a reconciler on a fake hub, where leaf requires base and is ordered, unless said otherwise.
type bench struct {
	*Reconciler
	hub    *actingbench.Hub
	events chan string
	writes []string
	// refuses are errors by write.
	refuses map[string]error
}

// given is what is on the hub.
type given struct {
	// declares is the spec of leaf; the catalog has catalog instead, where that is set.
	declares, catalog string
	gate              string
	conditions        []metav1.Condition
	base              []metav1.Condition // nil: not installed
	lost              bool
}

const orderedOnBase = "{ordering: Install, dependencies: [{name: base}]}"

func newBench(t *testing.T, is given) *bench {
	t.Helper()
	if is.declares == "" {
		is.declares = orderedOnBase
	}
	if is.catalog == "" {
		is.catalog = is.declares
	}
	registered := fixture.Specified(t, leaf.Name, is.declares)
	addOn := actingbench.AddOn(leaf.Name, is.conditions...)
	if is.gate != "" {
		addOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: is.gate}
	}
	objects := []client.Object{&registered, addOn}
	if is.base != nil {
		objects = append(objects, actingbench.AddOn("base", is.base...))
	}
	catalog := []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, leaf.Name, is.catalog)}
	b := &bench{hub: actingbench.New(t, catalog, nil, is.lost, objects...), refuses: map[string]error{}}
	writer := interceptor.NewClient(b.hub.Writer, interceptor.Funcs{
		SubResourceApply: func(
			ctx context.Context, c client.Client, of string, object runtime.ApplyConfiguration, o ...client.SubResourceApplyOption,
		) error {
			b.writes = append(b.writes, "Installable")
			if err := b.refuses["Installable"]; err != nil {
				return err
			}
			return c.SubResource(of).Apply(ctx, object, o...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, o ...client.PatchOption) error {
			b.writes = append(b.writes, "gate")
			if err := b.refuses["gate"]; err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, o...)
		},
	})
	recorder := events.NewFakeRecorder(10)
	b.events = recorder.Events
	b.Reconciler = &Reconciler{
		AddOns: b.hub.AddOns, Client: writer, Live: b.hub, Recorder: recorder,
		Messages: backoff.NewTurns(b.hub.AddOns.Clock, gate.MessagesPerSecond, gate.MessagesAtOnce, func(types.NamespacedName) {}),
	}
	b.Conditions = condition.Writer{Status: writer, Live: writer}
	return b
}

func available(status metav1.ConditionStatus) []metav1.Condition {
	return []metav1.Condition{actingbench.Condition("Available", status, "Fine", "")}
}

func waits() metav1.Condition {
	const message = "Required addon 'base' is not installed or not available. (not installed: it has no ClusterManagementAddOn on this hub)"
	return decided(gate.Decision{Step: gate.Wait, Reason: gate.ReasonWaiting, Message: message})
}

// decided is the condition for a decision.
func decided(decision gate.Decision) metav1.Condition {
	condition, _ := gate.Condition(nil, decision, metav1.NewTime(fixture.Now.Time))
	return condition
}

// settle reconciles until nothing is written any more, and returns the gate, Installable and the writes.
func (b *bench) settle(t *testing.T) (gateIs, installable string) {
	t.Helper()
	for before := -1; before != len(b.writes); {
		before = len(b.writes)
		if _, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: leaf}); err != nil {
			t.Fatal(err)
		}
		if before > 5 {
			t.Fatalf("it does not settle: %q", b.writes)
		}
	}
	found := &addonv1alpha1.ManagedClusterAddOn{}
	if err := b.hub.Get(t.Context(), leaf, found); err != nil {
		t.Fatal(err)
	}
	if one := fleet.Installable(found); one != nil {
		installable = string(one.Status) + " " + one.Reason + ": " + one.Message
	}
	return found.Annotations[addonv1alpha1.GateAnnotation], installable
}

func TestReconcile(t *testing.T) {
	registered := metav1.Condition{Type: "RegistrationApplied", Status: metav1.ConditionTrue, Reason: "Done"}
	const closed, opened = addonv1alpha1.GateClosed, addonv1alpha1.GateOpen
	for name, test := range map[string]struct {
		is          given
		gate        string
		installable string // begins with
		writes      []string
		event       string
	}{
		"Waits":      {given{gate: closed}, closed, "False WaitingForDependencies: Required addon 'base' is not", []string{"Installable"}, ""},
		"StillWaits": {given{gate: closed, conditions: []metav1.Condition{waits()}}, closed, "False", nil, ""},
		"Opens": {
			given{gate: closed, conditions: []metav1.Condition{waits()}, base: available(metav1.ConditionTrue)},
			opened,
			"True RequiredDependenciesSatisfied",
			[]string{"Installable", "gate"},
			"Normal GateOpened All Required dependencies",
		},
		"DependencyIsDown": {
			given{gate: closed, base: available(metav1.ConditionFalse)}, closed, "False WaitingForDependencies", []string{"Installable"}, "",
		},
		"ClusterIsLost": {given{gate: closed, lost: true, base: available(metav1.ConditionTrue)}, closed, "", nil, ""},
		"NotOrdered": {
			given{declares: "{dependencies: [{name: base}]}", gate: closed},
			opened,
			"True GateOpened: The add-on does not declare ordering",
			[]string{"Installable", "gate"},
			"Normal GateOpened",
		},
		"CatalogIsBehind": {
			given{declares: orderedOnBase, catalog: "{dependencies: [{name: other, type: Optional}]}", gate: closed}, closed, "", nil, "",
		},
		"Invalid": {
			given{declares: "{ordering: Install, dependencies: [{name: base, version: nonsense}]}", gate: closed}, closed, "", nil, "",
		},
		"Cycle": {
			given{declares: "{ordering: Install, dependencies: [{name: leaf}]}", gate: closed},
			opened,
			"True GateOpened: The dependencies can never be satisfied: leaf → leaf.",
			[]string{"Installable", "gate"},
			"Normal GateOpened",
		},
		"NoGate": {given{}, "", "", nil, ""},
		"Open":   {given{gate: opened}, opened, "", nil, ""},
		"OpenedByUser": {
			given{gate: opened, conditions: []metav1.Condition{waits()}}, opened, "True GateOpened: A user opened", []string{"Installable"}, "",
		},
		"ClosedAfterwards": {given{gate: closed, conditions: []metav1.Condition{registered}}, closed, "", nil, ""},
		"BegunNevertheless": {
			given{gate: closed, conditions: []metav1.Condition{registered, waits()}},
			closed,
			"True InstallationBegun: Open Cluster Management has begun",
			[]string{"Installable"},
			"",
		},
		"SomeOtherValue": {given{gate: "ajar"}, "ajar", "", nil, ""},
		"SomeOtherValueWhileItWaits": {
			given{gate: "OPEN", conditions: []metav1.Condition{waits()}},
			"OPEN",
			"True GateOpened: There is no gate, because annotation dependency.addon.open-cluster-management.io/gate has the unknown " +
				"value \"OPEN\": use closed or open.",
			[]string{"Installable"},
			"",
		},
		"RemovedWhileItWaits": {
			given{conditions: []metav1.Condition{waits()}},
			"",
			"True GateOpened: There is no gate, because annotation dependency.addon.open-cluster-management.io/gate was removed.",
			[]string{"Installable"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.is)
			gateIs, installable := b.settle(t)
			if gateIs != test.gate || !strings.HasPrefix(installable, test.installable) || test.installable == "" && installable != "" {
				t.Errorf("gate %q, Installable %q", gateIs, installable)
			}
			if !slices.Equal(b.writes, test.writes) {
				t.Errorf("writes %q", b.writes)
			}
			select {
			case event := <-b.events:
				if test.event == "" || !strings.HasPrefix(event, test.event) {
					t.Errorf("event %q", event)
				}
			default:
				if test.event != "" {
					t.Error("no event")
				}
			}
		})
	}
}

// The catalog does not know yet what the template declares that Open Cluster Management is about to install.
func TestTheCatalogIsBehindATemplate(t *testing.T) {
	const declares = "{ordering: Install}"
	b := newBench(t, given{declares: declares, gate: addonv1alpha1.GateClosed})
	registered, template := fixture.Deployed(fixture.Specified(t, leaf.Name, declares)), fixture.Template(leaf.Name, "v1", "[{name: base}]")
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := b.hub.Get(t.Context(), leaf, addOn); err != nil {
		t.Fatal(err)
	}
	addOn.Status.ConfigReferences = fleet.WithTemplate(addOn, template.Name, false).Status.ConfigReferences
	stored := &addonv1alpha1.ClusterManagementAddOn{}
	err := errors.Join(b.hub.Status().Update(t.Context(), addOn), b.hub.Create(t.Context(), &template),
		b.hub.Get(t.Context(), client.ObjectKeyFromObject(&registered), stored))
	registered.ResourceVersion = stored.ResourceVersion
	if err = errors.Join(err, b.hub.Update(t.Context(), &registered)); err != nil {
		t.Fatal(err)
	}
	all := []addonv1alpha1.ClusterManagementAddOn{registered}
	b.Declarations.Set(evaluation.New(catalog.New(all)))
	if gateIs, installable := b.settle(t); gateIs != addonv1alpha1.GateClosed || installable != "" {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
	b.Declarations.Set(evaluation.New(catalog.New(all, template)))
	if gateIs, installable := b.settle(t); gateIs != addonv1alpha1.GateClosed || !strings.HasPrefix(installable, "False Waiting") {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
}

// GitOps may create the AddOnTemplate after the add-on: until then, it is not known what the add-on requires.
func TestTheTemplateDoesNotExist(t *testing.T) {
	b := newBench(t, given{declares: "{ordering: Install}", gate: addonv1alpha1.GateClosed})
	addOn, template := &addonv1alpha1.ManagedClusterAddOn{}, fixture.Template(leaf.Name, "v1", "")
	registered := fixture.Deployed(fixture.Specified(t, leaf.Name, "{ordering: Install}"))
	//nolint:staticcheck // v1alpha1 has no other field for it
	registered.Spec.SupportedConfigs[0].DefaultConfig = &ocmv1alpha1.ConfigReferent{Name: "v1"}
	b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{registered})))
	if gateIs, installable := b.settle(t); gateIs != addonv1alpha1.GateClosed || installable != "" {
		t.Errorf("gate %q, Installable %q before OCM has chosen a template", gateIs, installable)
	}
	err := b.hub.Get(t.Context(), leaf, addOn)
	addOn.Status.ConfigReferences = fleet.WithTemplate(addOn, template.Name, false).Status.ConfigReferences
	if err = errors.Join(err, b.hub.Status().Update(t.Context(), addOn)); err != nil {
		t.Fatal(err)
	}
	const waits = "False WaitingForDependencies: AddOnTemplate 'v1' does not exist. Create it, or name another one."
	if gateIs, installable := b.settle(t); gateIs != addonv1alpha1.GateClosed || installable != waits {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
	if result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: leaf}); err != nil || result.RequeueAfter != missingAgain {
		t.Errorf("it is looked for again: %+v, %v", result, err)
	}
	if err := b.hub.Create(t.Context(), &template); err != nil {
		t.Fatal(err)
	}
	if gateIs, installable := b.settle(t); gateIs != addonv1alpha1.GateOpen {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
}

func TestFaults(t *testing.T) {
	resource := schema.GroupResource{Resource: "managedclusteraddons"}
	broken := errors.New("the hub is busy")
	satisfied := decided(gate.Decision{Step: gate.Open, Reason: gate.ReasonSatisfied, Message: gate.MessageSatisfied})
	for name, test := range map[string]struct {
		write   string
		refused error
		again   bool
		fails   string
	}{
		"ConditionConflict": {"Installable", apierrors.NewConflict(resource, leaf.Name, broken), true, ""},
		"ConditionNotFound": {"Installable", apierrors.NewNotFound(resource, leaf.Name), false, ""},
		"ConditionRefused": {
			"Installable", broken, false, "write Installable=True/RequiredDependenciesSatisfied of cluster1/leaf: the hub is busy",
		},
		"GateConflict": {"gate", apierrors.NewConflict(resource, leaf.Name, broken), true, ""},
		"GateNotFound": {"gate", apierrors.NewNotFound(resource, leaf.Name), false, ""},
		"GateRefused":  {"gate", broken, false, "open the gate of cluster1/leaf: the hub is busy"},
	} {
		t.Run(name, func(t *testing.T) {
			is := given{gate: addonv1alpha1.GateClosed, base: available(metav1.ConditionTrue)}
			if test.write == "gate" {
				is.conditions = []metav1.Condition{satisfied}
			}
			b := newBench(t, is)
			b.refuses[test.write] = test.refused
			result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: leaf})
			if (err == nil) != (test.fails == "") || err != nil && err.Error() != test.fails {
				t.Errorf("error %v", err)
			}
			if again := !result.IsZero(); again != test.again {
				t.Errorf("again: %t", again)
			}
			if len(b.events) > 0 {
				t.Error("an event, although the gate is closed")
			}
			delete(b.refuses, test.write)
			if gateIs, _ := b.settle(t); gateIs != addonv1alpha1.GateOpen {
				t.Errorf("gate %q after it", gateIs)
			}
		})
	}
}

// While an add-on waits, its message follows in its turn. The gate does not wait for a turn to be opened.
func TestMessagesFollowInTurn(t *testing.T) {
	b := newBench(t, given{gate: addonv1alpha1.GateClosed})
	come := make(chan types.NamespacedName, 1)
	b.Messages = backoff.NewTurns(b.Clock, 1, 1, func(addOn types.NamespacedName) { come <- addOn })
	b.Messages.Has(types.NamespacedName{Name: "another"}, "one", time.Time{})
	_, installable := b.settle(t)
	if !strings.HasPrefix(installable, "False WaitingForDependencies") {
		t.Fatalf("Installable %q", installable)
	}
	b.addBase(t, metav1.ConditionFalse)
	b.Clock.(*clocktesting.FakeClock).Step(time.Millisecond)
	if _, later := b.settle(t); later != installable || len(b.writes) != 1 {
		t.Fatalf("Installable %q, writes %q", later, b.writes)
	}
	go func() { _ = b.Messages.Start(t.Context()) }()
	if turn := <-come; turn != leaf {
		t.Fatalf("it is the turn of %s", turn)
	}
	if _, later := b.settle(t); later == installable || len(b.writes) != 2 {
		t.Errorf("Installable %q, writes %q", later, b.writes)
	}
	b.setBase(t, metav1.ConditionTrue)
	if gateIs, _ := b.settle(t); gateIs != addonv1alpha1.GateOpen {
		t.Errorf("gate %q", gateIs)
	}
}

func (b *bench) addBase(t *testing.T, status metav1.ConditionStatus) {
	t.Helper()
	if err := b.hub.Create(t.Context(), actingbench.AddOn("base")); err != nil {
		t.Fatal(err)
	}
	b.setBase(t, status)
}

func (b *bench) setBase(t *testing.T, status metav1.ConditionStatus) {
	t.Helper()
	found := &addonv1alpha1.ManagedClusterAddOn{}
	if err := b.hub.Get(t.Context(), types.NamespacedName{Namespace: leaf.Namespace, Name: "base"}, found); err != nil {
		t.Fatal(err)
	}
	found.Status.Conditions = available(status)
	if err := b.hub.Status().Update(t.Context(), found); err != nil {
		t.Fatal(err)
	}
}

// A writer that keeps closing the gate is followed at growing intervals.
func TestAnotherWriterIsNotFought(t *testing.T) {
	b := newBench(t, given{gate: addonv1alpha1.GateClosed, base: available(metav1.ConditionTrue)})
	b.settle(t)
	var waited time.Duration
	for range 3 {
		found := &addonv1alpha1.ManagedClusterAddOn{}
		if err := b.hub.Get(t.Context(), leaf, found); err != nil {
			t.Fatal(err)
		}
		found.Annotations[addonv1alpha1.GateAnnotation] = addonv1alpha1.GateClosed
		if err := b.hub.Update(t.Context(), found); err != nil {
			t.Fatal(err)
		}
		result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: leaf})
		if err != nil {
			t.Fatal(err)
		}
		waited += result.RequeueAfter
	}
	if waited == 0 {
		t.Error("it is opened again at once, each time")
	}
}

func TestOnlyGatesWithSomethingToDecideAreEnqueued(t *testing.T) {
	for name, test := range map[string]struct {
		is   given
		want bool
	}{
		"closed":  {given{gate: addonv1alpha1.GateClosed}, true},
		"open":    {given{gate: addonv1alpha1.GateOpen}, false},
		"no gate": {given{}, false},
		"opened by hand, and it says that it waits": {given{gate: addonv1alpha1.GateOpen, conditions: []metav1.Condition{waits()}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.is)
			enqueued := triggertest.Enqueued(t, b.Evaluate)
			b.Evaluated(leaf)
			b.Evaluated(types.NamespacedName{Namespace: "cluster1", Name: "absent"})
			if got := len(enqueued()) == 1; got != test.want {
				t.Errorf("enqueued: %t", got)
			}
		})
	}
}
