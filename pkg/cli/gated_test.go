package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestClosedGateIsShown tests that the verbs that show an add-on also show its closed gate.
func TestClosedGateIsShown(t *testing.T) {
	gated := hub()
	for i := range gated.AddOns {
		if one := gated.AddOns[i]; one.Name == "cluster-gateway" && one.Namespace == "cluster01" {
			metav1.SetMetaDataAnnotation(&one.ObjectMeta, addonv1alpha1.GateAnnotation, addonv1alpha1.GateClosed)
			one.Status.Conditions = append(one.Status.Conditions, metav1.Condition{
				Type: "Installable", Status: metav1.ConditionFalse, Reason: "WaitingForDependencies", Message: "Required addon 'x'.",
				LastTransitionTime: metav1.NewTime(fixture.Now.Add(-3 * time.Hour)),
			})
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
		"status cluster-gateway -n cluster01":              "cluster-gateway Installation - - 3h 1: cluster01 Required addon 'x'.",
		"status cluster-gateway -n cluster01 -o json":      `"waits": { "kind": "Installation", "since":`,
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

// TestGatesOfTemplates tests an add-on behind a closed gate that is deployed from an AddOnTemplate. The verbs show the dependencies that
// the template declares, and without a failing dependency the message of addon-manager. Unknown dependencies have no row without a name.
func TestGatesOfTemplates(t *testing.T) {
	waits := metav1.Condition{
		Type: "Installable", Status: metav1.ConditionFalse, Reason: "WaitingForDependencies", Message: "AddOnTemplate 'u-3' does not exist.",
	}
	registered := metav1.Condition{Type: "RegistrationApplied", Status: metav1.ConditionTrue, Reason: "Applied"}
	reported := metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: "Down"}
	for name, test := range map[string]struct {
		template      string
		conditions    []metav1.Condition
		command       string
		parts, absent []string
	}{
		"why": {
			"u-1", nil, "why u -n c1",
			[]string{"u on c1, not installed yet: its gate is closed", "└── x Required NotInstalled ← root cause"},
			[]string{"No root cause"},
		},
		"why, of the fleet": {"u-1", nil, "why u", []string{"1. x is not installed"}, []string{"No root cause"}},
		"tree":              {"u-1", nil, "tree u", []string{"u (gate closed)", "└── x Required NotInstalled"}, []string{"Held"}},
		"nothing fails": {
			"u-3",
			[]metav1.Condition{waits},
			"why u -n c1",
			[]string{
				"No root cause of u is known on c1.",
				"1 add-on is not installed yet, because the gate is closed, such as u on c1: AddOnTemplate 'u-3' does not exist.",
			},
			[]string{"No Required dependency"},
		},
		"without a message": {
			"u-3", []metav1.Condition{reported}, "why", []string{"because the gate is closed, such as u on c1"}, []string{"u on c1:", "although no"},
		},
		"as data": {
			"u-3", []metav1.Condition{waits}, "why -o jsonpath={.gated[0].reason}", []string{"AddOnTemplate 'u-3' does not exist."}, nil,
		},
		"another template is rolled out": {
			"u-1",
			[]metav1.Condition{registered, reported},
			"tree u",
			[]string{"u (dependencies not known) - - False"},
			[]string{"gate", "└──", "all is well"},
		},
		"the same in a report": {
			"u-1", []metav1.Condition{registered, reported}, "report -n c1 --all", []string{"c1 u (not known) Required Held"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			content := small("u, x", "")
			content.Registrations[0] = fixture.Deployed(content.Registrations[0])
			content.Registrations[0].Spec.Ordering = addonv1alpha1.OrderingInstall
			content.Templates = []addonv1alpha1.AddOnTemplate{fixture.Template("u", "u-1", "[{name: x}]")}
			addOn := addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: "u"}}
			metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, addonv1alpha1.GateAnnotation, addonv1alpha1.GateClosed)
			addOn.Status.Conditions = test.conditions
			content.AddOns = append(content.AddOns, fleet.WithRollout(&addOn, test.template))
			got := strings.Join(strings.Fields(run(t, append(strings.Fields(test.command), "--from", file(t, content))...)), " ")
			for _, part := range test.parts {
				if !strings.Contains(got, part) {
					t.Errorf("no %q in\n%s", part, got)
				}
			}
			for _, absent := range test.absent {
				if strings.Contains(got, absent) {
					t.Errorf("%q in\n%s", absent, got)
				}
			}
		})
	}
}

// TestClosedGateIsInItsOwnTree tests that clusters with and without a closed gate share no tree.
func TestClosedGateIsInItsOwnTree(t *testing.T) {
	content := small("a", "")
	content.Clusters = append(content.Clusters, managedCluster("c2", true, true))
	for _, cluster := range []string{"c1", "c2"} {
		content.AddOns = append(content.AddOns, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "a"}})
	}
	metav1.SetMetaDataAnnotation(&content.AddOns[1].ObjectMeta, addonv1alpha1.GateAnnotation, addonv1alpha1.GateClosed)
	got := run(t, "tree", "a", "--from", file(t, content))
	if !strings.Contains(got, "c1:\n") || !strings.Contains(got, "c2:\n") || strings.Count(got, "gate closed") != 1 {
		t.Errorf("got\n%s", got)
	}
}

