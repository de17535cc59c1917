package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/report"
)

// crdFile is OCM's CRD of ClusterManagementAddOns, with Interlock's fields.
const crdFile = "crds/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"

// crdSchema validates objects of one version of the CRD.
type crdSchema struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
}

// crdSchemas returns the schemas of all versions of the CRD, by version.
var crdSchemas = sync.OnceValues(func() (map[string]crdSchema, error) {
	raw, err := manifests.CRDs.ReadFile(crdFile)
	if err != nil {
		return nil, err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		return nil, err
	}
	schemas := map[string]crdSchema{}
	for _, version := range crd.Spec.Versions {
		var props apiextensions.JSONSchemaProps
		schema := version.Schema.OpenAPIV3Schema
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &props, nil); err != nil {
			return nil, err
		}
		structural, err := structuralschema.NewStructural(&props)
		if err != nil {
			return nil, err
		}
		validator, _, err := validation.NewSchemaValidator(&props)
		if err != nil {
			return nil, err
		}
		schemas[version.Name] = crdSchema{structural, validator}
	}
	return schemas, nil
})

// judgeValues judges the values of OCM's fields like an API server: it sets defaults, and returns the values that the schema of
// the version refuses.
func judgeValues(object []byte, version string) ([]review.Judgement, error) {
	schemas, err := crdSchemas()
	if err != nil {
		return nil, fmt.Errorf("manifests/%s: %w", crdFile, err)
	}
	schema, ok := schemas[version]
	if !ok {
		return nil, nil
	}
	var content map[string]any
	if err := json.Unmarshal(object, &content); err != nil {
		return nil, err
	}
	if spec, ok := content["spec"].(map[string]any); ok {
		for _, field := range addonv1alpha1.GraftedSpecFields() { // package review judges them, with better messages
			delete(spec, field)
		}
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(content, schema.structural)
	defaulting.Default(content, schema.structural)
	var judged []review.Judgement
	for _, err := range validation.ValidateCustomResource(nil, content, schema.validator) {
		field := strings.TrimPrefix(err.Field, "<nil>") // an error may be about no single field
		judged = append(judged, review.Judgement{Rule: report.RuleInvalidValue, Wrong: true, Field: field, Message: err.Error()})
	}
	slices.SortStableFunc(judged, func(a, b review.Judgement) int { return cmp.Compare(a.Field, b.Field) })
	return judged, nil
}
