package apidiscovery

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// document is the part of an OpenAPI v3 document that has the schemas.
type document struct {
	Components struct {
		Schemas map[string]*spec.Schema `json:"schemas"`
	} `json:"components"`
}

// maxReferences is the maximum depth of references to follow, because a schema may refer to itself.
const maxReferences = 16

const referencePrefix = "#/components/schemas/"

// kindExtension is the extension of a schema that lists its kinds.
const kindExtension = "x-kubernetes-group-version-kind"

// schemaOf returns the schema of a kind. It is nil if the document has no such schema.
func (d *document) schemaOf(kind metav1.GroupVersionKind) *spec.Schema {
	for _, schema := range d.Components.Schemas {
		var kinds []metav1.GroupVersionKind
		if err := schema.Extensions.GetObject(kindExtension, &kinds); err == nil && slices.Contains(kinds, kind) {
			return schema
		}
	}
	return nil
}

// hasField reports whether a schema has the field of a path: property names with dots between
// them. A schema that preserves unknown fields only has the fields that it declares.
func (d *document) hasField(schema *spec.Schema, path string) bool {
	name, rest, nested := strings.Cut(path, ".")
	exists := false
	d.visit(schema, maxReferences, func(part *spec.Schema) {
		property, declared := part.Properties[name]
		exists = exists || declared && (!nested || d.hasField(&property, rest))
	})
	return exists
}

// visit calls a function with a schema and its parts: the schemas that it refers to, the items
// of its lists and the values of its maps.
func (d *document) visit(schema *spec.Schema, references int, visited func(*spec.Schema)) {
	if schema == nil || references == 0 {
		return
	}
	visited(schema)
	if name, refers := strings.CutPrefix(schema.Ref.String(), referencePrefix); refers {
		d.visit(d.Components.Schemas[name], references-1, visited)
	}
	for i := range schema.AllOf {
		d.visit(&schema.AllOf[i], references-1, visited)
	}
	if schema.Items != nil {
		d.visit(schema.Items.Schema, references-1, visited)
	}
	if schema.AdditionalProperties != nil {
		d.visit(schema.AdditionalProperties.Schema, references-1, visited)
	}
}
