// Package crdgraft adds fields to a CustomResourceDefinition of another owner,
// and removes them again without trace. It computes objects and has no client.
// It works on plain JSON, so that unknown fields and keywords are kept. See
// docs/decisions/crd-grafting.md.
//
// What ends it: the same as package graft. Its AddFields also makes
// manifests/crds, which ends with the first OCM release that ships the fields.
package crdgraft

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Additions are what a graft adds to a CRD.
type Additions struct {
	// Properties are JSON schemas of fields of spec, by name.
	Properties map[string]any
	// Conversion replaces the CRD's conversion stanza where that is a webhook.
	// It is nil where no such conversion is served.
	Conversion map[string]any
}

// Survey describes what a CRD lacks of a set of fields.
type Survey struct {
	// Original is the CRD without a graft.
	Original map[string]any
	// Added are the fields that the CRD lacks, by version. Of a field that the owner
	// ships with a smaller schema, they are the nested ones.
	Added Fields
	// Native are the fields of the same names that the owner ships, by version.
	// A graft changes none of their properties.
	Native Fields
	// Converts means that a webhook converts the versions. It must know the fields.
	Converts bool
}

// Inspect returns what the CRD, grafted or not, lacks of the properties in the
// spec of every version that is served or stored.
func Inspect(crd, properties map[string]any) (Survey, error) {
	original, err := Remove(crd)
	if err != nil {
		return Survey{}, err
	}
	_, added, native, err := addFields(original, properties)
	if err != nil {
		return Survey{}, err
	}
	strategy, _, _ := unstructured.NestedString(original, "spec", "conversion", "strategy")
	return Survey{Original: original, Added: added, Native: native, Converts: strategy == "Webhook"}, nil
}

// Graft returns the CRD with the additions, marked one patch version above the
// version of its operator, and with a record from which Remove restores it. It
// replaces an earlier graft; grafting twice changes nothing. A CRD that ships all
// of the fields is returned without a graft.
//
// Where a webhook converts the CRD's versions, Graft fails without a conversion
// to add, because the next write would lose the fields.
func Graft(crd map[string]any, additions Additions) (map[string]any, error) {
	survey, err := Inspect(crd, additions.Properties)
	if err != nil || len(survey.Added) == 0 {
		return survey.Original, err
	}
	if survey.Converts && additions.Conversion == nil {
		return nil, fmt.Errorf("CRD %s: its conversion webhook does not know the added fields, and there is no other conversion", nameOf(crd))
	}
	grafted, _, _, err := addFields(survey.Original, additions.Properties)
	if err != nil {
		return nil, err
	}
	taken := record{Fields: survey.Added}
	if survey.Converts {
		taken.Conversion = replaceConversion(grafted, additions.Conversion)
	}
	taken.Version = replaceVersion(grafted)
	if postponed, ok := (&unstructured.Unstructured{Object: crd}).GetAnnotations()[RemovalsAnnotation]; ok {
		setAnnotation(grafted, RemovalsAnnotation, &postponed)
	}
	return grafted, taken.write(grafted)
}

// Grafted reports whether the CRD has the record of a graft.
func Grafted(crd map[string]any) bool {
	_, found, _ := unstructured.NestedString(crd, "metadata", "annotations", RecordAnnotation)
	return found
}

// Remove returns a copy of the CRD as it was before the graft. Changes that
// another writer made since stay.
func Remove(crd map[string]any) (map[string]any, error) {
	original := runtime.DeepCopyJSON(crd)
	taken, err := readRecord(original)
	if err != nil || taken == nil {
		return original, err
	}
	versions, err := versionsOf(original)
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		version.removeFields(taken.Fields[version.name()])
	}
	taken.Conversion.restore(original)
	taken.Version.restore(original)
	setAnnotation(original, RecordAnnotation, nil)
	setAnnotation(original, RemovalsAnnotation, nil)
	return original, nil
}

// RemovalsAnnotation on a grafted CRD holds the time before which it is not known
// whether a writer that leaves a field out removes it. A writer that read the object
// before the graft did not see the field.
const RemovalsAnnotation = "interlock.open-cluster-management.io/removals-count-from"

// PostponeRemovals has removals of a field count from that time on.
func PostponeRemovals(grafted map[string]any, until time.Time) {
	text := until.UTC().Format(time.RFC3339)
	setAnnotation(grafted, RemovalsAnnotation, &text)
}

// RemovalsCount reports whether removals count now, by the annotations of the CRD.
func RemovalsCount(annotations map[string]string, now time.Time) bool {
	from, err := time.Parse(time.RFC3339, annotations[RemovalsAnnotation])
	return err != nil || !now.Before(from)
}
