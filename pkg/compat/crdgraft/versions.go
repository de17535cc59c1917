package crdgraft

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// SpecProperties returns a copy of the schemas of properties in the spec of
// a version. A graft adds them.
func SpecProperties(crd map[string]any, version string, names ...string) (map[string]any, error) {
	versions, err := versionsOf(crd)
	if err != nil {
		return nil, err
	}
	for _, candidate := range versions {
		if candidate.name() != version {
			continue
		}
		properties, err := candidate.properties(names)
		if err != nil {
			return nil, fmt.Errorf("CRD %s: %w", nameOf(crd), err)
		}
		return properties, nil
	}
	return nil, fmt.Errorf("CRD %s: no version %q", nameOf(crd), version)
}

// ActiveVersions returns the names of the versions that are served or stored.
// The stored version comes first.
func ActiveVersions(crd map[string]any) ([]string, error) {
	versions, err := versionsOf(crd)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, version := range versions {
		switch {
		case version["storage"] == true:
			names = append([]string{version.name()}, names...)
		case version.active():
			names = append(names, version.name())
		}
	}
	return names, nil
}

func nameOf(crd map[string]any) string {
	name, _, err := unstructured.NestedString(crd, "metadata", "name")
	if err != nil || name == "" {
		return "(without a name)"
	}
	return name
}

func versionsOf(crd map[string]any) ([]crdVersion, error) {
	if kind := crd["kind"]; kind != "CustomResourceDefinition" {
		return nil, fmt.Errorf("object is not a CustomResourceDefinition: its kind is %v", kind)
	}
	spec, _ := crd["spec"].(map[string]any)
	list, _ := spec["versions"].([]any)
	if len(list) == 0 {
		return nil, fmt.Errorf("CRD %s: spec.versions is missing or empty", nameOf(crd))
	}
	versions := make([]crdVersion, 0, len(list))
	for i, item := range list {
		version, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("CRD %s: spec.versions[%d] is no object", nameOf(crd), i)
		}
		versions = append(versions, version)
	}
	return versions, nil
}

// crdVersion is an entry of a CRD's spec.versions.
type crdVersion map[string]any

func (v crdVersion) name() string {
	name, _ := v["name"].(string)
	return name
}

// active reports whether the version is served or stored. The API server prunes
// by the schema of the storage version even if the version is not served.
func (v crdVersion) active() bool {
	return v["served"] == true || v["storage"] == true
}

// specSchema returns the schema of spec without copying it. Its error names the missing part of
// the path.
func (v crdVersion) specSchema() (map[string]any, error) {
	current, path := map[string]any(v), ""
	for _, step := range []string{"schema", "openAPIV3Schema", "properties", "spec"} {
		path += "." + step
		next, ok := current[step].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("version %q has no schema for spec: %s is missing or no object", v.name(), path[1:])
		}
		current = next
	}
	return current, nil
}

func (v crdVersion) properties(names []string) (map[string]any, error) {
	spec, err := v.specSchema()
	if err != nil {
		return nil, err
	}
	properties := make(map[string]any, len(names))
	present, _ := spec["properties"].(map[string]any)
	var missing []error
	for _, name := range names {
		schema, ok := present[name].(map[string]any)
		if !ok {
			missing = append(missing, fmt.Errorf("version %q has no schema for spec.%s", v.name(), name))
			continue
		}
		properties[name] = runtime.DeepCopyJSON(schema)
	}
	return properties, errors.Join(missing...)
}
