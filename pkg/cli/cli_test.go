package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/test/fixture"
)

func TestUnresponsiveHub(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	for _, verb := range []string{"why", "tree gateway", "impact --remove gateway", "snapshot"} {
		got := run(t, append(strings.Fields(verb), "--server", "http://127.0.0.1:1")...)
		for _, want := range []string{"connection refused", "does http://127.0.0.1:1 respond? kubectl get --raw /readyz", "exit code 3"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", verb, want, got)
			}
		}
	}
}

func TestImpactOfFiles(t *testing.T) {
	fleet := file(t, hub())
	manifest := filepath.Join(t.TempDir(), "new.yaml")
	for _, test := range []struct{ text, want string }{
		{
			`kind: ClusterManagementAddOn
apiVersion: addon.open-cluster-management.io/v1alpha1
metadata: {name: cluster-proxy}
spec: {dependencies: [{name: tunnel}]}
`,
			"cluster-proxy     tunnel          Required   -           NotInstalled   49: cluster01, cluster02, cluster03, …",
		},
		{"kind: ConfigMap\napiVersion: v1\n", "new.yaml has no ClusterManagementAddOn"},
		{"kind: [", "new.yaml: "},
	} {
		if err := os.WriteFile(manifest, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run(t, "impact", "-f", manifest, "--from", fleet); !strings.Contains(got, test.want) {
			t.Errorf("no %q in %s", test.want, got)
		}
	}
	got := run(t, "impact", "-f", "nowhere.yaml", "--from", fleet)
	if !strings.Contains(got, "there is no file") || !strings.Contains(got, "exit code 2") {
		t.Error(got)
	}
}

func TestLint(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"a.yaml": `kind: ClusterManagementAddOn
apiVersion: addon.open-cluster-management.io/v1alpha1
metadata: {name: a}
spec:
  dependencies:
  - {name: a, message: it is odd}
  - {name: managed-serviceaccount, typ: Optional}
---
kind: ConfigMap
`,
		"chain.json": `{"kind":"ClusterManagementAddOn","apiVersion":"addon.open-cluster-management.io/v1alpha1",` +
			`"metadata":{"name":"end"},"spec":{"dependencies":[{"name":"missing","message":"m"}]}}`,
		"template.yaml": "{{ if . }}\nkind: ClusterManagementAddOn\n",
		"broken.yaml":   "kind: ConfigMap\ndata: {\n",
		"notes.txt":     "kind: [",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args         string
		want, absent []string
	}{
		{folder, []string{
			`a.yaml:7: a: error: unknown field "spec.dependencies[1].typ"`,
			`a.yaml:6: a: error: spec.dependencies: dependency cycle: a → a`,
			`a.yaml:7: a: warning: dependency "managed-serviceaccount" has no message`,
			`a.yaml:7: a: warning: spec.dependencies: "managed-serviceaccount" has no ClusterManagementAddOn in these files`,
			`chain.json:1: end: warning: spec.dependencies: "missing" has no ClusterManagementAddOn in these files`,
			"broken.yaml:2: error: yaml: line 2: ", "[Unreadable]",
			"template.yaml: ", "there are errors", "exit code 1",
		}, []string{"notes.txt"}},
		{folder + " -o sarif", []string{`"ruleId": "Unreadable"`, `"ruleId": "DependencyCycle"`, "exit code 1"}, nil},
		{"", []string{"requires at least 1 arg(s)", "exit code 2"}, nil},
		{
			args:   folder + " --from " + file(t, hub()),
			want:   []string{`"missing" has no ClusterManagementAddOn on this hub`},
			absent: []string{`"managed-serviceaccount" has no Cluster`},
		},
		{folder + "/chain.json", []string{`"missing"`}, []string{"exit code"}},
		{folder + "/template.yaml", []string{"template.yaml: ", "exit code 1"}, nil},
		{folder + "/nothing.yaml", []string{"there is no file", "exit code 2"}, nil},
		{
			"testdata/files -o sarif",
			[]string{`"version": "2.1.0"`, `"uri": "testdata/files/add-ons.yaml"`, `"startLine": 15`, `"ruleId": "UnknownField"`},
			nil,
		},
		{"../../docs/examples/gateway.yaml -o json", []string{`"kind": "Lint"`, `"severity": "warning"`}, []string{"exit code"}},
	} {
		got := run(t, append([]string{"lint"}, strings.Fields(test.args)...)...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.args, want, got)
			}
		}
		for _, absent := range test.absent {
			if strings.Contains(got, absent) {
				t.Errorf("%s: %q in\n%s", test.args, absent, got)
			}
		}
	}
}

