// Package rule is the common part of Interlock's admission rules. A rule rewrites the status of a ManagedClusterAddOn before it
// is stored. It exists as a MutatingAdmissionPolicy, and as a webhook that does the same.
package rule

import (
	"embed"
	"fmt"
	"slices"

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
	// Title is the name of the rule in logs. Controller is its name in names of controllers and field managers.
	Title, Controller string
	// Name is the name of all its objects.
	Name string
	// Files has policy.yaml, binding.yaml and webhook.yaml in a folder.
	Files  embed.FS
	Folder string
	// Path is the path at which `addon-manager webhook` serves the rule.
	Path string
	// Probed has the conditions of a probe, the dry run of a write. The rule must change them.
	Probed []metav1.Condition
	// Changed reports whether the rule has changed the conditions of a probe.
	Changed func(stored []metav1.Condition) bool
	// Warning is the log message while the rule is not in force. It describes the consequence.
	Warning string
}

// Form is how a rule is installed.
type Form string

// The forms of a rule.
const (
	FormPolicy  Form = "Policy"
	FormWebhook Form = "Webhook"
)

// TypeProbe is the type of a condition that makes the dry run of a write a probe. A probe shows whether a rule is in force. Its reason
// is the form to probe: each form ignores probes of the other form.
const TypeProbe = "InterlockProbe"

// Probe returns the conditions of a dry run that probes a form of the rule.
func (r *Rule) Probe(form Form, since metav1.Time) []metav1.Condition {
	conditions := append(slices.Clone(r.Probed), metav1.Condition{Type: TypeProbe, Status: metav1.ConditionTrue, Reason: string(form)})
	for i := range conditions {
		conditions[i].Message, conditions[i].LastTransitionTime = "Dry run: is Interlock's rule in force?", since
	}
	return conditions
}

// Policy returns the policy and its binding in a version of their API.
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

// Webhook returns the rule as a webhook with a client configuration.
func (r *Rule) Webhook(config admissionregistrationv1.WebhookClientConfig) (*unstructured.Unstructured, error) {
	configuration, err := r.load("webhook.yaml")
	if err != nil {
		return nil, err
	}
	clientConfig, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&config)
	if err != nil {
		return nil, fmt.Errorf("client configuration of the webhook: %w", err)
	}
	for _, webhook := range configuration.Object["webhooks"].([]any) { // webhook.yaml has a single webhook
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
