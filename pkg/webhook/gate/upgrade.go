package gate

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
	gaterule "open-cluster-management.io/interlock/pkg/compat/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
)

// UpgradePath is the path at which other AddOnTemplates of ManagedClusterAddOns are held back.
const UpgradePath = "/hold-addontemplate"

// Upgrades is what it is decided on whether an AddOnTemplate waits.
type Upgrades interface {
	// Registered returns what the registration of an add-on declares.
	Registered(ctx context.Context, addOn string) (declaration.Declaration, error)
	// Upgraded returns the verdicts on an add-on with another AddOnTemplate; known is false where nothing can be said.
	Upgraded(
		ctx context.Context,
		addOn types.NamespacedName,
		template string,
	) (findings []evaluation.Finding, upgrade gate.Upgrade, known bool, err error)
}

// Holder lets another AddOnTemplate wait that OCM begins to roll out on a managed cluster: it puts the one back that runs, and sets the
// condition Upgradable, by which the gate rule keeps it so. It denies nothing. What it cannot decide does not wait.
type Holder struct {
	Clock     clock.PassiveClock
	Fleet     Upgrades
	Lifecycle Lifecycle
}

var _ admission.Handler = &Holder{}

// status is what is read of a ManagedClusterAddOn of either version.
type status struct {
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
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
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

// hold returns the patch of a status that lets an AddOnTemplate wait; nil: none does. OCM drops what runs from a status once another
// template is rolled out. So where that is not known, an installation or a rollout is under way already, and nothing waits.
func (h *Holder) hold(ctx context.Context, request admission.Request) ([]jsonpatch.Operation, error) {
	var stored, now status
	if err := json.Unmarshal(request.OldObject.Raw, &stored); err != nil {
		return nil, fmt.Errorf("read the stored object: %w", err)
	}
	if err := json.Unmarshal(request.Object.Raw, &now); err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	runs, desired := gaterule.ReferenceIn(stored.Status.ConfigReferences, ""), gaterule.ReferenceIn(now.Status.ConfigReferences, "")
	if runs == nil || runs.Applied == "" || desired == nil || desired.Desired == runs.Desired || stored.Metadata.DeletionTimestamp != nil ||
		stored.Metadata.Annotations[addonv1alpha1.UpgradeAnnotation] == desired.Desired {
		return nil, nil
	}
	registered, err := h.Fleet.Registered(ctx, request.Name)
	if err != nil || !gate.OrdersUpgrades(registered) {
		return nil, err
	}
	findings, upgrade, known, err := h.Fleet.Upgraded(
		ctx,
		types.NamespacedName{Namespace: request.Namespace, Name: request.Name},
		desired.Desired,
	)
	if err != nil || !known {
		return nil, err
	}
	decided := gate.DecideUpgrade(registered, findings, upgrade)
	if decided.Step != gate.Wait {
		return nil, nil
	}
	log.FromContext(ctx).Info("An AddOnTemplate waits", "addOn", request.Namespace+"/"+request.Name, "message", decided.Message)
	patch := []jsonpatch.Operation{gaterule.Restore(desired, runs), h.report(now.Status.Conditions, decided)}
	return append(patch, relate(now.Status.RelatedObjects, desired.Desired)...), nil
}

// report returns the patch of the condition Upgradable. Admission is only called where there is one; another writer that leaves it out
// gets it back.
func (h *Holder) report(conditions []metav1.Condition, decided gate.Decision) jsonpatch.Operation {
	at := slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == gate.ConditionUpgradable })
	if at < 0 {
		desired, _ := gate.UpgradeCondition(nil, decided, metav1.NewTime(h.Clock.Now()))
		if conditions == nil {
			return jsonpatch.NewOperation("add", "/status/conditions", []metav1.Condition{desired})
		}
		return jsonpatch.NewOperation("add", "/status/conditions/-", desired)
	}
	desired, _ := gate.UpgradeCondition(&conditions[at], decided, metav1.NewTime(h.Clock.Now()))
	return jsonpatch.NewOperation("replace", fmt.Sprintf("/status/conditions/%d", at), desired)
}

// relate returns the patch of the related objects of an add-on that names the AddOnTemplate which waits; nil: they do already.
func relate(related []ocmv1alpha1.ObjectReference, template string) []jsonpatch.Operation {
	desired, at := gate.Related(template), slices.IndexFunc(related, gate.IsRelated)
	switch {
	case related == nil:
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", "/status/relatedObjects", []ocmv1alpha1.ObjectReference{desired})}
	case at < 0:
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", "/status/relatedObjects/-", desired)}
	case related[at] != desired:
		return []jsonpatch.Operation{jsonpatch.NewOperation("replace", fmt.Sprintf("/status/relatedObjects/%d", at), desired)}
	}
	return nil
}
