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
		expectRun(t, "index build a.yaml", "kubectl addon index build: a.yaml: ", test.want, "nothing was added", "exit code 1")
		if _, err := os.Stat("index"); err == nil {
			t.Fatalf("%s: it was added", name)
		}
	}
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
