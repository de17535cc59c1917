// Package conversion converts ClusterManagementAddOns between the versions of
// their API, for the API server. Interlock's own fields pass as they are, byte
// for byte; all else is converted by the functions of OCM's api module.
package conversion

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const kind = "ClusterManagementAddOn"

var (
	v1alpha1 = schema.GroupVersion{Group: ocmv1alpha1.GroupName, Version: "v1alpha1"}
	v1beta1  = schema.GroupVersion{Group: ocmv1alpha1.GroupName, Version: "v1beta1"}
)

// fields are those of one JSON object, as they were written.
type fields map[string]stdjson.RawMessage

// Convert returns the object, the JSON of a ClusterManagementAddOn, in the
// desired version. Metadata and Interlock's fields are returned as they are; a
// spec or status that the object lacks is not invented.
func Convert(object []byte, desired string) ([]byte, error) {
	var content fields
	if err := json.Unmarshal(object, &content); err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	if content == nil {
		return nil, errors.New("read the object: it is null")
	}
	from := content.text("apiVersion")
	if got := content.text("kind"); got != kind {
		return nil, fmt.Errorf("%s %q of %s: only a %s can be converted", got, content.name(), from, kind)
	}
	if err := content.convert(from, desired); err != nil {
		return nil, fmt.Errorf("%s %q: convert %s to %s: %w", kind, content.name(), from, desired, err)
	}
	return stdjson.Marshal(content)
}

func (f fields) convert(from, to string) error {
	var converters conversions
	switch {
	case from == to:
		return nil
	case from == v1alpha1.String() && to == v1beta1.String():
		converters = toV1Beta1
	case from == v1beta1.String() && to == v1alpha1.String():
		converters = toV1Alpha1
	default:
		return fmt.Errorf("only %s and %s are known", v1alpha1, v1beta1)
	}

	if err := f.replace("spec", converters.spec, addonv1alpha1.GraftedSpecFields()); err != nil {
		return err
	}
	if err := f.replace("status", converters.status, nil); err != nil {
		return err
	}
	version, err := stdjson.Marshal(to)
	f["apiVersion"] = version
	return err
}

// replace converts one field of the object in place, but for those of its own
// fields that are to be kept.
func (f fields) replace(name string, convert converter, kept []string) error {
	before, found := f[name]
	if !found || bytes.Equal(before, []byte("null")) {
		return nil
	}
	var source fields
	if err := json.Unmarshal(before, &source); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	converted, err := convert.apply(before)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	target, err := toFields(converted)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	target.settle(source, convert.invented, kept)
	f[name], err = stdjson.Marshal(target)
	return err
}

// settle takes over what is to be kept of the source, and drops the empty
// structs that Go writes for fields the source did not have: to server-side
// apply they would be somebody's fields.
func (f fields) settle(source, invented fields, kept []string) {
	for field, value := range invented {
		if _, had := source[field]; !had && bytes.Equal(f[field], value) {
			delete(f, field)
		}
	}
	for _, field := range kept {
		if value, had := source[field]; had {
			f[field] = value
		}
	}
}

// conversions are those of the fields that differ between two versions.
type conversions struct{ spec, status converter }

var (
	toV1Beta1 = conversions{
		spec:   through(ocmv1beta1.Convert_v1alpha1_ClusterManagementAddOnSpec_To_v1beta1_ClusterManagementAddOnSpec),
		status: through(ocmv1beta1.Convert_v1alpha1_ClusterManagementAddOnStatus_To_v1beta1_ClusterManagementAddOnStatus),
	}
	toV1Alpha1 = conversions{
		spec:   through(ocmv1beta1.Convert_v1beta1_ClusterManagementAddOnSpec_To_v1alpha1_ClusterManagementAddOnSpec),
		status: through(ocmv1beta1.Convert_v1beta1_ClusterManagementAddOnStatus_To_v1alpha1_ClusterManagementAddOnStatus),
	}
)

// converter converts JSON to a value of another version's type.
type converter struct {
	apply func(raw []byte) (any, error)
	// invented is what Go writes for an empty value of that type.
	invented fields
}

// through adapts a conversion function of the api module. The functions take
// a scope for nested conversions that need one; none does.
func through[In, Out, Scope any](convert func(*In, *Out, Scope) error) converter {
	var empty Out
	invented, err := toFields(empty)
	if err != nil {
		panic(fmt.Sprintf("%T cannot be written as JSON: %v", empty, err)) // at start-up, by every test
	}
	return converter{invented: invented, apply: func(raw []byte) (any, error) {
		var in In
		if err := json.Unmarshal(raw, &in); err != nil {
			return nil, err
		}
		var out Out
		var scope Scope
		return &out, convert(&in, &out, scope)
	}}
}

func toFields(value any) (fields, error) {
	encoded, err := stdjson.Marshal(value)
	if err != nil {
		return nil, err
	}
	var content fields
	err = json.Unmarshal(encoded, &content)
	return content, err
}

func (f fields) text(name string) string {
	var text string
	if err := json.Unmarshal(f[name], &text); err != nil {
		return ""
	}
	return text
}

func (f fields) name() string {
	var metadata fields
	if err := json.Unmarshal(f["metadata"], &metadata); err != nil {
		return ""
	}
	return metadata.text("name")
}