// withWaitingTemplate returns the fleet where the AddOnTemplate gateway-2 of cluster-gateway waits for x on some clusters.
func withWaitingTemplate(clusters ...string) snapshot.Content {
	changed := hub()
	for i := range changed.Registrations {
		if addOn := &changed.Registrations[i]; addOn.Name == "cluster-gateway" {
			addOn.Spec.Ordering = addonv1alpha1.OrderingInstallAndUpgrade
			*addOn = fixture.Deployed(*addOn)
		}
	}
	changed.Templates = []addonv1alpha1.AddOnTemplate{
		fixture.Template("cluster-gateway", "gateway-1", "[]"), fixture.Template("cluster-gateway", "gateway-2", "[{name: x}]"),
	}
	for i, version := range []string{"1.0.0", "2.0.0"} {
		metav1.SetMetaDataAnnotation(&changed.Templates[i].ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, version)
	}
	for i := range changed.AddOns {
		addOn := changed.AddOns[i]
		if addOn.Name != "cluster-gateway" || !slices.Contains(clusters, addOn.Namespace) {
			continue
		}
		*addOn = fixture.Holds("gateway-2", *fleet.WithTemplate(addOn, "gateway-1"))
		addOn.Status.Conditions = append(addOn.Status.Conditions, metav1.Condition{
			Type:               "Upgradable",
			Status:             metav1.ConditionFalse,
			Reason:             "WaitingForDependencies",
			Message:            "AddOnTemplate 'gateway-2' (version 2.0.0) waits: Required addon 'x'.",
			LastTransitionTime: metav1.NewTime(fixture.Now.Add(-72 * time.Hour)),
		})
	}
	return changed
}

// TestBundlesAndUpgradesAreShown tests that the verbs show bundles and ordered upgrades.
func TestBundlesAndUpgradesAreShown(t *testing.T) {
	changed := hub()
	for i := range changed.Registrations {
		if addOn := &changed.Registrations[i]; addOn.Name == "cluster-gateway" {
			addOn.Spec.Ordering = addonv1alpha1.OrderingInstallAndUpgrade
			metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, addonv1alpha1.BundleAnnotation, "true")
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
	} {
		if got := run(t, append(strings.Fields(command), "--from", fleet)...); !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
	}
}

// TestWaitsAreListed tests that waits have rows of their own, because they are no failures.
func TestWaitsAreListed(t *testing.T) {
	fleet := file(t, withWaitingTemplate("cluster01", "cluster31", "cluster32", "cluster33", "cluster34"))
	const message = "AddOnTemplate 'gateway-2' (version 2.0.0) waits: Required addon 'x'."
	const title = "Installations and upgrades that wait for dependencies: ADD-ON KIND RUNS WAITING SINCE CLUSTERS WAITS FOR "
	for command, want := range map[string][]string{
		"status -A --failing": {
			title + "cluster-gateway Upgrade gateway-1 gateway-2 3d 5: cluster01, cluster31, cluster32, … " + message,
		},
		"status -n cluster31 --failing": {
			"None of 4 add-ons is failing.", title + "cluster-gateway Upgrade gateway-1 gateway-2 3d 1: cluster31 " + message,
		},
		"status -n cluster31 --failing -o name":                          {"open-cluster-management.io/cluster-gateway"},
		"status -n cluster31 --failing -o jsonpath={[*].waits.template}": {"gateway-2"},
		"status -n cluster31 --failing -o jsonpath={[*].available}":      {"True"},
		"status -n cluster31 --failing -o jsonpath={[*].waits.message}":  {message},
		"status -n cluster31 -o jsonpath={[*].message}":                  {""},
		"status -n cluster32 --reason WaitingForDependencies":            {"None of 4 add-ons is of reason", title + "cluster-gateway Upgrade"},
		"status -n cluster32 --reason Other":                             {"None of 4 add-ons is of reason Other"},
		"status -n cluster35 --failing":                                  {"None of 4 add-ons is failing."},
		"status --summary": {
			"cluster-gateway Upgrade gateway-2 (2.0.0) 3d 5: cluster01, cluster31, cluster32, … x (5)",
		},
		"status --summary managed-serviceaccount":                         {""},
		"status --summary -o jsonpath={.waiting[0].dependencies}":         {`{"x":5}`},
		"status --summary -n cluster31 -o jsonpath={.waiting[*].version}": {"2.0.0"},
		"report -n cluster31": {
			"No dependency is known to be unsatisfied.",
			"CLUSTER ADD-ON KIND RUNS WAITING SINCE WAITS FOR " +
				"cluster31 cluster-gateway Upgrade gateway-1 (1.0.0) gateway-2 (2.0.0) 3d x: NotInstalled",
		},
		"report -n cluster31 -o jsonpath={.items[*].summary.waiting}": {"1"},
	} {
		t.Run(command, func(t *testing.T) {
			got := strings.Join(strings.Fields(run(t, append(strings.Fields(command), "--from", fleet)...)), " ")
			for _, line := range want {
				if !strings.Contains(got, line) {
					t.Errorf("no %q in\n%s", line, got)
				}
			}
			if strings.HasSuffix(command, "Other") || strings.Contains(command, "cluster35") || strings.HasSuffix(command, "serviceaccount") {
				if strings.Contains(got, "gateway-2") {
					t.Errorf("a wait that is not to be listed:\n%s", got)
				}
			}
		})
	}
}
