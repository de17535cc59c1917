// Package conversion converts ClusterManagementAddOns between the versions of
// their API, for the API server. It rewrites the fields that differ between the
// versions. All other fields are copied byte for byte: those of Interlock, and
// those of a newer OCM or Interlock.
//
// What ends it: OCM's own conversion webhook keeps spec.dependencies with all
// fields of Interlock, or OCM serves a single version of the API. Then package
// graft gives the CRD back with OCM's conversion. The package can be deleted once
// no supported OCM lacks the fields, together with package graft.
package conversion

import (
	"encoding/json"
	"errors"
	"fmt"

	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
)

const (
	kind     = "ClusterManagementAddOn"
	v1alpha1 = ocmv1alpha1.GroupName + "/v1alpha1"
	v1beta1  = ocmv1beta1.GroupName + "/v1beta1"
)

// Refused is in the message on every object that cannot be converted. Where an API
// server reports it, the API server can use the conversion.
const Refused = "cannot be converted by Interlock"

// Convert returns the object, the JSON of a ClusterManagementAddOn, in the
// desired version. A missing spec or status stays missing.
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
		return nil, fmt.Errorf("%s %q of %s %s: only a %s can", got, content.name(), from, Refused, kind)
	}
	if err := content.convert(from, desired); err != nil {
		return nil, fmt.Errorf("%s %q %s: %s to %s: %w", kind, content.name(), Refused, from, desired, err)
	}
	return json.Marshal(content)
}

func (f fields) convert(from, to string) error {
	var convertSpec, convertStatus func(fields)
	switch {
	case from == to:
		return nil
	case from == v1alpha1 && to == v1beta1:
		convertSpec, convertStatus = specToV1Beta1, statusToV1Beta1
	case from == v1beta1 && to == v1alpha1:
		convertSpec, convertStatus = specToV1Alpha1, statusToV1Alpha1
	default:
		return fmt.Errorf("only %s and %s are known", v1alpha1, v1beta1)
	}
	f.change("spec", convertSpec)
	f.change("status", convertStatus)
	f.set("apiVersion", to)
	return nil
}

func specToV1Beta1(spec fields) {
	delete(spec, "addOnConfiguration") // v1beta1 has none
	spec.rename("supportedConfigs", "defaultConfigs")
	spec.changeElements("defaultConfigs", func(config fields) {
		var referent fields
		hasDefault := config.read("defaultConfig", &referent)
		delete(config, "defaultConfig")
		config.put("namespace", referent["namespace"])
		config.put("name", referent["name"])
		if !hasDefault {
			config.set("name", ocmv1beta1.ReservedNoDefaultConfigName)
		}
	})
}

func specToV1Alpha1(spec fields) {
	delete(spec, "addOnConfiguration") // not a field of v1beta1
	spec.rename("defaultConfigs", "supportedConfigs")
	spec.changeElements("supportedConfigs", func(config fields) {
		name, referent := config.text("name"), fields{}
		referent.put("namespace", config["namespace"])
		referent.put("name", config["name"])
		for _, field := range []string{"namespace", "name", "defaultConfig"} {
			delete(config, field)
		}
		if name != "" && name != ocmv1beta1.ReservedNoDefaultConfigName {
			config.set("defaultConfig", referent)
		}
	})
}

func statusToV1Beta1(status fields) {
	status.rename("defaultconfigReferences", "defaultConfigReferences")
}

func statusToV1Alpha1(status fields) {
	status.rename("defaultConfigReferences", "defaultconfigReferences")
}
