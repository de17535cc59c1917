package cli

import "testing"

// Messages about files name the file, the line in the file, and what to do.
func TestMessagesAboutFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	const wishes = "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\naddOns:\n"
	const addon = "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\n" +
		"metadata: {name: a, annotations: {dependency.addon.open-cluster-management.io/version: 1.0.0}}\nspec: {}\n"
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	writeFiles(t, map[string]string{
		"config.yaml": config, "broken.yaml": config + "---\na: [\n", "word.yaml": "word\n",
		"empty/README.md": "", "addon.yaml": addon, "wishes.yaml": wishes + "- name: a\n",
		"range.yaml": wishes + "- name: a\n  version: \">= one\"\n",
		"kinds.yaml": wishes + "- name: a\nclusterKinds: [{name: b, kubernetes: new}]\n",
		"typo.yaml":  wishes + "- name: a\n  versio: \">= 1\"\n",
	})
	for _, test := range []struct{ command, want string }{
		{"index build config.yaml", "index build: there is no ClusterManagementAddOn, which registers an add-on: add the file"},
		{"index build broken.yaml", "index build: broken.yaml: yaml: line 5: "},
		{"index build word.yaml", "index build: word.yaml: it must be an object of Kubernetes, with apiVersion and kind"},
		{"resolve", "resolve: there is no file or folder addons.yaml: write the add-ons that you want into it"},
		{"index build none.yaml", "index build: there is no file or folder none.yaml\n"},
		{"index build empty", "index build: there is no ClusterManagementAddOn"},
		{"index build --chart none", "index build: there is no file or folder none\n"},
		{"index build --chart empty", "index build: empty: there is no Chart.yaml in it: name the folder of a chart, or its archive"},
		{"index build addon.yaml --to config.yaml", "index build: config.yaml/addons/a/1.0.0.yaml cannot be written: it or a folder"},
		{"lint none.yaml", "lint: there is no file or folder none.yaml\n"},
		{"resolve addons --index none", "resolve: there is no file or folder addons: write the add-ons"},
		{"resolve wishes.yaml --index none", "resolve: none is no index: it has no folder addons; kubectl addon index build makes one"},
		{"resolve wishes.yaml --index none.tar", "resolve: there is no file or folder none.tar\n"},
		{"resolve wishes.yaml --index config.yaml", "resolve: config.yaml: it is no archive of a package, which kubectl addon package writes"},
		{"resolve typo.yaml", `resolve: typo.yaml: line 5: unknown field "addOns[0].versio"`},
		{"resolve -", "resolve: the wishes cannot be read from standard input: name a file"},
		{"verify none.yaml", "verify: addons.lock: there is no lock yet: kubectl addon resolve writes it"},
		{"build wishes.yaml", "build: addons.lock: there is no lock yet: kubectl addon resolve writes it"},
		{"build wishes.yaml --lock config.yaml", "build: config.yaml: apiVersion and kind: must be dependency.addon.open-cluster-management.io/"},
		{"resolve range.yaml", `resolve: range.yaml: line 5: addOns[0].version: ">= one": must be a range of semantic versions`},
		{"resolve kinds.yaml", `resolve: kinds.yaml: line 5: clusterKinds[0].kubernetes: "new" is no version; 1.36.0 is one`},
		{"package none.yaml", "package: there is no file or folder none.yaml"},
		{"package wishes.yaml --sign-key none", "package: --sign-key: there is no file or folder none\n"},
		{"push none.tar localhost:1/a:1", "push: there is no file or folder none.tar\n"},
		{"push empty localhost:1/a:1", "push: empty is a directory: name a file"},
		{"push config.yaml localhost:1/a:1", "push: config.yaml: it is no archive of a package, which kubectl addon package writes"},
		{"pull none.tar", "pull: there is no file or folder none.tar\n"},
		{"pull localhost:1/a:1 --insecure", "pull: the registry localhost:1 cannot be reached: "},
		{"pull localhost:1/a@sha256:1 --insecure", `pull: "localhost:1/a@sha256:1": invalid checksum digest length`},
		{"push addons.tar team/addons:1", `push: "team/addons:1": the registry is missing, as in registry.example.com/addons:1.0.0`},
		{"pull oci://team/addons:1", `pull: "team/addons:1": the registry is missing`},
	} {
		expectRun(t, test.command, "kubectl addon "+test.want)
	}
	expectRun(t, "lint broken.yaml -o jsonpath={.items[0].line}", "5")
}
