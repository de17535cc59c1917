package status

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"golang.org/x/time/rate"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/test/fixture"
)

// gated is the state of the hub.
type gated struct {
	// declares is the spec of leaf. The catalog has the spec in catalog if that is set.
	declares, catalog string
	gate              string
	conditions        []metav1.Condition
	base              []metav1.Condition // nil if base is not installed
	lost              bool
}

const orderedOnBase = "{ordering: Install, dependencies: [{name: base}]}"

// newGated returns a hub in the state. By default, leaf has an ordered dependency on base.
func newGated(t *testing.T, state gated) *lifecycleHub {
	t.Helper()
	if state.declares == "" {
		state.declares = orderedOnBase
	}
	if state.catalog == "" {
		state.catalog = state.declares
	}
	registration := fixture.Specified(t, leaf.Name, state.declares)
	leafAddOn := addOn(leaf.Name, state.conditions...)
	if state.gate != "" {
		leafAddOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: state.gate}
	}
	objects := []client.Object{&registration, leafAddOn}
	if state.base != nil {
		objects = append(objects, addOn("base", state.base...))
	}
	catalog := []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, leaf.Name, state.catalog)}
	b := newLifecycleHub(t, catalog, nil, state.lost, objects...)
	b.follow(t)
	return b
}

// follow stores the current Degraded of leaf, so that tests see only the other writes.
func (h *lifecycleHub) follow(t *testing.T) {
	t.Helper()
	leafAddOn := h.read(t, leaf.Name)
	assessment, _, err := h.Assessor.Assess(t.Context(), h.Declarations.Current(), leafAddOn, fixture.Now.Time)
	if err != nil {
		t.Fatal(err)
	}
	stored := condition.Stored{Degraded: fleet.Degraded(leafAddOn)}
	if desired := condition.Decide(stored, assessment.Findings, metav1.NewTime(fixture.Now.Time)).Degraded; desired != nil {
		meta.SetStatusCondition(&leafAddOn.Status.Conditions, *desired)
		if err := h.Status().Update(t.Context(), leafAddOn); err != nil {
			t.Fatal(err)
		}
	}
}

