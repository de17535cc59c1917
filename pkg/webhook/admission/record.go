package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

// RecordPath is the path of Recorder.
const RecordPath = "/record-clustermanagementaddon"

// Recorder adds a record to each write of a ClusterManagementAddOn: a copy, in
// annotations, of the declaration in its fields. It changes only annotations, and denies
// no request.
type Recorder struct {
	// Reader reads the CRD without a cache.
	Reader client.Reader
	Clock  clock.PassiveClock
}

var _ admission.Handler = &Recorder{}

// Handle implements admission.Handler.
func (r *Recorder) Handle(ctx context.Context, request admission.Request) admission.Response {
	written, err := decodeWritten(request.Object.Raw)
	if err != nil {
		return allowUnrecorded(request.Name, err)
	}
	var stored *declaration.Written
	if request.Operation == admissionv1.Update {
		if stored, err = decodeWritten(request.OldObject.Raw); err != nil {
			return allowUnrecorded(request.Name, err)
		}
	}
	var warnings []string
	annotations, problem := declaration.Keep(stored, *written, func() bool {
		err := r.checkRemovalsCount(ctx)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf(
				"the declared dependencies of add-on %q that this write leaves out are restored, because %v", request.Name, err))
		}
		return err == nil
	})
	if problem != "" {
		warnings = append(warnings, text.OneLine(fmt.Sprintf("add-on %q: %s", request.Name, problem)))
	}
	oldRecord, oldErr := encodeRecord(written.Annotations)
	newRecord, newErr := encodeRecord(annotations)
	if oldErr != nil || newErr != nil { // does not happen: maps of strings can be encoded
		return admission.Allowed("")
	}
	return admission.PatchResponseFromRaw(oldRecord, newRecord).WithWarnings(warnings...)
}

// checkRemovalsCount fails while a writer may leave a field out because it does not know
// the field, and not to remove it.
func (r *Recorder) checkRemovalsCount(ctx context.Context) error {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if err := r.Reader.Get(ctx, client.ObjectKey{Name: graft.CRDName}, crd); err != nil {
		return fmt.Errorf("the CRD cannot be read: %w", err)
	}
	if !crdgraft.RemovalsCount(crd.Annotations, r.Clock.Now()) {
		return fmt.Errorf("the CRD changed a short time ago. To remove the dependencies, set spec.dependencies: []. "+
			"To remove a part, write it empty after %s: requirements: {}, or provides: []", crd.Annotations[crdgraft.RemovalsAnnotation])
	}
	return nil
}

// allowUnrecorded allows a write that could not be recorded, with a warning.
func allowUnrecorded(name string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("the dependencies of add-on '%s' were not recorded: %v", text.Name(name), err))))
}

// decodeWritten decodes the annotations and fields that declare, without the types of any
// version of Interlock.
func decodeWritten(raw []byte) (*declaration.Written, error) {
	if excess := findExcess(raw); excess != "" {
		return nil, errors.New(excess)
	}
	var annotations map[string]string
	content := rawjson.Find(raw, "metadata", "annotations")
	if rawjson.Count(content) > maxAnnotations {
		return nil, fmt.Errorf("it has more than %d annotations", maxAnnotations)
	}
	if content != nil {
		if err := utiljson.Unmarshal(content, &annotations); err != nil {
			return nil, fmt.Errorf("read metadata.annotations: %w", err)
		}
	}
	spec := map[string]any{}
	for _, name := range addonv1alpha1.GraftedSpecFields() {
		if content := rawjson.Find(raw, "spec", name); content != nil {
			var value any
			if err := utiljson.Unmarshal(content, &value); err != nil {
				return nil, fmt.Errorf("read spec.%s: %w", name, err)
			}
			spec[name] = value
		}
	}
	written := declaration.WrittenOf(annotations, spec)
	return &written, nil
}

// encodeRecord returns an object that only has the annotations of the record. A patch
// from one such object to another changes only the record.
func encodeRecord(annotations map[string]string) ([]byte, error) {
	metadata := map[string]any{}
	if annotations != nil {
		record := map[string]string{}
		for _, name := range []string{addonv1alpha1.DependenciesAnnotation, addonv1alpha1.RecordAnnotation} {
			if value, ok := annotations[name]; ok {
				record[name] = value
			}
		}
		metadata["annotations"] = record
	}
	return json.Marshal(map[string]any{"metadata": metadata})
}
