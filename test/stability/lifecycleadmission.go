package stability

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/go-logr/logr"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/log"
	controlleradmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/gaterule"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	webhookgate "open-cluster-management.io/interlock/pkg/webhook/gateclosing"
	"open-cluster-management.io/interlock/test/guardpolicy"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// admission is the admission of writes to the status of add-ons, without the guard.
type admission struct {
	// rule is gaterule.Mutate, or a defect.
	rule func(before, after []byte) ([]byte, error)
	// policy is the gate rule's other form, which has to give the same result. It is nil for defects.
	policy *guardpolicy.Policy
}

func newAdmission() (*admission, error) {
	policy, err := guardpolicy.New(&gaterule.Rule)
	return &admission{rule: mutateGated, policy: policy}, err
}

func mutateGated(before, after []byte) ([]byte, error) {
	operations, err := gaterule.Mutate(before, after, false)
	if err != nil || operations == nil {
		return after, err
	}
	return patched(after, operations)
}

func patched[T any](object []byte, operations []T) ([]byte, error) {
	encoded, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		return nil, err
	}
	return patch.Apply(object)
}

// admissionKey holds all inputs of the admission of a write.
type admissionKey struct {
	before, after                         object
	seen                                  Inputs
	rule, holder, guard, forContradiction bool
}

// admit returns the object that the API server stores after a write to the status.
func (m *lifecycleModel) admit(s LifecycleState, after object) object {
	key := admissionKey{s.object, after, m.inputs(s.SeenByWebhook), m.Rule, m.Holder, m.Guard, m.ForContradiction}
	return cachedResult(m.admitted, key, func() object { return sharedResult(m.rules, m.rules.admitted, key, m.rules.mutate) })
}

func (m *lifecycleRules) mutate(key admissionKey) (object, error) {
	result := key.after
	if key.before.Desired != key.after.Desired || key.before.Registered != key.after.Registered {
		var err error
		if result, err = m.mutateInstallation(key); err != nil {
			return result, err
		}
	}
	if !key.guard {
		return result, nil
	}
	guarded := m.interlock.guard(
		conditions{key.before.Available, key.before.Degraded}, conditions{result.Available, result.Degraded})
	if guarded.available != result.Available {
		result.Available = key.before.Available.write(guarded.available.condition())
	}
	return result, nil
}

// mutateInstallation lets an AddOnTemplate wait, and holds the installation back.
func (m *lifecycleRules) mutateInstallation(key admissionKey) (object, error) {
	before, err := json.Marshal(key.before.addOn(key.forContradiction))
	if err != nil {
		return object{}, err
	}
	written, err := json.Marshal(key.after.addOn(key.forContradiction))
	if err != nil {
		return object{}, err
	}
	// The webhook's match conditions.
	if key.holder && key.before.Upgradable != 0 && key.before.Desired != key.after.Desired {
		if written, err = m.hold(key, before, written); err != nil {
			return object{}, err
		}
	}
	if key.rule {
		if written, err = m.admission.apply(before, written); err != nil {
			return object{}, err
		}
	}
	stored := &addonv1alpha1.ManagedClusterAddOn{}
	if err := json.Unmarshal(written, stored); err != nil {
		return object{}, err
	}
	result := key.after
	return result.update(stored), nil
}

// apply returns the object after the gate rule.
func (a *admission) apply(before, written []byte) ([]byte, error) {
	result, err := a.rule(before, written)
	if err != nil || a.policy == nil {
		return result, err
	}
	stored, after, want := &unstructured.Unstructured{}, &unstructured.Unstructured{}, &unstructured.Unstructured{}
	for object, encoded := range map[*unstructured.Unstructured][]byte{stored: before, after: written, want: result} {
		if err := object.UnmarshalJSON(encoded); err != nil {
			return nil, err
		}
	}
	byPolicy, _, err := a.policy.Mutate(context.Background(), stored, after)
	if err != nil {
		return nil, fmt.Errorf("gate rule as policy: %w", err)
	}
	if !reflect.DeepEqual(want.Object, byPolicy.Object) {
		return nil, fmt.Errorf("webhook stores %v\n, policy %v", want.Object, byPolicy.Object)
	}
	return result, nil
}

// hold calls the webhook that lets an AddOnTemplate wait.
func (m *lifecycleRules) hold(key admissionKey, before, written []byte) ([]byte, error) {
	seen := m.hub(key.seen).withAddOn(key.before.addOn(key.forContradiction))
	holder := webhookgate.Holder{
		Clock: clocktesting.NewFakePassiveClock(times[0].Time), Fleet: upgrades{seen}, Lifecycle: leads{},
	}
	ctx := log.IntoContext(context.Background(), logr.Discard())
	response := holder.Handle(ctx, controlleradmission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Namespace: "cluster1", Name: stock.AddOn,
		Object: runtime.RawExtension{Raw: written}, OldObject: runtime.RawExtension{Raw: before},
	}})
	if len(response.Patches) == 0 {
		return written, nil
	}
	return patched(written, response.Patches)
}

// leads is the lifecycle of a hub where an addon-manager leads.
type leads struct{}

// Require implements webhookgate.Lifecycle.
func (leads) Require(context.Context) error { return nil }

// upgrades is the hub in the webhook's cache.
type upgrades struct{ hub }

var _ webhookgate.Upgrades = upgrades{}

// Registered implements webhookgate.Upgrades.
func (u upgrades) Registered(_ context.Context, addOn string) (declaration.Declaration, error) {
	return u.store.Current().Declaration(addOn), nil
}

// Upgraded implements webhookgate.Upgrades, as pkg/webhook/protector does.
func (u upgrades) Upgraded(
	ctx context.Context, addOn types.NamespacedName, name string,
) ([]evaluation.Finding, *gate.Upgrade, error) {
	objects := cache{fleet.Objects{Reader: u.hub}}
	version, _, err := objects.TemplateVersion(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if version == "" {
		return nil, &gate.Upgrade{Template: name, Missing: true}, nil
	}
	evaluator := u.store.Current()
	u.addOn = fleet.WithTemplate(u.addOn, name)
	loader := fleet.Loader{Reader: cache{fleet.Objects{Reader: u.hub}}, Offline: evaluation.OfflineHold}
	state, err := loader.Load(ctx, evaluator, addOn, times[0].Time)
	if err != nil || state.Cluster.Lost() {
		return nil, nil, err
	}
	return evaluator.Evaluate(addOn.Name, state), &gate.Upgrade{Template: name, Version: version}, nil
}
