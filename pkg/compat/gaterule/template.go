package gaterule

import (
	stdjson "encoding/json"
	"fmt"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Reference is the reference of a ManagedClusterAddOn to an AddOnTemplate. It is the same in both versions.
type Reference struct {
	// Index is the index in status.configReferences, and Raw the item there.
	Index int
	Raw   stdjson.RawMessage
	// Desired is the name of the AddOnTemplate to deploy. Applied is the name of the deployed one, or empty.
	Desired, Applied string
}

// ReferenceIn returns the first reference to an AddOnTemplate with the name, or nil. An empty name means any template.
func ReferenceIn(references []stdjson.RawMessage, name string) *Reference {
	type hash struct {
		Name string `json:"name"`
	}
	for i, raw := range references {
		var reference struct {
			Group    string `json:"group"`
			Resource string `json:"resource"`
			Desired  *hash  `json:"desiredConfig"`
			Applied  hash   `json:"lastAppliedConfig"`
		}
		if err := json.Unmarshal(raw, &reference); err != nil || reference.Desired == nil ||
			reference.Group != declaration.Templates.Group || reference.Resource != declaration.Templates.Resource ||
			name != "" && reference.Desired.Name != name {
			continue
		}
		return &Reference{Index: i, Raw: raw, Desired: reference.Desired.Name, Applied: reference.Applied.Name}
	}
	return nil
}

// Restore returns the patch that replaces an updated reference by the stored one.
func Restore(updated, stored *Reference) jsonpatch.Operation {
	return jsonpatch.NewOperation("replace", fmt.Sprintf("/status/configReferences/%d", updated.Index), stored.Raw)
}

// restoreTemplate returns the patch that restores the running AddOnTemplate while a new one waits. A user can let the new one pass by
// an annotation.
func restoreTemplate(stored, updated *managedAddOn) []jsonpatch.Operation {
	waiting := stored.waitingTemplate()
	if waiting == "" || stored.Metadata.DeletionTimestamp != nil || stored.Metadata.Annotations[addonv1alpha1.UpgradeAnnotation] == waiting {
		return nil
	}
	desired, running := ReferenceIn(updated.Status.ConfigReferences, waiting), ReferenceIn(stored.Status.ConfigReferences, "")
	if desired == nil || running == nil {
		return nil
	}
	return []jsonpatch.Operation{Restore(desired, running)}
}

// waitingTemplate returns the name of the AddOnTemplate that waits, or an empty string.
func (a *managedAddOn) waitingTemplate() string {
	for _, c := range a.Status.Conditions {
		if c.Type == gate.ConditionUpgradable {
			upgradable := &metav1.Condition{Status: metav1.ConditionStatus(c.Status), Reason: c.Reason}
			return gate.WaitingTemplate(upgradable, a.Status.RelatedObjects)
		}
	}
	return ""
}
