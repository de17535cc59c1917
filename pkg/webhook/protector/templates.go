package protector

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// templateOverrides are AddOnTemplates that replace those in the cache, by name: a change edits them, or they were created a moment
// ago. GitOps applies an AddOnTemplate and the registration that names it at once.
type templateOverrides map[string]*addonv1alpha1.AddOnTemplate

// apply returns the cached AddOnTemplates with the overrides among them.
func (o templateOverrides) apply(cached []addonv1alpha1.AddOnTemplate) []addonv1alpha1.AddOnTemplate {
	if len(o) == 0 {
		return cached
	}
	templates := make([]addonv1alpha1.AddOnTemplate, 0, len(cached)+len(o))
	for i := range cached {
		if o[cached[i].Name] == nil {
			templates = append(templates, cached[i])
		}
	}
	for _, template := range o {
		templates = append(templates, *template)
	}
	return templates
}

// readTemplate returns an AddOnTemplate, or nil if it does not exist. The bool reports whether the cache does not have it yet.
func (r reviewer) readTemplate(ctx context.Context, name string) (*addonv1alpha1.AddOnTemplate, bool, error) {
	for i, source := range []client.Reader{r.cache, r.live} {
		template := &addonv1alpha1.AddOnTemplate{}
		switch err := source.Get(ctx, client.ObjectKey{Name: name}, template); {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, false, fmt.Errorf("read AddOnTemplate %s: %w", name, err)
		default:
			return fleet.LeanTemplate(template), i > 0, nil
		}
	}
	return nil, false, nil
}

// loadUncached returns the evaluator with an AddOnTemplate that the cache does not have yet, and the override for it.
func (r reviewer) loadUncached(
	ctx context.Context, policies policy.Set, template *addonv1alpha1.AddOnTemplate,
) (policyEvaluator, templateOverrides, error) {
	overrides := templateOverrides{template.Name: template}
	evaluator, err := r.declarations.loadChanged(ctx, policies, nil, overrides)
	return evaluator, overrides, err
}
