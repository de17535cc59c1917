package deployment

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Where the runbook is read on another address, one line of the kustomization is changed.
func TestOneLineSetsTheRunbookOfAllAlerts(t *testing.T) {
	const (
		here  = "https://github.com/open-cluster-management-io/interlock/blob/main/docs/runbook.md"
		there = "https://wiki.example.com/interlock"
	)
	files := filesys.MakeFsInMemory()
	for _, name := range []string{"kustomization.yaml", "prometheusrule.yaml"} {
		content, err := os.ReadFile("../../deploy/alerts/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := files.WriteFile(name, []byte(strings.Replace(string(content), "address="+here, "address="+there, 1))); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	made, err := built.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	alerts, links := strings.Count(string(made), "- alert: "), strings.Count(string(made), "runbook_url: "+there+"#interlock")
	if alerts < 18 || links != alerts || strings.Contains(string(made), here) || strings.Contains(string(made), "kind: ConfigMap") {
		t.Errorf("%d alerts and %d links to the other address in\n%s", alerts, links, made)
	}
}
