package declaration

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/json"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// The API server loses the fields of a declaration when it prunes or converts an
// object without knowing them. It never loses annotations. So the annotation holds
// a record of the fields, marked by a digest as derived from them. An annotation
// whose digest does not match was written by hand.

// Written is what of a registration was written: JSON, so that fields that this
// version does not know are kept.
type Written struct {
	Annotations map[string]string
	// Fields are those of spec that declare something, by name.
	Fields map[string]any
}

// WrittenOf returns what was written with these annotations and this spec.
func WrittenOf(annotations map[string]string, spec map[string]any) Written {
	fields := map[string]any{}
	for _, name := range addonv1alpha1.GraftedSpecFields() {
		if value := spec[name]; value != nil {
			fields[name] = value
		}
	}
	return Written{Annotations: annotations, Fields: fields}
}

// Keep returns the annotations with which an object should be stored, so that its
// record has all that its fields declare. before is the stored object, nil for a new
// one. Where the write takes away something, meant reports whether its writer meant
// that, or only did not know the fields. The problem says why there is no record.
func Keep(before *Written, now Written, meant func() bool) (annotations map[string]string, problem string) {
	recorded, byHand := now.record()
	if byHand {
		return now.with("", ""), ""
	}
	var was map[string]any
	if before != nil {
		was, _ = before.record()
	}
	brings := recorded != nil && !reflect.DeepEqual(recorded, was)
	switch {
	case before == nil, brings && len(now.Fields) == 0: // a backup declares what its record has
		return now.recording(settle(now.Fields, recorded))
	case was != nil && (brings || now.omitsAnnotations()): // as an old manifest has, or one that replaces the object
		recorded = was
	}
	kept := settle(before.Fields, recorded)
	changed := merge(before.Fields, now.Fields, kept)
	removes := prunedFrom(now.Fields, before.Fields) && !prunedFrom(kept, changed)
	if removes && !meant() {
		return now.recording(kept)
	}
	return now.recording(changed)
}

// Restore returns the fields as the record has them, where the object has lost some.
func (w Written) Restore() map[string]any {
	recorded, _ := w.record()
	if recorded == nil || !smaller(w.Fields, recorded) {
		return nil
	}
	return recorded
}

// Recorded reports whether nothing is lost without the fields: the annotation means
// the same, or has more.
func (w Written) Recorded() bool {
	recorded, byHand := w.record()
	switch {
	case len(w.Fields) == 0:
		return true
	case byHand:
		fields, _ := readFields(w.Fields)
		written, err := parseAnnotation(w.Annotations[addonv1alpha1.DependenciesAnnotation])
		return err == nil && sameMeaning(fields, written)
	case recorded == nil:
		return declaresNothing(w.Fields)
	default:
		return prunedFrom(w.Fields, recorded)
	}
}

// Settled reports whether the record of an add-on is as Keep would have it, and
// nothing is to be restored from it.
func Settled(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	w := writtenIn(addOn)
	annotations, _ := Keep(nil, w, nil)
	return maps.Equal(annotations, w.Annotations) && w.Restore() == nil
}

// Lost reports whether an add-on lacks fields that its record has.
func Lost(addOn *addonv1alpha1.ClusterManagementAddOn) bool { return writtenIn(addOn).Restore() != nil }

// Recorded reports whether nothing is lost of an add-on without its fields.
func Recorded(addOn *addonv1alpha1.ClusterManagementAddOn) bool { return writtenIn(addOn).Recorded() }

// RemovedRecord returns the record that counted before a write and is gone after it, else
// nothing. Without its fields, the add-on then declares nothing any more. Where the CRD
// lacks the fields, a record that was beside fields counts too: a watch may have missed
// the write that lost them.
func RemovedRecord(before, now *addonv1alpha1.ClusterManagementAddOn, fieldsServed bool) string {
	was, is := writtenIn(before), writtenIn(now)
	recorded, _ := was.record()
	counted := was.Restore() != nil || !fieldsServed && len(recorded) > 0
	if _, annotated := is.Annotations[addonv1alpha1.DependenciesAnnotation]; annotated || !counted || len(is.Fields) > 0 {
		return ""
	}
	return before.Annotations[addonv1alpha1.DependenciesAnnotation]
}

func writtenIn(addOn *addonv1alpha1.ClusterManagementAddOn) Written {
	spec := declared{
		dependencies: addOn.Spec.Dependencies, requirements: addOn.Spec.Requirements, provides: addOn.Spec.Provides, ordering: addOn.Spec.Ordering,
	}
	return Written{Annotations: addOn.Annotations, Fields: spec.fields()}
}

// record returns the derived record, or whether the annotation was written by hand.
func (w Written) record() (recorded map[string]any, byHand bool) {
	recorded, derived := recordIn(w.Annotations)
	_, annotated := w.Annotations[addonv1alpha1.DependenciesAnnotation]
	return recorded, annotated && !derived
}

