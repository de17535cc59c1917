// Package crdgraft adds fields to a CustomResourceDefinition of another owner,
// and removes them again without trace. It computes objects and has no client.
// It works on plain JSON, so that unknown fields and keywords are kept. See
// docs/decisions/crd-grafting.md.
//
// It is needed as long as package graft. Its AddFields also makes manifests/crds,
// until the first OCM release that ships the fields.
package crdgraft

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Additions are the parts that a graft adds to a CRD.
type Additions struct {
	// Properties has JSON schemas of fields of spec, by name.
	Properties map[string]any
	// Conversion replaces the CRD's conversion stanza, if it is a webhook.
	// It is nil if no conversion is served.
	Conversion map[string]any
}

// Survey is the comparison of a CRD with a set of fields.
type Survey struct {
	// Original is the CRD without a graft.
	Original map[string]any
	// Added has the fields that the CRD lacks, by version. For a field that the owner
	// ships with a smaller schema, it has the missing nested fields.
	Added Fields
	// Native has the fields of the same names that the owner ships, by version.
	// A graft changes none of their properties.
	Native Fields
	// Converts means that a webhook converts the versions. It must know the fields.
	Converts bool
}

// Inspect compares a CRD, grafted or not, with the properties. It considers the spec of
// every version that is served or stored.
func Inspect(crd, properties map[string]any) (Survey, error) {
	original, err := Remove(crd)
	if err != nil {
		return Survey{}, err
	}
	result, err := addFields(original, properties)
	if err != nil {
		return Survey{}, err
	}
	strategy, _, _ := unstructured.NestedString(original, "spec", "conversion", "strategy")
	return Survey{Original: original, Added: result.added, Native: result.native, Converts: strategy == "Webhook"}, nil
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
	result, err := addFields(survey.Original, additions.Properties)
	if err != nil {
		return nil, err
	}
	grafted := result.grafted
	graft := record{Fields: survey.Added}
	if survey.Converts {
		graft.Conversion = replaceConversion(grafted, additions.Conversion)
	}
	graft.Version = replaceVersion(grafted)
	if postponed, ok := (&unstructured.Unstructured{Object: crd}).GetAnnotations()[RemovalsAnnotation]; ok {
		setAnnotation(grafted, RemovalsAnnotation, &postponed)
	}
	return grafted, graft.write(grafted)
}

// Grafted reports whether the CRD has the record of a graft.
func Grafted(crd map[string]any) bool {
	_, ok, _ := unstructured.NestedString(crd, "metadata", "annotations", RecordAnnotation)
	return ok
}

// Remove returns a copy of the CRD without the graft. It keeps the changes that
// other writers made since.
func Remove(crd map[string]any) (map[string]any, error) {
	original := runtime.DeepCopyJSON(crd)
	graft, err := readRecord(original)
	if err != nil || graft == nil {
		return original, err
	}
	versions, err := versionsOf(original)
	if err != nil {
		return nil, err
	}
	for _, version := range versions {
		version.removeFields(graft.Fields[version.name()])
	}
	graft.Conversion.restore(original)
	graft.Version.restore(original)
	setAnnotation(original, RecordAnnotation, nil)
	setAnnotation(original, RemovalsAnnotation, nil)
	return original, nil
}

// RemovalsAnnotation is the annotation of a grafted CRD with the time from which a write without
// a field counts as its removal. Earlier, the writer may have read the object before the graft,
// and not have seen the field.
const RemovalsAnnotation = "interlock.open-cluster-management.io/removals-count-from"

// PostponeRemovals sets the time from which removals of a field count.
func PostponeRemovals(grafted map[string]any, until time.Time) {
	text := until.UTC().Format(time.RFC3339)
	setAnnotation(grafted, RemovalsAnnotation, &text)
}

// RemovalsCount reports whether removals count now, according to the annotations of the CRD.
func RemovalsCount(annotations map[string]string, now time.Time) bool {
	start, err := time.Parse(time.RFC3339, annotations[RemovalsAnnotation])
	return err != nil || !now.Before(start)
}
