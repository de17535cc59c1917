package cli

import "testing"

// Messages about files name the file, the line in the file, and what to do.
func TestMessagesAboutFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	writeFiles(t, map[string]string{"config.yaml": config, "broken.yaml": config + "---\na: [\n", "word.yaml": "word\n"})
	for _, test := range []struct{ command, want string }{
		{"index build config.yaml", "index build: there is no ClusterManagementAddOn, which registers an add-on: add the file"},
		{"index build broken.yaml", "index build: broken.yaml: yaml: line 5: "},
		{"index build word.yaml", "index build: word.yaml: it must be an object of Kubernetes, with apiVersion and kind"},
		{"resolve", "resolve: stat addons.yaml: no such file or directory: write the add-ons that you want into it"},
		{"push addons.tar team/addons:1", `push: "team/addons:1": the registry is missing, as in registry.example.com/addons:1.0.0`},
		{"pull oci://team/addons:1", `pull: "team/addons:1": the registry is missing`},
	} {
		expectRun(t, test.command, "kubectl addon "+test.want)
	}
	expectRun(t, "lint broken.yaml -o jsonpath={.items[0].line}", "5")
}
