// Package gaterule has the gate rule, which applies to all writers: while the gate of an add-on is closed, OCM does not begin to install
// it. OCM deploys nothing for an add-on without the condition RegistrationApplied, whatever the condition's status is: see agentdeploy
// in addon-framework 1.3.0. So the rule removes that condition before an add-on is stored. The rule exists as a
// MutatingAdmissionPolicy, and as a webhook with the function Mutate.
//
// The package is needed until OCM itself can hold an installation back, by a field or a condition.
package gaterule

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

// TypeRegistered is the condition that OCM needs before it deploys anything.
const TypeRegistered = ocmv1alpha1.ManagedClusterAddOnRegistrationApplied

// Path is the path at which `addon-manager webhook` serves the rule.
const Path = "/gate-registration"

// Rule is the gate rule.
var Rule = rule.Rule{
	Title: "Gate rule", Controller: "gate-rule", Name: names.Gate, Files: manifests.Gate, Folder: "gate", Path: Path,
	Probed:  []metav1.Condition{{Type: TypeRegistered, Status: metav1.ConditionTrue, Reason: "Probe"}},
	Changed: func(stored []metav1.Condition) bool { return meta.FindStatusCondition(stored, TypeRegistered) == nil },
	Warning: "Closed gates have no effect on this hub: OCM installs add-ons at once",
}

// NewWebhook returns the handler of the rule as a webhook.
func NewWebhook() *webhook.Admission { return rule.NewWebhook(Mutate) }

// managedAddOn has the fields of a ManagedClusterAddOn that the rule reads. They are the same in both versions.
type managedAddOn struct {
	Metadata struct {
		Annotations       map[string]string `json:"annotations"`
		DeletionTimestamp *string           `json:"deletionTimestamp"`
	} `json:"metadata"`
	Status struct {
		Conditions       []writtenCondition            `json:"conditions"`
		ConfigReferences []stdjson.RawMessage          `json:"configReferences"`
		RelatedObjects   []ocmv1alpha1.ObjectReference `json:"relatedObjects"`
	} `json:"status"`
}

type writtenCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// Mutate returns the patch of a ManagedClusterAddOn that replaces the stored one, both as JSON. While the gate is closed, the patch
// removes the condition that starts the installation. While a new AddOnTemplate waits, it restores the reference to the running
// template. There is no patch for an add-on that is being deleted, so that OCM can finish the deletion. The mutation of
// manifests/gate/policy.yaml does the same.
func Mutate(storedJSON, updatedJSON []byte, dryRun bool) ([]jsonpatch.Operation, error) {
	var stored, updated managedAddOn
	if err := json.Unmarshal(updatedJSON, &updated); err != nil {
		return nil, fmt.Errorf("object to be written: %w", err)
	}
	if err := json.Unmarshal(storedJSON, &stored); err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	return append(removeRegistered(&stored, &updated, dryRun), restoreTemplate(&stored, &updated)...), nil
}

// removeRegistered returns the patch that removes RegistrationApplied. There is no patch once the installation has begun.
func removeRegistered(stored, updated *managedAddOn, dryRun bool) []jsonpatch.Operation {
	i := updated.index(TypeRegistered)
	if i < 0 {
		return nil
	}
	closed := stored.Metadata.Annotations[addonv1alpha1.GateAnnotation] == addonv1alpha1.GateClosed &&
		stored.Metadata.DeletionTimestamp == nil && stored.index(TypeRegistered) < 0
	if probed := dryRun && updated.index(rule.TypeProbe) >= 0; !closed && !probed {
		return nil
	}
	return []jsonpatch.Operation{{Operation: "remove", Path: fmt.Sprintf("/status/conditions/%d", i)}}
}

// index returns the index of the condition with a type, or a negative number.
func (a *managedAddOn) index(conditionType string) int {
	return slices.IndexFunc(a.Status.Conditions, func(c writtenCondition) bool { return c.Type == conditionType })
}
