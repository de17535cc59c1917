package apidiscovery

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// roles is the document of a version of a group, as an API server publishes it.
const roles = `{"components": {"schemas": {
  "io.example.Role": {
    "type": "object",
    "x-kubernetes-group-version-kind": [{"group": "a.io", "version": "v1", "kind": "Role"}],
    "properties": {
      "metadata": {"allOf": [{"$ref": "#/components/schemas/ObjectMeta"}], "default": {}},
      "spec": {
        "type": "object",
        "properties": {
          "rules": {"type": "array", "items": {"type": "object", "properties": {"verbs": {"type": "array", "items": {"type": "string"}}}}},
          "limits": {"type": "object", "additionalProperties": {"type": "object", "properties": {"max": {"type": "integer"}}}},
          "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "object", "properties": {"cell": {"type": "string"}}}}},
          "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"type": "string"}}},
          "untyped": {"type": "object"},
          "name": {"type": "string"}
        }
      }
    }
  },
  "ObjectMeta": {"type": "object", "properties": {
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "owner": {"$ref": "#/components/schemas/ObjectMeta"}
  }},
  "Loop": {
    "x-kubernetes-group-version-kind": [{"group": "a.io", "version": "v1", "kind": "Loop"}],
    "allOf": [{"$ref": "#/components/schemas/Loop"}]
  }
}}}`

func TestHasField(t *testing.T) {
	doc := &document{}
	if err := json.Unmarshal([]byte(roles), doc); err != nil {
		t.Fatal(err)
	}
	role := doc.schemaOf(metav1.GroupVersionKind{Group: "a.io", Version: "v1", Kind: "Role"})
	if role == nil {
		t.Fatal("no schema of the kind")
	}
	for path, want := range map[string]bool{
		"spec": true, "spec.name": true, "spec.rules": true, "spec.rules.verbs": true, "spec.limits.max": true, "spec.matrix.cell": true,
		"metadata.labels": true, "metadata.owner.owner.labels": true, "spec.raw": true, "spec.raw.known": true, "spec.untyped": true,
		"name": false, "spec.other": false, "spec.name.first": false, "spec.rules.items": false, "spec.limits.any.max": false,
		"spec.raw.unknown": false, "spec.untyped.any": false, "metadata.labels.app": false, "status": false,
	} {
		if got := doc.hasField(role, path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
	loop := doc.schemaOf(metav1.GroupVersionKind{Group: "a.io", Version: "v1", Kind: "Loop"})
	if loop == nil || doc.hasField(loop, "spec") {
		t.Error("a schema that refers to itself has a field")
	}
	if doc.schemaOf(metav1.GroupVersionKind{Group: "a.io", Version: "v2", Kind: "Role"}) != nil {
		t.Error("has a schema of another version")
	}
}
