package kustomization

import (
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	objects, err := Build("../../../deploy/hub")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, object := range objects {
		kinds[object.GetKind()] = true
	}
	for _, kind := range []string{"Namespace", "CustomResourceDefinition", "ClusterRole", "Deployment"} {
		if !kinds[kind] {
			t.Errorf("no %s among the objects of deploy/hub: %v", kind, kinds)
		}
	}
}

func TestBuildNamesTheFolderThatFails(t *testing.T) {
	if _, err := Build("../../../deploy/nowhere"); err == nil || !strings.Contains(err.Error(), "../../../deploy/nowhere") {
		t.Errorf("error %v", err)
	}
}
