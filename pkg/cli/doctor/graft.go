package doctor

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/names"
)

// graftMark on the lease of addon-manager is true while grafting is on: see pkg/compat/graft.
const graftMark = "interlock.open-cluster-management.io/graft-crds"

func grafted(ctx context.Context, h *hub) []result {
	crd, err := h.crd(ctx, registration)
	if err != nil {
		return unread("OCM's CRD of ClusterManagementAddOns", err)
	}
	if crd == nil {
		return []result{{
			unwell, "There is no CRD of ClusterManagementAddOns",
			"is this an Open Cluster Management hub? Name another with --context",
		}}
	}
	lease, err := h.lease(ctx)
	if err != nil {
		return unread("Whether grafting is on", err)
	}
	isOn := lease != nil && lease.GetAnnotations()[graftMark] == "true"
	switch {
	case isGrafted(crd) && hasField(crd):
		return []result{{well, "OCM's CRD is grafted: authors can declare by field", ""}}
	case hasField(crd):
		return []result{{well, "The CRD of ClusterManagementAddOns has the fields of its own: authors can declare by field", ""}}
	case isGrafted(crd), isOn:
		return []result{{
			unwell, "Grafting is on, and the CRD of ClusterManagementAddOns lacks the fields: records of declarations count meanwhile", h.logs(),
		}}
	default:
		return []result{{note, "OCM's CRD is not grafted: authors declare by annotation", "docs/install.md#specdependencies-on-a-stock-hub"}}
	}
}

// isGrafted reports whether a CRD has the record of a graft.
func isGrafted(crd map[string]any) bool {
	record, _, _ := unstructured.NestedString(crd, "metadata", "annotations", names.GraftRecord)
	return record != ""
}

// hasField reports whether each served version of the CRD has the field that declares.
func hasField(crd map[string]any) bool {
	served := 0
	for _, version := range sliceOf(crd, "spec", "versions") {
		if version["served"] != true {
			continue
		}
		served++
		_, found, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", "dependencies")
		if !found {
			return false
		}
	}
	return served > 0
}
