package index

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// wrongIn returns the reasons for which no API server takes an object, or one of the objects that it deploys on managed clusters.
func wrongIn(object *manifest.Object) []report.LintFinding {
	j := judge{title: strings.TrimSpace(text.Name(object.GetKind()) + " " + text.Name(object.GetName()))}
	for _, duplicate := range object.Duplicates() {
		j.add(duplicate.Field, duplicate.Message)
	}
	if wrong := object.Mistyped(); wrong != nil {
		j.add(wrong.Field, wrong.Message)
	}
	j.judgeObject(object.Object, "")
	path, ok := workloads[object.GetKind()]
	if !ok {
		return j.findings
	}
	deployed, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	manifests, _ := deployed.([]any)
	for i, item := range manifests {
		content, _ := item.(map[string]any) // no object has no apiVersion
		j.judgeObject(content, fmt.Sprintf("%s[%d].", joined(path), i))
	}
	return j.findings
}

// judge collects findings on an object.
type judge struct {
	title    string
	findings []report.LintFinding
}

func (j *judge) add(field, message string) {
	j.findings = append(j.findings, report.LintFinding{
		Severity: report.SeverityError, Rule: report.RuleInvalidObject, Field: field, Message: j.title + ": " + message,
	})
}

// require adds a finding unless a field is a string that is not empty.
func (j *judge) require(object map[string]any, prefix, field, advice string) {
	switch value := object[field].(type) {
	case nil:
		j.add(prefix+field, prefix+field+" is missing: "+advice)
	case string:
		if value == "" {
			j.add(prefix+field, prefix+field+" is empty: "+advice)
		}
	default:
		j.add(prefix+field, fmt.Sprintf("%s: must be a string, and is %v: put it in quotes", prefix+field, value))
	}
}

// judgeObject judges an object. prefix is the path of its fields.
func (j *judge) judgeObject(object map[string]any, prefix string) {
	j.require(object, prefix, "apiVersion", "set it, such as v1 or apps/v1")
	j.require(object, prefix, "kind", "set it")
	metadata, _ := object["metadata"].(map[string]any)
	advice := "name the object"
	if metadata["generateName"] != nil {
		advice = "generateName makes another object each time the release is applied, so name the object instead"
	}
	j.require(metadata, prefix+"metadata.", "name", advice)
	if object["apiVersion"] != "v1" {
		return
	}
	switch object["kind"] {
	case "ConfigMap":
		j.judgeValues(object, prefix, "data", "")
		j.judgeValues(object, prefix, "binaryData", encoded)
	case "Secret":
		j.judgeValues(object, prefix, "stringData", "")
		j.judgeValues(object, prefix, "data", encoded)
	}
}

// encoded is the encoding of values that are no text.
const encoded = "base64"

// judgeValues judges the values of a ConfigMap or a Secret in a field.
func (j *judge) judgeValues(object map[string]any, prefix, field, encoding string) {
	values, isObject := object[field].(map[string]any)
	if !isObject && object[field] != nil {
		j.add(prefix+field, prefix+field+": must be an object with strings")
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		path := fmt.Sprintf("%s%s[%s]", prefix, field, key)
		switch value := values[key].(type) {
		case nil:
		case string:
			if _, err := base64.StdEncoding.DecodeString(value); encoding == encoded && err != nil {
				j.add(path, path+": its value must be in base64; a Secret takes text in stringData, and a ConfigMap in data")
			}
		case map[string]any, []any:
			j.add(path, path+": its value must be a string: write it as a text block, with | after the key")
		default:
			j.add(path, path+": its value must be a string: put it in quotes")
		}
	}
}
