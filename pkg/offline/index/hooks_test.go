package index_test

import (
	"strings"
	"testing"

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
