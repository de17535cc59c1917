package guardpolicy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/names"
)

// SameRule fails the test unless both forms of a rule have the same rule, name and label, and are served in all versions.
func SameRule(t *testing.T, r *rule.Rule) {
	t.Helper()
	policies, err := r.Policy("v1beta1")
	if err != nil {
		t.Fatal(err)
	}
	var policy admissionregistrationv1beta1.MutatingAdmissionPolicy
	var binding admissionregistrationv1beta1.MutatingAdmissionPolicyBinding
	decode(t, policies[0].Object, &policy)
	decode(t, policies[1].Object, &binding)
	place := admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:9443/x"), CABundle: []byte("bundle")}
	object, err := r.Webhook(place)
	if err != nil {
		t.Fatal(err)
	}
	var configuration admissionregistrationv1.MutatingWebhookConfiguration
	decode(t, object.Object, &configuration)

	if policy.Name != r.Name || binding.Name != r.Name || binding.Spec.PolicyName != r.Name || configuration.Name != r.Name {
		t.Errorf("names: %s, %s of %s, %s", policy.Name, binding.Name, binding.Spec.PolicyName, configuration.Name)
	}
	for _, labels := range []map[string]string{policy.Labels, binding.Labels, configuration.Labels} {
		if labels[names.ManagedBy] != names.AddonManager {
			t.Errorf("labels %v", labels)
		}
	}
	webhook := configuration.Webhooks[0]
	want := expectedWebhook(webhook.Name, place)
	rules := []admissionregistrationv1beta1.NamedRuleWithOperations{{RuleWithOperations: webhook.Rules[0]}}
	if diff := cmp.Diff(rules, policy.Spec.MatchConstraints.ResourceRules); diff != "" {
		t.Error(diff)
	}
	for _, condition := range policy.Spec.MatchConditions {
		// Each form ignores the probe of the other form.
		condition.Expression = strings.Replace(condition.Expression, probes(rule.FormWebhook), probes(rule.FormPolicy), 1)
		want.MatchConditions = append(want.MatchConditions, admissionregistrationv1.MatchCondition(condition))
	}
	if last := policy.Spec.MatchConditions[len(policy.Spec.MatchConditions)-1]; !strings.HasPrefix(
		last.Expression,
		"!(has(request.dryRun) && request.dryRun && ",
	) ||
		!strings.HasSuffix(last.Expression, probes(rule.FormWebhook)) {
		t.Errorf("last match condition of the policy: %s", last.Expression)
	}
	if diff := cmp.Diff(want, webhook); diff != "" {
		t.Error(diff)
	}
	if len(want.MatchConditions) == 0 || *policy.Spec.FailurePolicy != admissionregistrationv1beta1.Ignore {
		t.Errorf("policy %+v", policy.Spec)
	}
	expectServedVersions(t, r)
}

// probes returns the end of a match condition that ignores the probes of a form.
func probes(form rule.Form) string {
	return "object.status.conditions.exists(c, c.type == '" + rule.TypeProbe + "' && c.reason == '" + string(form) + "'))"
}

// expectedWebhook returns a webhook on the status of add-ons that fails open, without match conditions.
func expectedWebhook(name string, place admissionregistrationv1.WebhookClientConfig) admissionregistrationv1.MutatingWebhook {
	return admissionregistrationv1.MutatingWebhook{
		Name: name, ClientConfig: place,
		FailurePolicy:           ptr.To(admissionregistrationv1.Ignore),
		MatchPolicy:             ptr.To(admissionregistrationv1.Equivalent),
		SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
		TimeoutSeconds:          ptr.To[int32](1),
		AdmissionReviewVersions: []string{"v1"},
		ReinvocationPolicy:      ptr.To(admissionregistrationv1.IfNeededReinvocationPolicy),
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{"addon.open-cluster-management.io"}, APIVersions: []string{"*"},
				Resources: []string{"managedclusteraddons/status"}, Scope: ptr.To(admissionregistrationv1.NamespacedScope),
			},
		}},
	}
}

func expectServedVersions(t *testing.T, r *rule.Rule) {
	t.Helper()
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		objects, err := r.Policy(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if got := object.GetAPIVersion(); got != rule.Group+"/"+version {
				t.Errorf("%s has version %s, want %s", object.GetKind(), got, version)
			}
		}
	}
}

func decode(t *testing.T, object map[string]any, target any) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, target, true); err != nil {
		t.Fatal(err)
	}
}
