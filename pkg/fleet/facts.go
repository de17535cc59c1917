package fleet

import (
	"cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// FactsOf returns all that the agent of a cluster has reported in an object, which may
// be nil.
func FactsOf(object *dependencyv1alpha1.ManagedClusterFacts) evaluation.Facts {
	object = cmp.Or(object, &dependencyv1alpha1.ManagedClusterFacts{})
	facts := evaluation.Facts{
		APIs:     make(evaluation.APIFacts, len(object.Status.APIs)),
		Versions: make(map[string]evaluation.VersionFact, len(object.Status.AddOns)),
	}
	for i := range object.Status.APIs {
		reported := &object.Status.APIs[i]
		facts.APIs[addonv1alpha1.AddonAPI(reported.API)] = evaluation.APIFact{Served: reported.Served, Versions: reported.Versions, Message: reported.Message}
	}
	for i := range object.Status.AddOns {
		reported := &object.Status.AddOns[i]
		facts.Versions[reported.Name] = evaluation.VersionFact{
			Version: reported.Version, Former: reported.FormerAnnotation, Message: reported.Message,
		}
	}
	return facts
}
