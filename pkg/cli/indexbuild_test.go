package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeFiles writes files to the current folder.
func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const registrationHead = "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\nmetadata:\n  name: NAME\n" +
	"  annotations:\n    dependency.addon.open-cluster-management.io/version: 1.0.0\n"

// A version in an index never changes. So a release that no hub can use must not take it.
func TestAReleaseThatLintRefusesIsNotAdded(t *testing.T) {
	t.Chdir(t.TempDir())
	const dependencies = "    addon.open-cluster-management.io/dependencies: |\n      "
	head := strings.ReplaceAll(registrationHead, "NAME", "a")
	template := head + "spec: {supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: " +
		"{name: a-1}}]}\n---\napiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\nmetadata:\n  name: a-1\n" +
		"  annotations:\n    dependency.addon.open-cluster-management.io/dependencies: '[{name: b, version: 1.10}]'\nspec: {addonName: a}\n"
	for name, test := range map[string]struct{ manifests, want string }{
		"a key twice": {
			head + dependencies + "[{name: b, version: '>= 1', version: '< 1'}]\nspec: {}\n",
			`key "version" already set in map [InvalidDependencies]`,
		},
		"a number in a template":   {template, "must be a string, which may need quotes, not 1.1"},
		"a range that is none":     {head + dependencies + "[{name: b, version: newest}]\nspec: {}\n", "must be a range of semantic versions"},
		"a cycle of one":           {head + dependencies + "[{name: a, message: m}]\nspec: {}\n", "[DependencyCycle]"},
		"a field that OCM lacks":   {head + "spec: {installStrategie: {type: Manual}}\n", `unknown field "spec.installStrategie"`},
		"a value that OCM refuses": {head + "spec: {installStrategy: {type: manual}}\n", "[InvalidValue]"},
		"a kind of OCM that there is none of": {head + "spec: {}\n---\napiVersion: addon.open-cluster-management.io/v1alpha1\n" +
			"kind: AddOnTemplat\nmetadata: {name: a}\n", "[UnknownKind]"},
	} {
		writeFiles(t, map[string]string{"a.yaml": test.manifests})
		expectRun(t, "lint a.yaml", "", "exit code 1")
		expectRun(t, "index build a.yaml", "kubectl addon index build: a.yaml:", test.want, "nothing was added", "exit code 1")
		if _, err := os.Stat("index"); err == nil {
			t.Fatalf("%s: it was added", name)
		}
	}
}

// Lint and index build judge all objects of a release: what no API server takes would make the release useless.
func TestObjectsThatNoAPIServerTakes(t *testing.T) {
	t.Chdir(t.TempDir())
	head := strings.ReplaceAll(registrationHead, "NAME", "a") + "spec: {}\n---\n" // has 8 lines
	const template = "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\nmetadata: {name: t}\n" +
		"spec:\n  addonName: a\n  agentSpec:\n    workload:\n      manifests:\n      - "
	const deployed = "17: AddOnTemplate t: spec.agentSpec.workload.manifests[0]."
	for object, want := range map[string]string{
		"kind: ConfigMap\nmetadata: {name: c}\n":                  "9: ConfigMap c: apiVersion is missing: set it, such as v1",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n":         "11: ConfigMap: metadata.name is missing: name the object [InvalidObject]",
		"apiVersion: v1\nkind: ConfigMap\n":                       "9: ConfigMap: metadata.name is missing",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ''}\n": "11: ConfigMap: metadata.name is empty",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: c-}\n": "11: ConfigMap: metadata.name is missing: " +
			"generateName makes another object each time",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: b\n  port: 80\n": "14: ConfigMap c: data[port]: its value must be " +
			"a string: put it in quotes",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: {b: c}\n": "13: ConfigMap c: data[a]: its value must be a string: " +
			"write it as a text block",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: c}\nstringData:\n  b: true\n":       "13: Secret c: stringData[b]: its value",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: c}\ndata:\n  a: \"no base64\"\n":    "13: Secret c: data[a]: its value must be in base64",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: c}\ndata: text\n":                   "12: Secret c: data: must be an object",
		template + "{kind: ConfigMap, metadata: {name: c}}\n":                               deployed + "apiVersion",
		template + "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: 1}}\n": deployed + "data[a]",
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  name: d\n":                `13: ConfigMap d: duplicate field "metadata.name"`,
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  b.c: x\n  b.c: y\n": `14: ConfigMap c: duplicate field "data[b.c]"`,
	} {
		writeFiles(t, map[string]string{"a.yaml": head + object})
		location, message, _ := strings.Cut(want, ": ")
		expectRun(t, "lint a.yaml", "a.yaml:"+location+": a: error: "+message, "exit code 1")
		expectRun(t, "index build a.yaml", "kubectl addon index build: a.yaml:"+location+": a cannot be used: "+message,
			"nothing was added", "exit code 1")
	}
	for name, registration := range map[string]string{
		"a name twice": strings.Replace(registrationHead, "NAME", "a\n  name: b", 1) + "spec: {}\n",
		"an annotation twice": strings.ReplaceAll(registrationHead, "NAME", "a") +
			"    dependency.addon.open-cluster-management.io/version: 2.0.0\nspec: {}\n",
	} {
		writeFiles(t, map[string]string{"a.yaml": registration})
		expectRun(t, "lint a.yaml", "a.yaml:", "error: duplicate field", "exit code 1")
		if got := run(t, "index", "build", "a.yaml"); !strings.Contains(got, "cannot be used: duplicate field") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A version by flag is for add-ons that report none. It must not be ignored.
func TestAVersionByFlagBesideAReportedVersion(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, map[string]string{"a.yaml": strings.ReplaceAll(registrationHead, "NAME", "a") + "spec: {}\n"})
	expectRun(t, "index build a.yaml --version a=9.9.9", "kubectl addon index build: --version: add-on 'a' has version 1.0.0 in its "+
		"manifests, and not 9.9.9: leave it out here, or change the "+
		"annotation dependency.addon.open-cluster-management.io/version", "exit code 2")
	if _, err := os.Stat("index"); err == nil {
		t.Error("it was added")
	}
	expectRun(t, "index build a.yaml --version a=1.0.0", "a 1.0.0 was added")
	expectRun(t, "index build a.yaml --version a=", "kubectl addon index build: --version: ", "exit code 2")
}

