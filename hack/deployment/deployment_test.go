package deployment

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"sigs.k8s.io/yaml"
)

const ownNamespace = "Namespace//" + namespace

// requireSame fails for every object that is not in both, or not the same in both.
func requireSame(t *testing.T, kustomized, charted objects) {
	t.Helper()
	if difference := cmp.Diff(kustomized.keys(), charted.keys()); difference != "" {
		t.Fatalf("kustomize (-) and the chart (+) install other objects:\n%s", difference)
	}
	for _, key := range kustomized.keys() {
		neutral(kustomized[key])
		neutral(charted[key])
		if difference := cmp.Diff(kustomized[key], charted[key]); difference != "" {
			t.Errorf("%s: kustomize (-) and the chart (+) differ; correct the one that is behind, and run make generate:\n%s", key, difference)
		}
	}
}

func TestChartAndKustomizeInstallTheSame(t *testing.T) {
	release, hooks := chart(t, "")
	requireSame(t, base(t, "../../deploy/hub").except(ownNamespace), release)
	requireSame(t, base(t, "../../deploy/uninstall"), hooks)
	_, hooks = chart(t, "uninstall: {installed: remove}")
	requireSame(t, base(t, "testdata/uninstall-remove"), hooks)
}

func TestChartAndKustomizeInstallTheSameAgent(t *testing.T) {
	release, _ := chart(t, "agent: {install: true}")
	requireSame(t, base(t, "testdata/agent-addon").except(ownNamespace), release)
}

func TestWithoutTheAgentNothingOfItIsInstalled(t *testing.T) {
	release, _ := chart(t, "")
	for key, installed := range release {
		reference, _ := installed["roleRef"].(object)
		if reference["name"] == "interlock-addon-manager-agent" || strings.HasSuffix(key, "/interlock-agent") {
			t.Errorf("%s is installed", key)
		}
	}
}

func TestHelmKeepsWhatOCMDeploysTheAgentFrom(t *testing.T) {
	release, _ := chart(t, "agent: {install: true}")
	for _, key := range []string{"AddOnTemplate//interlock-agent", "ClusterManagementAddOn//interlock-agent"} {
		annotations, _ := release[key]["metadata"].(object)["annotations"].(object)
		if annotations["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s: annotations %v", key, annotations)
		}
	}
}

func TestChartAndKustomizeInstallTheSameRightsOfThePlugin(t *testing.T) {
	defaults, _ := chart(t, "")
	release, _ := chart(t, "pluginReader: {install: true}")
	requireSame(t, base(t, "../../deploy/plugin-reader"), release.except(defaults.keys()...))
}

func TestChartAndKustomizeInstallTheSameConsole(t *testing.T) {
	defaults, _ := chart(t, "")
	release, _ := chart(t, "console: {enabled: true}")
	requireSame(t, base(t, "../../deploy/console"), release.except(defaults.keys()...))
	for key := range defaults {
		if strings.Contains(key, "console") {
			t.Errorf("%s is installed although the console is off", key)
		}
	}
}

func TestChartAndKustomizeInstallTheSameServiceMonitor(t *testing.T) {
	release, _ := chart(t, "serviceMonitor: {enabled: true}")
	requireSame(t, base(t, "../../deploy/servicemonitor").except(ownNamespace), release)
}

func TestChartAndKustomizeInstallTheSameAlertsAndDashboard(t *testing.T) {
	defaults, _ := chart(t, "")
	release, _ := chart(t, "{alerts: {enabled: true}, dashboard: {enabled: true}}")
	requireSame(t, base(t, "../../deploy/alerts"), release.except(append(defaults.keys(), "ConfigMap/"+namespace+"/interlock-dashboard")...))
	requireSame(t, base(t, "../../deploy/dashboard"), release.except(append(defaults.keys(), "PrometheusRule/"+namespace+"/interlock", "ConfigMap/"+namespace+"/interlock-runbook")...))
}

func TestOnlyTheHooksOfAnUninstallationRemainAfterIt(t *testing.T) {
	_, hooks := chart(t, "")
	for key, hook := range hooks {
		annotations := fmt.Sprint(hook["metadata"].(object)["annotations"])
		for _, want := range []string{"helm.sh/hook:pre-delete", "hook-succeeded"} {
			if !strings.Contains(annotations, want) {
				t.Errorf("%s: %s lacks %s", key, annotations, want)
			}
		}
	}
	if _, hooks := chart(t, "uninstall: {enabled: false}"); len(hooks) > 0 {
		t.Errorf("hooks although switched off: %v", hooks.keys())
	}
}

