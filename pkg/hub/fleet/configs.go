package fleet

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// ConfigKeys are those of the AddOnDeploymentConfigs that an add-on refers to:
// the values of IndexConfig.
func ConfigKeys(addOn client.Object) []string {
	var keys []string
	for _, reference := range addOn.(*addonv1alpha1.ManagedClusterAddOn).Status.ConfigReferences {
		keys = append(keys, types.NamespacedName{Namespace: reference.Namespace, Name: reference.Name}.String())
	}
	return keys
}

// Configured returns the keys of all add-ons that refer to the
// AddOnDeploymentConfig of the key.
func (r Reader) Configured(ctx context.Context, config types.NamespacedName) ([]types.NamespacedName, error) {
	return r.keys(ctx, client.MatchingFields{IndexConfig: config.String()})
}

// Config returns the customizedVariables of all AddOnDeploymentConfigs that
// the add-on of the key refers to. Of variables of one name the last counts,
// as in addon-framework, where values are merged in the order of references; a
// config that does not exist has none.
func (r Reader) Config(ctx context.Context, key types.NamespacedName) (map[string]string, error) {
	addOn, err := r.AddOn(ctx, key)
	if err != nil || addOn == nil {
		return nil, err
	}
	variables := map[string]string{}
	for _, reference := range addOn.Status.ConfigReferences {
		config := &addonv1alpha1.AddOnDeploymentConfig{}
		configKey := types.NamespacedName{Namespace: reference.Namespace, Name: reference.Name}
		switch err := r.Get(ctx, configKey, config); {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("read AddOnDeploymentConfig %s: %w", configKey, err)
		}
		for _, variable := range config.Spec.CustomizedVariables {
			variables[variable.Name] = variable.Value
		}
	}
	return variables, nil
}