// Degraded and Installable follow in one write, and then the gate.
func TestConditionsAreWrittenTogether(t *testing.T) {
	registration := fixture.Specified(t, leaf.Name, orderedOnBase)
	b := newLifecycleHub(t, []addonv1alpha1.ClusterManagementAddOn{registration}, nil, false,
		&registration, gatedLeaf())
	if gateIs, installable := b.settled(
		t,
	); !strings.HasPrefix(installable, "False WaitingForDependencies") ||
		gateIs != addonv1alpha1.GateClosed {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
	if degraded := fleet.Degraded(b.read(t, leaf.Name)); degraded == nil || degraded.Status != metav1.ConditionTrue {
		t.Errorf("Degraded is %+v", degraded)
	}
	b.addBase(t, metav1.ConditionTrue)
	if gateIs, installable := b.settled(
		t,
	); !strings.HasPrefix(installable, "True RequiredDependenciesSatisfied") ||
		gateIs != addonv1alpha1.GateOpen {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
	if degraded := fleet.Degraded(b.read(t, leaf.Name)); degraded == nil || degraded.Status != metav1.ConditionFalse {
		t.Errorf("Degraded is %+v", degraded)
	}
	if want := []string{"conditions", "conditions", "gate"}; !slices.Equal(b.writes, want) {
		t.Errorf("writes %q", b.writes)
	}
}

// gatedLeaf returns leaf as it is created behind its gate.
func gatedLeaf() client.Object {
	leafAddOn := addOn(leaf.Name)
	leafAddOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	return leafAddOn
}

func available(status metav1.ConditionStatus) []metav1.Condition {
	return []metav1.Condition{since("Available", status, "Fine", "")}
}

func waitsForBase() metav1.Condition {
	const message = "Required addon 'base' is not installed or not available. (not installed: it has no ClusterManagementAddOn on this hub)"
	return decided(gate.Decision{Step: gate.Wait, Reason: gate.ReasonWaiting, Message: message})
}

// decided returns the condition for a decision.
func decided(decision gate.Decision) metav1.Condition {
	condition, _ := gate.Condition(nil, decision, metav1.NewTime(fixture.Now.Time))
	return condition
}

// settled reconciles until no write follows, and returns the gate and Installable of leaf.
func (h *lifecycleHub) settled(t *testing.T) (gateIs, installable string) {
	t.Helper()
	leafAddOn := h.settle(t)
	if c := fleet.Installable(leafAddOn); c != nil {
		installable = string(c.Status) + " " + c.Reason + ": " + c.Message
	}
	return leafAddOn.Annotations[addonv1alpha1.GateAnnotation], installable
}

func TestGates(t *testing.T) {
	registrationApplied := metav1.Condition{Type: "RegistrationApplied", Status: metav1.ConditionTrue, Reason: "Done"}
	const closed, opened = addonv1alpha1.GateClosed, addonv1alpha1.GateOpen
	for name, test := range map[string]struct {
		state       gated
		gate        string
		installable string // begins with
		writes      []string
		event       string
	}{
		"Waits":      {gated{gate: closed}, closed, "False WaitingForDependencies: Required addon 'base' is not", []string{"conditions"}, ""},
		"StillWaits": {gated{gate: closed, conditions: []metav1.Condition{waitsForBase()}}, closed, "False", nil, ""},
		"Opens": {
			gated{gate: closed, conditions: []metav1.Condition{waitsForBase()}, base: available(metav1.ConditionTrue)},
			opened,
			"True RequiredDependenciesSatisfied",
			[]string{"conditions", "gate"},
			"Normal GateOpened All Required dependencies",
		},
		"DependencyIsDown": {
			gated{gate: closed, base: available(metav1.ConditionFalse)}, closed, "False WaitingForDependencies", []string{"conditions"}, "",
		},
		"ClusterIsLost": {gated{gate: closed, lost: true, base: available(metav1.ConditionTrue)}, closed, "", nil, ""},
		"NotOrdered": {
			gated{declares: "{dependencies: [{name: base}]}", gate: closed},
			opened,
			"True GateOpened: The add-on does not declare ordering",
			[]string{"conditions", "gate"},
			"Normal GateOpened",
		},
		"CatalogIsBehind": {
			gated{declares: orderedOnBase, catalog: "{dependencies: [{name: other, type: Optional}]}", gate: closed}, closed, "", nil, "",
		},
		"Invalid": {
			gated{declares: "{ordering: Install, dependencies: [{name: base, version: nonsense}]}", gate: closed}, closed, "", nil, "",
		},
		"Cycle": {
			gated{declares: "{ordering: Install, dependencies: [{name: leaf}]}", gate: closed},
			opened,
			"True GateOpened: The dependencies can never be satisfied: leaf → leaf.",
			[]string{"conditions", "gate"},
			"Normal GateOpened",
		},
		"NoGate":             {gated{}, "", "", nil, ""},
		"ConditionIsRemoved": {gated{gate: opened}, opened, "True GateOpened: The gate is open", []string{"conditions"}, ""},
		"OpenedByUser": {
			gated{gate: opened, conditions: []metav1.Condition{waitsForBase()}},
			opened, "True GateOpened: A user opened",
			[]string{"conditions"},
			"Normal GateOpened",
		},
		"ClosedAfterwards": {gated{gate: closed, conditions: []metav1.Condition{registrationApplied}}, closed, "", nil, ""},
		"BegunNevertheless": {
			gated{gate: closed, conditions: []metav1.Condition{registrationApplied, waitsForBase()}},
			closed,
			"True InstallationBegun: Open Cluster Management has begun",
			[]string{"conditions"},
			"",
		},
		"SomeOtherValue": {gated{gate: "ajar"}, "ajar", "", nil, ""},
		"SomeOtherValueWhileItWaits": {
			gated{gate: "OPEN", conditions: []metav1.Condition{waitsForBase()}},
			"OPEN",
			"True GateOpened: There is no gate, because annotation dependency.addon.open-cluster-management.io/gate has the unknown " +
				"value \"OPEN\": use closed or open.",
			[]string{"conditions"},
			"Normal GateOpened",
		},
		"RemovedWhileItWaits": {
			gated{conditions: []metav1.Condition{waitsForBase()}},
			"",
			"True GateOpened: There is no gate, because annotation dependency.addon.open-cluster-management.io/gate was removed.",
			[]string{"conditions"},
			"Normal GateOpened",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newGated(t, test.state)
			gateIs, installable := b.settled(t)
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

// The catalog lacks the declaration of the template that Open Cluster Management is about to install.
func TestTheCatalogIsBehindATemplate(t *testing.T) {
	const declares = "{ordering: Install}"
	b := newGated(t, gated{declares: declares, gate: addonv1alpha1.GateClosed})
	registration, template := fixture.Deployed(fixture.Specified(t, leaf.Name, declares)), fixture.Template(leaf.Name, "v1", "[{name: base}]")
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := b.Get(t.Context(), leaf, addOn); err != nil {
		t.Fatal(err)
	}
	addOn.Status.ConfigReferences = fleet.WithRollout(addOn, template.Name).Status.ConfigReferences
	stored := &addonv1alpha1.ClusterManagementAddOn{}
	err := errors.Join(b.Status().Update(t.Context(), addOn), b.Create(t.Context(), &template),
		b.Get(t.Context(), client.ObjectKeyFromObject(&registration), stored))
	registration.ResourceVersion = stored.ResourceVersion
	if err = errors.Join(err, b.Update(t.Context(), &registration)); err != nil {
		t.Fatal(err)
	}
	registrations := []addonv1alpha1.ClusterManagementAddOn{registration}
	b.Declarations.Set(evaluation.New(catalog.New(registrations)))
	if gateIs, installable := b.settled(t); gateIs != addonv1alpha1.GateClosed || installable != "" {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
	b.Declarations.Set(evaluation.New(catalog.New(registrations, template)))
	if gateIs, installable := b.settled(t); gateIs != addonv1alpha1.GateClosed || !strings.HasPrefix(installable, "False Waiting") {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
}

// A registration that is deleted and created again does not open gates.
func TestAGateStaysClosedWithoutRegistration(t *testing.T) {
	waits := []metav1.Condition{waitsForBase()}
	b := newGated(t, gated{gate: addonv1alpha1.GateClosed, conditions: waits, base: available(metav1.ConditionTrue)})
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}}
	if err := b.Delete(t.Context(), registration); err != nil {
		t.Fatal(err)
	}
	evaluator := b.Declarations.Current()
	b.Declarations.Set(evaluation.New(catalog.New(nil)))
	if gateIs, _ := b.settled(t); gateIs != addonv1alpha1.GateClosed {
		t.Errorf("gate %q", gateIs)
	}
	recreated := fixture.Specified(t, leaf.Name, orderedOnBase)
	if err := b.Create(t.Context(), &recreated); err != nil {
		t.Fatal(err)
	}
	b.Declarations.Set(evaluator)
	if gateIs, _ := b.settled(t); gateIs != addonv1alpha1.GateOpen {
		t.Errorf("gate %q after it", gateIs)
	}
}

// GitOps may create the AddOnTemplate after the add-on. Until then, the dependencies of the add-on are unknown.
func TestTheTemplateDoesNotExist(t *testing.T) {
	b := newGated(t, gated{declares: "{ordering: Install}", gate: addonv1alpha1.GateClosed})
	addOn, template := &addonv1alpha1.ManagedClusterAddOn{}, fixture.Template(leaf.Name, "v1", "")
	registration := fixture.Deployed(fixture.Specified(t, leaf.Name, "{ordering: Install}"))
	//nolint:staticcheck // v1alpha1 has no other field for it
	registration.Spec.SupportedConfigs[0].DefaultConfig = &ocmv1alpha1.ConfigReferent{Name: "v1"}
	b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{registration})))
	if gateIs, installable := b.settled(t); gateIs != addonv1alpha1.GateClosed || installable != "" {
		t.Errorf("gate %q, Installable %q before OCM has chosen a template", gateIs, installable)
	}
	err := b.Get(t.Context(), leaf, addOn)
	addOn.Status.ConfigReferences = fleet.WithRollout(addOn, template.Name).Status.ConfigReferences
	if err = errors.Join(err, b.Status().Update(t.Context(), addOn)); err != nil {
		t.Fatal(err)
	}
	const waits = "False WaitingForDependencies: AddOnTemplate 'v1' does not exist. Create it, or name another one."
	if gateIs, installable := b.settled(t); gateIs != addonv1alpha1.GateClosed || installable != waits {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
	if result, err := b.Reconcile(
		t.Context(),
		reconcile.Request{NamespacedName: leaf},
	); err != nil ||
		result.RequeueAfter != assess.MissingAgain {
		t.Errorf("it is looked for again: %+v, %v", result, err)
	}
	if err := b.Create(t.Context(), &template); err != nil {
		t.Fatal(err)
	}
	if gateIs, installable := b.settled(t); gateIs != addonv1alpha1.GateOpen {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
}

func TestFaultsAtGates(t *testing.T) {
	resource := schema.GroupResource{Resource: "managedclusteraddons"}
	broken := errors.New("the hub is busy")
	satisfied := decided(gate.Decision{Step: gate.Open, Reason: gate.ReasonSatisfied, Message: gate.MessageSatisfied})
	for name, test := range map[string]struct {
		write   string
		refused error
		retries bool
		fails   string
	}{
		"ConditionConflict": {"conditions", apierrors.NewConflict(resource, leaf.Name, broken), true, ""},
		"ConditionNotFound": {"conditions", apierrors.NewNotFound(resource, leaf.Name), false, ""},
		"ConditionRefused": {
			"conditions", broken, false, "write Installable=True/RequiredDependenciesSatisfied of cluster1/leaf: the hub is busy",
		},
		"GateConflict": {"gate", apierrors.NewConflict(resource, leaf.Name, broken), true, ""},
		"GateNotFound": {"gate", apierrors.NewNotFound(resource, leaf.Name), false, ""},
		"GateRefused":  {"gate", broken, false, "open the gate of cluster1/leaf: the hub is busy"},
	} {
		t.Run(name, func(t *testing.T) {
			state := gated{gate: addonv1alpha1.GateClosed, base: available(metav1.ConditionTrue)}
			if test.write == "gate" {
				state.conditions = []metav1.Condition{satisfied}
			}
			b := newGated(t, state)
			b.refuses[test.write] = test.refused
			result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: leaf})
			if (err == nil) != (test.fails == "") || err != nil && err.Error() != test.fails {
				t.Errorf("error %v", err)
			}
			if retries := !result.IsZero(); retries != test.retries {
				t.Errorf("again: %t", retries)
			}
			if len(b.events) > 0 {
				t.Error("an event, although the gate is closed")
			}
			delete(b.refuses, test.write)
			if gateIs, _ := b.settled(t); gateIs != addonv1alpha1.GateOpen {
				t.Errorf("gate %q after it", gateIs)
			}
		})
	}
}

// While an add-on waits, its message follows at a limited rate. The gate opens at once.
func TestMessagesOfAGateFollowAtARate(t *testing.T) {
	b := newGated(t, gated{gate: addonv1alpha1.GateClosed})
	_, installable := b.settled(t)
	if !strings.HasPrefix(installable, "False WaitingForDependencies") {
		t.Fatalf("Installable %q", installable)
	}
	b.Messages = rate.NewLimiter(0, 0)
	b.addBase(t, metav1.ConditionFalse)
	b.Clock.(*clocktesting.FakeClock).Step(time.Millisecond)
	if _, later := b.settled(t); later != installable || len(b.writes) != 1 {
		t.Fatalf("Installable %q, writes %q", later, b.writes)
	}
	b.Messages = rate.NewLimiter(1, 1)
	if _, later := b.settled(t); later == installable || len(b.writes) != 2 {
		t.Errorf("Installable %q, writes %q", later, b.writes)
	}
	b.Messages = rate.NewLimiter(0, 0)
	b.setBase(t, metav1.ConditionTrue)
	if gateIs, _ := b.settled(t); gateIs != addonv1alpha1.GateOpen {
		t.Errorf("gate %q", gateIs)
	}
}

func (h *lifecycleHub) addBase(t *testing.T, status metav1.ConditionStatus) {
	t.Helper()
	if err := h.Create(t.Context(), addOn("base")); err != nil {
		t.Fatal(err)
	}
	h.setBase(t, status)
}

func (h *lifecycleHub) setBase(t *testing.T, status metav1.ConditionStatus) {
	t.Helper()
	base := &addonv1alpha1.ManagedClusterAddOn{}
	if err := h.Get(t.Context(), types.NamespacedName{Namespace: leaf.Namespace, Name: "base"}, base); err != nil {
		t.Fatal(err)
	}
	base.Status.Conditions = available(status)
	if err := h.Status().Update(t.Context(), base); err != nil {
		t.Fatal(err)
	}
}

// A writer that keeps closing the gate is followed at growing intervals.
func TestAWriterThatClosesTheGateIsNotFought(t *testing.T) {
	b := newGated(t, gated{gate: addonv1alpha1.GateClosed, base: available(metav1.ConditionTrue)})
	b.settled(t)
	var waited time.Duration
	for range 3 {
		leafAddOn := &addonv1alpha1.ManagedClusterAddOn{}
		if err := b.Get(t.Context(), leaf, leafAddOn); err != nil {
			t.Fatal(err)
		}
		leafAddOn.Annotations[addonv1alpha1.GateAnnotation] = addonv1alpha1.GateClosed
		if err := b.Update(t.Context(), leafAddOn); err != nil {
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
