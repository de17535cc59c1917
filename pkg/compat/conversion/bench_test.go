package conversion

import (
	"encoding/json"
	"testing"

	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
)

// typical is a registration as OCM's own add-ons have it.
const typical = `{"apiVersion":"addon.open-cluster-management.io/v1alpha1","kind":"ClusterManagementAddOn",
	"metadata":{"name":"gateway","uid":"5b2c3c1e-6f3e-4f0a-9d0e-2b8b6a1d7c11","resourceVersion":"4711","generation":2,
	"creationTimestamp":"2026-08-01T10:00:00Z","labels":{"app":"gateway"},
	"annotations":{"addon.open-cluster-management.io/lifecycle":"addon-manager"},
	"managedFields":[{"manager":"m","operation":"Update","apiVersion":"addon.open-cluster-management.io/v1alpha1",
	"time":"2026-08-01T10:00:00Z",
	"fieldsType":"FieldsV1",
	"fieldsV1":{"f:spec":{".":{},"f:addOnMeta":{".":{},"f:displayName":{}},"f:installStrategy":{".":{},"f:type":{}}}}}]},
	"spec":{"addOnMeta":{"displayName":"Gateway","description":"Reaches clusters"},
	"supportedConfigs":[{"group":"addon.open-cluster-management.io","resource":"addondeploymentconfigs",
	"defaultConfig":{"name":"n","namespace":"ns"}}],
	"dependencies":[{"name":"proxy","type":"Required","message":"No credentials"}],
	"installStrategy":{"type":"Placements","placements":[{"name":"global","namespace":"ns","rolloutStrategy":{"type":"All"}}]}},
	"status":{"defaultconfigReferences":[{"group":"g","resource":"r","desiredConfig":{"name":"n","specHash":"h"}}],
	"installProgressions":[{"name":"global","namespace":"ns",
	"conditions":[{"type":"Progressing","status":"False","reason":"Completed","message":"done",
	"lastTransitionTime":"2026-08-01T10:00:00Z"}]}]}}`

func BenchmarkConvert(b *testing.B) {
	for b.Loop() {
		if _, err := Convert([]byte(typical), v1beta1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTypedConversion measures the minimum work of a handler that decodes OCM's types.
func BenchmarkTypedConversion(b *testing.B) {
	for b.Loop() {
		var source ocmv1alpha1.ClusterManagementAddOn
		var target ocmv1beta1.ClusterManagementAddOn
		if err := json.Unmarshal([]byte(typical), &source); err != nil {
			b.Fatal(err)
		}
		if err := ocmv1beta1.Convert_v1alpha1_ClusterManagementAddOn_To_v1beta1_ClusterManagementAddOn(&source, &target, nil); err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(&target); err != nil {
			b.Fatal(err)
		}
	}
}
