package configurer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

const fieldOwner = client.FieldOwner(names.AddonManager)

// managedConfig is an AddOnDeploymentConfig that Interlock keeps, with its add-on and the config that it displaces. config
// and displaced are nil if they do not exist.
type managedConfig struct {
	addOn             *addonv1alpha1.ManagedClusterAddOn
	config, displaced *unstructured.Unstructured
}

// state returns the inputs of the decision on its content.
func (c *managedConfig) state() settings.State {
	var state settings.State
	if c.displaced != nil {
		state.Displaced = specOf(c.displaced)
	}
	if c.config != nil {
		state.Stored = specOf(c.config)
		state.Forced = c.config.GetAnnotations()[addonv1alpha1.ForceAnnotation] != ""
		state.Written = settings.ReadWritten(c.config.GetAnnotations()[addonv1alpha1.SettingsAnnotation])
	}
	return state
}

func specOf(config *unstructured.Unstructured) map[string]any {
	spec, _, err := unstructured.NestedMap(config.Object, "spec")
	if err != nil || spec == nil {
		return map[string]any{}
	}
	return spec
}

// owned reports whether the API server deletes it with its add-on.
func (c *managedConfig) owned() bool {
	return c.config != nil && slices.ContainsFunc(c.config.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return owner.UID == c.addOn.UID
	})
}

// desired returns the object to write. The write fails if the object has changed since it was read.
func (c *managedConfig) desired(content settings.Content) *unstructured.Unstructured {
	config := &unstructured.Unstructured{Object: map[string]any{"spec": content.Spec}}
	config.SetGroupVersionKind(configKind)
	config.SetNamespace(c.addOn.Namespace)
	config.SetName(fleet.SettingsConfigName(c.addOn.Name))
	config.SetLabels(map[string]string{names.ManagedBy: names.AddonManager})
	config.SetAnnotations(map[string]string{addonv1alpha1.SettingsAnnotation: content.Written.String()})
	config.SetOwnerReferences([]metav1.OwnerReference{c.owner()})
	if c.config != nil {
		config.SetResourceVersion(c.config.GetResourceVersion())
	}
	return config
}

func (c *managedConfig) owner() metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: addonv1alpha1.GroupVersion.String(),
		Kind:       "ManagedClusterAddOn",
		Name:       c.addOn.Name,
		UID:        c.addOn.UID,
	}
}

// givenUp returns the stored object with the record of a pause. Its spec stays as another writer has left it, and the rest of the
// annotation as it was last written. So the change still counts as undone after the pause.
func (c *managedConfig) givenUp(record settings.Undone) *unstructured.Unstructured {
	config, written := c.config.DeepCopy(), c.state().Written
	written.Undone = record
	annotations := map[string]string{}
	maps.Copy(annotations, config.GetAnnotations())
	annotations[addonv1alpha1.SettingsAnnotation] = written.String()
	config.SetAnnotations(annotations)
	if !c.owned() {
		config.SetOwnerReferences(append(config.GetOwnerReferences(), c.owner()))
	}
	return config
}

func madeByInterlock(config *unstructured.Unstructured) bool {
	return config.GetLabels()[names.ManagedBy] == names.AddonManager
}

// awaited reports whether OCM waits for the object: the add-on refers to it, and it does not exist.
func (c *managedConfig) awaited() bool {
	return c != nil && c.config == nil && slices.Contains(referenced(c.addOn),
		types.NamespacedName{Namespace: c.addOn.Namespace, Name: fleet.SettingsConfigName(c.addOn.Name)})
}

// refusal describes the error of a write if the API server refused it: because of permissions, a quota, an admission rule, a webhook that
// fails, or a missing namespace. It is zero for any other error.
func refusal(config *managedConfig, err error) problem {
	var response apierrors.APIStatus
	if !errors.As(err, &response) {
		return problem{}
	}
	missing := apierrors.IsNotFound(err) && config.config == nil // a stored one was deleted since it was read
	if !missing && !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) && !apierrors.IsInternalError(err) {
		return problem{}
	}
	stays := ""
	if config.config != nil {
		stays = ". What is set stays as it is until then"
	}
	return problem{settings.Refused, fmt.Sprintf("the hub refuses to store its settings%s: %s", stays, response.Status().Message)}
}

// referenced returns the AddOnDeploymentConfigs that an add-on itself refers to.
func referenced(addOn *addonv1alpha1.ManagedClusterAddOn) []types.NamespacedName {
	var configs []types.NamespacedName
	for _, reference := range addOn.Spec.Configs {
		if reference.Group == addonv1alpha1.GroupVersion.Group && reference.Resource == fleet.ResourceConfig {
			configs = append(configs, types.NamespacedName{Namespace: reference.Namespace, Name: reference.Name})
		}
	}
	return configs
}

// Configs returns the configs that a new add-on of Interlock refers to: the AddOnDeploymentConfig that this controller
// keeps. There is none if no declared edge requests settings for the add-on, or if it supports none. The catalog must be
// the current one, because a dependent may be newer than the catalog with which its installation began.
func Configs(
	ctx context.Context, live client.Reader, catalog *evaluation.Evaluator, addOn types.NamespacedName,
) ([]ocmv1alpha1.AddOnConfig, error) {
	if catalog == nil || !catalog.IsSet(addOn.Name) {
		return nil, nil
	}
	registered := &addonv1alpha1.ClusterManagementAddOn{}
	if err := live.Get(ctx, types.NamespacedName{Name: addOn.Name}, registered); err != nil {
		return nil, fmt.Errorf("read ClusterManagementAddOn %s: %w", addOn.Name, err)
	}
	if !fleet.TakesConfigs(registered) {
		return nil, nil
	}
	return []ocmv1alpha1.AddOnConfig{fleet.SettingsReference(addOn)}, nil
}
