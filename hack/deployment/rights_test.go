package deployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rightsOf returns the rights that the objects of a release give to a service account, each
// as "verb resource name".
func rightsOf(release objects, account string) []string {
	var rights []string
	for _, binding := range release {
		reference, isBinding := binding["roleRef"].(object)
		if !isBinding || !bindsTo(binding, account) {
			continue
		}
		for _, role := range release {
			if role["kind"] == reference["kind"] && role["metadata"].(object)["name"] == reference["name"] {
				rights = append(rights, expand(role["rules"].([]any))...)
			}
		}
	}
	slices.Sort(rights)
	return rights
}

func bindsTo(binding object, account string) bool {
	return slices.ContainsFunc(binding["subjects"].([]any), func(subject any) bool { return subject.(object)["name"] == account })
}

func expand(rules []any) []string {
	var rights []string
	for _, rule := range rules {
		names, _ := rule.(object)["resourceNames"].([]any)
		if len(names) == 0 {
			names = []any{"*"}
		}
		for _, resource := range rule.(object)["resources"].([]any) {
			for _, verb := range rule.(object)["verbs"].([]any) {
				for _, name := range names {
					rights = append(rights, fmt.Sprint(verb, " ", resource, " ", name))
				}
			}
		}
	}
	return rights
}

const (
	manager = "interlock-addon-manager"
	webhook = "interlock-webhook"
)

// Rights that depend on a value of the chart.
var (
	policyRights = []string{
		"create mutatingadmissionpolicies interlock-required-dependency", "patch mutatingadmissionpolicies interlock-required-dependency",
		"create mutatingadmissionpolicybindings interlock-required-dependency",
		"patch mutatingadmissionpolicybindings interlock-required-dependency",
	}
	webhookRights = []string{
		"create mutatingwebhookconfigurations interlock-required-dependency", "patch mutatingwebhookconfigurations interlock-required-dependency",
	}
	graftRights  = []string{"update customresourcedefinitions clustermanagementaddons.addon.open-cluster-management.io"}
	reportRights = []string{
		"get addondependencyreports *", "create addondependencyreports *", "patch addondependencyreports *",
		"create addonfleetreports fleet", "patch addonfleetreports fleet",
	}
	lifecycleRights = []string{
		"patch managedclusteraddons *", "create managedclusteraddons *", "delete managedclusteraddons *", "get namespaces *",
		"get addoninstallations *", "list addoninstallations *", "watch addoninstallations *", "create addoninstallations *", "update addoninstallations *",
		"delete addoninstallations *", "get managedclusters *", "patch managedclusters *",
		"create addondeploymentconfigs *", "patch addondeploymentconfigs *",
		"update mutatingwebhookconfigurations interlock-lifecycle",
		"create mutatingadmissionpolicies interlock-gate", "patch mutatingadmissionpolicies interlock-gate",
		"create mutatingadmissionpolicybindings interlock-gate", "patch mutatingadmissionpolicybindings interlock-gate",
		"create mutatingwebhookconfigurations interlock-gate", "patch mutatingwebhookconfigurations interlock-gate",
	}
	agentRights = []string{
		"create rolebindings interlock-addon-agent", "patch rolebindings interlock-addon-agent", "bind clusterroles interlock-addon-agent-hub",
	}
)

// features are the values that turn on features.
type features struct {
	guard        string
	graft, agent bool
	reports      string
	lifecycle    bool
}

// values runs try with all combinations of values that turn on features.
func values(t *testing.T, try func(t *testing.T, enabled features)) {
	for _, guard := range []string{"auto", "policy", "webhook", "off"} {
		for _, graft := range []bool{true, false} {
			for _, agent := range []bool{true, false} {
				for _, reports := range []string{"off", "unsatisfied", "all"} {
					lifecycle := graft != agent // it is independent of the other values
					name := fmt.Sprintf("guard %s, graft %t, agent %t, reports %s, lifecycle %t", guard, graft, agent, reports, lifecycle)
					t.Run(name, func(t *testing.T) { try(t, features{guard, graft, agent, reports, lifecycle}) })
				}
			}
		}
	}
}

func render(t *testing.T, enabled features) objects {
	t.Helper()
	release, _ := chart(t, fmt.Sprintf(
		"{guard: %q, graftCRDs: %t, agent: {install: %t}, reports: %q, lifecycle: {enabled: %t}}",
		enabled.guard, enabled.graft, enabled.agent, enabled.reports, enabled.lifecycle))
	return release
}

func TestWhatIsNotTurnedOnGrantsNothing(t *testing.T) {
	values(t, func(t *testing.T, enabled features) {
		granted := rightsOf(render(t, enabled), manager)
		for _, feature := range []struct {
			enabled bool
			rights  []string
		}{
			{enabled.guard == "auto" || enabled.guard == "policy", policyRights},
			{enabled.guard == "auto" || enabled.guard == "webhook", webhookRights},
			{enabled.graft, graftRights},
			{enabled.agent, agentRights},
			{enabled.reports != "off", reportRights},
			{enabled.lifecycle, lifecycleRights},
		} {
			for _, right := range feature.rights {
				if slices.Contains(granted, right) != feature.enabled {
					t.Errorf("%s: granted %t, want %t", right, !feature.enabled, feature.enabled)
				}
			}
		}
	})
}

