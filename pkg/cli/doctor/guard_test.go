package doctor

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestGuard(t *testing.T) {
	const policy, binding = "MutatingAdmissionPolicy interlock-required-dependency",
		"MutatingAdmissionPolicyBinding interlock-required-dependency"
	const webhook = "MutatingWebhookConfiguration interlock-required-dependency"
	asWebhook := func(ca string) string {
		return strings.Replace(manifest("guard/webhook.yaml"), "    sideEffects: None",
			"    sideEffects: None\n    clientConfig: {caBundle: "+ca+"}", 1)
	}
	addContradiction := func(age time.Duration) func(objects, *snapshot.Content) {
		return func(_ objects, c *snapshot.Content) {
			transition := metav1.NewTime(fixture.Now.Add(-age))
			addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "a"}}
			addOn.Status.Conditions = []metav1.Condition{
				{Type: "Available", Status: "True", LastTransitionTime: transition},
				{Type: "Degraded", Status: "True", Reason: "RequiredDependencyNotSatisfied", LastTransitionTime: transition},
			}
			c.AddOns = append(c.AddOns, addOn)
		}
	}
	runCases(t, "guard", map[string]testCase{
		"a policy": {nil, []string{"✔ The guard is installed, as a MutatingAdmissionPolicy, and no add-on contradicts it"}},
		"no binding": {func(o objects, _ *snapshot.Content) { delete(o, binding) }, []string{
			"✖ The guard is installed, as a MutatingAdmissionPolicy, and not in force: its MutatingAdmissionPolicyBinding is missing",
			"→ kubectl -n interlock-system logs",
		}},
		"a binding to another policy": {
			func(o objects, _ *snapshot.Content) { o[binding] = "spec: {policyName: other}" },
			[]string{"✖", "changed at spec.policyName"},
		},
		"a policy that was changed": {func(o objects, _ *snapshot.Content) {
			o[policy] = strings.Replace(o[policy], "failurePolicy: Ignore", "failurePolicy: Fail", 1)
		}, []string{"✖", "was changed at spec.failurePolicy. addon-manager restores it"}},
		"a policy of another version": {func(o objects, _ *snapshot.Content) {
			o[policy] = strings.Replace(o[policy], "failurePolicy: Ignore", "failurePolicy: Fail", 1)
			o["Deployment interlock-addon-manager"] = strings.Replace(runningDeployment, "0.1.0", "0.2.0", 1)
		}, []string{"- The guard is installed", "It is not the one of this plugin's version"}},
		"a policy that the API server ignores": {
			addContradiction(time.Hour),
			[]string{"✖", "the API server does not act on it: add-ons that are available", "a Required dependency fails: 1, such as a on cluster1"},
		},
		"a condition that addon-manager corrects yet": {addContradiction(time.Minute), []string{"✔"}},
		"a webhook": {
			func(o objects, _ *snapshot.Content) { delete(o, policy); o[webhook] = asWebhook("YQ==") },
			[]string{"✔ The guard is installed, as a MutatingWebhookConfiguration"},
		},
		"a webhook without CA": {
			func(o objects, _ *snapshot.Content) { delete(o, policy); o[webhook] = asWebhook(`""`) },
			[]string{"✖", "its configuration has no CA"},
		},
		"none": {func(o objects, _ *snapshot.Content) { delete(o, policy) }, []string{"- No guard is installed", "→ helm upgrade"}},
	})
}
