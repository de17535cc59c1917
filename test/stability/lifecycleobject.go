package stability

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/stability/stock"
)

// object is the stored add-on on the managed cluster.
type object struct {
	Degraded, Available, Installable, Upgradable entry
	// Owned are the fields that addon-manager owns by server-side apply.
	Owned fields
	Gate  gateValue
	// Registered is true if the add-on has the condition RegistrationApplied, with which OCM begins to install it.
	Registered bool
	// Desired and Applied are the AddOnTemplates of its reference, and Related is the AddOnTemplate of its related
	// objects.
	Desired, Applied, Related template
	Mode                      healthCheck
	// Allowed is true if a user lets the second AddOnTemplate pass.
	Allowed bool
	Deleted bool
}

type gateValue uint8

// The values of the gate's annotation.
const (
	noGate gateValue = iota
	closedGate
	openGate
	unknownGate
)

var gateValues = []string{"", addonv1alpha1.GateClosed, addonv1alpha1.GateOpen, "OPEN"}

type healthCheck uint8

var healthChecks = []ocmv1alpha1.HealthCheckMode{"", ocmv1alpha1.HealthCheckModeLease, ocmv1alpha1.HealthCheckModeCustomized}

// fields is a set of fields.
type fields uint8

const fieldMode fields = 1 << 7

// kinds are the conditions of addon-manager.
var kinds = []string{
	addonv1alpha1.ManagedClusterAddOnConditionDegraded, addonv1alpha1.ManagedClusterAddOnConditionAvailable,
	addonv1alpha1.ManagedClusterAddOnConditionInstallable, addonv1alpha1.ManagedClusterAddOnConditionUpgradable,
}

// entries returns the conditions in the order of kinds.
func (o *object) entries() []*entry {
	return []*entry{&o.Degraded, &o.Available, &o.Installable, &o.Upgradable}
}

// sentinel is the time of all decisions. In a stored condition it becomes the time that the condition does not have
// yet.
var sentinel = metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

// write returns the condition after a write. The time of a transition is not modeled, so only a writer that changes
// the time alone changes it.
func (e entry) write(desired *metav1.Condition) entry {
	if desired == nil {
		return 0
	}
	stored := e.condition()
	result := *desired
	switch {
	case stored == nil || stored.Status != desired.Status:
		result.LastTransitionTime = times[0]
	case desired.LastTransitionTime.Equal(&sentinel):
		result.LastTransitionTime = e.nextTime()
	}
	return entryOf(&result)
}

// addOn returns the object in the form that the API server stores.
func (o *object) addOn(forContradiction bool) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{
		TypeMeta:   metav1.TypeMeta{APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "ManagedClusterAddOn"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: stock.AddOn, UID: "uid", Annotations: map[string]string{}},
	}
	if o.Gate != noGate {
		addOn.Annotations[addonv1alpha1.GateAnnotation] = gateValues[o.Gate]
	}
	if forContradiction {
		addOn.Annotations[addonv1alpha1.GateCauseAnnotation] = addonv1alpha1.GateCauseContradiction
	}
	if o.Allowed {
		addOn.Annotations[addonv1alpha1.UpgradeAnnotation] = v2.String()
	}
	if o.Deleted {
		addOn.DeletionTimestamp = &times[0]
	}
	for _, stored := range o.entries() {
		if condition := stored.condition(); condition != nil {
			addOn.Status.Conditions = append(addOn.Status.Conditions, *condition)
		}
	}
	if o.Registered {
		addOn.Status.Conditions = append(addOn.Status.Conditions, *stock.Registered.DeepCopy())
	}
	addOn.Status.HealthCheck.Mode = healthChecks[o.Mode]
	addOn.ManagedFields = o.managedFields()
	if o.Desired != noTemplate {
		addOn.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{o.reference()}
	}
	if o.Related != noTemplate {
		addOn.Status.RelatedObjects = []ocmv1alpha1.ObjectReference{gate.Related(o.Related.String())}
	}
	return addOn
}

// owns reports whether addon-manager owns a condition. Without a gate, the add-on's own manager may own Installable.
func (o *object) owns(kind string) bool { return o.Owned&(1<<slices.Index(kinds, kind)) != 0 }

