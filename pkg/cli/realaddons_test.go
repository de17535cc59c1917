package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/kustomization"
)

// shapes are folders of add-ons as projects of Open Cluster Management have them: fluid with an AddOnTemplate for some clusters,
// otel with a kustomization, kueue as a Helm chart with a hook and a limit on Kubernetes, and device with plain manifests.
func shapes() map[string]string {
	registration := func(name string) string { return strings.ReplaceAll(registrationHead, "NAME", name) }
	template := func(name, addOn string) string {
		return "---\napiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\nmetadata: {name: " + name +
			", labels: {app.kubernetes.io/version: 1.0.0}}\nspec:\n  addonName: " + addOn + "\n  agentSpec: {workload: {manifests: []}}\n"
	}
	const resource = "group: addon.open-cluster-management.io, resource: addontemplates"
	const role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: NAME}\nrules: []\n"
	return map[string]string{
		"fluid/addon.yaml": registration("fluid") + "spec:\n  supportedConfigs: [{" + resource + ", defaultConfig: {name: fluid}}]\n" +
			"  installStrategy: {type: Placements, placements: [{name: gke, namespace: default, configs: [{" + resource + ", name: fluid-gke}]}]}\n",
		"fluid/templates.yaml":    template("fluid", "fluid") + template("fluid-gke", "fluid"),
		"otel/kustomization.yaml": "resources: [addon.yaml, role.yaml]\nlabels: [{pairs: {team: blue}}]\n",
		"otel/addon.yaml": registration("otel") + "    addon.open-cluster-management.io/dependencies: '[{name: kueue, message: m}]'\n" +
			"spec: {installStrategy: {type: Manual}}\n",
		"otel/role.yaml":             strings.Replace(role, "NAME", "otel", 1),
		"kueue/Chart.yaml":           "apiVersion: v2\nname: kueue\nversion: 1.0.0\nkubeVersion: '>=1.29.0-0'\n",
		"kueue/templates/addon.yaml": registration("kueue") + "spec: {installStrategy: {type: Manual}}\n",
		"kueue/templates/test.yaml":  "apiVersion: v1\nkind: Pod\nmetadata: {name: test, annotations: {helm.sh/hook: test}}\n",
		"device/deploy/addon.yaml":   registration("device") + "spec: {installStrategy: {type: Manual}}\n",
		"device/deploy/role.yaml":    strings.Replace(role, "NAME", "device", 1),
		"addons.yaml": "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\n" +
			"clusterKinds: [{name: edge, kubernetes: 1.31.2}]\naddOns: [{name: fluid}, {name: otel}, {name: device}]\n",
	}
}

// All verbs work on the folders of real add-ons, and the manifests have all that the add-ons need, and nothing that no hub accepts.
func TestShapesOfRealAddOns(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFiles(t, shapes())
	for _, folder := range []string{"fluid", "otel", "device"} {
		if got := run(t, "lint", folder); strings.Contains(got, "exit code") {
			t.Error(got)
		}
		expectRun(t, "index build "+folder, folder+" 1.0.0 was added\n")
	}
	expectRun(t, "index build --chart kueue", "", "kueue 1.0.0 was added\n", "Pod test is a Helm hook (test)")
	expectRun(t, "resolve", "CLUSTERS", "addons.lock was written.")
	expectRun(t, "build --locked --format kustomize", "manifests/00/device.yaml\nmanifests/00/fluid.yaml\nmanifests/00/kueue.yaml\n"+
		"manifests/01/otel.yaml\n")
	expectRun(t, "verify --to manifests", "0 differences.\n")
	expectRun(t, "package", "sha256:", "addons.tar has 4 releases")
	built, err := kustomization.Build("manifests")
	if err != nil {
		t.Fatal(err)
	}
	var objects []string
	for _, object := range built {
		objects = append(objects, fmt.Sprintf("%s/%s%s", object.GetKind(), object.GetName(), object.GetLabels()["team"]))
	}
	slices.Sort(objects)
	want := []string{
		"AddOnTemplate/fluid", "AddOnTemplate/fluid-gke", "ClusterManagementAddOn/device", "ClusterManagementAddOn/fluid",
		"ClusterManagementAddOn/kueue", "ClusterManagementAddOn/otelblue", "ClusterRole/device", "ClusterRole/otelblue",
	}
	if !slices.Equal(objects, want) {
		t.Errorf("got  %q\nwant %q", objects, want)
	}
}
