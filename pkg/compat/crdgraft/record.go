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

// RecordAnnotation holds what a graft replaced, on the grafted CRD.
const RecordAnnotation = names.GraftRecord

// record holds what is needed to undo a graft. Each part also holds what the
// graft wrote, so that a later change by another writer is recognized and kept.
type record struct {
	// Fields are those that were added.
	Fields Fields `json:"fields"`
	// Version and Conversion are nil where the graft did not change them.
	Version    *replacedVersion    `json:"version,omitempty"`
	Conversion *replacedConversion `json:"conversion,omitempty"`
}

type replacedVersion struct {
	Found   *string `json:"found,omitempty"` // nil: there was none
	Written string  `json:"written"`
}

type replacedConversion struct {
	Found map[string]any `json:"found"`
	// Written lacks the CA, because that is renewed alone.
	Written map[string]any `json:"written"`
}

func readRecord(crd map[string]any) (*record, error) {
	text, found, err := unstructured.NestedString(crd, "metadata", "annotations", RecordAnnotation)
	if err != nil || !found {
		return nil, err
	}
	taken := &record{}
	if err := json.Unmarshal([]byte(text), taken); err != nil {
		return nil, fmt.Errorf("CRD %s: annotation %s cannot be read, so the graft cannot be undone. "+
			"To start over, apply OCM's own CRD without the annotation: %w", nameOf(crd), RecordAnnotation, err)
	}
	return taken, nil
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

// mark returns the version one patch above the given one. It returns false where
// the operator cannot compare that with its own version. A missing version counts
// as 0.0.0, so that the operator overwrites the CRD once.
func mark(found string) (string, bool) {
	if found == "" {
		found = "0.0.0"
	}
	// The operator parses versions in the same way, and ignores what follows the
	// numbers.
	v, err := version.ParseGeneric(found)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("%d.%d.%d", v.Major(), v.Minor(), v.Patch()+1), true
}

// replaceVersion marks the CRD. A version that the operator cannot parse stays:
// it keeps the operator from writing.
func replaceVersion(crd map[string]any) *replacedVersion {
	found, exists, _ := unstructured.NestedString(crd, "metadata", "annotations", names.OCMVersion)
	higher, ok := mark(found)
	if !ok {
		return nil
	}
	setAnnotation(crd, names.OCMVersion, &higher)
	if !exists {
		return &replacedVersion{Written: higher}
	}
	return &replacedVersion{Found: &found, Written: higher}
}

func (r *replacedVersion) restore(crd map[string]any) {
	if r == nil {
		return
	}
	if now, _, _ := unstructured.NestedString(crd, "metadata", "annotations", names.OCMVersion); now == r.Written {
		setAnnotation(crd, names.OCMVersion, r.Found)
	}
}

func replaceConversion(crd, conversion map[string]any) *replacedConversion {
	spec := crd["spec"].(map[string]any) // versionsOf has checked it
	found, _ := spec["conversion"].(map[string]any)
	spec["conversion"] = runtime.DeepCopyJSON(conversion)
	return &replacedConversion{Found: found, Written: withoutCA(conversion)}
}

func (r *replacedConversion) restore(crd map[string]any) {
	if r == nil {
		return
	}
	spec := crd["spec"].(map[string]any)
	now, _ := spec["conversion"].(map[string]any)
	if now == nil || reflect.DeepEqual(withoutCA(now), r.Written) {
		spec["conversion"] = r.Found
	}
}

func withoutCA(conversion map[string]any) map[string]any {
	bare := runtime.DeepCopyJSON(conversion)
	unstructured.RemoveNestedField(bare, "webhook", "clientConfig", "caBundle")
	return bare
}

// setAnnotation sets or, given nil, removes an annotation.
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
