package index_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

func TestHooksAreNoPartOfARelease(t *testing.T) {
	const job = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: {helm.sh/hook: 'TYPES'}}\n"
	for types, advice := range map[string]string{
		"pre-delete":                "the add-on is installed without it",
		"test":                      "the add-on is installed without it",
		"pre-install,pre-upgrade":   "apply it before the release",
		"pre-rollback, pre-install": "apply it before the release",
		"post-install":              "apply it after the release",
		"crd-install":               "move it to the folder crds",
		"":                          "the add-on is installed without it",
	} {
		read := objects(t, map[string]string{"a.yaml": manifestOf("a", "1.0.0", "") + strings.Replace(job, "TYPES", types, 1)})
		kept, messages := index.WithoutHooks(read)
		if len(kept) != 1 || kept[0].GetKind() != "ClusterManagementAddOn" {
			t.Errorf("%s: kept %v", types, kept)
		}
		prefix := "left out: a.yaml: Job j is a Helm hook (" + types + "): "
		if len(messages) != 1 || !strings.HasPrefix(messages[0], prefix) || !strings.Contains(messages[0], advice) {
			t.Errorf("%s: %q", types, messages)
		}
	}
}

// A hook in an AddOnTemplate would run on each managed cluster at the installation.
func TestHooksAreNotDeployed(t *testing.T) {
	const (
		job  = "{apiVersion: batch/v1, kind: Job, metadata: {name: j, annotations: {helm.sh/hook: pre-delete}}}"
		role = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}"
		list = "{manifests: [" + role + ", " + job + ", " + role + "]}"
	)
	for object, path := range map[string][]string{
		"apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\nmetadata: {name: t}\n" +
			"spec: {addonName: a, agentSpec: {workload: " + list + "}}\n": {"spec", "agentSpec", "workload", "manifests"},
		"apiVersion: work.open-cluster-management.io/v1\nkind: ManifestWork\nmetadata: {name: t, namespace: ns}\n" +
			"spec: {workload: " + list + "}\n": {"spec", "workload", "manifests"},
	} {
		kept, messages := index.WithoutHooks(objects(t, map[string]string{"a.yaml": object}))
		manifests, _, err := unstructured.NestedSlice(kept[0].Object, path...)
		if err != nil || len(manifests) != 2 {
			t.Error(manifests, err)
		}
		want := "left out: a.yaml: " + kept[0].GetKind() + " t: Job j is a Helm hook (pre-delete): the add-on is installed without it"
		if len(messages) != 1 || messages[0] != want {
			t.Errorf("got  %q\nwant %s", messages, want)
		}
	}
}
