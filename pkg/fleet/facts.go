package fleet

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/names"
)

// FactsOf returns all facts that the agent of a cluster has reported in the object, which
// may be nil.
func FactsOf(object *dependencyv1alpha1.ManagedClusterFacts) evaluation.Facts {
	object = cmp.Or(object, &dependencyv1alpha1.ManagedClusterFacts{})
	facts := evaluation.Facts{
		APIs:     APIFactsOf(object.Status.APIs),
		Versions: make(map[string]evaluation.VersionFact, len(object.Status.AddOns)),
	}
	if object.Status.ObservedGeneration == object.Generation {
		for i := range object.Spec.APIs {
			requested := &object.Spec.APIs[i]
			api := addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI(requested.API), Fields: requested.Fields}
			setFieldsUnknown(facts, api, fieldsNotSupported)
		}
	}
	for i := range object.Status.AddOns {
		reported := &object.Status.AddOns[i]
		facts.Versions[reported.Name] = evaluation.VersionFact{
			Version: reported.Version, Former: reported.FormerAnnotation, Message: reported.Message,
		}
	}
	return facts
}

// APIFactsOf returns the reported facts about APIs, by API.
func APIFactsOf(reported []dependencyv1alpha1.APIFact) evaluation.APIFacts {
	facts := make(evaluation.APIFacts, len(reported))
	for i := range reported {
		facts[addonv1alpha1.AddonAPI(reported[i].API)] = apiFact(&reported[i])
	}
	return facts
}

// fieldsNotSupported is the message about fields if an agent has reported everything but fields.
const fieldsNotSupported = "the managed cluster's addon-agent is too old to report fields of APIs: upgrade it"

func apiFact(reported *dependencyv1alpha1.APIFact) evaluation.APIFact {
	fact := evaluation.APIFact{Served: reported.Served, Versions: reported.Versions, Message: reported.Message}
	for i := range reported.Fields {
		if i == 0 {
			fact.Fields = make(map[string]evaluation.FieldFact, len(reported.Fields))
		}
		field := evaluation.FieldFact{Exists: reported.Fields[i].Found, Versions: reported.Fields[i].Versions}
		if field.Exists == metav1.ConditionUnknown {
			field.Message = reported.Message
		}
		fact.Fields[reported.Fields[i].Path] = field
	}
	return fact
}

// HasReports reports whether an agent has ever written to the object, which may be nil.
func HasReports(object *dependencyv1alpha1.ManagedClusterFacts) bool {
	if object == nil {
		return false
	}
	status := &object.Status
	return status.AgentAddOn != "" || status.ObservedGeneration != 0 || len(status.APIs) > 0 || len(status.AddOns) > 0
}

// RequestedAt returns when the wait for the requested facts began: at the last change by addon-manager. If no agent has ever reported,
// it is the creation of the object, because a new request does not give an absent agent more time.
func RequestedAt(object *dependencyv1alpha1.ManagedClusterFacts) time.Time {
	requested := object.CreationTimestamp.Time
	if !HasReports(object) {
		return requested
	}
	for _, entry := range object.ManagedFields {
		if entry.Manager == names.AddonManager && entry.Time != nil && entry.Time.After(requested) {
			requested = entry.Time.Time
		}
	}
	return requested
}
