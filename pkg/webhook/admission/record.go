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
	"open-cluster-management.io/interlock/pkg/rawjson"
	"open-cluster-management.io/interlock/pkg/text"
)

// RecordPath is the path at which Recorder is served.
const RecordPath = "/record-clustermanagementaddon"

// Recorder adds to each write of a ClusterManagementAddOn the record of what its
// fields declare. It changes annotations only, and denies nothing.
type Recorder struct {
	// Reader reads the CRD without a cache.
	Reader client.Reader
	Clock  clock.PassiveClock
}

var _ admission.Handler = &Recorder{}

// Handle implements admission.Handler.
func (r *Recorder) Handle(ctx context.Context, request admission.Request) admission.Response {
	now, err := writtenIn(request.Object.Raw)
	if err != nil {
		return unrecorded(request.Name, err)
	}
	var before *declaration.Written
	if request.Operation == admissionv1.Update {
		if before, err = writtenIn(request.OldObject.Raw); err != nil {
			return unrecorded(request.Name, err)
		}
	}
	var warnings []string
	annotations, problem := declaration.Keep(before, *now, func() bool {
		err := r.removalsCount(ctx)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("the declared dependencies of add-on %q that this write leaves out are restored, because %v", request.Name, err))
		}
		return err == nil
	})
	if problem != "" {
		warnings = append(warnings, text.OneLine(fmt.Sprintf("add-on %q: %s", request.Name, problem)))
	}
	from, fromErr := annotated(now.Annotations)
	to, toErr := annotated(annotations)
	if fromErr != nil || toErr != nil { // maps of strings have a JSON
		return admission.Allowed("")
	}
	return admission.PatchResponseFromRaw(from, to).WithWarnings(warnings...)
}

// removalsCount fails while it is not known whether a field that is left out is removed.
func (r *Recorder) removalsCount(ctx context.Context) error {
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

func unrecorded(name string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("the dependencies of add-on '%s' were not recorded: %v", text.Name(name), err))))
}

// writtenIn decodes what declares, without the types of any version of Interlock.
func writtenIn(raw []byte) (*declaration.Written, error) {
	if why := tooMany(raw); why != "" {
		return nil, errors.New(why)
	}
	var annotations map[string]string
	if written := rawjson.Find(raw, "metadata", "annotations"); rawjson.Count(written) > maxAnnotations {
		return nil, fmt.Errorf("it has more than %d annotations", maxAnnotations)
	} else if written != nil {
		if err := utiljson.Unmarshal(written, &annotations); err != nil {
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
	w := declaration.WrittenOf(annotations, spec)
	return &w, nil
}

// annotated is an object with the record in these annotations and nothing else. From two
// of them a patch is made that changes nothing else.
func annotated(annotations map[string]string) ([]byte, error) {
	metadata := map[string]any{}
	if annotations != nil {
		record := map[string]string{}
		for _, name := range []string{addonv1alpha1.DependenciesAnnotation, addonv1alpha1.RecordAnnotation} {
			if value, has := annotations[name]; has {
				record[name] = value
			}
		}
		metadata["annotations"] = record
	}
	return json.Marshal(map[string]any{"metadata": metadata})
}
