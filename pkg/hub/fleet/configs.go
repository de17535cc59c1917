package fleet

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Configured returns the keys of all add-ons that refer to the
// AddOnDeploymentConfig of the key.
func (r Reader) Configured(ctx context.Context, config types.NamespacedName) ([]types.NamespacedName, error) {
	return r.keys(ctx, client.MatchingFields{IndexConfig: config.String()})
}

// Config returns the customizedVariables of the AddOnDeploymentConfig that
// addon-framework gives the add-on of the key. Where that does not exist,
// addon-framework gives the add-on no variable.
func (r Reader) Config(ctx context.Context, key types.NamespacedName) (map[string]string, error) {
	addOn, err := r.AddOn(ctx, key)
	if err != nil || addOn == nil {
		return nil, err
	}
	variables := map[string]string{}
	reference := leanReference(addOn.Status.ConfigReferences, resourceConfig)
	if reference == nil {
		return variables, nil
	}
	config := &addonv1alpha1.AddOnDeploymentConfig{}
	configKey := types.NamespacedName{Namespace: reference.Namespace, Name: reference.Name}
	switch err := r.Get(ctx, configKey, config); {
	case apierrors.IsNotFound(err):
		return variables, nil
	case err != nil:
		return nil, fmt.Errorf("read AddOnDeploymentConfig %s: %w", configKey, err)
	}
	for _, variable := range config.Spec.CustomizedVariables {
		variables[variable.Name] = variable.Value
	}
	return variables, nil
}

// Templates returns the AddOnTemplates of the add-on of the key.
func (r Reader) Templates(ctx context.Context, key types.NamespacedName) (Templates, error) {
	addOn, err := r.AddOn(ctx, key)
	if err != nil || addOn == nil {
		return Templates{}, err
	}
	return TemplatesOf(addOn), nil
}

// Templated returns the keys of all add-ons that run the AddOnTemplate of the
// name, or are about to.
func (r Reader) Templated(ctx context.Context, template string) ([]types.NamespacedName, error) {
	return r.keys(ctx, client.MatchingFields{IndexTemplate: template})
}
