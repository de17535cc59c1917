package crdgraft

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"

	"open-cluster-management.io/interlock/pkg/names"
)

// RecordAnnotation is the annotation of a grafted CRD with the record of the graft.
const RecordAnnotation = names.GraftRecord

// record has the values that a graft replaced, to undo it. It also has the values that the graft
// wrote, so that a later change by another writer is recognized and kept.
type record struct {
	// Fields has the added fields.
	Fields Fields `json:"fields"`
	// Version and Conversion are nil if the graft did not change them.
	Version    *replacedVersion    `json:"version,omitempty"`
	Conversion *replacedConversion `json:"conversion,omitempty"`
}

type replacedVersion struct {
	// Original is nil if the CRD had no version.
	Original *string `json:"found,omitempty"`
	Written  string  `json:"written"`
}

type replacedConversion struct {
	Original map[string]any `json:"found"`
	// Written lacks the CA, because the CA is renewed without a new graft.
	Written map[string]any `json:"written"`
}

func readRecord(crd map[string]any) (*record, error) {
	text, ok, err := unstructured.NestedString(crd, "metadata", "annotations", RecordAnnotation)
	if err != nil || !ok {
		return nil, err
	}
	graft := &record{}
	if err := json.Unmarshal([]byte(text), graft); err != nil {
		return nil, fmt.Errorf("CRD %s: annotation %s cannot be read, so the graft cannot be undone. "+
			"To start over, apply OCM's own CRD without the annotation: %w", nameOf(crd), RecordAnnotation, err)
	}
	return graft, nil
}

func (r record) write(crd map[string]any) error {
	encoded, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("CRD %s: record the graft: %w", nameOf(crd), err)
	}
	text := string(encoded)
	setAnnotation(crd, RecordAnnotation, &text)
	return nil
}

// nextPatch returns the version one patch above the original. It returns false for a version
// that the operator cannot compare with its own. A missing version counts
// as 0.0.0, so that the operator overwrites the CRD once.
func nextPatch(original string) (string, bool) {
	if original == "" {
		original = "0.0.0"
	}
	// The operator parses versions in the same way, and ignores a suffix after the
	// numbers.
	v, err := version.ParseGeneric(original)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("%d.%d.%d", v.Major(), v.Minor(), v.Patch()+1), true
}

// replaceVersion raises the version of the CRD, so that OCM's operator does not overwrite it. It keeps a version
// that the operator cannot parse: the operator then does not write either.
func replaceVersion(crd map[string]any) *replacedVersion {
	original, exists, _ := unstructured.NestedString(crd, "metadata", "annotations", names.OCMVersion)
	higher, ok := nextPatch(original)
	if !ok {
		return nil
	}
	setAnnotation(crd, names.OCMVersion, &higher)
	if !exists {
		return &replacedVersion{Written: higher}
	}
	return &replacedVersion{Original: &original, Written: higher}
}

func (r *replacedVersion) restore(crd map[string]any) {
	if r == nil {
		return
	}
	if current, _, _ := unstructured.NestedString(crd, "metadata", "annotations", names.OCMVersion); current == r.Written {
		setAnnotation(crd, names.OCMVersion, r.Original)
	}
}

func replaceConversion(crd, conversion map[string]any) *replacedConversion {
	spec := crd["spec"].(map[string]any) // versionsOf has checked it
	original, _ := spec["conversion"].(map[string]any)
	spec["conversion"] = runtime.DeepCopyJSON(conversion)
	return &replacedConversion{Original: original, Written: withoutCA(conversion)}
}

func (r *replacedConversion) restore(crd map[string]any) {
	if r == nil {
		return
	}
	spec := crd["spec"].(map[string]any)
	current, _ := spec["conversion"].(map[string]any)
	if current == nil || reflect.DeepEqual(withoutCA(current), r.Written) {
		spec["conversion"] = r.Original
	}
}

func withoutCA(conversion map[string]any) map[string]any {
	bare := runtime.DeepCopyJSON(conversion)
	unstructured.RemoveNestedField(bare, "webhook", "clientConfig", "caBundle")
	return bare
}

// setAnnotation sets an annotation. A nil value removes it.
func setAnnotation(crd map[string]any, name string, value *string) {
	object := unstructured.Unstructured{Object: crd}
	annotations := object.GetAnnotations()
	if value == nil {
		delete(annotations, name)
	} else {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[name] = *value
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
}
