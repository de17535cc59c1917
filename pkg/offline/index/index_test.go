package index_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/offline/objectfiles"
)

// manifestOf returns a registration. An empty version or dependencies set no annotation.
func manifestOf(name, version, dependencies string) string {
	annotations := map[bool]string{true: fmt.Sprintf("    dependency.addon.open-cluster-management.io/version: %q\n"+
		"", version)}[version != ""]
	if dependencies != "" {
		annotations += fmt.Sprintf("    addon.open-cluster-management.io/dependencies: %q\n", dependencies)
	}
	return "---\napiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\nmetadata:\n  name: " + name +
		"\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: x\n" + annotations + "spec: " +
		"{installStrategy: {type: Manual}}\n"
}

func templateOf(name, addOn, version string) string {
	return "---\napiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\nmetadata: {name: " + name +
		", labels: {app.kubernetes.io/version: " + version + "}}\nspec: {addonName: " + addOn + "}\n"
}

// objects reads the manifests in files.
func objects(t testing.TB, files map[string]string) []manifest.Object {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, files)
	t.Chdir(folder)
	read, _, err := objectfiles.Read([]string{"."}, strings.NewReader(""), "")
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func write(t testing.TB, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBuild(t *testing.T) {
	config := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  string // releases with the number of their manifests, or the error
	}{
		"a version in the registration": {map[string]string{"a.yaml": manifestOf("a", "1.0.0", "")}, "a 1.0.0 (1)"},
		"a version by flag":             {map[string]string{"a.yaml": manifestOf("flagged", "", "")}, "flagged 3.2.1 (1)"},
		"no version": {
			map[string]string{"a.yaml": manifestOf("a", "", "")},
			`a.yaml: add-on "a": it reports no version: set the annotation dependency.addon.open-cluster-management.io/version`,
		},
		"that of OCM": {map[string]string{"a.yaml": manifestOf("a", "@ocm", "")}, `a.yaml: add-on "a": its version is @ocm`},
		"a version that is none": {
			map[string]string{"a.yaml": manifestOf("a", "latest", "")},
			`a.yaml: add-on "a": version: "latest": must be a semantic version`,
		},
		"a path as version": {
			map[string]string{"a.yaml": manifestOf("a", "../../1.0.0", "")},
			`a.yaml: add-on "a": version: "../../1.0.0": must be`,
		},
		"other objects of its file": {
			map[string]string{"a.yaml": manifestOf("a", "1.0.0", "") + config, "b.yaml": manifestOf("b", "1.0.0", "")},
			"a 1.0.0 (2), b 1.0.0 (1)",
		},
		"other objects of its folder": {
			map[string]string{"a/a.yaml": manifestOf("a", "1.0.0", ""), "a/c.yaml": config, "b/b.yaml": manifestOf("b", "1.0.0", "")},
			"a 1.0.0 (2), b 1.0.0 (1)",
		},
		"an object of either": {
			map[string]string{"a.yaml": manifestOf("a", "1.0.0", ""), "b.yaml": manifestOf("b", "1.0.0", ""), "c.yaml": config},
			`c.yaml: ConfigMap "c" may belong to a or b`,
		},
		"twice": {
			map[string]string{"a.yaml": manifestOf("a", "1.0.0", ""), "b.yaml": manifestOf("a", "2.0.0", "")},
			`b.yaml: "a" is registered in a.yaml too`,
		},
		"none": {map[string]string{"c.yaml": config}, "there is no ClusterManagementAddOn"},
		"a template of its own": {map[string]string{"a.yaml": strings.Replace(manifestOf("a", "1.0.0", ""), "spec: {",
			"spec: {supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates}], "+
				"", 1), "z/t.yaml": templateOf("t", "a", "2.0.0")}, "a 2.0.0 (2)"},
		"a template of a registration in v1beta1": {map[string]string{"a.yaml": strings.NewReplacer("v1alpha1", "v1beta1", "spec: {",
			"spec: {defaultConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, name: t2}], "+
				"").Replace(manifestOf("a", "", "")) +
			templateOf("t1", "a", "1.0.0") + templateOf("t2", "a", "2.0.0")}, "a 2.0.0 (2), without t1"},
		"two templates, and none is named": {
			map[string]string{"a.yaml": manifestOf("a", "1.0.0", "") + templateOf("t1", "a", "1.0.0") + templateOf("t2", "a", "2.0.0")},
			`a.yaml: add-on "a": it has 2 AddOnTemplates`,
		},
		"a template of another": {
			map[string]string{"a.yaml": manifestOf("a", "1.0.0", "") + templateOf("t", "b", "1.0.0")},
			`a.yaml: AddOnTemplate "t": spec.addonName: "b" has no ClusterManagementAddOn here`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			entries, err := index.Build(objects(t, test.files), "x", map[string]string{"flagged": "3.2.1"})
			var got []string
			for _, entry := range entries {
				got = append(got, fmt.Sprintf("%s %s (%d)", entry.Name, entry.Version, len(entry.Manifests)))
				for _, template := range entry.UnnamedTemplates {
					got = append(got, "without "+template)
				}
			}
			if err != nil {
				got = []string{err.Error()}
			}
			if joined := strings.Join(got, ", "); joined != test.want && (err == nil || !strings.HasPrefix(joined, test.want)) {
				t.Errorf("got  %s\nwant %s", joined, test.want)
			}
		})
	}
}

