package deployment

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// To set another address of the runbook, an administrator changes one line of the kustomization.
func TestOneLineSetsTheRunbookOfAllAlerts(t *testing.T) {
	const (
		original    = "https://github.com/open-cluster-management-io/interlock/blob/main/docs/runbook.md"
		replacement = "https://wiki.example.com/interlock"
	)
	files := filesys.MakeFsInMemory()
	for _, name := range []string{"kustomization.yaml", "prometheusrule.yaml"} {
		content, err := os.ReadFile("../../deploy/alerts/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := files.WriteFile(name, []byte(strings.Replace(string(content), "address="+original, "address="+replacement, 1))); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	content, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	alerts, links := strings.Count(string(content), "- alert: "), strings.Count(string(content), "runbook_url: "+replacement+"#interlock")
	if alerts < 18 || links != alerts || strings.Contains(string(content), original) || strings.Contains(string(content), "kind: ConfigMap") {
		t.Errorf("%d alerts and %d links to the other address in\n%s", alerts, links, content)
	}
}
