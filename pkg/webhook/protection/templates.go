package protection

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// newTemplates are AddOnTemplates that differ from those in the cache, by name: a change leaves them so, or they were created a
// moment ago. GitOps applies an AddOnTemplate and the registration that names it at once.
type newTemplates map[string]*addonv1alpha1.AddOnTemplate

// in returns AddOnTemplates with these among them.
func (n newTemplates) in(cached []addonv1alpha1.AddOnTemplate) []addonv1alpha1.AddOnTemplate {
	if len(n) == 0 {
		return cached
	}
	all := make([]addonv1alpha1.AddOnTemplate, 0, len(cached)+len(n))
	for i := range cached {
		if n[cached[i].Name] == nil {
			all = append(all, cached[i])
		}
	}
	for _, template := range n {
		all = append(all, *template)
	}
	return all
}

// template returns an AddOnTemplate; nil where there is none. fresh is set where the cache does not have it yet.
func (r reviewer) template(ctx context.Context, name string) (template *addonv1alpha1.AddOnTemplate, fresh bool, err error) {
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

// including returns what is declared with an AddOnTemplate that the cache does not have yet, and that template.
func (r reviewer) including(ctx context.Context, under declared, template *addonv1alpha1.AddOnTemplate) (declared, newTemplates, error) {
	fresh := newTemplates{template.Name: template}
	under, err := r.declared.with(ctx, under.policies, nil, fresh)
	return under, fresh, err
}
