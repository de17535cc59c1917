package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/kustomization"
)

func TestBuildWritesLayers(t *testing.T) {
	resolvable(t)
	expectRun(t, "build", "kubectl addon build: addons.lock: there is no lock yet: kubectl addon resolve writes it", "exit code 2")
	expectRun(t, "resolve", "CLUSTERS")
	expectRun(t, "build --locked", "manifests/00/proxy.yaml\nmanifests/01/gateway.yaml\n")
	expectFile(t, "manifests/01/gateway.yaml",
		"kind: ClusterManagementAddOn",
		"name: gateway",
		"dependency.addon.open-cluster-management.io/version: 1.0.0")
	expectRun(t, "build --format kustomize --to k", "k/00/proxy.yaml\nk/01/gateway.yaml\n")
	built, err := kustomization.Build("k")
	if err != nil || len(built) != 2 {
		t.Errorf("%d objects, %v", len(built), err)
	}
	expectRun(t, "build --format argocd --to a", "a/00/proxy.yaml\n")
	expectFile(t, "a/00/proxy.yaml", `argocd.argoproj.io/sync-wave: "0"`)
	expectFile(t, "a/01/gateway.yaml", `argocd.argoproj.io/sync-wave: "1"`)
	expectRun(t, "build --format flux --to clusters/f --flux-source fleet", "clusters/f/00/proxy.yaml\n")
	expectFile(t, "clusters/f/flux.yaml",
		"name: addons-01\n",
		"dependsOn:\n  - name: addons-00\n",
		"path: ./clusters/f/01\n",
		"name: fleet\n")
}

func expectFile(t *testing.T, path string, parts ...string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(string(content), part) {
			t.Errorf("%s: no %q in\n%s", path, part, content)
		}
	}
}

// TestBuildReplacesItsFolder tests that a folder is replaced atomically, and that files of other programs are not lost.
func TestBuildReplacesItsFolder(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	expectRun(t, "build", "manifests/00/proxy.yaml\n")
	if err := os.Rename("manifests/00/proxy.yaml", "manifests/00/old.yaml"); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "build", "manifests/00/proxy.yaml\n")
	if files, err := filepath.Glob("manifests/*/*.yaml"); err != nil || len(files) != 2 {
		t.Error(files, err)
	}
	for _, folder := range []string{"gateway", "index", "."} {
		expectRun(t, "build --to "+folder, "kubectl addon build: "+folder+" has files that kubectl addon build has not written", "exit code 1")
	}
}

