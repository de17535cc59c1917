// Package gate holds one rule for all writers: while the gate of an add-on is closed, OCM does not begin to install it.
// OCM deploys nothing of an add-on that has no condition RegistrationApplied, whatever its status: see agentdeploy in
// addon-framework 1.3.0. So the rule leaves that condition out of what is stored. The rule exists as a MutatingAdmissionPolicy, and as a webhook with the function Mutate.
//
// What ends it: OCM releases that hold an installation back themselves, by a field or a condition.
package gate

import (
	stdjson "encoding/json"
	"fmt"
	"slices"

	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/names"
)

// TypeRegistered is the condition without which OCM deploys nothing.
const TypeRegistered = ocmv1alpha1.ManagedClusterAddOnRegistrationApplied

// Path is where `addon-manager webhook` serves the rule.
const Path = "/gate-registration"

// Rule is the gate rule.
var Rule = rule.Rule{
	Title: "Gate rule", Controller: "gate-rule", Name: names.Gate, Files: manifests.Gate, Folder: "gate", Path: Path,
	Probed:  []metav1.Condition{{Type: TypeRegistered, Status: metav1.ConditionTrue, Reason: "Probe"}},
	Changed: func(stored []metav1.Condition) bool { return meta.FindStatusCondition(stored, TypeRegistered) == nil },
	Without: "Closed gates have no effect on this hub: OCM installs add-ons at once",
}

// NewWebhook returns the handler of the rule as a webhook.
func NewWebhook() *webhook.Admission { return rule.NewWebhook(Mutate) }

// written is what the rule reads of a ManagedClusterAddOn of either version.
type written struct {
	Metadata struct {
		Annotations       map[string]string `json:"annotations"`
		DeletionTimestamp *string           `json:"deletionTimestamp"`
	} `json:"metadata"`
	Status struct {
		Conditions       []writtenCondition   `json:"conditions"`
		ConfigReferences []stdjson.RawMessage `json:"configReferences"`
		// RelatedObjects are the same in either version.
		RelatedObjects []ocmv1alpha1.ObjectReference `json:"relatedObjects"`
	} `json:"status"`
}

type writtenCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// Mutate returns the patch of after, the JSON of a ManagedClusterAddOn that is to replace before: without the condition
// that starts the installation, while the gate is closed, and with the AddOnTemplate that runs, while another one waits. There is no
// patch where the add-on is being deleted, so that OCM can finish that. The mutation of manifests/gate/policy.yaml does the same.
func Mutate(before, after []byte, dryRun bool) ([]jsonpatch.Operation, error) {
	var stored, now written
	if err := json.Unmarshal(after, &now); err != nil {
		return nil, fmt.Errorf("object to be written: %w", err)
	}
	if err := json.Unmarshal(before, &stored); err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	return append(leaveOut(&stored, &now, dryRun), putBack(&stored, &now)...), nil
}

// leaveOut returns the patch without RegistrationApplied. There is none where the installation has begun already.
func leaveOut(stored, now *written, dryRun bool) []jsonpatch.Operation {
	at := now.index(TypeRegistered)
	if at < 0 {
		return nil
	}
	closed := stored.Metadata.Annotations[addonv1alpha1.GateAnnotation] == addonv1alpha1.GateClosed &&
		stored.Metadata.DeletionTimestamp == nil && stored.index(TypeRegistered) < 0
	if probed := dryRun && now.index(rule.TypeProbe) >= 0; !closed && !probed {
		return nil
	}
	return []jsonpatch.Operation{{Operation: "remove", Path: fmt.Sprintf("/status/conditions/%d", at)}}
}

// index returns the index of the condition of a type; a negative one: there is none.
func (w *written) index(kind string) int {
	return slices.IndexFunc(w.Status.Conditions, func(one writtenCondition) bool { return one.Type == kind })
}