// TestNoCommandWithHostileNames tests that commands for people do not contain invalid names from authors.
func TestNoCommandWithHostileNames(t *testing.T) {
	content := hub()
	for i := range content.Registrations {
		if content.Registrations[i].Name == "config-policy-controller" {
			content.Registrations[i].Spec.Dependencies[0].Name = "$(id); x"
		}
	}
	got := run(t, "why", "-n", "cluster40", "--from", file(t, content))
	if !strings.Contains(got, "$(id); x is not installed") || strings.Contains(got, "--names") {
		t.Error(got)
	}
}

// TestWhyNamesOtherFailures tests an add-on that is down although no dependency fails, and an
// add-on whose declaration cannot be used.
func TestWhyNamesOtherFailures(t *testing.T) {
	content := hub()
	content.AddOns = append(content.AddOns,
		installed("cluster45", "lone", false, "Stopped", 1), installed("cluster45", "odd", true, "Running", 1))
	content.Registrations = append(content.Registrations, fixture.Annotated("odd", "- name: ["))
	for verb, want := range map[string]string{
		"why -n cluster45":      "1 add-on is not available, and no Required dependency fails because of it, such as lone on cluster45: Stopped",
		"why lone -n cluster45": "1 add-on is not available although no dependency fails, such as lone on cluster45: Stopped",
		"why odd -n cluster45":  "The dependencies of odd are not known: ",
		"describe odd":          "Its dependencies are not known.",
	} {
		if got := run(t, append(strings.Fields(verb), "--from", file(t, content))...); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", verb, want, got)
		}
	}
}

// TestEmptyNameIsRefused tests an empty argument, such as from an unset variable. It must not mean the whole fleet.
func TestEmptyNameIsRefused(t *testing.T) {
	fleet := file(t, hub())
	for _, args := range [][]string{{"why", ""}, {"events", ""}, {"suggest", "", "--server=http://127.0.0.1:1"}} {
		if args[0] != "suggest" { // suggest reads no file
			args = append(args, "--from", fleet)
		}
		if got := run(t, args...); !strings.Contains(got, "ADDON is empty") || !strings.Contains(got, "exit code 2") {
			t.Errorf("%q: %s", args, got)
		}
	}
	got := run(t, "wait", "--for=available", "--optional", "--from", fleet)
	if !strings.Contains(got, "--optional needs --for=satisfied") || !strings.Contains(got, "exit code 2") {
		t.Error(got)
	}
}

func TestImpactWithoutChanges(t *testing.T) {
	fleet := file(t, hub())
	for verb, want := range map[string]string{
		"impact --kubernetes foo":                    `--kubernetes="foo": `,
		"impact --ocm bar":                           `--ocm="bar": `,
		"impact --remove cluster-proxy -n cluster50": "nothing was tried: no managed cluster can be reached (lost: 1)",
	} {
		if got := run(t, append(strings.Fields(verb), "--from", fleet)...); !strings.Contains(got, want) || !strings.Contains(got, "exit code") {
			t.Errorf("%s: no %q in\n%s", verb, want, got)
		}
	}
}

func TestLintReadsLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list.yaml")
	for _, list := range []string{
		"kind: List\nitems:\n- {kind: ClusterManagementAddOn, metadata: {name: a}, spec: {dependencies: [{name: a, message: m}]}}\n",
		"kind: ClusterManagementAddOnList\nitems:\n- {metadata: {name: a}, spec: {dependencies: [{name: a, message: m}]}}\n",
	} {
		if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run(t, "lint", path); !strings.Contains(got, "a: error: spec.dependencies: dependency cycle") {
			t.Error(got)
		}
	}
}

// TestVerbsCountClustersAlike tests that all verbs count the same clusters, with namespaces that have add-ons.
func TestVerbsCountClustersAlike(t *testing.T) {
	content := hub()
	content.AddOns = append(content.AddOns, installed("orphan", "cluster-gateway", true, "Running", 1))
	fleet, copied := file(t, content), filepath.Join(t.TempDir(), "copy.json")
	for verb, want := range map[string]string{
		"why":                           "on 50 managed clusters (without 1 that cannot be reached)",
		"impact --remove cluster-proxy": "on 50 managed clusters (without 1 that cannot be reached)",
		"status --summary":              "on 51 managed clusters (1 cannot be reached)",
		"snapshot " + copied:            "on 51 managed clusters (1 cannot be reached)",
		"graph cluster-gateway -o jsonpath={.nodes[?(@.name==\"cluster-gateway\")]['clusters','held']}": "51 1",
	} {
		if got := run(t, append(strings.Fields(verb), "--from", fleet)...); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", verb, want, got)
		}
	}
}
