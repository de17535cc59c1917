package crdgraft

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// Fields has the digests of the schemas of fields of spec, by version and path. A path is, for example,
// dependencies[].when.
type Fields map[string]map[string]string

// String lists the fields for messages: v1beta1 spec.dependencies.
func (f Fields) String() string {
	var fields []string
	for _, version := range slices.Sorted(maps.Keys(f)) {
		for _, path := range slices.Sorted(maps.Keys(f[version])) {
			fields = append(fields, version+" spec."+path)
		}
	}
	return strings.Join(fields, ", ")
}

func (f Fields) set(version, path string, schema any) {
	if f[version] == nil {
		f[version] = map[string]string{}
	}
	f[version][path] = digest(schema)
}

// AddFields returns a copy of the CRD with the properties in the spec of every
// version that is served or stored. A field that exists stays as it is, and gets
// the nested properties that it lacks.
func AddFields(crd, properties map[string]any) (map[string]any, error) {
	result, err := addFields(crd, properties)
	return result.grafted, err
}

// HasFields reports whether the spec of every version that is served or stored
// has all of the properties, including nested ones.
func HasFields(crd, properties map[string]any) bool {
	result, err := addFields(crd, properties)
	return err == nil && len(result.added) == 0
}

// addition is the result of adding fields to a CRD.
type addition struct {
	// grafted is a copy of the CRD with the fields.
	grafted map[string]any
	// added has the fields that the CRD lacked, and native the fields that it had.
	added, native Fields
}

func addFields(crd, properties map[string]any) (addition, error) {
	result := addition{grafted: runtime.DeepCopyJSON(crd), added: Fields{}, native: Fields{}}
	versions, err := versionsOf(result.grafted)
	if err != nil {
		return addition{}, err
	}
	active := 0
	for _, version := range versions {
		if !version.active() {
			continue
		}
		active++
		spec, err := version.specSchema()
		if err != nil {
			return addition{}, fmt.Errorf("CRD %s: %w", nameOf(crd), err)
		}
		present, _ := spec["properties"].(map[string]any)
		for name, property := range properties {
			if existing, exists := present[name]; exists {
				result.native.set(version.name(), name, existing)
			}
			addProperty(spec, name, property, name, func(path string, schema any) { result.added.set(version.name(), path, schema) })
		}
	}
	if active == 0 {
		return addition{}, fmt.Errorf("CRD %s: no version is served or stored", nameOf(crd))
	}
	return result, nil
}

// addProperty adds the property. If it exists, it adds the nested properties that are missing.
// It calls added with the path of each addition.
func addProperty(schema map[string]any, name string, property any, path string, added func(path string, schema any)) {
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		properties = map[string]any{}
	}
	if existing, exists := properties[name]; exists {
		addNested(existing, property, path, added)
		return
	}
	properties[name] = runtime.DeepCopyJSONValue(property)
	schema["properties"] = properties
	added(path, property)
}

// addNested adds nested properties to a schema, unless it keeps all properties or
// is of another type.
func addNested(existing, property any, path string, added func(path string, schema any)) {
	schema, _ := existing.(map[string]any)
	ours, _ := property.(map[string]any)
	if schema == nil || schema["type"] != ours["type"] || schema["additionalProperties"] != nil || schema[preserve] == true {
		return
	}
	if items, ok := ours["items"]; ok {
		addNested(schema["items"], items, path+"[]", added)
	}
	nested, _ := ours["properties"].(map[string]any)
	for name, property := range nested {
		addProperty(schema, name, property, join(path, name), added)
	}
}

const preserve = "x-kubernetes-preserve-unknown-fields"

// removeFields removes the fields whose schema still has the digest. A field
// with another schema belongs to another writer.
func (v crdVersion) removeFields(digests map[string]string) {
	spec, err := v.specSchema()
	if err != nil {
		return // a version without a schema has no fields
	}
	for path, writtenDigest := range digests {
		schema, name := parentOf(spec, path)
		properties, _ := schema["properties"].(map[string]any)
		if property, exists := properties[name]; exists && digest(property) == writtenDigest {
			delete(properties, name)
			if len(properties) == 0 {
				delete(schema, "properties") // the API server does not store an empty map
			}
		}
	}
}

// parentOf returns the schema that has the property at the path, and its name.
func parentOf(schema map[string]any, path string) (map[string]any, string) {
	for {
		step, rest, nested := strings.Cut(path, ".")
		if !nested {
			return schema, step
		}
		name, list := strings.CutSuffix(step, "[]")
		properties, _ := schema["properties"].(map[string]any)
		schema, _ = properties[name].(map[string]any)
		if list {
			schema, _ = schema["items"].(map[string]any)
		}
		path = rest
	}
}

// digest returns a digest that is equal for schemas with equal JSON values.
func digest(schema any) string {
	encoded, err := json.Marshal(schema) // sorts keys
	if err != nil {
		return "" // a schema from an API server is always JSON; this matches no digest
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}