func TestValuesReachTheirObjects(t *testing.T) {
	for name, test := range map[string]struct {
		values, key string
		want        []string
	}{
		"images": {
			"{images: {prefix: mirror.test/ocm/, tag: v9, pullPolicy: Never}, imagePullSecrets: [{name: mirror}]}",
			"Deployment/" + namespace + "/interlock-webhook",
			[]string{"image: mirror.test/ocm/addon-manager:v9", "imagePullPolicy: Never", "imagePullSecrets:\n      - name: mirror"},
		},
		"addon-manager": {
			"addonManager: {replicas: 3, extraArgs: [--offline=strict], resources: {limits: {memory: 3Gi}}, extraEnv: [{name: HTTPS_PROXY, value: p}]}",
			"Deployment/" + namespace + "/interlock-addon-manager",
			[]string{"replicas: 3", "- --offline=strict", "memory: 3Gi", "- name: HTTPS_PROXY\n          value: p", "resource: limits.memory"},
		},
		"guard and graft": {
			"{guard: \"off\", graftCRDs: true}", "Deployment/" + namespace + "/interlock-addon-manager",
			[]string{"- --guard=off", "- --graft-crds=true"},
		},
		"reports": {
			"reports: all", "Deployment/" + namespace + "/interlock-addon-manager", []string{"- --reports=all"},
		},
		"agent": {
			"{images: {prefix: mirror/}, agent: {install: true}}", "Deployment/" + namespace + "/interlock-addon-manager",
			[]string{"- --grant-agent-rights"},
		},
		"agent's image of all images": {
			"{images: {prefix: mirror/}, agent: {install: true}}", "AddOnTemplate//interlock-agent",
			[]string{"image: mirror/addon-agent:0.1.0", "--cluster-name={{CLUSTER_NAME}}"},
		},
		"agent's image": {
			"agent: {install: true, image: mirror/agent@sha256:1}", "AddOnTemplate//interlock-agent",
			[]string{"image: mirror/agent@sha256:1"},
		},
		"agent's placement and configuration": {
			"agent: {install: true, placement: ns/one, config: ns/two}", "ClusterManagementAddOn//interlock-agent",
			[]string{
				"installStrategy:\n    placements:\n    - name: one\n      namespace: ns\n    type: Placements",
				"- defaultConfig:\n      name: two\n      namespace: ns\n    group: addon.open-cluster-management.io\n    " +
					"resource: addondeploymentconfigs",
			},
		},
		"agent's metrics": {
			"agent: {install: true, metrics: true}", "AddOnTemplate//interlock-agent",
			[]string{
				"- --metrics-bind-address=:8443\n", "- --metrics-secure\n", "- containerPort: 8443\n",
				"- tokenreviews", "- subjectaccessreviews", "ingress:\n", "- port: metrics\n",
			},
		},
		"agent by hand": {
			"agent: {install: true, placement: ''}", "ClusterManagementAddOn//interlock-agent",
			[]string{"installStrategy:\n    type: Manual"},
		},
		"webhook": {
			"webhook: {replicas: 4, stopAfterSeconds: 9, extraArgs: [--v=2], extraEnv: [{name: A, value: b}]}", "Deployment/" + namespace + "/interlock-webhook",
			[]string{"replicas: 4", "- --stop-after=9s", "- --v=2", "env:\n        - name: A\n          value: b"},
		},
		"console": {
			"console: {enabled: true, replicas: 2, hosts: [addons.example.com, 'localhost:8443'], groupBy: region, extraArgs: [--v=2], " +
				"extraEnv: [{name: A, value: b}], resources: {limits: {memory: 3Gi}}}",
			"Deployment/" + namespace + "/interlock-console",
			[]string{
				"replicas: 2", "- --host=addons.example.com\n", "- --host=localhost:8443\n", "- --group-by=region\n", "- --v=2", "memory: 3Gi",
				"- name: A\n          value: b", "resource: limits.memory",
			},
		},
		"console's certificate": {
			"console: {enabled: true, certificateSecret: console-tls}", "Deployment/" + namespace + "/interlock-console",
			[]string{"- --certificate-dir=/certificate\n", "mountPath: /certificate\n          name: certificate\n          readOnly: true", "secretName: console-tls"},
		},
		"console's service": {
			"console: {enabled: true, serviceAnnotations: {service.beta.openshift.io/serving-cert-secret-name: console-tls}}",
			"Service/" + namespace + "/interlock-console", []string{"serving-cert-secret-name: console-tls", "targetPort: console"},
		},
		"console's priority": {
			"{priorityClassName: high, console: {enabled: true, priorityClassName: low}}", "Deployment/" + namespace + "/interlock-console",
			[]string{"priorityClassName: low"},
		},
		"console's network": {
			"{console: {enabled: true}, networkPolicy: {apiServerPorts: [8443]}}", "NetworkPolicy/" + namespace + "/interlock-console",
			[]string{"egress:\n  - ports:\n    - port: 8443\n", "- port: console\n"},
		},
		"nodes": {
			"{nodeSelector: {role: infra}, tolerations: [{key: infra, operator: Exists}], priorityClassName: high}",
			"Deployment/" + namespace + "/interlock-addon-manager",
			[]string{"nodeSelector:\n        role: infra", "- key: infra\n        operator: Exists", "priorityClassName: high"},
		},
		"pods": {
			"{podAnnotations: {a: b}, podLabels: {team: x, app.kubernetes.io/name: mine}}", "Deployment/" + namespace + "/interlock-webhook",
			[]string{"annotations:\n        a: b", "app.kubernetes.io/name: interlock-webhook\n        app.kubernetes.io/part-of: interlock", "team: x"},
		},
		"affinity": {
			"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}",
			"Deployment/" + namespace + "/interlock-webhook",
			[]string{"affinity:\n        nodeAffinity:\n          required"},
		},
		"spread": {
			"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]",
			"Deployment/" + namespace + "/interlock-addon-manager",
			[]string{"topologySpreadConstraints:\n      - labelSelector:\n          matchLabels:\n            app.kubernetes.io/name: interlock-addon-manager\n" +
				"        maxSkew: 1\n        topologyKey: zone"},
		},
		"network": {
			"networkPolicy: {apiServerPorts: [8443]}", "NetworkPolicy/" + namespace + "/interlock",
			[]string{"egress:\n  - ports:\n    - port: 8443\n"},
		},
		"the API server's network": {
			"networkPolicy: {apiServerAddresses: [10.0.0.0/28]}", "NetworkPolicy/" + namespace + "/interlock",
			[]string{"- from:\n    - podSelector:\n        matchLabels:\n          app.kubernetes.io/name: interlock-addon-manager\n" +
				"    - ipBlock:\n        cidr: 10.0.0.0/28\n    ports:\n    - port: webhook\n"},
		},
		"monitor": {
			"serviceMonitor: {enabled: true, interval: 5m, labels: {release: prometheus}}", "ServiceMonitor/" + namespace + "/interlock",
			[]string{"interval: 5m", "release: prometheus"},
		},
		"alerts": {
			"alerts: {enabled: true, labels: {release: prometheus}, runbook: 'https://wiki.example.com/interlock'}", "PrometheusRule/" + namespace + "/interlock",
			[]string{"release: prometheus", "runbook_url: https://wiki.example.com/interlock#interlockdown", "{{ $labels.addon }} fails on"},
		},
		"dashboard": {
			"{dashboard: {enabled: true, labels: {grafana_dashboard: null, mine: 'yes'}}, alerts: {runbook: 'https://wiki.example.com/interlock'}}",
			"ConfigMap/" + namespace + "/interlock-dashboard",
			[]string{"mine: \"yes\"", "interlock.json: |", `"url": "https://wiki.example.com/interlock"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			release, _ := chart(t, test.values)
			content, err := yaml.Marshal(release[test.key])
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(string(content), want) {
					t.Errorf("no %q in\n%s", want, content)
				}
			}
		})
	}
	release, _ := chart(t, "{networkPolicy: {enabled: false}, console: {enabled: true}}")
	if release["NetworkPolicy/"+namespace+"/interlock"] != nil || release["NetworkPolicy/"+namespace+"/interlock-console"] != nil {
		t.Error("a network policy although switched off")
	}
}

// Without a flag, addon-manager keeps a graft.
func TestOnlyAValueTurnsGraftingOnOrOff(t *testing.T) {
	for values, want := range map[string]string{
		"":                 "",
		"graftCRDs: null":  "",
		"guard: policy":    "",
		"graftCRDs: true":  "--graft-crds=true",
		"graftCRDs: false": "--graft-crds=false",
	} {
		release, _ := chart(t, values)
		content, err := yaml.Marshal(release["Deployment/"+namespace+"/interlock-addon-manager"])
		if err != nil {
			t.Fatal(err)
		}
		if got := regexp.MustCompile("--graft-crds.*").FindString(string(content)); got != want {
			t.Errorf("%q renders %q, want %q", values, got, want)
		}
	}
}

func TestAReleaseIsInItsNamespaceOnly(t *testing.T) {
	release, hooks, err := Render("elsewhere", "{agent: {install: true}, console: {enabled: true}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range append(release, hooks...) {
		if strings.Contains(document, namespace) {
			t.Errorf("%s is named in\n%s", namespace, document)
		}
	}
}

func TestTheUninstallationTakesTheTimeOfItsValue(t *testing.T) {
	_, hooks := chart(t, "uninstall: {timeout: 90s}")
	content, err := yaml.Marshal(hooks["Job/"+namespace+"/interlock-uninstall"])
	if err != nil || !strings.Contains(string(content), "- --timeout=90s") {
		t.Errorf("%v\n%s", err, content)
	}
}

func TestWrongValuesAreRefused(t *testing.T) {
	for values, want := range map[string]string{
		"addonManager: {replicas: 0}":                       "minimum: got 0, want 1",
		"addonManager: {replica: 3}":                        "additional properties 'replica' not allowed",
		"images: {pullPolicy: Sometimes}":                   "pullPolicy",
		"guard: on":                                         "guard",
		"reports: on":                                       "reports",
		"reports: some":                                     "reports",
		"lifecycle: {enabled: sometimes}":                   "enabled",
		"lifecycle: true":                                   "lifecycle",
		"pluginReader: {install: yes please}":               "install",
		"graftCRDs: 'yes'":                                  "graftCRDs",
		"agent: {image: 'a b'}":                             "image",
		"agent: {placement: global}":                        "placement",
		"agent: {config: all}":                              "config",
		"agent: {enabled: true}":                            "additional properties 'enabled' not allowed",
		"images: {tag: 'v 1'}":                              "tag",
		"networkPolicy: {apiServerPorts: [0]}":              "apiServerPorts",
		"networkPolicy: {apiServerAddresses: [kubernetes]}": "apiServerAddresses",
		"webhook: {extraArgs: [serve]}":                     "extraArgs",
		"webhook: {extraEnv: [{value: a}]}":                 "name",
		"imagePullSecrets: [mirror]":                        "imagePullSecrets",
		"podLabels: {a: 1}":                                 "podLabels",
		"topologySpreadConstraints: [{maxSkew: 1}]":         "topologyKey",
		"webhook: {stopAfterSeconds: 90}":                   "maximum: got 90, want 25",
		"serviceMonitor: {interval: often}":                 "interval",
		"alerts: {runbook: wiki}":                           "runbook",
		`alerts: {runbook: 'https://wiki/"'}`:               "runbook",
		"dashboard: {labels: {a: 1}}":                       "labels",
		"uninstall: {timeout: 5}":                           "timeout",
		"uninstall: {installed: hand-over}":                 "installed",
		"replicas: 2":                                       "additional properties 'replicas' not allowed",
		"webhook: {resources: {cpu: 100m}}":                 "additional properties 'cpu' not allowed",
		"nodeSelector: {infra: true}":                       "nodeSelector",
		"console: {enabled: sure}":                          "enabled",
		"console: {replicas: 0}":                            "minimum: got 0, want 1",
		"console: {hosts: ['https://addons.example.com']}":  "hosts",
		"console: {certificateSecret: 'a b'}":               "certificateSecret",
		"console: {groupBy: 'a b'}":                         "groupBy",
	} {
		if _, _, err := Render(namespace, values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not say %q", values, err, want)
		}
	}
}

// A message that explains the problem is better than pods that wait for an image.
func TestTheChartRefusesToInstallWithoutImages(t *testing.T) {
	for prefix, want := range map[string]string{
		"": "images.prefix is empty, and this chart was not released with images: set it to",
		"quay.io/open-cluster-management/interlock-": "is a placeholder",
		"registry.example.com/interlock-":            "is a placeholder",
		"example.org:5000/interlock-":                "is a placeholder",
		"registry.example.com.mirror.test/":          "",
		"quay.io/open-cluster-management/mine/":      "",
		"localhost:5000/":                            "",
	} {
		_, _, err := Render(namespace, fmt.Sprintf("images: {prefix: %q}", prefix))
		switch {
		case want == "" && err != nil:
			t.Errorf("%q is refused: %v", prefix, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "make images PUSH=1")):
			t.Errorf("%q: error %v does not say %q", prefix, err, want)
		}
	}
}

func TestHelmLint(t *testing.T) {
	for _, message := range lint.RunAll(chartFolder, object{}, namespace).Messages {
		// The chart has no icon, because programs that show the chart would fetch it from the network.
		if message.Severity > support.InfoSev {
			t.Error(message.Error())
		}
	}
}
