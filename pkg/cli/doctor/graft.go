package doctor

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/names"
)

// graftAnnotation on the lease of addon-manager is true while grafting is on: see pkg/compat/graft.
const graftAnnotation = "interlock.open-cluster-management.io/graft-crds"

func checkGraft(ctx context.Context, h *hub) []result {
	crd, err := h.crd(ctx, registration)
	if err != nil {
		return unreadable("OCM's CRD of ClusterManagementAddOns", err)
	}
	if crd == nil {
		return []result{{
			failed, "There is no CRD of ClusterManagementAddOns",
			"is this an Open Cluster Management hub? Name another with --context",
		}}
	}
	lease, err := h.lease(ctx)
	if err != nil {
		return unreadable("Whether grafting is on", err)
	}
	enabled := lease != nil && lease.GetAnnotations()[graftAnnotation] == "true"
	switch {
	case isGrafted(crd) && hasField(crd):
		return []result{{passed, "OCM's CRD is grafted: authors can declare by field", ""}}
	case hasField(crd):
		return []result{{passed, "The CRD of ClusterManagementAddOns has the fields of its own: authors can declare by field", ""}}
	case isGrafted(crd), enabled:
		return []result{{
			failed, "Grafting is on, and the CRD of ClusterManagementAddOns lacks the fields: records of declarations count meanwhile", h.logs(),
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

// hasField reports whether each served version of the CRD has spec.dependencies.
func hasField(crd map[string]any) bool {
	served := 0
	for _, version := range components.MapsIn(crd, "spec", "versions") {
		if version["served"] != true {
			continue
		}
		served++
		_, ok, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", "dependencies")
		if !ok {
			return false
		}
	}
	return served > 0
}
