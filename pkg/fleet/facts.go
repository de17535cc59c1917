package fleet

import (
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// FactsOf returns all that the agent of a cluster has reported.
func FactsOf(object *dependencyv1alpha1.ManagedClusterFacts) evaluation.Facts {
	facts := evaluation.Facts{
		APIs:     make(evaluation.APIFacts, len(object.Status.APIs)),
		Versions: make(map[string]evaluation.VersionFact, len(object.Status.AddOns)),
	}
	for i := range object.Status.APIs {
		reported := &object.Status.APIs[i]
		api := addonv1alpha1.AddonAPI{Group: reported.Group, Version: reported.Version, Kind: reported.Kind}
		facts.APIs[api] = APIFactOf(reported)
	}
	for i := range object.Status.AddOns {
		reported := &object.Status.AddOns[i]
		facts.Versions[reported.Name] = VersionFactOf(reported)
	}
	return facts
}

// APIFactOf returns what the agent has reported of one API.
func APIFactOf(reported *dependencyv1alpha1.APIFact) evaluation.APIFact {
	return evaluation.APIFact{Served: reported.Served, Versions: reported.Versions, Message: reported.Message}
}

// VersionFactOf returns what the agent has reported of the version of one add-on.
func VersionFactOf(reported *dependencyv1alpha1.AddOnFact) evaluation.VersionFact {
	return evaluation.VersionFact{Version: reported.Version, Former: reported.FormerAnnotation, Message: reported.Message}
}
