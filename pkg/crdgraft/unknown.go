package crdgraft

import (
	"maps"
	"slices"
)

// Unknown lists what the CRD has, in the versions that are served or stored,
// and the known one has not: fields, as "v1beta1 spec.name", and versions.
// Whoever converts by what is known would lose them.
func Unknown(crd, known map[string]any) ([]string, error) {
	versions, err := versionsOf(crd)
	if err != nil {
		return nil, err
	}
	knownVersions, err := versionsOf(known)
	if err != nil {
		return nil, err
	}
	var unknown []string
	for _, version := range versions {
		if !version.active() {
			continue
		}
		at := slices.IndexFunc(knownVersions, func(v crdVersion) bool { return v.name() == version.name() })
		if at < 0 {
			unknown = append(unknown, "version "+version.name())
			continue
		}
		for _, field := range unknownFields(version.schema(), knownVersions[at].schema(), "") {
			unknown = append(unknown, version.name()+" "+field)
		}
	}
	return unknown, nil
}

func (v crdVersion) schema() map[string]any {
	schema, _ := v["schema"].(map[string]any)
	schema, _ = schema["openAPIV3Schema"].(map[string]any)
	return schema
}

// unknownFields are the paths that only the first schema has, sorted; of what
// is unknown as a whole, only the beginning.
func unknownFields(schema, known map[string]any, path string) []string {
	var unknown []string
	fields, _ := schema["properties"].(map[string]any)
	knownFields, _ := known["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := join(path, name)
		knownField, isKnown := knownFields[name].(map[string]any)
		if !isKnown {
			unknown = append(unknown, at)
			continue
		}
		field, _ := fields[name].(map[string]any)
		unknown = append(unknown, unknownFields(field, knownField, at)...)
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		inner, ok := schema[keyword].(map[string]any)
		if knownInner, isKnown := known[keyword].(map[string]any); ok && isKnown {
			unknown = append(unknown, unknownFields(inner, knownInner, path+"[]")...)
		}
	}
	return unknown
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
