package crdgraft

import (
	"maps"
	"reflect"
	"slices"
)

// Lost returns the parts of a CRD that a conversion would lose if it knows only another
// CRD: unknown versions, and unknown fields that differ between versions, such as
// "v1beta1 spec.name". A conversion can copy fields that every version has with the
// same schema. It names an unknown object, but not the fields in it.
func Lost(crd, knownCRD map[string]any) ([]string, error) {
	versions, err := versionsOf(crd)
	if err != nil {
		return nil, err
	}
	versions = slices.DeleteFunc(versions, func(v crdVersion) bool { return !v.active() })
	knownVersions, err := versionsOf(knownCRD)
	if err != nil {
		return nil, err
	}
	var lost []string
	fields := map[string]map[string]any{} // by version and path
	for _, version := range versions {
		i := slices.IndexFunc(knownVersions, func(v crdVersion) bool { return v.name() == version.name() })
		if i < 0 {
			lost = append(lost, "version "+version.name())
			continue
		}
		fields[version.name()] = map[string]any{}
		collectUnknown(version.schema(), knownVersions[i].schema(), "", fields[version.name()])
	}
	for _, version := range versions {
		for _, path := range slices.Sorted(maps.Keys(fields[version.name()])) {
			if !sameInAll(fields, path) {
				lost = append(lost, version.name()+" "+path)
			}
		}
	}
	return lost, nil
}

// sameInAll reports whether all versions have the field with the same schema.
func sameInAll(fields map[string]map[string]any, path string) bool {
	var first any
	for _, schemas := range fields {
		schema, ok := schemas[path]
		if !ok || first != nil && !reflect.DeepEqual(first, schema) {
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

// collectUnknown adds the fields that knownSchema lacks, by path.
func collectUnknown(schema, knownSchema map[string]any, path string, unknown map[string]any) {
	fields, _ := schema["properties"].(map[string]any)
	knownFields, _ := knownSchema["properties"].(map[string]any)
	for name, field := range fields {
		fieldPath := join(path, name)
		knownField, isKnown := knownFields[name].(map[string]any)
		if !isKnown {
			unknown[fieldPath] = field
			continue
		}
		inner, _ := field.(map[string]any)
		collectUnknown(inner, knownField, fieldPath, unknown)
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		inner, ok := schema[keyword].(map[string]any)
		if knownInner, isKnown := knownSchema[keyword].(map[string]any); ok && isKnown {
			collectUnknown(inner, knownInner, path+"[]", unknown)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