// Lint and index build accept the same versions.
func TestVersionsThatAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	const key = "metadata.annotations[dependency.addon.open-cluster-management.io/version]: "
	template := strings.Replace(registrationHead, "ClusterManagementAddOn", "AddOnTemplate", 1) + "spec: {addonName: a}\n"
	for version, want := range map[string]string{
		"latest": `"latest": must be a semantic version such as 1.2.3`, `"1.10"`: `"1.10": must be`, "2024-01-01": `"2024-01-01": must be`,
		"null": "it is empty: set a version, or remove the annotation", `" "`: "it is empty", "\"1.0.0\\u202e\"": `"1.0.0\u202e": must be`,
		"99999999999999999999999.0.0": `"99999999999999999999999.0.0": a number is too large: the largest is 18446744073709551615`,
	} {
		head := strings.NewReplacer("NAME", "a", "1.0.0", version).Replace(registrationHead) + "spec: {}\n"
		versioned := strings.NewReplacer("NAME", "a", "1.0.0", version).Replace(template)
		for _, content := range []string{head, strings.Replace(head, version, "1.0.0", 1) + "---\n" + versioned} {
			writeFiles(t, map[string]string{"a.yaml": content})
			expectRun(t, "lint a.yaml", "a.yaml:", ": a: error: "+key+want, "[InvalidVersion]", "exit code 1")
			expectRun(t, "index build a.yaml", "kubectl addon index build: a.yaml:", " a cannot be used: "+key+want, "exit code 1")
		}
	}
}

// A chart's version is used for add-ons that report none. Its error names Chart.yaml.
func TestVersionsOfChartsThatAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	const chart = "apiVersion: v2\nname: vault\nversion: VERSION\n"
	head, _, _ := strings.Cut(strings.ReplaceAll(registrationHead, "NAME", "vault"), "  annotations")
	for version, want := range map[string]string{
		"1.10": "kubectl addon index build: vault: Chart.yaml: line 3: version: 1.10 is read as a number, 1.1: write three numbers, " +
			`such as "1.10.0", and put them in quotes` + "\n",
		`"1.10"`: `kubectl addon index build: vault: Chart.yaml: version: "1.10": must be a semantic version such as 1.2.3` + "\n",
		`1.10.0`: "vault 1.10.0 was added\n",
		"1.0.0\ntype: library": "kubectl addon index build: vault: it is a library chart, which has no manifests of its own: " +
			"name a chart that uses it\n",
	} {
		writeFiles(t, map[string]string{
			"vault/Chart.yaml": strings.Replace(chart, "VERSION", version, 1), "vault/templates/a.yaml": head + "spec: {}\n",
		})
		expectRun(t, "index build --chart vault", want)
	}
	expectRun(t, "index build vault", "kubectl addon index build: vault is a Helm chart: kubectl addon index build --chart vault reads it\n")
}

