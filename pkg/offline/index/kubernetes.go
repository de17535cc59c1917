package index

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// RequireKubernetes adds a range of Kubernetes versions to the requirements of all add-ons. A range that an add-on declares itself
// still holds.
func RequireKubernetes(objects []manifest.Object, accepted string) error {
	if _, err := versions.ParseRange(accepted, nil); err != nil {
		return fmt.Errorf("%q: %w", text.Excerpt(accepted), err)
	}
	for i := range objects {
		object := &objects[i].Unstructured
		var err error
		switch {
		case isKind(object.Object, registrationKind):
			err = requireByRegistration(object, accepted)
		case isKind(object.Object, templateKind) && object.GetAnnotations()[addonv1alpha1.TemplateDependenciesAnnotation] != "":
			err = requireByAnnotation(object, addonv1alpha1.TemplateDependenciesAnnotation, accepted) // it counts instead of the registration's
		}
		if err != nil {
			return fmt.Errorf("%s: %s %q: %w", objects[i].Path, object.GetKind(), text.Name(object.GetName()), err)
		}
	}
	return nil
}

// requireByRegistration adds the range where the registration declares: by field, or by annotation.
func requireByRegistration(registration *unstructured.Unstructured, accepted string) error {
	spec, _ := registration.Object["spec"].(map[string]any)
	byField := false
	for _, field := range addonv1alpha1.GraftedSpecFields() {
		_, ok := spec[field]
		byField = byField || ok
	}
	if byField {
		addRange(spec, accepted)
	}
	if !byField || registration.GetAnnotations()[addonv1alpha1.DependenciesAnnotation] != "" {
		return requireByAnnotation(registration, addonv1alpha1.DependenciesAnnotation, accepted)
	}
	return nil
}

// requireByAnnotation adds the range to the declaration in an annotation, a list of dependencies or an object.
func requireByAnnotation(object *unstructured.Unstructured, key, accepted string) error {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	var declared any
	if err := yaml.UnmarshalStrict([]byte(annotations[key]), &declared); err != nil {
		return nil //nolint:nilerr // lint refuses the declaration, with a better message
	}
	content, ok := declared.(map[string]any)
	if !ok {
		content = map[string]any{}
		if declared != nil {
			content["dependencies"] = declared
		}
	}
	addRange(content, accepted)
	raw, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	annotations[key] = string(raw)
	object.SetAnnotations(annotations)
	return nil
}

// addRange adds the range to the requirements of a declaration.
func addRange(declared map[string]any, accepted string) {
	requirements, ok := declared["requirements"].(map[string]any)
	if !ok {
		requirements = map[string]any{}
		declared["requirements"] = requirements
	}
	if own, ok := requirements["kubernetes"].(string); ok && own != "" && own != accepted {
		accepted = both(own, accepted)
	}
	requirements["kubernetes"] = accepted
}

// both returns the range of the versions that are in two ranges. In a range, "," binds more closely than "||".
func both(first, second string) string {
	var parts []string
	for a := range strings.SplitSeq(first, "||") {
		for b := range strings.SplitSeq(second, "||") {
			parts = append(parts, strings.TrimSpace(a)+", "+strings.TrimSpace(b))
		}
	}
	return strings.Join(parts, " || ")
}
