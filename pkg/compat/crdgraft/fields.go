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

// Fields are fields of spec by version and path, such as dependencies[].when, with
// the digests of their schemas.
type Fields map[string]map[string]string

// String lists the fields for messages: v1beta1 spec.dependencies.
func (f Fields) String() string {
	var all []string
	for _, version := range slices.Sorted(maps.Keys(f)) {
		for _, path := range slices.Sorted(maps.Keys(f[version])) {
			all = append(all, version+" spec."+path)
		}
	}
	return strings.Join(all, ", ")
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
	grafted, _, _, err := addFields(crd, properties)
	return grafted, err
}

// HasFields reports whether the spec of every version that is served or stored
// has all of the properties, with their nested ones.
func HasFields(crd, properties map[string]any) bool {
	_, lacking, _, err := addFields(crd, properties)
	return err == nil && len(lacking) == 0
}

func addFields(crd, properties map[string]any) (grafted map[string]any, added, native Fields, err error) {
	grafted = runtime.DeepCopyJSON(crd)
	versions, err := versionsOf(grafted)
	if err != nil {
		return nil, nil, nil, err
	}
	added, native = Fields{}, Fields{}
	active := 0
	for _, version := range versions {
		if !version.active() {
			continue
		}
		active++
		spec, err := version.specSchema()
		if err != nil {
			return nil, nil, nil, fmt.Errorf("CRD %s: %w", nameOf(crd), err)
		}
		known, _ := spec["properties"].(map[string]any)
		for name, property := range properties {
			if existing, exists := known[name]; exists {
				native.set(version.name(), name, existing)
			}
			addProperty(spec, name, property, name, func(path string, schema any) { added.set(version.name(), path, schema) })
		}
	}
	if active == 0 {
		return nil, nil, nil, fmt.Errorf("CRD %s: no version is served or stored", nameOf(crd))
	}
	return grafted, added, native, nil
}

// addProperty adds the property, or what the existing one lacks of its nested
// properties, and reports the path of each that it adds.
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
		return // without a schema there is no field
	}
	for path, written := range digests {
		schema, name := parentOf(spec, path)
		properties, _ := schema["properties"].(map[string]any)
		if property, exists := properties[name]; exists && digest(property) == written {
			delete(properties, name)
			if len(properties) == 0 {
				delete(schema, "properties") // the API server does not store an empty one
			}
		}
	}
}

// parentOf returns the schema that has the property at the path, and its name.
func parentOf(schema map[string]any, path string) (parent map[string]any, name string) {
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

// digest is equal for schemas with equal JSON values.
func digest(schema any) string {
	encoded, err := json.Marshal(schema) // sorts keys
	if err != nil {
		return "" // not JSON, so not from an API server: it matches no digest
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}
