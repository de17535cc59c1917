// Package crdgraft adds fields to the spec of a CustomResourceDefinition that
// belongs to somebody else, and leaves everything else of it as it was. It
// works on plain JSON objects, so that keywords and fields which this program
// has never heard of survive.
package crdgraft

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Graft returns a copy of crd with the given JSON schema properties in the
// spec of every version that is served or stored. The storage version counts
// even where it is not served, because the API server prunes by its schema too.
//
// A property that is there already takes our schema and keeps the fields that
// only the CRD knows: grafting twice changes nothing, and an owner who adopts
// the field and extends it loses nothing.
func Graft(crd, properties map[string]any) (map[string]any, error) {
	grafted := runtime.DeepCopyJSON(crd)
	versions, err := versionsOf(grafted)
	if err != nil {
		return nil, err
	}
	active := 0
	for _, version := range versions {
		if !version.active() {
			continue
		}
		active++
		spec, err := version.specSchema()
		if err != nil {
			return nil, fmt.Errorf("CRD %s: %w", nameOf(crd), err)
		}
		overlayProperties(spec, properties)
	}
	if active == 0 {
		return nil, fmt.Errorf("CRD %s: no version is served or stored", nameOf(crd))
	}
	return grafted, nil
}

// SpecProperties returns a copy of the named properties' schemas in the spec
// of one version: what Graft takes.
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

func nameOf(crd map[string]any) string {
	name, _, err := unstructured.NestedString(crd, "metadata", "name")
	if err != nil || name == "" {
		return "(without a name)"
	}
	return name
}

func versionsOf(crd map[string]any) ([]crdVersion, error) {
	if kind := crd["kind"]; kind != "CustomResourceDefinition" {
		return nil, fmt.Errorf("object is no CustomResourceDefinition: its kind is %v", kind)
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

// crdVersion is one entry of a CRD's spec.versions.
type crdVersion map[string]any

func (v crdVersion) name() string {
	name, _ := v["name"].(string)
	return name
}

func (v crdVersion) active() bool {
	return v["served"] == true || v["storage"] == true
}

// specSchema returns the schema of spec itself, not a copy. One step at a
// time, so that the error names the step that is missing.
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
	found := make(map[string]any, len(names))
	known, _ := spec["properties"].(map[string]any)
	var missing []error
	for _, name := range names {
		schema, ok := known[name].(map[string]any)
		if !ok {
			missing = append(missing, fmt.Errorf("version %q has no schema for spec.%s", v.name(), name))
			continue
		}
		found[name] = runtime.DeepCopyJSON(schema)
	}
	return found, errors.Join(missing...)
}
