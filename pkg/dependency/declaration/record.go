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
// object without knowing them. It never loses annotations. So the annotation has
// a record of the fields, with a digest. An annotation whose digest does not match was
// written by hand.

// Written is the declaration of a registration as JSON, which keeps fields that this version
// does not know.
type Written struct {
	Annotations map[string]string
	// Fields are the declaring fields of spec, by name.
	Fields map[string]any
}

// WrittenOf returns the declaration with these annotations and this spec.
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
// record is complete. before is the stored object, or nil for a new object. If the write
// removes fields, isMeant reports whether its writer did so on purpose, or did not know the fields.
// The problem is the reason for which there is no record.
func Keep(before *Written, now Written, isMeant func() bool) (annotations map[string]string, problem string) {
	recorded, byHand := now.record()
	if byHand {
		return now.with("", ""), ""
	}
	var recordBefore map[string]any
	if before != nil {
		recordBefore, _ = before.record()
	}
	hasNewRecord := recorded != nil && !reflect.DeepEqual(recorded, recordBefore)
	switch {
	case before == nil, hasNewRecord && len(now.Fields) == 0: // a backup: its record is the declaration
		return now.recording(settle(now.Fields, recorded))
	case recordBefore != nil && (hasNewRecord || now.omitsAnnotations()): // an old manifest, or a replacement of the object
		recorded = recordBefore
	}
	kept := settle(before.Fields, recorded)
	changed := merge(before.Fields, now.Fields, kept)
	removes := prunedFrom(now.Fields, before.Fields) && !prunedFrom(kept, changed)
	if removes && !isMeant() {
		return now.recording(kept)
	}
	return now.recording(changed)
}

// Restore returns the fields of the record if the object has lost fields, and otherwise nil.
func (w Written) Restore() map[string]any {
	recorded, _ := w.record()
	if recorded == nil || !smaller(w.Fields, recorded) {
		return nil
	}
	return recorded
}

// Recorded reports whether the annotation has all that the fields declare.
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

// Settled reports whether the record of an add-on is equal to the result of Keep, and
// no field has to be restored from it.
func Settled(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	w := writtenIn(addOn)
	annotations, _ := Keep(nil, w, nil)
	return maps.Equal(annotations, w.Annotations) && w.Restore() == nil
}

// LostFields reports whether an add-on lacks fields of its record.
func LostFields(addOn *addonv1alpha1.ClusterManagementAddOn) bool {
	return writtenIn(addOn).Restore() != nil
}

// Recorded reports whether the annotation of an add-on has all that its fields declare.
func Recorded(addOn *addonv1alpha1.ClusterManagementAddOn) bool { return writtenIn(addOn).Recorded() }

// RemovedRecord returns the record that a write has removed, if the add-on then declares nothing
// any more. If the CRD lacks the fields, this includes a record beside fields, because a watch may
// have missed the write that lost the fields.
func RemovedRecord(before, now *addonv1alpha1.ClusterManagementAddOn, fieldsServed bool) string {
	writtenBefore, writtenNow := writtenIn(before), writtenIn(now)
	recorded, _ := writtenBefore.record()
	counted := writtenBefore.Restore() != nil || !fieldsServed && len(recorded) > 0
	if _, annotated := writtenNow.Annotations[addonv1alpha1.DependenciesAnnotation]; annotated || !counted || len(writtenNow.Fields) > 0 {
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

// record returns the record. byHand is true if the annotation was written by hand instead.
func (w Written) record() (recorded map[string]any, byHand bool) {
	recorded, derived := recordIn(w.Annotations)
	_, annotated := w.Annotations[addonv1alpha1.DependenciesAnnotation]
	return recorded, annotated && !derived
}

// recordIn returns the record in the annotation. derived is false without an unedited record.
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

// with returns the annotations with a record. Without a record, it removes the stored record, and a
// digest that does not match.
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

// settle returns the record for these fields. A record with more than the fields stays, because a
// smaller schema may have pruned them. Otherwise it becomes equal to the fields, and keeps only fields
// that this version does not know.
func settle(fields, recorded map[string]any) map[string]any {
	if prunedFrom(fields, recorded) {
		return recorded
	}
	return merge(knownPart(recorded), fields, recorded)
}

// smaller reports whether a smaller schema may have pruned the record to these fields. Only properties that this
// version knows count.
func smaller(fields, recorded map[string]any) bool {
	pruned, err := readFields(fields)
	complete, recordErr := readFields(recorded)
	return err == nil && recordErr == nil && pruned.smaller(complete)
}

func (d declared) smaller(complete declared) bool {
	fields, completeFields := d.fields(), complete.fields()
	return prunedFrom(fields, completeFields) && !prunedFrom(completeFields, fields)
}

// knownPart returns the part of the fields that this version knows, with defaults.
func knownPart(fields map[string]any) map[string]any {
	d, err := readFields(fields)
	if err != nil {
		return nil
	}
	return d.fields()
}

// readFields reads fields, and ignores unknown properties like a client that reads spec.
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

// fields returns the declaration as JSON, with defaults.
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
