package cli

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// TestWaiversAreShown tests that the verbs show a waiver with its policy, its reason and its end.
func TestWaiversAreShown(t *testing.T) {
	waived := hub()
	policy := dependencyv1alpha1.AddOnDependencyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "tokens"}}
	policy.Spec.Overrides = []dependencyv1alpha1.DependencyOverride{{
		AddOn: "cluster-gateway", Dependency: "managed-serviceaccount",
		Waive: &dependencyv1alpha1.DependencyWaiver{Reason: "tokens are copied", Until: metav1.NewTime(waived.Taken.Add(time.Hour))},
	}}
	waived.Policies = append(waived.Policies, policy)
	fleet := file(t, waived)
	const because = "waived until 2026-08-01T11:05:00Z by AddOnDependencyPolicy 'tokens': tokens are copied"
	for command, want := range map[string]string{
		"tree cluster-gateway -n cluster01":        because,
		"report -n cluster01 -o json":              because,
		"status --summary cluster-gateway -o yaml": "Waived: 49",
		"snapshot -":                             "tokens are copied",
		"impact --remove managed-serviceaccount": "multicluster-kueue-manager",
		"report -n cluster01 --all -o yaml":      "verdict: Waived",
	} {
		got := run(t, append(strings.Fields(command), "--from", fleet)...)
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
		if strings.HasPrefix(command, "impact") && strings.Contains(got, "cluster-gateway") {
			t.Errorf("a waived dependency breaks:\n%s", got)
		}
	}
}
