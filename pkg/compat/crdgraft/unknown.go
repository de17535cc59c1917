package crdgraft

import (
	"maps"
	"reflect"
	"slices"
)

// Lost returns what a conversion that knows only the known CRD would lose of another
// CRD: unknown versions, and unknown fields that differ between versions, such as
// "v1beta1 spec.name". A conversion can copy fields that every version has with the
// same schema. Of an unknown object it names only the object, not its fields.
func Lost(crd, known map[string]any) ([]string, error) {
	versions, err := versionsOf(crd)
	if err != nil {
		return nil, err
	}
	versions = slices.DeleteFunc(versions, func(v crdVersion) bool { return !v.active() })
	knownVersions, err := versionsOf(known)
	if err != nil {
		return nil, err
	}
	var lost []string
	fields := map[string]map[string]any{} // by version and path
	for _, version := range versions {
		at := slices.IndexFunc(knownVersions, func(v crdVersion) bool { return v.name() == version.name() })
		if at < 0 {
			lost = append(lost, "version "+version.name())
			continue
		}
		fields[version.name()] = map[string]any{}
		collectUnknown(version.schema(), knownVersions[at].schema(), "", fields[version.name()])
	}
	for _, version := range versions {
		for _, path := range slices.Sorted(maps.Keys(fields[version.name()])) {
			if !everywhere(fields, path) {
				lost = append(lost, version.name()+" "+path)
			}
		}
	}
	return lost, nil
}

// everywhere reports whether all versions have the field with the same schema.
func everywhere(fields map[string]map[string]any, path string) bool {
	var first any
	for _, ofVersion := range fields {
		schema, has := ofVersion[path]
		if !has || first != nil && !reflect.DeepEqual(first, schema) {
			return false
		}
		first = schema
	}
	return true
}

func (v crdVersion) schema() map[string]any {
	schema, _ := v["schema"].(map[string]any)
	schema, _ = schema["openAPIV3Schema"].(map[string]any)
	return schema
}

// collectUnknown adds the schemas that only the first schema has, by path.
func collectUnknown(schema, known map[string]any, path string, into map[string]any) {
	fields, _ := schema["properties"].(map[string]any)
	knownFields, _ := known["properties"].(map[string]any)
	for name, field := range fields {
		at := join(path, name)
		knownField, isKnown := knownFields[name].(map[string]any)
		if !isKnown {
			into[at] = field
			continue
		}
		inner, _ := field.(map[string]any)
		collectUnknown(inner, knownField, at, into)
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		inner, ok := schema[keyword].(map[string]any)
		if knownInner, isKnown := known[keyword].(map[string]any); ok && isKnown {
			collectUnknown(inner, knownInner, path+"[]", into)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