// Writes of addon-manager that every release has.
var baseRights = []string{
	"patch managedclusteraddons/status *",
	"patch clustermanagementaddons *", // records of declarations, and fields that were lost
	"create managedclusterfacts *", "patch managedclusterfacts *", "delete managedclusterfacts *",
	"patch addondependencypolicies/status *",
	"delete addondependencyreports *", "delete addonfleetreports fleet", // reports that a former value left behind
	"create events *", "patch events *",
	"create leases *", "update leases interlock-addon-manager",
	"create tokenreviews *", "create subjectaccessreviews *",
	// The guard in a former form.
	"delete mutatingadmissionpolicies interlock-required-dependency", "delete mutatingadmissionpolicybindings interlock-required-dependency",
	"delete mutatingwebhookconfigurations interlock-required-dependency",
	// The gate rule.
	"delete mutatingadmissionpolicies interlock-gate", "delete mutatingadmissionpolicybindings interlock-gate",
	"delete mutatingwebhookconfigurations interlock-gate",
	// The CA of addon-manager webhook.
	"update validatingwebhookconfigurations interlock-webhook", "update mutatingwebhookconfigurations interlock-webhook",
}

// Writes of addon-manager webhook. It may write no webhook configuration, because a process
// with this right can receive all writes on the hub.
var webhookWrites = []string{
	"update secrets interlock-webhook-certificate", "update configmaps interlock-webhook-ca",
	"create tokenreviews *", "create subjectaccessreviews *", "create events *", "patch events *",
}

func reads(right string) bool {
	verb, _, _ := strings.Cut(right, " ")
	return slices.Contains([]string{"get", "list", "watch"}, verb)
}

func TestNoValueGrantsMore(t *testing.T) {
	expected := slices.Concat(baseRights, policyRights, webhookRights, graftRights, agentRights, reportRights, lifecycleRights)
	values(t, func(t *testing.T, enabled features) {
		release := render(t, enabled)
		for _, right := range rightsOf(release, manager) {
			if !reads(right) && !slices.Contains(expected, right) {
				t.Errorf("addon-manager may %s", right)
			}
		}
		if writes := slices.DeleteFunc(rightsOf(release, webhook), reads); !slices.Equal(writes, slices.Sorted(slices.Values(webhookWrites))) {
			t.Errorf("addon-manager webhook may %q", writes)
		}
		for account, rights := range map[string][]string{manager: rightsOf(release, manager), webhook: rightsOf(release, webhook)} {
			if len(rights) == 0 {
				t.Errorf("%s has no rights", account)
			}
			for _, right := range rights {
				verb, target, _ := strings.Cut(right, " ")
				resource, name, _ := strings.Cut(target, " ")
				// A change of any CRD may change the APIs of the hub. To read them is harmless.
				unrestricted := name == "*" && (resource == "secrets" || resource == "customresourcedefinitions" && !reads(right))
				if unrestricted || slices.Contains([]string{"*", "escalate", "impersonate", "approve", "sign"}, verb) ||
					slices.Contains([]string{"*", "manifestworks", "certificatesigningrequests", "pods", "pods/exec", "serviceaccounts/token"}, resource) {
					t.Errorf("%s may %s", account, right)
				}
			}
		}
	})
}

// The console reads, and creates reviews, which store nothing.
func TestConsoleMayReadAndReview(t *testing.T) {
	release, _ := chart(t, "console: {enabled: true}")
	rights := rightsOf(release, "interlock-console")
	want := []string{"create subjectaccessreviews *", "create tokenreviews *"}
	if writes := slices.DeleteFunc(slices.Clone(rights), reads); !slices.Equal(writes, want) {
		t.Errorf("the console may %q", writes)
	}
	for _, right := range rights {
		if strings.Contains(right, "secrets") || strings.Contains(right, "manifestworks") || strings.Contains(right, "*") && strings.HasPrefix(right, "get ") {
			t.Errorf("the console may %s", right)
		}
	}
	if len(rights) < 20 {
		t.Errorf("the console may only %q", rights)
	}
}

func TestChartAndKustomizeInstallTheSameGraft(t *testing.T) {
	release, _ := chart(t, "graftCRDs: true")
	requireSame(t, base(t, "testdata/graft").except(ownNamespace), release)
}

func TestChartAndKustomizeInstallTheSameReports(t *testing.T) {
	release, _ := chart(t, "reports: unsatisfied")
	requireSame(t, base(t, "testdata/reports").except(ownNamespace), release)
}

func TestChartAndKustomizeInstallTheSameLifecycle(t *testing.T) {
	release, _ := chart(t, "lifecycle: {enabled: true}")
	requireSame(t, base(t, "testdata/lifecycle").except(ownNamespace), release)
}

// Where protection is enforced, changes of sealed settings are denied.
func TestSealedSettingsAreProtected(t *testing.T) {
	for protection, want := range map[string]string{`warn`: "Warn", `enforce`: "Deny", `"off"`: "Warn", `null`: "Warn"} {
		release, _ := chart(t, "{protection: "+protection+"}")
		binding := release["ValidatingAdmissionPolicyBinding//interlock-sealed-settings"]
		if got := fmt.Sprint(binding["spec"].(object)["validationActions"]); got != "["+want+"]" {
			t.Errorf("%s: %s", protection, got)
		}
	}
}
