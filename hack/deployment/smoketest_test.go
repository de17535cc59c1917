package deployment

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/engine"
)

// Nothing of helm test is part of a release, and its rights are those of its two checks.
func TestHelmTestHasAPodAndItsRights(t *testing.T) {
	chart, values, err := load("elsewhere", "")
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.Render(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	tests := objects{}
	for file, content := range rendered {
		if filepath.Base(filepath.Dir(file)) != "tests" {
			continue
		}
		for _, document := range documents(content) {
			tests.add(t, document)
		}
	}
	want := []string{
		"ClusterRole//interlock-smoke-test", "ClusterRoleBinding//interlock-smoke-test", "Pod/elsewhere/interlock-smoke-test",
		"Role/elsewhere/interlock-smoke-test", "RoleBinding/elsewhere/interlock-smoke-test", "ServiceAccount/elsewhere/interlock-smoke-test",
	}
	if got := tests.keys(); !slices.Equal(got, want) {
		t.Fatalf("helm test creates %q, want %q", got, want)
	}
	for key, test := range tests {
		annotations, _ := test["metadata"].(object)["annotations"].(object)
		if annotations["helm.sh/hook"] != "test" || !strings.Contains(annotations["helm.sh/hook-delete-policy"].(string), "hook-succeeded") {
			t.Errorf("%s: annotations %v", key, annotations)
		}
	}
	rights := rightsOf(tests, "interlock-smoke-test")
	if want := []string{"create clustermanagementaddons *", "get leases interlock-addon-manager"}; !slices.Equal(rights, want) {
		t.Errorf("rights %q, want %q", rights, want)
	}
	container := tests["Pod/elsewhere/interlock-smoke-test"]["spec"].(object)["containers"].([]any)[0].(object)
	if container["image"] != "interlock.test/addon-manager:0.1.0" || container["args"].([]any)[0] != "smoke-test" {
		t.Errorf("container %v", container)
	}
}
