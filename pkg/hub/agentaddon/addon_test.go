package agentaddon

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/yaml"
)

// deployed reads the manifest of a kind from the AddOnTemplate.
func deployed[T any](t *testing.T, kind string) (object T) {
	t.Helper()
	template := read[ocmv1alpha1.AddOnTemplate](t, "agent-addon/addontemplate.yaml")
	for _, manifest := range template.Spec.AgentSpec.Workload.Manifests {
		var meta struct{ Kind string }
		if err := yaml.Unmarshal(manifest.Raw, &meta); err != nil {
			t.Fatal(err)
		}
		if meta.Kind == kind {
			if err := yaml.UnmarshalStrict(manifest.Raw, &object); err != nil {
				t.Fatal(err)
			}
			return object
		}
	}
	t.Fatalf("the AddOnTemplate has no %s", kind)
	return object
}

func TestTheAgentHasTheSameRightsHoweverItIsInstalled(t *testing.T) {
	onManaged := deployed[rbacv1.ClusterRole](t, "ClusterRole")
	if difference := cmp.Diff(read[rbacv1.ClusterRole](t, "agent/managed-clusterrole.yaml").Rules, onManaged.Rules); difference != "" {
		t.Errorf("copy the rules of deploy/agent/managed-clusterrole.yaml (-) to deploy/agent-addon/addontemplate.yaml (+):\n%s", difference)
	}
	onHub := read[rbacv1.ClusterRole](t, "hub/agent-hub-clusterrole.yaml")
	if difference := cmp.Diff(read[rbacv1.ClusterRole](t, "agent/hub-role.yaml").Rules, onHub.Rules); difference != "" {
		t.Errorf("copy the rules of deploy/agent/hub-role.yaml (-) to deploy/hub/agent-hub-clusterrole.yaml (+):\n%s", difference)
	}
	if onHub.Name != hubClusterRole {
		t.Errorf("deploy/hub/agent-hub-clusterrole.yaml is named %q, and %q is bound", onHub.Name, hubClusterRole)
	}
}

// read reads an object from a file of deploy.
func read[T any](t *testing.T, file string) (object T) {
	t.Helper()
	content, err := os.ReadFile("../../../deploy/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, &object); err != nil {
		t.Fatal(err)
	}
	return object
}
