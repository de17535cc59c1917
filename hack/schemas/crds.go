package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// ownGroup is the API group of Interlock's own CRDs.
const ownGroup = "dependency.addon.open-cluster-management.io"

type crd struct {
	apiextensionsv1.CustomResourceDefinition
}

// isForUsers reports whether people write objects of the kind: Interlock's own, and those with declarations of dependencies.
func (c *crd) isForUsers() bool {
	return c.Spec.Group == ownGroup || slices.Contains([]string{"ClusterManagementAddOn", "AddOnTemplate"}, c.Spec.Names.Kind)
}

func readCRDs(folder string) ([]*crd, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.crd.yaml"))
	if err != nil {
		return nil, err
	}
	var crds []*crd
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		read := &crd{}
		if err := yaml.UnmarshalStrict(content, &read.CustomResourceDefinition); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if read.isForUsers() {
			crds = append(crds, read)
		}
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("%s has no CRDs", folder)
	}
	return crds, nil
}

// editorSchema returns the schema of a version as JSON schema. Editors report unknown fields, which an API server drops.
func (c *crd) editorSchema(version apiextensionsv1.CustomResourceDefinitionVersion) object {
	schema := editorSchema(version.Schema.OpenAPIV3Schema)
	properties := schema["properties"].(object)
	properties["apiVersion"] = object{"const": c.Spec.Group + "/" + version.Name}
	properties["kind"] = object{"const": c.Spec.Names.Kind}
	properties["metadata"] = object{"type": "object"}
	schema["$schema"], schema["title"] = draft, c.Spec.Names.Kind
	required, _ := schema["required"].([]string)
	schema["required"] = append([]string{"apiVersion", "kind", "metadata"}, required...)
	return schema
}

type object = map[string]any

const draft = "http://json-schema.org/draft-07/schema#"

func editorSchema(props *apiextensionsv1.JSONSchemaProps) object {
	schema := object{}
	if props.Description != "" {
		schema["description"] = props.Description
	}
	switch {
	case props.XIntOrString:
		schema["type"] = []string{"integer", "string"}
	case props.Type != "":
		schema["type"] = props.Type
	}
	if len(props.Enum) > 0 {
		schema["enum"] = props.Enum
	}
	if props.Pattern != "" {
		schema["pattern"] = props.Pattern
	}
	if props.Default != nil {
		schema["default"] = props.Default
	}
	for name, limit := range map[string]*int64{
		"minLength": props.MinLength, "maxLength": props.MaxLength, "minItems": props.MinItems, "maxItems": props.MaxItems,
		"maxProperties": props.MaxProperties,
	} {
		if limit != nil {
			schema[name] = *limit
		}
	}
	if props.Minimum != nil {
		schema["minimum"] = *props.Minimum
	}
	if len(props.Required) > 0 {
		schema["required"] = slices.Clone(props.Required)
	}
	if props.Items != nil {
		schema["items"] = editorSchema(props.Items.Schema)
	}
	if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
		schema["additionalProperties"] = editorSchema(props.AdditionalProperties.Schema)
	}
	if len(props.Properties) > 0 {
		properties := object{}
		for name := range props.Properties {
			property := props.Properties[name]
			properties[name] = editorSchema(&property)
		}
		schema["properties"] = properties
		if props.XPreserveUnknownFields == nil || !*props.XPreserveUnknownFields {
			schema["additionalProperties"] = false
		}
	}
	return schema
}

const intro = `# Fields of Interlock's own kinds

` + "`make generate` writes this page from the CRDs in `manifests/crds`. [The reference](reference.md) explains what the kinds are for, and [Declaring dependencies](declaring-dependencies.md) the fields of a ClusterManagementAddOn. [JSON schemas](editors.md) of all files check them while you type." + `
`

// page returns docs/crds.md.
func page(crds []*crd) string {
	var page strings.Builder
	page.WriteString(intro)
	for _, crd := range crds {
		if crd.Spec.Group != ownGroup {
			continue
		}
		for _, version := range crd.Spec.Versions {
			fmt.Fprintf(&page, "\n## %s\n\n`%s/%s`, %s.\n\n", crd.Spec.Names.Kind, crd.Spec.Group, version.Name, map[apiextensionsv1.ResourceScope]string{
				apiextensionsv1.ClusterScoped: "cluster-scoped", apiextensionsv1.NamespaceScoped: "in the namespace of a managed cluster",
			}[crd.Spec.Scope])
			page.WriteString("| field | type | meaning |\n|---|---|---|\n")
			writeRows(&page, "", version.Schema.OpenAPIV3Schema)
		}
	}
	return page.String()
}

func writeRows(page *strings.Builder, prefix string, props *apiextensionsv1.JSONSchemaProps) {
	for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
		if prefix == "" && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			continue
		}
		property := props.Properties[name]
		typ, inner := typeOf(&property)
		if slices.Contains(props.Required, name) {
			typ += ", required"
		}
		meaning := strings.NewReplacer("\n", " ", "|", `\|`, "<", `\<`).Replace(property.Description)
		fmt.Fprintf(page, "| `%s%s` | %s | %s |\n", prefix, name, typ, strings.TrimSpace(meaning))
		if inner != nil {
			suffix := "."
			if property.Items != nil {
				suffix = "[]."
			}
			writeRows(page, prefix+name+suffix, inner)
		}
	}
}

// typeOf returns the name of a type, and the schema with its fields.
func typeOf(props *apiextensionsv1.JSONSchemaProps) (string, *apiextensionsv1.JSONSchemaProps) {
	switch {
	case props.Items != nil:
		typ, inner := typeOf(props.Items.Schema)
		return "list of " + typ + "s", inner
	case props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil:
		typ, inner := typeOf(props.AdditionalProperties.Schema)
		return "map of " + typ + "s", inner
	case props.XIntOrString:
		return "integer or string", nil
	case props.Format == "date-time":
		return "time", nil
	case len(props.Enum) > 0:
		var values []string
		for _, value := range props.Enum {
			values = append(values, "`"+strings.Trim(string(value.Raw), `"`)+"`")
		}
		return strings.Join(values, ", "), nil
	}
	return props.Type, props
}
