package gateclosing

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"slices"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/clock"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/gaterule"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// UpgradePath is the path for requests that roll out another AddOnTemplate of a ManagedClusterAddOn.
const UpgradePath = "/hold-addontemplate"

// Upgrades reads the inputs of a decision on an AddOnTemplate.
type Upgrades interface {
	// Registered returns the declaration in the registration of an add-on.
	Registered(ctx context.Context, addOn string) (declaration.Declaration, error)
	// Upgraded returns the verdicts on an add-on with another AddOnTemplate, and the upgrade to that template. The upgrade is nil if no
	// verdict is known.
	Upgraded(ctx context.Context, addOn types.NamespacedName, template string) ([]evaluation.Finding, *gate.Upgrade, error)
}

// Holder lets another AddOnTemplate wait that OCM begins to roll out on a managed cluster. It puts the running template back, and sets
// the condition Upgradable. Because of this condition, the gate rule keeps the running template. Holder denies no request. A template
// that it cannot decide on does not wait.
type Holder struct {
	Clock     clock.PassiveClock
	Fleet     Upgrades
	Lifecycle Lifecycle
}

var _ admission.Handler = &Holder{}

// addOnStatus has the fields of a ManagedClusterAddOn that decide, in either version of the API.
type addOnStatus struct {
	Metadata struct {
		Annotations       map[string]string `json:"annotations"`
		DeletionTimestamp *string           `json:"deletionTimestamp"`
	} `json:"metadata"`
	Status struct {
		Conditions       []metav1.Condition   `json:"conditions"`
		ConfigReferences []stdjson.RawMessage `json:"configReferences"`
		// RelatedObjects are the same in either version.
		RelatedObjects []ocmv1alpha1.ObjectReference `json:"relatedObjects"`
	} `json:"status"`
}

// Handle implements admission.Handler.
func (h *Holder) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	patch, err := h.hold(ctx, request)
	if err == nil && patch != nil {
		err = h.Lifecycle.Require(ctx)
	}
	switch {
	case err != nil:
		log.FromContext(ctx).Error(err, "Cannot decide whether an AddOnTemplate waits for dependencies; it does not",
			"addOn", request.Namespace+"/"+request.Name)
		return admission.Allowed("")
	case patch == nil:
		return admission.Allowed("")
	}
	return admission.Patched("", patch...)
}

// hold returns the patch of a status that lets an AddOnTemplate wait. It returns nil if the template does not wait. OCM drops the running
// template from a status once it rolls out another template. So if the running template is not known, an installation or a rollout has
// begun already, and the template does not wait.
func (h *Holder) hold(ctx context.Context, request admission.Request) ([]jsonpatch.Operation, error) {
	var stored, written addOnStatus
	if err := json.Unmarshal(request.OldObject.Raw, &stored); err != nil {
		return nil, fmt.Errorf("read the stored object: %w", err)
	}
	if err := json.Unmarshal(request.Object.Raw, &written); err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	running := gaterule.ReferenceIn(stored.Status.ConfigReferences, "")
	desired := gaterule.ReferenceIn(written.Status.ConfigReferences, "")
	if running == nil || running.Applied == "" || desired == nil || desired.Desired == running.Desired ||
		stored.Metadata.DeletionTimestamp != nil || stored.Metadata.Annotations[addonv1alpha1.UpgradeAnnotation] == desired.Desired {
		return nil, nil
	}
	registered, err := h.Fleet.Registered(ctx, request.Name)
	if err != nil || !gate.OrdersUpgrades(registered) {
		return nil, err
	}
	key := types.NamespacedName{Namespace: request.Namespace, Name: request.Name}
	findings, upgrade, err := h.Fleet.Upgraded(ctx, key, desired.Desired)
	if err != nil || upgrade == nil {
		return nil, err
	}
	decision := gate.DecideUpgrade(registered, findings, *upgrade)
	if decision.Step != gate.Wait {
		return nil, nil
	}
	log.FromContext(ctx).Info("An AddOnTemplate waits", "addOn", request.Namespace+"/"+request.Name, "message", decision.Message)
	patch := []jsonpatch.Operation{gaterule.Restore(desired, running), h.report(written.Status.Conditions, decision)}
	return append(patch, relate(written.Status.RelatedObjects, desired.Desired)...), nil
}

// report returns the operation that sets the condition Upgradable. The API server only calls the webhook for an add-on that has the
// condition. If the writer left it out, it is added again.
func (h *Holder) report(conditions []metav1.Condition, decision gate.Decision) jsonpatch.Operation {
	index := slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == gate.ConditionUpgradable })
	if index < 0 {
		desired, _ := gate.UpgradeCondition(nil, decision, metav1.NewTime(h.Clock.Now()))
		if conditions == nil {
			return jsonpatch.NewOperation("add", "/status/conditions", []metav1.Condition{desired})
		}
		return jsonpatch.NewOperation("add", "/status/conditions/-", desired)
	}
	desired, _ := gate.UpgradeCondition(&conditions[index], decision, metav1.NewTime(h.Clock.Now()))
	return jsonpatch.NewOperation("replace", fmt.Sprintf("/status/conditions/%d", index), desired)
}

// relate returns the operations that add the waiting AddOnTemplate to the related objects of an add-on. It returns nil if they have it
// already.
func relate(related []ocmv1alpha1.ObjectReference, template string) []jsonpatch.Operation {
	desired, index := gate.Related(template), slices.IndexFunc(related, gate.IsRelated)
	switch {
	case related == nil:
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", "/status/relatedObjects", []ocmv1alpha1.ObjectReference{desired})}
	case index < 0:
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", "/status/relatedObjects/-", desired)}
	case related[index] != desired:
		return []jsonpatch.Operation{jsonpatch.NewOperation("replace", fmt.Sprintf("/status/relatedObjects/%d", index), desired)}
	}
	return nil
}
