package doctor

import (
	"os"
	"regexp"
	"testing"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestAddonManager(t *testing.T) {
	const name = "Deployment interlock-addon-manager"
	runCases(t, "addon-manager", map[string]testCase{
		"pods that are not ready": {
			func(o objects, _ *snapshot.Content) { o[name] = `{spec: {replicas: 2}, status: {readyReplicas: 1}}` },
			[]string{
				"✖ interlock-addon-manager has 1 of 2 replicas ready",
				"→ kubectl -n interlock-system describe deployment interlock-addon-manager",
			},
		},
		"a rollout that is stuck": {func(o objects, _ *snapshot.Content) {
			o[name] = `{spec: {replicas: 1}, status: {readyReplicas: 1, conditions: [{type: Progressing, status: "False", message: no image}]}}`
		}, []string{"✖ The rollout of interlock-addon-manager is stuck: no image"}},
	})
}

func TestLeader(t *testing.T) {
	runCases(t, "leader", map[string]testCase{
		"one leads": {nil, []string{"✔ pod-1 leads"}},
		"none leads": {
			func(o objects, _ *snapshot.Content) {
				o["Lease interlock-addon-manager"] = lease("2026-08-01T10:00:00.000000Z")
			},
			[]string{"✖ No replica of addon-manager leads", "→ kubectl -n interlock-system logs deployment/interlock-addon-manager"},
		},
	})
}

func TestWebhook(t *testing.T) {
	runCases(t, "webhook", map[string]testCase{
		"it is called": {nil, []string{
			"✔ The webhook's Service has ready endpoints: 2", "✔ The API server trusts the webhook to check",
			"✔ The API server trusts the webhook to record",
		}},
		"pods that are not ready": {func(o objects, _ *snapshot.Content) {
			o["Deployment interlock-webhook"] = `{spec: {replicas: 2}, status: {readyReplicas: 0}}`
			o["EndpointSlice interlock-webhook"] = `endpoints: [{conditions: {ready: false}}]`
		}, []string{"✖ interlock-webhook has 0 of 2 replicas ready", "✖ No pod serves the webhook's Service"}},
		"no CA": {func(o objects, _ *snapshot.Content) {
			o["ValidatingWebhookConfiguration interlock-webhook"] = `webhooks: [{clientConfig: {}}]`
			delete(o, "MutatingWebhookConfiguration interlock-webhook")
		}, []string{"✖ The API server does not trust the webhook to check", "✖ The API server is not configured to call the webhook to record"}},
	})
}

func TestConsole(t *testing.T) {
	const name = "Deployment interlock-console"
	runCases(t, "console", map[string]testCase{
		"it runs": {nil, []string{"✔ interlock-console runs with 2 replicas of example.com"}},
		"pods that are not ready": {
			func(o objects, _ *snapshot.Content) { o[name] = `{spec: {replicas: 1}, status: {readyReplicas: 0}}` },
			[]string{
				"✖ interlock-console has 0 of 1 replicas ready. Nobody can open the page of the fleet without it",
				"→ kubectl -n interlock-system describe deployment interlock-console",
			},
		},
	})
	withoutConsole := diagnoseChanged(t, func(o objects, _ *snapshot.Content) { delete(o, name) })
	if got := resultsOf(withoutConsole, "console"); got != "" {
		t.Errorf("the console is optional, and doctor says %q", got)
	}
}

func TestVersions(t *testing.T) {
	template := func(tag string) string {
		return `spec: {agentSpec: {workload: {manifests: [{kind: Role}, {kind: Deployment,
  spec: {template: {spec: {containers: [{image: "a/b:` + tag + `"}]}}}}]}}}`
	}
	manager := func(image string) string { return `spec: {template: {spec: {containers: [{image: "` + image + `"}]}}}` }
	runCases(t, "versions", map[string]testCase{
		"all the same": {
			func(o objects, _ *snapshot.Content) { o["AddOnTemplate interlock-agent"] = template("v0.1.0") },
			[]string{"✔ All parts whose version is known have version 0.1.0"},
		},
		"another agent": {
			func(o objects, _ *snapshot.Content) { o["AddOnTemplate interlock-agent"] = template("0.2.0") },
			[]string{"- The version of addon-agent, as OCM deploys it, is 0.2.0, and that of addon-manager 0.1.0 → helm upgrade"},
		},
		"another webhook": {
			func(o objects, _ *snapshot.Content) { o["Deployment interlock-webhook"] = manager("a/b:0.2.0") },
			[]string{"✖ The version of interlock-webhook is 0.2.0, and that of addon-manager 0.1.0"},
		},
		"another console": {
			func(o objects, _ *snapshot.Content) { o["Deployment interlock-console"] = manager("a/b:0.2.0") },
			[]string{"- The version of interlock-console is 0.2.0, and that of addon-manager 0.1.0 → helm upgrade"},
		},
		"another plugin": {func(o objects, _ *snapshot.Content) {
			o["Deployment interlock-addon-manager"], o["Deployment interlock-webhook"] = manager("localhost:5000/b:0.3.0"), manager("b:0.3.0")
		}, []string{"- The version of this plugin is 0.1.0, and that of addon-manager 0.3.0 → docs/kubectl-addon.md#install"}},
		"no tag": {
			func(o objects, _ *snapshot.Content) {
				o["Deployment interlock-addon-manager"] = manager("localhost:5000/b@sha256:1")
			},
			[]string{"- The version of addon-manager is not known"},
		},
	})
}

func TestOpenClusterManagement(t *testing.T) {
	version := func(number string) func(objects, *snapshot.Content) {
		return func(o objects, _ *snapshot.Content) {
			o["CustomResourceDefinition "+fleet.OCMVersionCRD] = `metadata: {annotations: {operator.open-cluster-management.io/version: "` +
				number + `"}}`
		}
	}
	runCases(t, "open-cluster-management", map[string]testCase{
		"a later patch": {version("1.2.9"), []string{"✔ Open Cluster Management 1.2.9, managed clusters: 1"}},
		"a newer one":   {version("1.3.0"), []string{"- Open Cluster Management 1.3.0", "tested with " + testedOCM, "→ docs/coexistence.md"}},
		"an older one that has to deploy the agent": {version("1.1.0"), []string{"✖ Open Cluster Management 1.1.0", "older than 1.2.0"}},
		"an older one without an agent": {
			func(o objects, c *snapshot.Content) { version("1.1.0")(o, c); c.AddOns = nil },
			[]string{"- Open Cluster Management 1.1.0"},
		},
		"no version": {version(""), []string{"- Open Cluster Management does not report its version", "→ kubectl get crd"}},
		"no number":  {version("main"), []string{"- Open Cluster Management main", "no version that can be compared"}},
	})
}

func TestTestedOCMVersion(t *testing.T) {
	module, err := os.ReadFile("../../../test/ocm/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	required := regexp.MustCompile(`open-cluster-management\.io/ocm v(\S+)`).FindSubmatch(module)
	if required == nil || string(required[1]) != testedOCM {
		t.Errorf("testedOCM is %s, and test/ocm/go.mod requires %s", testedOCM, required)
	}
}

func TestDeclarations(t *testing.T) {
	runCases(t, "declarations", map[string]testCase{
		"all can be used": {nil, []string{"✔ 1 of 2 add-ons declare dependencies"}},
		"one cannot": {
			func(_ objects, c *snapshot.Content) {
				c.Registrations = append(c.Registrations, fixture.Annotated("c", "- name: ["))
			},
			[]string{"✖ What c declares cannot be used", "→ kubectl edit clustermanagementaddon c"},
		},
	})
}
