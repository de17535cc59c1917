package install

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// configName is the name of the AddOnDeploymentConfig with the variables that a user has set.
func configName(addOn string) string { return planned.FieldManager + "-" + addOn }

// readDisplaced reads the AddOnDeploymentConfig that the named add-on would get without variables. Any reference displaces it, so the new
// one has its content. The problem says why the content is not known.
func (o *options) readDisplaced(ctx context.Context, hub *planned.Fleet) (problem string, err error) {
	if len(o.settings) == 0 || o.Hub == nil {
		return "", nil
	}
	index := slices.IndexFunc(hub.Registrations, func(registered addonv1alpha1.ClusterManagementAddOn) bool { return registered.Name == o.addOn })
	if index < 0 {
		return "", nil
	}
	key, ok := fleet.DefaultConfig(&hub.Registrations[index])
	if !ok {
		return "", nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(addonv1alpha1.GroupVersion.String())
	list.SetKind("AddOnDeploymentConfigList")
	err = o.Hub.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{metav1.ObjectNameField: key.Name})
	if err == nil && len(list.Items) == 0 {
		return fmt.Sprintf("the default AddOnDeploymentConfig '%s' of '%s' is not found, so --set does not know which content to keep", key, o.addOn), nil
	}
	if err != nil {
		return "", fmt.Errorf("read AddOnDeploymentConfig %s: %w", key, err)
	}
	o.displaced = specOf(&list.Items[0])
	return "", nil
}

func specOf(config *unstructured.Unstructured) map[string]any {
	spec, _ := config.Object["spec"].(map[string]any)
	return spec
}

func deploymentConfig(key types.NamespacedName) *unstructured.Unstructured {
	config := &unstructured.Unstructured{}
	config.SetAPIVersion(addonv1alpha1.GroupVersion.String())
	config.SetKind("AddOnDeploymentConfig")
	config.SetNamespace(key.Namespace)
	config.SetName(key.Name)
	return config
}

// variableConfig returns the AddOnDeploymentConfig of an add-on with the variables that a user has set. It is nil where the add-on has none.
func (o *options) variableConfig(addOn types.NamespacedName) *unstructured.Unstructured {
	if addOn.Name != o.addOn || len(o.settings) == 0 {
		return nil
	}
	config := deploymentConfig(types.NamespacedName{Namespace: addOn.Namespace, Name: configName(addOn.Name)})
	config.SetLabels(map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByPlugin})
	config.Object["spec"] = settings.Make(settings.Agreed{Variables: o.settings}, settings.State{Displaced: o.displaced}).Spec
	return config
}

// applyVariables writes the AddOnDeploymentConfig of an add-on, if a user has set variables.
func (o *options) applyVariables(ctx context.Context, addOn types.NamespacedName, options ...client.ApplyOption) error {
	config := o.variableConfig(addOn)
	if config == nil {
		return nil
	}
	err := o.Hub.Apply(ctx, client.ApplyConfigurationFromUnstructured(config), append(options, client.FieldOwner(planned.FieldManager))...)
	if err != nil {
		return fmt.Errorf("apply AddOnDeploymentConfig %s/%s: %w", config.GetNamespace(), config.GetName(), err)
	}
	return nil
}
