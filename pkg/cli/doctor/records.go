package doctor

import (
	"context"
	"fmt"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// recorded compares the record of each declaration by field with its fields, as addon-manager
// does. Only a graft can lose fields, and only then addon-manager makes records and restores
// from them.
func recorded(ctx context.Context, h *hub) (results []result) {
	crd, err := h.crd(ctx, registration)
	if err != nil {
		return unread("OCM's CRD of ClusterManagementAddOns", err)
	}
	grafted, byField := isGrafted(crd), 0
	for i := range h.fleet.Registrations {
		addOn := &h.fleet.Registrations[i]
		if len(addOn.Spec.Dependencies) > 0 || addOn.Spec.Requirements != nil || len(addOn.Spec.Provides) > 0 || addOn.Spec.Ordering != "" {
			byField++
		}
		if found := h.record(addOn, grafted); found.found != "" {
			results = append(results, found)
		}
	}
	if len(results) == 0 {
		return []result{{well, fmt.Sprintf("No declaration can be lost with its fields: %d of %d add-ons declare by field", byField,
			len(h.fleet.Registrations)), ""}}
	}
	return results
}

// record is what is wrong with the record of an add-on.
func (h *hub) record(addOn *addonv1alpha1.ClusterManagementAddOn, grafted bool) result {
	name := text.Name(addOn.Name)
	switch {
	case declaration.Lost(addOn) && grafted:
		return result{unwell, name + " lacks fields that its record has, and addon-manager does not restore them. The record counts", h.logs()}
	case declaration.Lost(addOn):
		return result{note, name + " declares by its record, because the CRD lacks the fields", "docs/install.md#specdependencies-on-a-stock-hub"}
	case declaration.Recorded(addOn) || !grafted:
		return result{}
	}
	lost := fmt.Sprintf("The fields of %s are lost if another writer overwrites the CRD: ", name)
	if _, annotated := addOn.Annotations[addonv1alpha1.DependenciesAnnotation]; annotated {
		return result{
			unwell, lost + "its annotation is no record of them. Without the annotation, Interlock writes one",
			fmt.Sprintf("kubectl annotate clustermanagementaddon %s %s-", name, addonv1alpha1.DependenciesAnnotation),
		}
	}
	return result{unwell, lost + "neither admission nor addon-manager has written a record of them", h.logs()}
}
