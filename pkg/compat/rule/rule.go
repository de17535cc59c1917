// Package rule has what the admission rules of Interlock share that rewrite the status of a ManagedClusterAddOn before it
// is stored. Such a rule exists as a MutatingAdmissionPolicy, and as a webhook that does the same.
package rule

import (
	"embed"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Group is the API group of the objects of a rule.
const Group = admissionregistrationv1.GroupName

// The kinds of the objects of a rule: a policy and its binding, or a webhook.
const (
	KindPolicy  = "MutatingAdmissionPolicy"
	KindBinding = "MutatingAdmissionPolicyBinding"
	KindWebhook = "MutatingWebhookConfiguration"
)

// Rule is an admission rule in two forms.
type Rule struct {
	// Title is what it is called in logs, and Controller in names of controllers and field managers.
	Title, Controller string
	// Name is that of each of its objects.
	Name string
	// Files has policy.yaml, binding.yaml and webhook.yaml in a folder.
	Files  embed.FS
	Folder string
	// Path is where `addon-manager webhook` serves it.
	Path string
	// ProbePolicy and ProbeWebhook are the messages in dry runs that probe whether it is in force. Each form ignores a
	// probe of the other one.
	ProbePolicy, ProbeWebhook string
	// Probe returns the conditions of a status that the rule must change, with that message.
	Probe func(message string, at metav1.Time) []metav1.Condition
	// Changed reports whether the rule has changed them.
	Changed func(stored []metav1.Condition) bool
	// Without says what happens while the rule is not in force.
	Without string
}

// Policy returns the policy and its binding in the given version of their API.
// Their schema is the same in all versions.
func (r *Rule) Policy(version string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, file := range []string{"policy.yaml", "binding.yaml"} {
		object, err := r.load(file)
		if err != nil {
			return nil, err
		}
		object.SetAPIVersion(schema.GroupVersion{Group: Group, Version: version}.String())
		objects = append(objects, object)
	}
	return objects, nil
}

// Webhook returns the rule as a webhook that is served as given.
func (r *Rule) Webhook(served admissionregistrationv1.WebhookClientConfig) (*unstructured.Unstructured, error) {
	configuration, err := r.load("webhook.yaml")
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

func (r *Rule) load(file string) (*unstructured.Unstructured, error) {
	path := r.Folder + "/" + file
	content, err := r.Files.ReadFile(path)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(content, &object.Object); err != nil {
		return nil, fmt.Errorf("manifests/%s: %w", path, err)
	}
	return object, nil
}
