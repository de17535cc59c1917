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

// maxReferences is how many references in a row are followed: a schema may refer to itself.
const maxReferences = 16

const referencePrefix = "#/components/schemas/"

// kindExtension lists the kinds that a schema is of.
const kindExtension = "x-kubernetes-group-version-kind"

// schemaOf returns the schema of a kind, nil if the document has none.
func (d *document) schemaOf(kind metav1.GroupVersionKind) *spec.Schema {
	for _, schema := range d.Components.Schemas {
		var kinds []metav1.GroupVersionKind
		if err := schema.Extensions.GetObject(kindExtension, &kinds); err == nil && slices.Contains(kinds, kind) {
			return schema
		}
	}
	return nil
}

// has reports whether a schema has the field of a path: property names with dots between
// them. Where the schema only preserves what it does not know, it does not have the field.
func (d *document) has(schema *spec.Schema, path string) bool {
	name, rest, more := strings.Cut(path, ".")
	found := false
	d.visit(schema, maxReferences, func(one *spec.Schema) {
		property, declared := one.Properties[name]
		found = found || declared && (!more || d.has(&property, rest))
	})
	return found
}

// visit calls back with a schema and all that it consists of: what it refers to, the items
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