// Files of others outside of the layers stay. Those in a layer would be applied.
func TestBuildKeepsFilesOfOthers(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	expectRun(t, "build", "manifests/00/proxy.yaml\n")
	writeFiles(t, map[string]string{
		"manifests/README.md": "read me\n", "manifests/overlays/a/b.yaml": "a: b\n", "manifests/00/own.yaml": "a: b\n",
	})
	if err := errors.Join(os.Symlink("README.md", "manifests/LIESMICH.md"), os.Chmod("manifests/README.md", 0o400)); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"kubectl", "kustomize", "flux", "kubectl"} {
		expectRun(t, "build --format "+format, "manifests/00/proxy.yaml\n")
		expectRun(t, "verify --to manifests", "0 differences.\n")
		expectFile(t, "manifests/README.md", "read me\n")
		expectFile(t, "manifests/overlays/a/b.yaml", "a: b\n")
	}
	if link, err := os.Readlink("manifests/LIESMICH.md"); err != nil || link != "README.md" {
		t.Errorf("the link: %q, %v", link, err)
	}
	if info, err := os.Stat("manifests/README.md"); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("its mode: %v, %v", info, err)
	}
	for _, gone := range []string{"manifests/00/own.yaml", "manifests/kustomization.yaml", "manifests/flux.yaml"} {
		if _, err := os.Stat(gone); err == nil {
			t.Errorf("%s is there", gone)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	expectRun(t, "build --format helm", `kubectl addon build: --format="helm": must be one of`, "exit code 2")
	expectRun(t, "build --cluster-kind none", `kubectl addon build: --cluster-kind: the lock has no kind of clusters "none"`, "exit code 2")

	// Each difference from the lock fails.
	lock, err := os.ReadFile("addons.lock")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct{ from, to string }{
		{"# Written", "# Edited"}, {"requires proxy", "needs proxy"}, {"version: 3.0.0", "version: 2.0.0"}, {"digest: " +
			"sha256:", "digest: sha256:0"},
	} {
		changed := strings.Replace(string(lock), change.from, change.to, 1)
		if err := os.WriteFile("addons.lock", []byte(changed), 0o600); err != nil || changed == string(lock) {
			t.Fatal(change, err)
		}
		expectRun(t, "build --locked", "kubectl addon build: addons.lock: the lock differs", "exit code 1")
	}
	expectRun(t, "build", "kubectl addon build: clusters of kind default: gateway 1.0.0 is locked with digest sha256:0", "exit code 1")
	if err := os.WriteFile("addons.lock", lock, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("index/addons/proxy/3.0.0.yaml"); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "build",
		"kubectl addon build: clusters of kind default: proxy 3.0.0 is locked, and the index has no such release",
		"exit code 1")
	if _, err := os.Stat("manifests"); err == nil {
		t.Error("it was built all the same")
	}
}

// TestBuildOfDifferentKinds tests kinds of clusters with different releases, because a hub has only a single object of a name.
func TestBuildOfDifferentKinds(t *testing.T) {
	resolvable(t)
	wishes := "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\nclusterKinds: [{name: " +
		"old}, {name: new}]\n" +
		"addOns: [{name: gateway}, {name: proxy, version: < 3, clusterKinds: [old]}]\n"
	if err := os.WriteFile("addons.yaml", []byte(wishes), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "resolve", "CLUSTERS", "new        proxy     3.0.0", "old        proxy     2.0.0")
	expectRun(t, "build", "kubectl addon build: ClusterManagementAddOn.addon.open-cluster-management.io proxy is another "+
		"one of proxy 2.0.0 for clusters of kind old "+
		"than of proxy 3.0.0 for clusters of kind new, and a hub has it once", "exit code 1")
	expectRun(t, "build --cluster-kind old", "manifests/00/proxy.yaml\n")
	expectFile(t, "manifests/00/proxy.yaml", "version: 2.0.0")
}

// A name may have the full length that Kubernetes allows, 253 characters. The names of its files have at most 255.
func TestLongNames(t *testing.T) {
	for _, last := range []int{59, 61} {
		t.Chdir(t.TempDir())
		name := strings.Join([]string{
			strings.Repeat("a", 63), strings.Repeat("b", 63), strings.Repeat("c", 63), strings.Repeat("d", last),
		}, ".")
		version := "1.0.0-" + strings.Repeat("r", 244)
		writeFiles(t, map[string]string{
			"a.yaml": strings.NewReplacer("NAME", name, "1.0.0", version).Replace(registrationHead) + "spec: {}\n",
			"addons.yaml": "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\naddOns: [{name: " +
				name + ", prereleases: {}}]\n",
		})
		expectRun(t, "index build a.yaml", name)
		expectRun(t, "resolve", "CLUSTERS")
		for _, format := range []string{"kubectl", "kustomize", "argocd", "flux"} {
			expectRun(t, "build --format "+format+" --to "+format, format+"/00/"+name[:200])
			expectRun(t, "verify --to "+format, "0 differences.\n")
			files, err := filepath.Glob(format + "/00/*.yaml")
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			expectFile(t, files[0], "name: "+name+"\n")
		}
		if built, err := kustomization.Build("kustomize"); err != nil || len(built) != 1 {
			t.Errorf("%d objects, %v", len(built), err)
		}
	}
	writeFiles(t, map[string]string{
		"a.yaml": strings.NewReplacer("NAME", "a", "1.0.0", "1.0.0-"+strings.Repeat("r", 245)).Replace(registrationHead) + "spec: {}\n",
	})
	expectRun(t, "index build a.yaml", "kubectl addon index build: ", "must have at most 250 characters", "exit code 1")
}
