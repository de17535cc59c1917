package gate

import (
	stdjson "encoding/json"
	"fmt"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
)

// Reference is the reference of a ManagedClusterAddOn of either version to its AddOnTemplate.
type Reference struct {
	// Index is its place in status.configReferences, and Raw what is there.
	Index int
	Raw   stdjson.RawMessage
	// Desired is the name of the AddOnTemplate that OCM deploys, and Applied of the one that it has deployed; empty: none.
	Desired, Applied string
}

// ReferenceIn returns the first reference to an AddOnTemplate that OCM deploys, or to the one of that name unless it is empty; nil: there
// is none.
func ReferenceIn(references []stdjson.RawMessage, name string) *Reference {
	type hash struct {
		Name string `json:"name"`
	}
	for i, raw := range references {
		var one struct {
			Group    string `json:"group"`
			Resource string `json:"resource"`
			Desired  *hash  `json:"desiredConfig"`
			Applied  hash   `json:"lastAppliedConfig"`
		}
		if err := json.Unmarshal(raw, &one); err != nil || one.Desired == nil ||
			one.Group != declaration.Templates.Group || one.Resource != declaration.Templates.Resource ||
			name != "" && one.Desired.Name != name {
			continue
		}
		return &Reference{Index: i, Raw: raw, Desired: one.Desired.Name, Applied: one.Applied.Name}
	}
	return nil
}

// PutBack returns the patch that replaces a reference by the stored one.
func PutBack(now, stored *Reference) jsonpatch.Operation {
	return jsonpatch.NewOperation("replace", fmt.Sprintf("/status/configReferences/%d", now.Index), stored.Raw)
}

// putBack returns the patch while the AddOnTemplate waits that is to be stored. The annotation of a user lets it pass.
func putBack(stored, now *written) []jsonpatch.Operation {
	waiting := stored.waiting()
	if waiting == "" || stored.Metadata.DeletionTimestamp != nil || stored.Metadata.Annotations[addonv1alpha1.UpgradeAnnotation] == waiting {
		return nil
	}
	desired, runs := ReferenceIn(now.Status.ConfigReferences, waiting), ReferenceIn(stored.Status.ConfigReferences, "")
	if desired == nil || runs == nil {
		return nil
	}
	return []jsonpatch.Operation{PutBack(desired, runs)}
}

// waiting returns the AddOnTemplate that waits; empty: none does.
func (w *written) waiting() string {
	for _, one := range w.Status.Conditions {
		if one.Type == gate.ConditionUpgradable {
			return gate.WaitingTemplate(&metav1.Condition{Status: metav1.ConditionStatus(one.Status), Reason: one.Reason}, w.Status.RelatedObjects)
		}
	}
	return ""
}
