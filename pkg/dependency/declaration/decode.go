package declaration

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var errCase = errors.New("the names of fields are in lower case")

// yamlTrue is the key that YAML 1.1 makes of an unquoted on, yes or y, and yamlFalse that of off, no or n.
const yamlTrue, yamlFalse = "true", "false"

// decodeStrictly reads JSON as an API server reads fields: no unknown or wrongly cased key.
func decodeStrictly[T any](raw []byte) (T, error) {
	var lax, exact, none T
	decoder := stdjson.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&lax); err != nil {
		return none, err
	}
	// The standard library takes Name for name; the API server does not.
	if err := json.Unmarshal(raw, &exact); err != nil {
		return none, err
	}
	if !reflect.DeepEqual(lax, exact) {
		return none, errCase
	}
	return lax, nil
}

// entryError says which dependency of a list cannot be decoded, and why; nil where each can. JSON's own error names neither
// the entry nor the value.
func entryError(list []byte) error {
	var entries []stdjson.RawMessage
	if stdjson.Unmarshal(list, &entries) != nil {
		return nil //nolint:nilerr // it is no list
	}
	for i, entry := range entries {
		if _, err := decodeStrictly[addonv1alpha1.AddonDependency](entry); err != nil {
			return explainDecoding(entry, field.NewPath("dependencies").Index(i), err)
		}
	}
	return nil
}

// objectError is entryError of the dependencies of an object, and then of its other fields.
func objectError(object []byte) error {
	var of struct{ Dependencies stdjson.RawMessage }
	if stdjson.Unmarshal(object, &of) == nil && of.Dependencies != nil {
		if err := entryError(of.Dependencies); err != nil {
			return err
		}
	}
	return mistyped(object, reflect.TypeFor[annotationObject](), nil)
}

// explainDecoding names the field and the value that cannot be decoded.
func explainDecoding(entry []byte, path *field.Path, err error) error {
	if wrong := mistyped(entry, reflect.TypeFor[addonv1alpha1.AddonDependency](), path); wrong != nil {
		return wrong
	}
	var keys map[string]stdjson.RawMessage
	if stdjson.Unmarshal(entry, &keys) == nil && (keys[yamlTrue] != nil || keys[yamlFalse] != nil) {
		return fmt.Errorf("%s: %w: YAML reads on, yes, off and no without quotes as true or false", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
