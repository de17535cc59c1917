package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// The verbs that show an add-on also show that it is not installed yet, because its gate is closed.
func TestAClosedGateIsShown(t *testing.T) {
	gated := hub()
	for i := range gated.AddOns {
		if one := &gated.AddOns[i]; one.Name == "cluster-gateway" && one.Namespace == "cluster01" {
			metav1.SetMetaDataAnnotation(&one.ObjectMeta, addonv1alpha1.GateAnnotation, addonv1alpha1.GateClosed)
		}
	}
	for i := range gated.Registrations {
		if one := &gated.Registrations[i]; one.Name == "cluster-gateway" {
			one.Spec.Ordering = addonv1alpha1.OrderingInstall
		}
	}
	fleet := file(t, gated)
	for command, want := range map[string]string{
		"tree cluster-gateway -n cluster01":                "cluster-gateway (gate closed)",
		"tree cluster-gateway -n cluster01 -o json":        `"gate": "closed"`,
		"status cluster-gateway -n cluster01":              "Not installed yet, because its gate is closed.",
		"status cluster-gateway -n cluster01 -o json":      `"gate": "closed"`,
		"why cluster-gateway -n cluster01":                 "cluster-gateway on cluster01, not installed yet: its gate is closed",
		"describe cluster-gateway":                         "Its first installation on a managed cluster waits for what it needs there",
		"describe cluster-gateway -o jsonpath={.ordering}": "Install",
	} {
		got := run(t, append(strings.Fields(command), "--from", fleet)...)
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
		elsewhere := run(t, append(strings.Fields(strings.Replace(command, "cluster01", "cluster02", 1)), "--from", fleet)...)
		if strings.Contains(command, "cluster01") && strings.Contains(elsewhere, "gate is closed") {
			t.Errorf("%s shows a gate of another cluster:\n%s", command, elsewhere)
		}
	}
}

// The verbs also show bundles, and an AddOnTemplate that waits.
func TestBundlesAndUpgradesAreShown(t *testing.T) {
	changed := hub()
	for i := range changed.Registrations {
		if one := &changed.Registrations[i]; one.Name == "cluster-gateway" {
			one.Spec.Ordering = addonv1alpha1.OrderingInstallAndUpgrade
			metav1.SetMetaDataAnnotation(&one.ObjectMeta, addonv1alpha1.BundleAnnotation, "true")
		}
	}
	for i := range changed.AddOns {
		if one := &changed.AddOns[i]; one.Name == "cluster-gateway" && one.Namespace == "cluster01" {
			one.Status.Conditions = append(one.Status.Conditions, metav1.Condition{
				Type:    "Upgradable",
				Status:  metav1.ConditionFalse,
				Reason:  "WaitingForDependencies",
				Message: "AddOnTemplate 'gateway-2' waits: Required addon 'x'.",
			})
		}
	}
	fleet := file(t, changed)
	for command, want := range map[string]string{
		"describe cluster-gateway":                         "It is a bundle: it has no agent",
		"describe cluster-gateway -o jsonpath={.bundle}":   "true",
		"describe cluster-gateway -o jsonpath={.ordering}": "InstallAndUpgrade",
		"describe cluster-gateway ":                        "So does another AddOnTemplate, for what it needs itself.",
		"tree cluster-gateway -n cluster01":                "cluster-gateway (bundle)",
		"tree cluster-gateway -n cluster01 -o json":        `"bundle": true`,
		"status cluster-gateway -n cluster01":              "AddOnTemplate 'gateway-2' waits",
	} {
		if got := run(t, append(strings.Fields(command), "--from", fleet)...); !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
	}
}
