package policies

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// versions are the versions in which OCM serves ManagedClusterAddOns.
var versions = []string{"v1alpha1", "v1beta1"}

// statusOf returns the schemas of the status fields of OCM's CRD. So a new field of OCM is tested without a change here.
func statusOf(version string) map[string]apiextensionsv1.JSONSchemaProps {
	GinkgoHelper()
	index := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version })
	Expect(index).To(BeNumerically(">=", 0), version)
	fields := crd.Spec.Versions[index].Schema.OpenAPIV3Schema.Properties["status"].Properties
	Expect(fields).To(And(HaveKey("registrations"), HaveKey("healthCheck"), HaveKey("relatedObjects"), HaveKey("conditions")))
	return fields
}

// sample returns a value of a schema. Its strings are the text. For an enumeration, they are the first value if the text is "before",
// and otherwise the
// last.
func sample(schema apiextensionsv1.JSONSchemaProps, text string) any {
	switch schema.Type {
	case "object":
		value := map[string]any{}
		for field, property := range schema.Properties {
			value[field] = sample(property, text)
		}
		return value
	case "array":
		return []any{sample(*schema.Items.Schema, text)}
	case "integer":
		return int64(len(text))
	case "string":
		if schema.Pattern != "" { // the pattern of a signer's name
			return "example.com/" + text
		}
		if len(schema.Enum) == 0 {
			return text
		}
		chosen := schema.Enum[0].Raw
		if text != "before" {
			chosen = schema.Enum[len(schema.Enum)-1].Raw
		}
		return string(chosen[1 : len(chosen)-1])
	}
	return nil
}
