// Package conversion converts ClusterManagementAddOns between the versions of
// their API, for the API server. It rewrites the fields that differ between the
// versions. All other fields are copied byte for byte: the fields of Interlock, and
// the fields of a newer OCM or Interlock.
//
// The package is needed until OCM's own conversion webhook keeps spec.dependencies with all
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

	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

const (
	kind     = "ClusterManagementAddOn"
	v1alpha1 = ocmv1alpha1.GroupName + "/v1alpha1"
	v1beta1  = ocmv1beta1.GroupName + "/v1beta1"
)

// versions is the pair of versions of a conversion.
type versions struct{ source, target string }

// converters has the members that change, for each pair of versions. A conversion never fails because of the content of an object:
// that would fail the conversion of all objects in the request.
var converters = map[versions]members{
	{v1alpha1, v1beta1}: convertTo(v1beta1, inV1Alpha1, inV1Beta1, configToV1Beta1),
	{v1beta1, v1alpha1}: convertTo(v1alpha1, inV1Beta1, inV1Alpha1, configToV1Alpha1),
}

// names has the names of two lists in a version.
type names struct{ configs, references string }

var (
	inV1Alpha1 = names{configs: "supportedConfigs", references: "defaultconfigReferences"}
	inV1Beta1  = names{configs: "defaultConfigs", references: "defaultConfigReferences"}
)

func convertTo(version string, source, target names, config change) members {
	return members{
		"apiVersion": {name: []byte("apiVersion"), change: func(out output, _ []byte) { out.put(`"`, version, `"`) }},
		"spec": {name: []byte("spec"), change: members{
			"addOnConfiguration": {}, // v1beta1 has no such field
			target.configs:       {}, // the source has no such field
			source.configs:       {name: []byte(target.configs), change: elements(config)},
		}.write},
		"status": {name: []byte("status"), change: members{
			target.references: {},
			source.references: {name: []byte(target.references)},
		}.write},
	}
}

// converter returns the members that change between the object's version and the desired version. A missing spec or
// status stays missing. It refuses an object only because of its kind or version, never because of other content.
func converter(object []byte, desired string) (members, error) {
	if !rawjson.IsObject(object) {
		return nil, errors.New("read an object: it is not a JSON object")
	}
	source, objectKind := word(rawjson.Find(object, "apiVersion")), word(rawjson.Find(object, "kind"))
	convert, ok := converters[versions{source, desired}]
	switch {
	case objectKind != kind:
		return nil, fmt.Errorf("%s %q of %s cannot be converted by Interlock: only a %s can", objectKind, nameOf(object), source, kind)
	case !ok && source != desired:
		return nil, fmt.Errorf("%s %q cannot be converted by Interlock: %s to %s: only %s and %s are known",
			kind, nameOf(object), source, desired, v1alpha1, v1beta1)
	}
	return convert, nil
}

func nameOf(object []byte) string { return word(rawjson.Find(object, "metadata", "name")) }

const maxWord = 300 // bytes

// word returns a value as a short text, such as a name. It cuts a long value.
func word(value []byte) string {
	return text.Name(strings.Trim(string(value[:min(len(value), maxWord)]), `"`))
}

func configToV1Beta1(out output, config []byte) {
	result, hasDefault := newObject(out), false
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

func configToV1Alpha1(out output, config []byte) {
	result := newObject(out)
	var namespace, referentName []byte
	for name, value := range rawjson.Members(config) {
		switch string(name) {
		case "namespace":
			namespace = value
		case "name":
			referentName = value
		case "defaultConfig": // not a field of v1beta1
		default:
			result.member(name, value)
		}
	}
	if bytes.HasPrefix(referentName, []byte{'"'}) && len(referentName) > len(`""`) && !bytes.Equal(referentName, noDefault) {
		result.name([]byte("defaultConfig"))
		referent := newObject(out)
		if namespace != nil {
			referent.member([]byte("namespace"), namespace)
		}
		referent.member([]byte("name"), referentName)
		referent.end()
	}
	result.end()
}
