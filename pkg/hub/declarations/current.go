package declarations

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Different watches fill the caches of registrations, of AddOnTemplates and of add-ons. What cannot be taken back is decided on what is
// declared now.

// Current reports whether a catalog has what the registration of an add-on declares at this moment.
func Current(ctx context.Context, live client.Reader, evaluator *evaluation.Evaluator, addOn string) (bool, error) {
	registration := &addonv1alpha1.ClusterManagementAddOn{}
	err := live.Get(ctx, client.ObjectKey{Name: addOn}, registration)
	if apierrors.IsNotFound(err) {
		return !evaluator.Registered(addOn), nil
	}
	if err != nil {
		return false, fmt.Errorf("read what add-on %s declares: %w", addOn, err)
	}
	return evaluator.Has(registration), nil
}

// CurrentTemplate reports whether a catalog has what an AddOnTemplate declares at this moment; empty: there is no template.
func CurrentTemplate(ctx context.Context, live client.Reader, evaluator *evaluation.Evaluator, name string) (bool, error) {
	if name == "" {
		return true, nil
	}
	var templates addonv1alpha1.AddOnTemplateList
	if err := live.List(ctx, &templates, Named(name)); err != nil {
		return false, fmt.Errorf("read what AddOnTemplate %s declares: %w", name, err)
	}
	for i := range templates.Items {
		if templates.Items[i].Name == name {
			return evaluator.HasTemplate(&templates.Items[i]), nil
		}
	}
	_, _, declares := evaluator.Template(name)
	return !declares, nil
}

// TemplateExists reads from the API server whether there is an AddOnTemplate of that name.
func TemplateExists(ctx context.Context, live client.Reader, name string) (bool, error) {
	var templates addonv1alpha1.AddOnTemplateList
	if err := live.List(ctx, &templates, Named(name)); err != nil {
		return false, fmt.Errorf("read whether AddOnTemplate %s exists: %w", name, err)
	}
	return slices.ContainsFunc(templates.Items, func(template addonv1alpha1.AddOnTemplate) bool { return template.Name == name }), nil
}

// Named lists the object of a name, if there is one. Such a list needs no right to get objects.
func Named(name string) *client.ListOptions {
	return &client.ListOptions{Raw: &metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}}
}
