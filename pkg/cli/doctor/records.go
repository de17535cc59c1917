package doctor

import (
	"context"
	"fmt"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// checkRecords compares the record of each declaration by field with its fields, as addon-manager does. Only a grafted CRD can lose
// fields. So addon-manager writes records, and restores fields from them, only on a hub with a grafted CRD.
func checkRecords(ctx context.Context, h *hub) []result {
	crd, err := h.crd(ctx, registration)
	if err != nil {
		return unreadable("OCM's CRD of ClusterManagementAddOns", err)
	}
	var results []result
	grafted, byField := isGrafted(crd), 0
	for i := range h.fleet.Registrations {
		addOn := &h.fleet.Registrations[i]
		if len(addOn.Spec.Dependencies) > 0 || addOn.Spec.Requirements != nil || len(addOn.Spec.Provides) > 0 || addOn.Spec.Ordering != "" {
			byField++
		}
		if problem, ok := h.recordProblem(addOn, grafted); ok {
			results = append(results, problem)
		}
	}
	if len(results) == 0 {
		return []result{{passed, fmt.Sprintf("No declaration can be lost with its fields: %d of %d add-ons declare by field", byField,
			len(h.fleet.Registrations)), ""}}
	}
	return results
}

// recordProblem returns the problem with the record of an add-on. ok is false without a problem.
func (h *hub) recordProblem(addOn *addonv1alpha1.ClusterManagementAddOn, grafted bool) (problem result, ok bool) {
	name := text.Name(addOn.Name)
	switch {
	case declaration.LostFields(addOn) && grafted:
		return result{
			failed, name + " lacks fields that its record has, and addon-manager does not restore them. The record counts", h.logs(),
		}, true
	case declaration.LostFields(addOn):
		return result{
			note, name + " declares by its record, because the CRD lacks the fields", "docs/install.md#specdependencies-on-a-stock-hub",
		}, true
	case declaration.Recorded(addOn) || !grafted:
		return result{}, false
	}
	lost := fmt.Sprintf("The fields of %s are lost if another writer overwrites the CRD: ", name)
	if _, annotated := addOn.Annotations[addonv1alpha1.DependenciesAnnotation]; annotated {
		return result{
			failed, lost + "its annotation is no record of them. Without the annotation, Interlock writes one",
			fmt.Sprintf("kubectl annotate clustermanagementaddon %s %s-", name, addonv1alpha1.DependenciesAnnotation),
		}, true
	}
	return result{failed, lost + "neither admission nor addon-manager has written a record of them", h.logs()}, true
}
