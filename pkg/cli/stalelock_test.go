package cli

import (
	"os"
	"strings"
	"testing"
)

// The wishes changed and the lock did not: build writes what is locked, and says so.
func TestBuildWarnsOfAStaleLock(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	const head = "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\n"
	const warning = "Warning: addons.lock does not fit addons.yaml: "
	for wishes, want := range map[string]string{
		"addOns: [{name: gateway, version: < 1}]": "the locked releases do not satisfy what is wanted: gateway in version '< 1'",
		"addOns: [{name: proxy}]":                 "clusters of kind default: gateway is locked, and no wish needs it",
		"addOns: [{name: gateway}, {name: new}]":  "the locked releases do not satisfy what is wanted: new",
		"addOns: [{name: gateway}]\nclusterKinds: [{name: default, kubernetes: 1.30.0}]": "" +
			"clusters of kind default are others than those of the wishes",
		"addOns: [{name: gateway}]\nclusterKinds: [{name: other}]": `the lock has no kind of clusters "other"`,
	} {
		writeFiles(t, map[string]string{"addons.yaml": head + wishes + "\n"})
		expectRun(t, "build", "manifests/00/proxy.yaml", warning+want, ": run kubectl addon resolve, and review what changes\n")
		expectRun(t, "build --locked --to locked", "kubectl addon build: ")
	}
	for _, wishes := range []string{"addOns: [{name: gateway}]", "addOns: [{name: gateway, version: 1.x}]"} {
		writeFiles(t, map[string]string{"addons.yaml": head + wishes + "\n"})
		if got := run(t, "build"); strings.Contains(got, "Warning") {
			t.Errorf("%s: %s", wishes, got)
		}
	}
	writeFiles(t, map[string]string{"addons.yaml": head + "addOns: []\n"})
	expectRun(t, "build", "kubectl addon build: addons.yaml: line 3: addOns: name at least one add-on", "exit code 2")
	if err := os.Remove("addons.yaml"); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "build addons.yaml", "kubectl addon build: there is no file or folder addons.yaml", "exit code 2")
	if got := run(t, "build"); got != "manifests/00/proxy.yaml\nmanifests/01/gateway.yaml\n" {
		t.Errorf("without wishes: %s", got)
	}
}
