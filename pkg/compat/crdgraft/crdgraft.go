// Package crdgraft puts fields of ours into a CustomResourceDefinition that
// belongs to somebody else, and takes them out again without trace. It works
// on plain JSON objects, so that keywords and fields which this program has
// never heard of survive, and it decides nothing but what the object is to
// look like. See docs/decisions/crd-grafting.md.
package crdgraft

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// VersionAnnotation is where OCM's operator writes its version on a CRD. It
// never overwrites a CRD that carries a higher one than its own.
const VersionAnnotation = "operator.open-cluster-management.io/version"

// Additions are what a graft puts on a CRD.
type Additions struct {
	// Properties are JSON schemas of fields of spec, by name.
	Properties map[string]any
	// Conversion is the stanza that takes the place of the CRD's own where
	// that is a webhook; nil if nobody serves it.
	Conversion map[string]any
}

// Survey is what a CRD needs to take a set of fields.
type Survey struct {
	// Original is the CRD without any graft of ours.
	Original map[string]any
	// Added are the fields that the CRD lacks, by version.
	Added Fields
	// Native are the fields of the same names that its owner ships, by
	// version. They are left as they are.
	Native Fields
	// Converts says that its versions are converted by a webhook, which has
	// to know the fields.
	Converts bool
}

// Inspect returns what the CRD, grafted or not, needs to have the properties
// in the spec of every version that is served or stored.
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

// Graft returns the CRD with the additions, marked one patch version above
// what its operator wrote, and with a record of what Remove needs to undo it
// all. An earlier graft is replaced; grafting twice changes nothing. A CRD
// that has all of the fields by itself is returned without any graft.
//
// It fails for a CRD whose versions are converted by a webhook when there is
// no conversion to add: the fields would be lost with the next write.
func Graft(crd map[string]any, additions Additions) (map[string]any, error) {
	survey, err := Inspect(crd, additions.Properties)
	if err != nil || len(survey.Added) == 0 {
		return survey.Original, err
	}
	if survey.Converts && additions.Conversion == nil {
		return nil, fmt.Errorf("CRD %s: its conversion is a webhook that does not know the added fields, and there is no other", nameOf(crd))
	}
	grafted, _, _, err := addFields(survey.Original, additions.Properties)
	if err != nil {
		return nil, err
	}
	taken := record{Fields: survey.Added.digests(additions.Properties)}
	if survey.Converts {
		taken.Conversion = replaceConversion(grafted, additions.Conversion)
	}
	taken.Version = replaceVersion(grafted)
	return grafted, taken.write(grafted)
}

// Grafted reports whether the CRD carries a graft of ours.
func Grafted(crd map[string]any) bool {
	_, found, _ := unstructured.NestedString(crd, "metadata", "annotations", RecordAnnotation)
	return found
}

// Remove returns a copy of the CRD as it was found before it was grafted. What
// somebody else has put back or changed since stays as they wrote it.
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
	return original, nil
}
