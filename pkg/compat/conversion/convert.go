// Package conversion converts ClusterManagementAddOns between the versions of
// their API, for the API server. OCM's api module converts the fields that its
// types know. All other fields are copied byte for byte: those of Interlock, and
// those of a newer OCM or Interlock.
//
// What ends it: OCM's own conversion webhook keeps spec.dependencies with all
// fields of Interlock, or OCM serves a single version of the API. Then package
// graft gives the CRD back with OCM's conversion. The package can be deleted once
// no supported OCM lacks the fields, together with package graft.
package conversion

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
)

const kind = "ClusterManagementAddOn"

var (
	v1alpha1 = schema.GroupVersion{Group: ocmv1alpha1.GroupName, Version: "v1alpha1"}
	v1beta1  = schema.GroupVersion{Group: ocmv1alpha1.GroupName, Version: "v1beta1"}
)

// fields are the fields of one JSON object as they were written.
type fields map[string]stdjson.RawMessage

// Convert returns the object, the JSON of a ClusterManagementAddOn, in the
// desired version. Metadata and unknown fields are copied. A missing spec or
// status stays missing.
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

	if err := f.replace("spec", converters.spec); err != nil {
		return err
	}
	if err := f.replace("status", converters.status); err != nil {
		return err
	}
	version, err := stdjson.Marshal(to)
	f["apiVersion"] = version
	return err
}

// replace converts one field of the object in place.
func (f fields) replace(name string, convert converter) error {
	before, found := f[name]
	if !found || isNull(before) {
		return nil
	}
	source, err := readObject(before)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	target, err := convert.apply(before)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	convert.places.carry(source, target)
	f[name], err = stdjson.Marshal(target)
	return err
}

// readObject keeps numbers as they are written.
func readObject(raw []byte) (map[string]any, error) {
	decoder := stdjson.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var object map[string]any
	err := decoder.Decode(&object)
	return object, err
}

// conversions are the converters of the fields that differ between two versions.
type conversions struct{ spec, status converter }

var (
	toV1Beta1 = conversions{
		spec: through(ocmv1beta1.Convert_v1alpha1_ClusterManagementAddOnSpec_To_v1beta1_ClusterManagementAddOnSpec,
			map[string]string{"supportedConfigs": "defaultConfigs"}),
		status: through(ocmv1beta1.Convert_v1alpha1_ClusterManagementAddOnStatus_To_v1beta1_ClusterManagementAddOnStatus,
			map[string]string{"defaultconfigReferences": "defaultConfigReferences"}),
	}
	toV1Alpha1 = conversions{
		spec: through(ocmv1beta1.Convert_v1beta1_ClusterManagementAddOnSpec_To_v1alpha1_ClusterManagementAddOnSpec,
			map[string]string{"defaultConfigs": "supportedConfigs"}),
		status: through(ocmv1beta1.Convert_v1beta1_ClusterManagementAddOnStatus_To_v1alpha1_ClusterManagementAddOnStatus,
			map[string]string{"defaultConfigReferences": "defaultconfigReferences"}),
	}
)

// converter converts the JSON of an object to that of another version's type.
type converter struct {
	apply  func(raw []byte) (map[string]any, error)
	places places
}

// through adapts a conversion function of the api module. No function uses its scope.
func through[In, Out, Scope any](convert func(*In, *Out, Scope) error, renamed map[string]string) converter {
	return converter{
		places: places{from: shapeOf(reflect.TypeFor[In]()), to: shapeOf(reflect.TypeFor[Out]()), renamed: renamed},
		apply: func(raw []byte) (map[string]any, error) {
			var in In
			if err := json.Unmarshal(raw, &in); err != nil {
				return nil, err
			}
			var out Out
			var scope Scope
			if err := convert(&in, &out, scope); err != nil {
				return nil, err
			}
			return runtime.DefaultUnstructuredConverter.ToUnstructured(&out)
		},
	}
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

func isNull(raw stdjson.RawMessage) bool { return bytes.Equal(raw, []byte("null")) }
