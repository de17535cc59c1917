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

// The caches of registrations, AddOnTemplates and add-ons have different watches, so one can be behind the others. Decisions that cannot be
// reverted are therefore checked against the API server.

// Current reports whether the catalog has the current declaration in the registration of an add-on.
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

// CurrentTemplate reports whether the catalog has the current declaration in an AddOnTemplate. It returns true if the name is empty.
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

// TemplateExists reports whether the API server has an AddOnTemplate of that name.
func TemplateExists(ctx context.Context, live client.Reader, name string) (bool, error) {
	var templates addonv1alpha1.AddOnTemplateList
	if err := live.List(ctx, &templates, Named(name)); err != nil {
		return false, fmt.Errorf("read whether AddOnTemplate %s exists: %w", name, err)
	}
	return slices.ContainsFunc(templates.Items, func(template addonv1alpha1.AddOnTemplate) bool { return template.Name == name }), nil
}

// Named returns list options that select an object by its name. Such a list needs no right to get objects.
func Named(name string) *client.ListOptions {
	return &client.ListOptions{Raw: &metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}}
}
