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
	"bytes"
	"errors"
	"fmt"
	"strings"

	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"open-cluster-management.io/interlock/pkg/rawjson"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	kind     = "ClusterManagementAddOn"
	v1alpha1 = ocmv1alpha1.GroupName + "/v1alpha1"
	v1beta1  = ocmv1beta1.GroupName + "/v1beta1"
)

// versions are those between which objects are converted.
type versions struct{ from, to string }

// converters write an object in another version. They fail for no object: an error would
// fail the conversion of all objects of the request.
var converters = map[versions]members{
	{v1alpha1, v1beta1}: convertTo(v1beta1, inV1Alpha1, inV1Beta1, configToV1Beta1),
	{v1beta1, v1alpha1}: convertTo(v1alpha1, inV1Beta1, inV1Alpha1, configToV1Alpha1),
}

// names are those that a version has for two lists.
type names struct{ configs, references string }

var (
	inV1Alpha1 = names{configs: "supportedConfigs", references: "defaultconfigReferences"}
	inV1Beta1  = names{configs: "defaultConfigs", references: "defaultConfigReferences"}
)

func convertTo(version string, from, to names, config change) members {
	return members{
		"apiVersion": {name: []byte("apiVersion"), change: func(to output, _ []byte) { to.put(`"`, version, `"`) }},
		"spec": {name: []byte("spec"), change: members{
			"addOnConfiguration": {}, // v1beta1 has none
			to.configs:           {}, // not a field of the version of the object
			from.configs:         {name: []byte(to.configs), change: elements(config)},
		}.write},
		"status": {name: []byte("status"), change: members{
			to.references:   {},
			from.references: {name: []byte(to.references)},
		}.write},
	}
}

// converter returns what writes the object in the desired version. A missing spec or
// status stays missing. It refuses an object for its kind and version alone, whatever else is in it.
func converter(object []byte, desired string) (members, error) {
	if !rawjson.IsObject(object) {
		return nil, errors.New("read an object: it is not a JSON object")
	}
	from, got := word(rawjson.Find(object, "apiVersion")), word(rawjson.Find(object, "kind"))
	convert, known := converters[versions{from, desired}]
	switch {
	case got != kind:
		return nil, fmt.Errorf("%s %q of %s cannot be converted by Interlock: only a %s can", got, nameOf(object), from, kind)
	case !known && from != desired:
		return nil, fmt.Errorf("%s %q cannot be converted by Interlock: %s to %s: only %s and %s are known",
			kind, nameOf(object), from, desired, v1alpha1, v1beta1)
	}
	return convert, nil
}

func nameOf(object []byte) string { return word(rawjson.Find(object, "metadata", "name")) }

const maxWord = 300 // bytes

// word returns a short text, such as a name, and the start of a longer one.
func word(value []byte) string {
	return text.Name(strings.Trim(string(value[:min(len(value), maxWord)]), `"`))
}

func configToV1Beta1(to output, config []byte) {
	result, hasDefault := newObject(to), false
	for name, value := range rawjson.Members(config) {
		switch string(name) {
		case "namespace", "name": // not fields of v1alpha1
		case "defaultConfig":
			hasDefault = rawjson.IsObject(value)
			for name, value := range rawjson.Members(value) {
				if string(name) == "namespace" || string(name) == "name" {
					result.member(name, value)
				}
			}
		default:
			result.member(name, value)
		}
	}
	if !hasDefault {
		result.member([]byte("name"), noDefault)
	}
	result.end()
}

// noDefault is the name of a configuration without a default in v1beta1.
var noDefault = []byte(`"` + ocmv1beta1.ReservedNoDefaultConfigName + `"`)

func configToV1Alpha1(to output, config []byte) {
	result := newObject(to)
	var namespace, named []byte
	for name, value := range rawjson.Members(config) {
		switch string(name) {
		case "namespace":
			namespace = value
		case "name":
			named = value
		case "defaultConfig": // not a field of v1beta1
		default:
			result.member(name, value)
		}
	}
	if bytes.HasPrefix(named, []byte{'"'}) && len(named) > len(`""`) && !bytes.Equal(named, noDefault) {
		result.name([]byte("defaultConfig"))
		referent := newObject(to)
		if namespace != nil {
			referent.member([]byte("namespace"), namespace)
		}
		referent.member([]byte("name"), named)
		referent.end()
	}
	result.end()
}