// What can never hold is added with the warning of lint, because other add-ons, or other versions of them, may be in the index.
func TestWarningsAboutReleases(t *testing.T) {
	t.Chdir(t.TempDir())
	const key = "    addon.open-cluster-management.io/dependencies: "
	a, b := strings.ReplaceAll(registrationHead, "NAME", "a")+key, strings.ReplaceAll(registrationHead, "NAME", "b")+key
	for content, rule := range map[string]string{
		a + "'[{name: b, version: \"> 5 < 1\", message: m}]'\nspec: {}\n":                              "NoVersion",
		a + "'[{name: b, message: m}]'\nspec: {}\n---\n" + b + "'[{name: a, message: m}]'\nspec: {}\n": "DependencyCycle",
		a + "'{requirements: {kubernetes: \"<1.2, >1.3\"}}'\nspec: {}\n":                               "NoVersion",
	} {
		writeFiles(t, map[string]string{"a.yaml": content})
		expectRun(t, "lint a.yaml", "a.yaml:", "["+rule+"]")
		expectRun(t, "index build a.yaml --to "+t.TempDir(), "", ": warning: ", "["+rule+"]", "was added")
	}
	writeFiles(t, map[string]string{"a.yaml": a + "'[{name: elsewhere}]'\nspec: {}\n"})
	expectRun(t, "index build a.yaml --to "+t.TempDir(), "a 1.0.0 was added")
}

// A release has an object once.
func TestObjectsWithTwoContents(t *testing.T) {
	t.Chdir(t.TempDir())
	head := strings.ReplaceAll(registrationHead, "NAME", "a") + "spec: {}\n"
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata: {a: b}\n"
	writeFiles(t, map[string]string{"d/a.yaml": head, "d/b.yaml": config, "d/c.yaml": "---\n" + config})
	expectRun(t, "lint d", "No problems found")
	expectRun(t, "index build d", "a 1.0.0 was added")
	writeFiles(t, map[string]string{"d/c.yaml": "---\n" + strings.Replace(config, "b}", "c}", 1)})
	const want = "ConfigMap c is in d/b.yaml:4 too, with another content: a release has it once, so remove or rename one of them " +
		"[DuplicateObject]"
	expectRun(t, "lint d", "d/c.yaml:5: a: error: "+want)
	expectRun(t, "index build d --to other", "kubectl addon index build: d/c.yaml:5: a cannot be used: "+want)
	writeFiles(t, map[string]string{
		"e/b.yaml": strings.Replace(head, "name: a", "name: b", 1), "e/c.yaml": strings.Replace(config, "b}", "c}", 1),
	})
	writeFiles(t, map[string]string{"d/c.yaml": config})
	expectRun(t, "lint d e", "No problems found")
}

// A chart may generate a password. An index would have it in clear text, the same for all hubs.
func TestRandomValuesOfAChartAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	const object = "apiVersion: v1\nkind: Secret\nmetadata: {name: s"
	writeFiles(t, map[string]string{
		"chart/Chart.yaml":       "apiVersion: v2\nname: vault\nversion: 1.0.0\n",
		"chart/templates/a.yaml": strings.ReplaceAll(registrationHead, "NAME", "vault") + "spec: {}\n",
	})
	const file = "vault/templates/s.yaml: "
	for content, want := range map[string]string{
		"}\nstringData: {token: {{ uuidv4 }}}\n":                                    "kubectl addon index build: " + file + "Secret s: ",
		", annotations: {rollme: {{ uuidv4 }}}}\n":                                  file + "Secret s: metadata.annotations.rollme is random",
		", annotations: {helm.sh/hook: test}}\nstringData: {token: {{ uuidv4 }}}\n": "left out: " + file,
		"}\nstringData: {date: {{ now | date \"2006\" | quote }}}\n":                file + "the template reads the time with now",
	} {
		if err := os.RemoveAll("index"); err != nil {
			t.Fatal(err)
		}
		writeFiles(t, map[string]string{"chart/templates/s.yaml": object + content})
		expectRun(t, "index build --chart chart", "", want)
		_, err := os.Stat("index")
		if refused := strings.HasPrefix(want, "kubectl"); refused != (err != nil) {
			t.Errorf("%s: %v", content, err)
		}
	}
}
