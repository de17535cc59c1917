package crdgraft

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
)

// RecordAnnotation holds, on a grafted CRD, what its graft replaced.
const RecordAnnotation = "interlock.open-cluster-management.io/graft"

// record is what is needed to undo a graft. Each part also says how to tell
// what was written from what somebody else has written since.
type record struct {
	// Fields are the digests of the schemas that were added, by version and field.
	Fields map[string]map[string]string `json:"fields"`
	// Version and Conversion are nil where they were left as they were.
	Version    *replacedVersion    `json:"version,omitempty"`
	Conversion *replacedConversion `json:"conversion,omitempty"`
}

type replacedVersion struct {
	Found   *string `json:"found,omitempty"` // nil: there was none
	Written string  `json:"written"`
}

type replacedConversion struct {
	Found map[string]any `json:"found"`
	// Written lacks the CA, which is renewed without the rest being so.
	Written map[string]any `json:"written"`
}

func readRecord(crd map[string]any) (*record, error) {
	text, found, err := unstructured.NestedString(crd, "metadata", "annotations", RecordAnnotation)
	if err != nil || !found {
		return nil, err
	}
	taken := &record{}
	if err := json.Unmarshal([]byte(text), taken); err != nil {
		return nil, fmt.Errorf("CRD %s: annotation %s cannot be read, so that the graft cannot be undone; "+
			"apply OCM's own CRD without the annotation to begin anew: %w", nameOf(crd), RecordAnnotation, err)
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

// mark returns the version one patch above the given one, and none where the
// operator could not compare it with its own. A missing one counts as the
// lowest, 0.0.0: an operator of any other version writes its own over it once.
func mark(found string) (string, bool) {
	if found == "" {
		found = "0.0.0"
	}
	// The operator reads versions in this way too: after the numbers anything
	// may follow, and does not count.
	v, err := version.ParseGeneric(found)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("%d.%d.%d", v.Major(), v.Minor(), v.Patch()+1), true
}

// replaceVersion marks the CRD. A version that the operator cannot read is
// left: it keeps the operator from writing at all.
func replaceVersion(crd map[string]any) *replacedVersion {
	found, exists, _ := unstructured.NestedString(crd, "metadata", "annotations", VersionAnnotation)
	higher, ok := mark(found)
	if !ok {
		return nil
	}
	setAnnotation(crd, VersionAnnotation, &higher)
	if !exists {
		return &replacedVersion{Written: higher}
	}
	return &replacedVersion{Found: &found, Written: higher}
}

func (r *replacedVersion) restore(crd map[string]any) {
	if r == nil {
		return
	}
	if now, _, _ := unstructured.NestedString(crd, "metadata", "annotations", VersionAnnotation); now == r.Written {
		setAnnotation(crd, VersionAnnotation, r.Found)
	}
}

func replaceConversion(crd, conversion map[string]any) *replacedConversion {
	spec := crd["spec"].(map[string]any) // versionsOf has seen it
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
