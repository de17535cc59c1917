// Package guard holds one rule for all writers: an add-on whose Required
// dependency fails is not Available. The rule exists as a
// MutatingAdmissionPolicy, and as a webhook with the function Mutate. Both
// rewrite a status before it is stored.
//
// What ends it: OCM releases whose writers of Available (the registration agent,
// the hub's registration controller and addon-framework's health prober) follow
// the rule of the add-on dependency proposal. The package can be deleted once no
// supported klusterlet or add-on lacks the rule. Nothing else in Interlock
// depends on it: addon-agent keeps the rule alone, with moments of True between.
package guard

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
	"open-cluster-management.io/interlock/pkg/names"
)

// Name is the name of each of the guard's objects.
const Name = names.Guard

// Group is the API group of the guard's objects.
const Group = admissionregistrationv1.GroupName

// The kinds of the guard's objects: a policy and its binding, or a webhook.
const (
	KindPolicy  = "MutatingAdmissionPolicy"
	KindBinding = "MutatingAdmissionPolicyBinding"
	KindWebhook = "MutatingWebhookConfiguration"
)

// The messages of Degraded in dry runs that probe whether the guard is in force.
// Each form ignores a probe of the other one.
const (
	ProbePolicy  = "Dry run: is the guard in force as a policy?"
	ProbeWebhook = "Dry run: is the guard in force as a webhook?"
)

// Policy returns the policy and its binding in the given version of their API.
// Their schema is the same in all versions.
func Policy(version string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, file := range []string{"policy.yaml", "binding.yaml"} {
		object, err := load(file)
		if err != nil {
			return nil, err
		}
		object.SetAPIVersion(schema.GroupVersion{Group: Group, Version: version}.String())
		objects = append(objects, object)
	}
	return objects, nil
}

// Webhook returns the guard as a webhook that is served as given.
func Webhook(served admissionregistrationv1.WebhookClientConfig) (*unstructured.Unstructured, error) {
	configuration, err := load("webhook.yaml")
	if err != nil {
		return nil, err
	}
	clientConfig, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&served)
	if err != nil {
		return nil, fmt.Errorf("client configuration of the webhook: %w", err)
	}
	for _, webhook := range configuration.Object["webhooks"].([]any) { // one, which ships with the program
		webhook.(map[string]any)["clientConfig"] = clientConfig
	}
	return configuration, nil
}

func load(file string) (*unstructured.Unstructured, error) {
	path := "guard/" + file
	content, err := manifests.Guard.ReadFile(path)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(content, &object.Object); err != nil {
		return nil, fmt.Errorf("manifests/%s: %w", path, err)
	}
	return object, nil
}
