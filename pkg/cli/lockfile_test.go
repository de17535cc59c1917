package cli

import (
	"os"
	"strings"
	"testing"
)

// TestDamagedLockIsExplained tests that a lock which cannot be read is not taken for one of another form.
func TestDamagedLockIsExplained(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	content, err := os.ReadFile("addons.lock")
	if err != nil {
		t.Fatal(err)
	}
	lock := string(content)
	for damaged, want := range map[string]string{
		"":                      "it is empty",
		lock + "---\n" + lock:   "it has 2 documents, and must have one",
		"<<<<<<< ours\n" + lock: "line 1: a merge has left a conflict here",
		strings.Replace(lock, "/v1alpha1", "/v9", 1): "apiVersion and kind: must be ",
	} {
		writeFiles(t, map[string]string{"addons.lock": damaged})
		expectRun(t, "resolve --locked", "CLUSTERS", "addons.lock: the lock differs", "  it cannot be read: "+want, "exit code 1")
		expectRun(t, "build", "kubectl addon build: addons.lock: "+want, "exit code 2")
		expectRun(t, "resolve", "CLUSTERS", "Warning: the file is written anew, because it could not be read: addons.lock: "+want,
			"addons.lock was written.")
		expectRun(t, "resolve --locked", "CLUSTERS", "addons.lock is current.")
	}
	writeFiles(t, map[string]string{"addons.lock": "\ufeff" + lock})
	expectRun(t, "resolve --locked", "CLUSTERS", "addons.lock is current.")
}

func TestWishesHaveOneDocument(t *testing.T) {
	resolvable(t)
	wishes, err := os.ReadFile("addons.yaml")
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, map[string]string{
		"two.yaml":  string(wishes) + "---\n" + string(wishes),
		"one.yaml":  "# a comment\n---\n" + string(wishes) + "---\n# the end\n",
		"list.yaml": "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\naddOns: {}\n",
	})
	expectRun(t, "resolve two.yaml", "kubectl addon resolve: two.yaml: it has 2 documents, and must have one", "exit code 2")
	expectRun(t, "resolve one.yaml", "CLUSTERS")
	expectRun(t, "resolve list.yaml", "kubectl addon resolve: list.yaml: line 3: addOns: must be a list, and is object", "exit code 2")
}

// TestWorkspacesExcludeEachOther tests that the order of two workspaces does not decide which one counts.
func TestWorkspacesExcludeEachOther(t *testing.T) {
	resolvable(t)
	const registration = "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\nmetadata: {name: gateway, " +
		"annotations: {dependency.addon.open-cluster-management.io/version: 9.0.0}}\nspec: {installStrategy: {type: Manual}}\n"
	writeFiles(t, map[string]string{"gateway/a.yaml": registration, "other/a.yaml": registration})
	expectRun(t, "resolve --workspace gateway --workspace ./gateway", "CLUSTERS")
	expectRun(t, "resolve --workspace gateway --workspace other",
		"kubectl addon resolve: --workspace: gateway and other both have the add-on gateway: name one of them", "exit code 2")
}

// TestBuildWritesThroughALink tests that the folder and the lock to which links point are written.
func TestBuildWritesThroughALink(t *testing.T) {
	resolvable(t)
	for _, link := range [][2]string{{"gitops/out", "manifests"}, {"gitops/addons.lock", "addons.lock"}} {
		writeFiles(t, map[string]string{"gitops/addons.lock": ""})
		if err := os.MkdirAll("gitops/out", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	expectRun(t, "resolve", "CLUSTERS", "addons.lock was written.")
	expectRun(t, "build", "manifests/00/proxy.yaml")
	for _, link := range []string{"manifests", "addons.lock"} {
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v, %v", link, info, err)
		}
	}
	if _, err := os.Stat("gitops/out/00/proxy.yaml"); err != nil {
		t.Error(err)
	}
	expectRun(t, "verify --to gitops/out --lock gitops/addons.lock", "0 differences.\n")
	if err := os.Symlink("nowhere", "broken"); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "build --to broken", "kubectl addon build: broken is a link to something that does not exist", "exit code 1")
}