// recordIn returns the record in the annotation, if it is one that no one has edited.
func recordIn(annotations map[string]string) (recorded map[string]any, derived bool) {
	text, annotated := annotations[addonv1alpha1.DependenciesAnnotation]
	if !annotated || tooLarge(text) != nil || annotations[addonv1alpha1.RecordAnnotation] != digest(text) || json.Unmarshal([]byte(text), &recorded) != nil {
		return nil, false
	}
	return recorded, true
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func (w Written) omitsAnnotations() bool {
	_, annotated := w.Annotations[addonv1alpha1.DependenciesAnnotation]
	_, marked := w.Annotations[addonv1alpha1.RecordAnnotation]
	return !annotated && !marked
}

const unrecorded = "the fields in spec are not recorded, so they are lost if the CRD loses them"

// recording returns the annotations with the record of these fields.
func (w Written) recording(fields map[string]any) (annotations map[string]string, problem string) {
	if declaresNothing(fields) {
		return w.with("", ""), ""
	}
	if present, _ := w.record(); reflect.DeepEqual(present, fields) {
		return w.Annotations, ""
	}
	text, err := encode(fields)
	if err != nil {
		return w.with("", ""), fmt.Sprintf("%s: %v", unrecorded, err)
	}
	annotations = w.with(text, digest(text))
	if err := tooLarge(text); err != nil {
		return w.with("", ""), fmt.Sprintf("%s: %v", unrecorded, err)
	}
	if err := validation.ValidateAnnotationsSize(annotations); err != nil {
		return w.with("", ""), fmt.Sprintf("%s: %v", unrecorded, err)
	}
	return annotations, ""
}

// with returns the annotations with this record. Without one, a derived record and a
// digest that matches nothing are removed.
func (w Written) with(text, mark string) map[string]string {
	annotations := maps.Clone(w.Annotations)
	if _, derived := recordIn(annotations); derived {
		delete(annotations, addonv1alpha1.DependenciesAnnotation)
	}
	delete(annotations, addonv1alpha1.RecordAnnotation)
	if mark == "" {
		return annotations
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[addonv1alpha1.DependenciesAnnotation], annotations[addonv1alpha1.RecordAnnotation] = text, mark
	return annotations
}

// encode returns compact JSON with sorted keys, and with < and > readable.
func encode(fields map[string]any) (string, error) {
	var text bytes.Buffer
	encoder := stdjson.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(fields)
	return string(bytes.TrimSpace(text.Bytes())), err
}

// settle returns what a record should have beside these fields. A record that has all
// of them and more stays: a smaller schema may have pruned them. Else it follows the
// fields, and keeps only what this version does not know.
func settle(fields, recorded map[string]any) map[string]any {
	if prunedFrom(fields, recorded) {
		return recorded
	}
	return merge(known(recorded), fields, recorded)
}

// smaller reports whether the fields are what a smaller schema left of the record, by
// the properties that this version knows.
func smaller(fields, recorded map[string]any) bool {
	left, err := readFields(fields)
	all, recordErr := readFields(recorded)
	return err == nil && recordErr == nil && left.smaller(all)
}

func (d declared) smaller(than declared) bool {
	left, all := d.fields(), than.fields()
	return prunedFrom(left, all) && !prunedFrom(all, left)
}

// known returns the part of the fields that this version knows, with defaults.
func known(fields map[string]any) map[string]any {
	d, err := readFields(fields)
	if err != nil {
		return nil
	}
	return d.fields()
}

// readFields reads fields as leniently as they are read from spec.
func readFields(fields map[string]any) (declared, error) {
	var object annotationObject
	encoded, err := stdjson.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(encoded, &object)
	}
	return declared{
		dependencies: object.Dependencies, requirements: object.Requirements, provides: object.Provides, ordering: object.Ordering,
		path: AnnotationPath.Child("dependencies"), parent: AnnotationPath,
	}, err
}

// fields returns what was declared as JSON, with defaults.
func (d declared) fields() map[string]any {
	fields := map[string]any{}
	for name, value := range map[string]any{"dependencies": withTypes(d.dependencies), "requirements": d.requirements, "provides": d.provides} {
		if reflect.ValueOf(value).IsNil() {
			continue
		}
		var plain any
		if encoded, err := stdjson.Marshal(value); err == nil && json.Unmarshal(encoded, &plain) == nil {
			fields[name] = plain
		}
	}
	if d.ordering != "" {
		fields["ordering"] = string(d.ordering)
	}
	return fields
}

func sameMeaning(a, b declared) bool {
	return equality.Semantic.DeepEqual(withTypes(a.dependencies), withTypes(b.dependencies)) &&
		equality.Semantic.DeepEqual(a.requirements, b.requirements) && equality.Semantic.DeepEqual(a.provides, b.provides) && a.ordering == b.ordering
}
