package cli

import (
	"strings"
	"testing"
)

// Lint and index build read the same of a kustomization: what kustomize builds, and no patch as a manifest.
func TestKustomizationsOfAddOns(t *testing.T) {
	t.Chdir(t.TempDir())
	head, _, _ := strings.Cut(strings.ReplaceAll(registrationHead, "NAME", "a"), "  annotations")
	const overlay = "resources: [../../base]\npatches: [{path: patch.yaml}]\n"
	const patch = "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\nmetadata:\n  name: a\n" +
		"  annotations:\n    dependency.addon.open-cluster-management.io/version: VERSION\n"
	writeFiles(t, map[string]string{
		"app/base/kustomization.yaml": "resources: [a.yaml]\n", "app/base/a.yaml": head + "spec: {}\n",
		"app/overlays/good/kustomization.yaml": overlay, "app/overlays/good/patch.yaml": strings.Replace(patch, "VERSION", "2.0.0", 1),
		"app/overlays/bad/kustomization.yaml": overlay, "app/overlays/bad/patch.yaml": strings.Replace(patch, "VERSION", "latest", 1),
		"app/overlays/bad/other.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
	})
	expectRun(t, "lint app/overlays/good", "No problems found in 1 ClusterManagementAddOns.\n")
	expectRun(t, "index build app/overlays/good", "a 2.0.0 was added")
	const wrong = "metadata.annotations[dependency.addon.open-cluster-management.io/version]: \"latest\": must be"
	expectRun(t, "lint app/overlays/bad", "app/overlays/bad/kustomization.yaml: a: error: "+wrong, "exit code 1")
	expectRun(t, "index build app/overlays/bad", "kubectl addon index build: app/overlays/bad/kustomization.yaml: a cannot be used: "+wrong)
	const advice = "each kustomization in the folder is built by itself, so name the folder of one overlay"
	writeFiles(t, map[string]string{"app/overlays/bad/patch.yaml": strings.Replace(patch, "VERSION", "3.0.0", 1)})
	expectRun(t, "lint app", "app/overlays/bad/kustomization.yaml: a: error: app/base/kustomization.yaml has a ClusterManagementAddOn", advice)
	expectRun(t, "index build app", "kubectl addon index build: app/overlays/bad/kustomization.yaml: ", advice, "exit code 1")
	writeFiles(t, map[string]string{"app/overlays/bad/kustomization.yaml": "resources: [none.yaml]\n"})
	expectRun(t, "lint app/overlays/bad",
		"app/overlays/bad/kustomization.yaml: error: build the kustomization in app/overlays/bad: ", "exit code 1")
}
