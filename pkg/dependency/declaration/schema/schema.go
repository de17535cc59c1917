// Package schema validates a declaration by the schema that the CRD of
// ClusterManagementAddOns has for it, with the CRD's CEL rules. An annotation has the
// fields of spec, but no API server checks it. Its messages name field and value.
package schema

import (
	"bytes"
	_ "embed" // fields.json
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// fieldsJSON has the schema of each field of spec that declares something. hack/crds
// writes it together with the CRD.
//
//go:embed fields.json
var fieldsJSON []byte

// structural is a structural schema with the keywords that the CRD uses. A keyword
// that is missing here fails the tests, because it would not be validated.
type structural struct {
	Description          string
	Type                 string
	Properties           map[string]*structural
	AdditionalProperties *structural
	Items                *structural
	Required             []string
	Enum                 []string
	AllOf                []*structural
	Pattern              *regexp.Regexp
	MinLength            int
	MaxLength            *int
	MinItems             int
	MaxItems             *int
	MinProperties        int
	MaxProperties        *int
	ListType             string   `json:"x-kubernetes-list-type"`
	ListMapKeys          []string `json:"x-kubernetes-list-map-keys"`
	Rules                []*rule  `json:"x-kubernetes-validations"`

	// MapType is about merging, and Default is set where the declaration is compiled.
	MapType string `json:"x-kubernetes-map-type"`
	Default string
}

// spec is the schema of an object with all fields that declare something.
var spec = sync.OnceValues(func() (*structural, error) {
	decoder := json.NewDecoder(bytes.NewReader(fieldsJSON))
	decoder.DisallowUnknownFields()
	fields := &structural{Type: typeObject}
	if err := decoder.Decode(&fields.Properties); err != nil {
		return nil, fmt.Errorf("decode fields.json: %w", err)
	}
	return fields, fields.compileRules()
})

// Validate validates a declaration found at path: a list of dependencies, or an object
// with the fields of spec. It takes values of JSON, see WithoutNulls.
func Validate(declared any, path *field.Path) field.ErrorList {
	fields, err := spec()
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)} // every test would fail first
	}
	if list, isList := declared.([]any); isList {
		return fields.Properties["dependencies"].validate(list, path)
	}
	return fields.validate(declared, path)
}

// WithoutNulls removes fields that are null from a declaration, except unknown ones. An API
// server does the same before it validates.
func WithoutNulls(declared any) any {
	fields, err := spec()
	if err != nil {
		return declared // Validate returns the error
	}
	if list, isList := declared.([]any); isList {
		return fields.Properties["dependencies"].withoutNulls(list)
	}
	return fields.withoutNulls(declared)
}

func (s *structural) withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(value))
		for name, content := range value {
			if property := s.property(name); property == nil {
				kept[name] = content
			} else if content != nil {
				kept[name] = property.withoutNulls(content)
			}
		}
		return kept
	case []any:
		if s.Items == nil {
			return value
		}
		kept := make([]any, len(value))
		for i := range value {
			kept[i] = s.Items.withoutNulls(value[i])
		}
		return kept
	default:
		return value
	}
}

// property returns the schema of a property, or nil for an unknown property.
func (s *structural) property(name string) *structural {
	if property, ok := s.Properties[name]; ok {
		return property
	}
	return s.AdditionalProperties
}

// summary returns the first sentence of the description. It explains to an author which values are valid.
func (s *structural) summary() string {
	sentence, _, _ := strings.Cut(strings.ReplaceAll(s.Description, "\n", " "), ". ")
	return strings.TrimSuffix(sentence, ".")
}
