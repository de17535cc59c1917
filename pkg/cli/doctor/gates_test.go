package doctor

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestGates(t *testing.T) {
	const configuration, leader = "MutatingWebhookConfiguration interlock-lifecycle", "Lease interlock-addon-manager"
	enable := func(o objects) {
		o[configuration] = `webhooks: [{clientConfig: {caBundle: YQ==}}]`
		o["MutatingAdmissionPolicy interlock-gate"] = ruleFile("policy.yaml")
		o["MutatingAdmissionPolicyBinding interlock-gate"] = ruleFile("binding.yaml")
		o[leader] += "\nmetadata: {annotations: {interlock.open-cluster-management.io/lifecycle: pod-1}}"
	}
	addGated := func(c *snapshot.Content, decision gate.Decision) {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "a"}}
		addOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
		installable, _ := gate.Condition(nil, decision, metav1.NewTime(fixture.Now.Add(-time.Hour)))
		addOn.Status.Conditions = []metav1.Condition{installable}
		if decision == gate.Begun {
			addOn.Status.Conditions = append(addOn.Status.Conditions, metav1.Condition{Type: "RegistrationApplied", Status: metav1.ConditionTrue})
		}
		c.AddOns = append(c.AddOns, addOn)
	}
	addWaitingForDependents := func(c *snapshot.Content, age time.Duration) {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
			Namespace: "cluster1", Name: "a", Finalizers: []string{addonv1alpha1.WaitForDependentsFinalizer},
		}}
		if age > 0 {
			addOn.DeletionTimestamp = &metav1.Time{Time: fixture.Now.Add(-age)}
		}
		c.AddOns = append(c.AddOns, addOn)
	}
	waiting := gate.Decision{Step: gate.Wait, Reason: gate.ReasonWaiting}
	runCases(t, "gates", map[string]testCase{
		"a policy": {
			func(o objects, _ *snapshot.Content) { enable(o) },
			[]string{"✔ The gate rule is installed, as a MutatingAdmissionPolicy, and no add-on contradicts it"},
		},
		"no rule": {
			func(o objects, _ *snapshot.Content) { enable(o); delete(o, "MutatingAdmissionPolicy interlock-gate") },
			[]string{"✖ The lifecycle is on, and no gate rule is installed: closed gates hold nothing → docs/ordering.md"},
		},
		"a leader without the lifecycle": {
			func(o objects, _ *snapshot.Content) { enable(o); o[leader] = lease("2026-08-01T10:04:55.123456Z") },
			[]string{
				"✔ The gate rule",
				"✖ The leader of addon-manager does not run with --lifecycle: no gate is closed, and no add-on is removed in order → docs/ordering.md",
			},
		},
		"no leader": {
			func(o objects, _ *snapshot.Content) { enable(o); o[leader] = lease("2026-08-01T10:00:00.000000Z") }, []string{"✔ The gate rule"},
		},
		"no lease": {func(o objects, _ *snapshot.Content) { enable(o); delete(o, leader) }, []string{"✔ The gate rule"}},
		"no CA": {
			func(o objects, _ *snapshot.Content) { enable(o); o[configuration] = `webhooks: [{clientConfig: {}}]` },
			[]string{"✖ The API server does not trust the webhook to close gates"},
		},
		"not readable": {
			func(o objects, _ *snapshot.Content) { o[configuration] = "error: forbidden" },
			[]string{"? Whether the lifecycle is on cannot be read"},
		},
		"begun behind a gate": {
			func(o objects, c *snapshot.Content) { enable(o); addGated(c, gate.Begun) },
			[]string{
				"✖ The gate rule is installed",
				"does not act on it: add-ons that OCM began to install behind their gates: 1, such as a on cluster1",
			},
		},
		"a long wait": {
			func(o objects, c *snapshot.Content) { enable(o); addGated(c, waiting) },
			[]string{
				"✔ The gate rule",
				"- Add-ons that have waited for their dependencies for more than 15 minutes: 1, such as a on cluster1 → kubectl addon why",
			},
		},
		"off, and closed gates": {
			func(_ objects, c *snapshot.Content) { addGated(c, waiting) },
			[]string{"- The lifecycle is off, and gates are closed, which hold nothing: 1, such as a on cluster1"},
		},
		"deleted long ago": {
			func(o objects, c *snapshot.Content) { enable(o); addWaitingForDependents(c, time.Hour) },
			[]string{
				"✔ The gate rule",
				"✖ Add-ons that are being deleted wait for addon-manager to remove its finalizer, for more than 10 minutes: 1, such as a on cluster1",
			},
		},
		"deleted just now": {
			func(o objects, c *snapshot.Content) { enable(o); addWaitingForDependents(c, time.Minute) }, []string{"✔ The gate rule"},
		},
		"off, and finalizers are left": {
			func(_ objects, c *snapshot.Content) { addWaitingForDependents(c, 0) },
			[]string{"✖ The lifecycle is off, and add-ons have a finalizer that no component removes", "1, such as a on cluster1"},
		},
		"off, and declared": {
			func(_ objects, c *snapshot.Content) { c.Registrations[0].Spec.Ordering = addonv1alpha1.OrderingInstall },
			[]string{"- The lifecycle is off, so ordering has no effect. Add-ons that declare it: 1, such as b"},
		},
		"off, and bundles": {
			func(_ objects, c *snapshot.Content) {
				metav1.SetMetaDataAnnotation(&c.Registrations[0].ObjectMeta, addonv1alpha1.BundleAnnotation, "true")
			},
			[]string{"- The lifecycle is off, so no component writes Available of bundles: 1, such as b"},
		},
	})
	if got := resultsOf(diagnoseChanged(t, nil), "gates"); got != "" {
		t.Errorf("where nothing is ordered: %s", got)
	}
}

func ruleFile(file string) string {
	content, err := gateRule.files.ReadFile("gate/" + file)
	if err != nil {
		panic(err)
	}
	return string(content)
}