// managedFields returns the fields of addon-manager that it reads itself.
func (o *object) managedFields() []metav1.ManagedFieldsEntry {
	if o.Owned == 0 {
		return nil
	}
	var owned []string
	for _, kind := range kinds {
		if o.owns(kind) {
			owned = append(owned, fmt.Sprintf(`"k:{\"type\":\"%s\"}":{}`, kind))
		}
	}
	if o.Owned&fieldMode != 0 {
		owned = append(owned, `"f:healthCheck":{"f:mode":{}}`)
	}
	return []metav1.ManagedFieldsEntry{{
		Manager: names.AddonManager, Operation: metav1.ManagedFieldsOperationApply,
		FieldsV1: &metav1.FieldsV1{Raw: []byte("{" + strings.Join(owned, ",") + "}")},
	}}
}

func (o *object) reference() ocmv1alpha1.ConfigReference {
	hash := func(name template) *ocmv1alpha1.ConfigSpecHash {
		if name == noTemplate {
			return nil
		}
		return &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: name.String()}, SpecHash: name.String()}
	}
	return ocmv1alpha1.ConfigReference{
		ConfigGroupResource: declaration.Templates, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: o.Desired.String()},
		DesiredConfig: hash(o.Desired), LastAppliedConfig: hash(o.Applied),
	}
}

// update returns the object with the status of addOn. Another writer than addon-manager then owns all fields that
// differ.
func (o *object) update(addOn *addonv1alpha1.ManagedClusterAddOn) object {
	after := *o
	for i, stored := range after.entries() {
		before := *stored
		*stored = before.write(meta.FindStatusCondition(addOn.Status.Conditions, kinds[i]))
		if *stored != before {
			after.Owned &^= 1 << i
		}
	}
	after.Registered = meta.FindStatusCondition(addOn.Status.Conditions, stock.Registered.Type) != nil
	after.Desired, after.Applied, after.Related = noTemplate, noTemplate, noTemplate
	for _, reference := range addOn.Status.ConfigReferences {
		after.Desired = templateOf(reference.DesiredConfig.Name)
		if reference.LastAppliedConfig != nil {
			after.Applied = templateOf(reference.LastAppliedConfig.Name)
		}
	}
	for _, related := range addOn.Status.RelatedObjects {
		after.Related = templateOf(related.Name)
	}
	return after
}

// setAvailable sets the condition like another writer than addon-manager.
func (o *object) setAvailable(desired *metav1.Condition) {
	if written := o.Available.write(desired); written != o.Available {
		o.Available = written
		o.Owned &^= 1 << slices.Index(kinds, desired.Type)
	}
}

// apply returns the object after addon-manager has applied conditions and a mode. Server-side apply removes the
// fields that addon-manager owns and leaves out.
func (o *object) apply(conditions []metav1.Condition, mode ocmv1alpha1.HealthCheckMode) object {
	after := *o
	after.Owned = 0
	for i, stored := range after.entries() {
		desired := meta.FindStatusCondition(conditions, kinds[i])
		switch {
		case desired != nil:
			*stored = stored.write(desired)
			after.Owned |= 1 << i
		case o.Owned&(1<<i) != 0:
			*stored = 0
		}
	}
	switch {
	case mode != "":
		after.Owned |= fieldMode
		for i := range healthChecks {
			if healthChecks[i] == mode {
				after.Mode = healthCheck(i)
			}
		}
	case o.Owned&fieldMode != 0:
		after.Mode = 0
	}
	return after
}

func (o object) String() string {
	return fmt.Sprintf("gate %q, registered %t, Degraded %s, Installable %s, Upgradable %s, Available %s, templates %q/%q, waits %q",
		gateValues[o.Gate], o.Registered, o.Degraded, o.Installable, o.Upgradable, o.Available, o.Desired, o.Applied, o.Related)
}

// closed reports whether OCM does not begin to install the add-on.
func (o *object) closed() bool { return o.Gate == closedGate && !o.Registered && !o.Deleted }

// waiting returns the AddOnTemplate that waits.
func (o *object) waiting() template {
	if o.Deleted || !gate.Waits(o.Upgradable.condition()) {
		return noTemplate
	}
	return o.Related
}
