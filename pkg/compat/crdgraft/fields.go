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

// Fields are names of fields of spec by version.
type Fields map[string][]string

// String lists the fields for messages: v1beta1 spec.dependencies.
func (f Fields) String() string {
	var all []string
	for _, version := range slices.Sorted(maps.Keys(f)) {
		for _, field := range f[version] {
			all = append(all, version+" spec."+field)
		}
	}
	return strings.Join(all, ", ")
}

// digests returns the digests of the fields' schemas.
func (f Fields) digests(properties map[string]any) map[string]map[string]string {
	all := make(map[string]map[string]string, len(f))
	for version, names := range f {
		all[version] = make(map[string]string, len(names))
		for _, name := range names {
			all[version][name] = digest(properties[name])
		}
	}
	return all
}

// AddFields returns a copy of the CRD with the properties in the spec of every
// version that is served or stored. Existing fields stay as they are.
func AddFields(crd, properties map[string]any) (map[string]any, error) {
	grafted, _, _, err := addFields(crd, properties)
	return grafted, err
}

// HasFields reports whether the spec of every version that is served or stored
// has all of the properties, with whatever schema.
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
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			into := native
			if addProperty(spec, name, properties[name]) {
				into = added
			}
			into[version.name()] = append(into[version.name()], name)
		}
	}
	if active == 0 {
		return nil, nil, nil, fmt.Errorf("CRD %s: no version is served or stored", nameOf(crd))
	}
	return grafted, added, native, nil
}

// addProperty reports whether the schema lacked the property.
func addProperty(schema map[string]any, name string, property any) bool {
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		properties = map[string]any{}
		schema["properties"] = properties
	}
	if _, exists := properties[name]; exists {
		return false
	}
	properties[name] = runtime.DeepCopyJSONValue(property)
	return true
}

// removeFields removes the fields whose schema still has the digest. A field
// with another schema belongs to another writer.
func (v crdVersion) removeFields(digests map[string]string) {
	spec, err := v.specSchema()
	if err != nil {
		return // without a schema there is no field
	}
	properties, _ := spec["properties"].(map[string]any)
	for name, written := range digests {
		if schema, exists := properties[name]; exists && digest(schema) == written {
			delete(properties, name)
		}
	}
	if len(properties) == 0 {
		delete(spec, "properties") // the API server does not store an empty one
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
