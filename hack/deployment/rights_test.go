package deployment

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rightsOf are the rights that the objects give to a service account, each as
// "verb resource name".
func rightsOf(all objects, account string) []string {
	var rights []string
	for _, binding := range all {
		reference, isBinding := binding["roleRef"].(object)
		if !isBinding || !bindsTo(binding, account) {
			continue
		}
		for _, role := range all {
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

// Rights that a value needs.
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

// values are all combinations of values that turn on features.
func values(t *testing.T, try func(t *testing.T, on features)) {
	for _, guard := range []string{"auto", "policy", "webhook", "off"} {
		for _, graft := range []bool{true, false} {
			for _, agent := range []bool{true, false} {
				for _, reports := range []string{"off", "unsatisfied", "all"} {
					lifecycle := graft != agent // no other value matters to it
					name := fmt.Sprintf("guard %s, graft %t, agent %t, reports %s, lifecycle %t", guard, graft, agent, reports, lifecycle)
					t.Run(name, func(t *testing.T) { try(t, features{guard, graft, agent, reports, lifecycle}) })
				}
			}
		}
	}
}

func render(t *testing.T, on features) objects {
	t.Helper()
	release, _ := chart(t, fmt.Sprintf(
		"{guard: %q, graftCRDs: %t, agent: {install: %t}, reports: %q, lifecycle: {enabled: %t}}",
		on.guard, on.graft, on.agent, on.reports, on.lifecycle))
	return release
}

func TestWhatIsNotTurnedOnGrantsNothing(t *testing.T) {
	values(t, func(t *testing.T, on features) {
		granted := rightsOf(render(t, on), manager)
		for _, feature := range []struct {
			on     bool
			rights []string
		}{
			{on.guard == "auto" || on.guard == "policy", policyRights},
			{on.guard == "auto" || on.guard == "webhook", webhookRights},
			{on.graft, graftRights},
			{on.agent, agentRights},
			{on.reports != "off", reportRights},
			{on.lifecycle, lifecycleRights},
		} {
			for _, right := range feature.rights {
				if slices.Contains(granted, right) != feature.on {
					t.Errorf("%s: granted %t, want %t", right, !feature.on, feature.on)
				}
			}
		}
	})
}

// Writes of addon-manager that every release has.
var always = []string{
	"patch managedclusteraddons/status *",
	"patch clustermanagementaddons *", // records of declarations, and fields that were lost
	"create managedclusterfacts *", "patch managedclusterfacts *", "delete managedclusterfacts *",
	"patch addondependencypolicies/status *",
	"delete addondependencyreports *", // what is left of a value that is not wanted any more
	"create events *", "patch events *",
	"create leases *", "update leases interlock-addon-manager",
	"create tokenreviews *", "create subjectaccessreviews *",
	// Of the guard in a form that is not wanted any more.
	"delete mutatingadmissionpolicies interlock-required-dependency", "delete mutatingadmissionpolicybindings interlock-required-dependency",
	"delete mutatingwebhookconfigurations interlock-required-dependency",
	// And of the gate rule.
	"delete mutatingadmissionpolicies interlock-gate", "delete mutatingadmissionpolicybindings interlock-gate",
	"delete mutatingwebhookconfigurations interlock-gate",
	// The CA of addon-manager webhook.
	"update validatingwebhookconfigurations interlock-webhook", "update mutatingwebhookconfigurations interlock-webhook",
}

// Writes of addon-manager webhook. It may write no webhook configuration, because a
// process that may can have all writes on the hub sent to it.
var ofWebhook = []string{
	"update secrets interlock-webhook-certificate", "update configmaps interlock-webhook-ca",
	"create tokenreviews *", "create subjectaccessreviews *", "create events *", "patch events *",
}

func reads(right string) bool {
	verb, _, _ := strings.Cut(right, " ")
	return slices.Contains([]string{"get", "list", "watch"}, verb)
}

func TestNoValueGrantsMore(t *testing.T) {
	known := slices.Concat(always, policyRights, webhookRights, graftRights, agentRights, reportRights, lifecycleRights)
	values(t, func(t *testing.T, on features) {
		release := render(t, on)
		for _, right := range rightsOf(release, manager) {
			if !reads(right) && !slices.Contains(known, right) {
				t.Errorf("addon-manager may %s", right)
			}
		}
		if writes := slices.DeleteFunc(rightsOf(release, webhook), reads); !slices.Equal(writes, slices.Sorted(slices.Values(ofWebhook))) {
			t.Errorf("addon-manager webhook may %q", writes)
		}
		for account, rights := range map[string][]string{manager: rightsOf(release, manager), webhook: rightsOf(release, webhook)} {
			if len(rights) == 0 {
				t.Errorf("%s has no rights", account)
			}
			for _, right := range rights {
				verb, what, _ := strings.Cut(right, " ")
				resource, name, _ := strings.Cut(what, " ")
				// A change of any CRD may change the APIs of the hub. What has to be read for that is no secret.
				ofAll := name == "*" && (resource == "secrets" || resource == "customresourcedefinitions" && !reads(right))
				if ofAll || slices.Contains([]string{"*", "escalate", "impersonate", "approve", "sign"}, verb) ||
					slices.Contains([]string{"*", "manifestworks", "certificatesigningrequests", "pods", "pods/exec", "serviceaccounts/token"}, resource) {
					t.Errorf("%s may %s", account, right)
				}
			}
		}
	})
}

func TestChartAndKustomizeInstallTheSameGraft(t *testing.T) {
	release, _ := chart(t, "graftCRDs: true")
	same(t, base(t, "testdata/graft").without(ownNamespace), release)
}

func TestChartAndKustomizeInstallTheSameReports(t *testing.T) {
	release, _ := chart(t, "reports: unsatisfied")
	same(t, base(t, "testdata/reports").without(ownNamespace), release)
}

func TestChartAndKustomizeInstallTheSameLifecycle(t *testing.T) {
	release, _ := chart(t, "lifecycle: {enabled: true}")
	same(t, base(t, "testdata/lifecycle").without(ownNamespace), release)
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