// newIndex makes an index of a registration, and returns its folder.
func newIndex(t testing.TB, registration string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "index")
	for _, entry := range entriesOf(t, registration) {
		if written, err := index.Write(folder, &entry.Release); err != nil || !written {
			t.Fatal(written, err)
		}
	}
	return folder
}

// A release that was changed by hand is refused. Every change is detected.
func TestAChangedReleaseIsRefused(t *testing.T) {
	for name, test := range map[string]struct{ old, replacement, want string }{
		"another declaration":     {">= 1", ">= 2", "digest: the file was changed after it was made"},
		"another version":         {"version: 1.0.0", "version: 1.0.1", "digest: the file was changed after it was made"},
		"another digest":          {"sha256:", "sha256:0", "digest: the file was changed after it was made"},
		"an unknown field":        {"\nname: a\n", "\nname: a\nlabel: b\n", `unknown field "label"`},
		"a field twice":           {"kind: AddOnRelease", "kind: AddOnRelease\nkind: AddOnRelease", `key "kind" already set in map`},
		"a field of another type": {"digest: ", "digest: 5 #", "digest: must be a string, and is a number: put it in quotes"},
		"another kind": {
			"kind: AddOnRelease",
			"kind: AddOnLock",
			`apiVersion and kind: must be dependency.addon.open-cluster-management.io/v1alpha1 and AddOnRelease, not`,
		},
		"no YAML":                   {"apiVersion", "[", "yaml: "},
		"a source, which is a note": {"source: x", "source: z", ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder := newIndex(t, manifestOf("a", "1.0.0", "[{name: b, version: '>= 1'}]"))
			path := filepath.Join(folder, "addons", "a", "1.0.0.yaml")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(content, []byte(test.old)) {
				t.Fatalf("no %q in %s", test.old, content)
			}
			write(t, folder, map[string]string{"addons/a/1.0.0.yaml": strings.Replace(string(content), test.old, test.replacement, 1)})
			_, err = index.Read(folder)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestAFileInAnotherPlaceIsRefused(t *testing.T) {
	folder := newIndex(t, manifestOf("a", "1.0.0", ""))
	if err := os.Rename(filepath.Join(folder, "addons/a/1.0.0.yaml"), filepath.Join(folder, "addons/a/2.0.0.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := index.Read(folder); err == nil || !strings.Contains(err.Error(), "a 1.0.0 belongs to") {
		t.Error(err)
	}
	if _, err := index.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is no index") {
		t.Error(err)
	}
}

// A version of an index never changes, because locks name its digest.
func TestAVersionStaysAsItIs(t *testing.T) {
	folder := newIndex(t, manifestOf("a", "1.0.0", ""))
	for dependencies, want := range map[string]string{"": "", "[{name: b}]": "a 1.0.0 is there with another content"} {
		entries, err := index.Build(objects(t, map[string]string{"a.yaml": manifestOf("a", "1.0.0", dependencies)}), "y", nil)
		if err != nil {
			t.Fatal(err)
		}
		written, err := index.Write(folder, &entries[0].Release)
		if written || (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %t, %v", dependencies, written, err)
		}
	}
}

// v1.0.0 and 1.0.0 are one version.
func TestAVersionHasOneSpelling(t *testing.T) {
	folder := newIndex(t, manifestOf("a", "1.0.0+x", ""))
	for version, want := range map[string]string{
		"v1.0.0+x": "addons/a/1.0.0+x.yaml: a v1.0.0+x is there in another spelling: give it another version", "1.0.0+y": "", "1.0.1": "",
	} {
		written, err := index.Write(folder, &entriesOf(t, manifestOf("a", version, ""))[0].Release)
		if written != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %t, %v", version, written, err)
		}
	}
	write(t, folder, map[string]string{"addons/a/README.md": "no release"})
	if _, err := index.Write(folder, &entriesOf(t, manifestOf("a", "2.0.0", ""))[0].Release); err != nil {
		t.Error(err)
	}
}

func TestWishesAreReadStrictly(t *testing.T) {
	const begin = "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\n"
	for content, want := range map[string]string{
		"addOns: [{name: a, version: 1.x}]": "",
		"addOns: []":                        "line 3: addOns: name at least one add-on",
		"addOns: [{version: 1.x}]":          "line 3: addOns[0].name: name an add-on",
		"addOns: [{name: a, range: 1.x}]":   `line 3: unknown field "addOns[0].range"`,
		"addOns: [{name: a, version: 1.0}]": "line 3: addOns.version: must be a string, and is a number: put it in quotes",
		"addOns: [{name: a, clusterKinds: [b]}]": `line 3: addOns[0].clusterKinds[0]: "b": there is no ` +
			`such kind of clusters`,
		"addOns: [{name: a}]\nclusterKinds: [{name: b}, {name: b}]": `line 4: clusterKinds[1].name: "b": must be a name that ` +
			`no other kind has`,
		"addOns: [{name: a}]\nclusterKinds: [{name: b, kubernetes: newest}]": "" +
			`line 4: clusterKinds[0].kubernetes: "newest" is no version; 1.36.0 is one`,
		"addOns: [{name: a, version: '>= one'}]": `line 3: addOns[0].version: ">= one": must be a range of semantic versions, such as ` +
			`">= 1.2 < 2.0", "^1.2" or "1.2.x || 1.4.x"`,
	} {
		path := filepath.Join(t.TempDir(), "addons.yaml")
		write(t, "/", map[string]string{path: begin + content})
		_, _, err := index.ReadWishes(path)
		if (err != nil) != (want != "") || err != nil && err.Error() != path+": "+want {
			t.Errorf("%s: got %v, want %s", content, err, want)
		}
	}
}

// Read and ReadWishes return an error for any invalid content of a file.
func FuzzRead(f *testing.F) {
	f.Add("apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\naddOns: [{name: a}]")
	f.Add("apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnRelease\nname: a\nmanifests: [{kind: x}]")
	f.Add("a: &a [*a]")
	f.Fuzz(func(t *testing.T, content string) {
		folder := t.TempDir()
		write(t, folder, map[string]string{"addons/a/1.0.0.yaml": content, "addons.yaml": content})
		if wishes, _, err := index.ReadWishes(filepath.Join(folder, "addons.yaml")); err == nil && len(wishes.ClusterKinds) == 0 {
			t.Error("no kind of clusters")
		}
		if entries, err := index.Read(folder); err == nil && len(entries) != 1 {
			t.Error(entries)
		}
	})
}
