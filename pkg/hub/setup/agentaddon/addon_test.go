package agentaddon

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/yaml"
)

// deployed reads the first manifest of a kind from an AddOnTemplate.
func deployed[T any](t *testing.T, template *unstructured.Unstructured, kind string) (object T) {
	t.Helper()
	return named[T](t, template, kind, "")
}

// named reads the manifest of a kind with a name. Without a name, it reads the first manifest of the kind.
func named[T any](t *testing.T, template *unstructured.Unstructured, kind, name string) (object T) {
	t.Helper()
	var typed ocmv1alpha1.AddOnTemplate
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template.Object, &typed); err != nil {
		t.Fatal(err)
	}
	for _, manifest := range typed.Spec.AgentSpec.Workload.Manifests {
		var meta struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal(manifest.Raw, &meta); err != nil {
			t.Fatal(err)
		}
		if meta.Kind == kind && (name == "" || meta.Metadata.Name == name) {
			if err := yaml.UnmarshalStrict(manifest.Raw, &object); err != nil {
				t.Fatal(err)
			}
			return object
		}
	}
	t.Fatalf("the AddOnTemplate has no %s %s", kind, name)
	return object
}

func TestTheInstallerAppliesItsImage(t *testing.T) {
	const image = `mirror/agent@sha256:$1`
	template, err := (&installer{installation: Installation{Image: image}}).template()
	if err != nil {
		t.Fatal(err)
	}
	deployment := deployed[appsv1.Deployment](t, template, "Deployment")
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != image {
		t.Errorf("image %q", got)
	}
}

func TestTheInstallerAppliesItsPlacement(t *testing.T) {
	for _, test := range []struct {
		placement types.NamespacedName
		want      map[string]any
	}{
		{types.NamespacedName{}, map[string]any{"type": "Manual"}},
		{types.NamespacedName{Namespace: "a", Name: "b"}, map[string]any{
			"type": "Placements", "placements": []any{map[string]any{"namespace": "a", "name": "b"}},
		}},
	} {
		registration, err := (&installer{installation: Installation{Placement: test.placement}}).registration()
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := unstructured.NestedMap(registration.Object, "spec", "installStrategy")
		if difference := cmp.Diff(test.want, got); err != nil || difference != "" {
			t.Errorf("%v: error %v, wanted (-) and got (+):\n%s", test.placement, err, difference)
		}
	}
}

func TestTheAgentHasTheSameRightsHoweverItIsInstalled(t *testing.T) {
	template, err := (&installer{}).template()
	if err != nil {
		t.Fatal(err)
	}
	onManaged := deployed[rbacv1.ClusterRole](t, template, "ClusterRole")
	if difference := cmp.Diff(role(t, "agent/managed-clusterrole.yaml").Rules, onManaged.Rules); difference != "" {
		t.Errorf("copy the rules of deploy/agent/managed-clusterrole.yaml (-) to deploy/agent-addon/addontemplate.yaml (+):\n%s", difference)
	}
	const objects = "interlock-addon-agent-objects"
	if !cmp.Equal(role(t, "agent/managed-objects-clusterrole.yaml"), named[rbacv1.ClusterRole](t, template, "ClusterRole", objects)) {
		t.Error("copy deploy/agent/managed-objects-clusterrole.yaml to deploy/agent-addon/addontemplate.yaml")
	}
	first := deployed[rbacv1.ClusterRoleBinding](t, template, "ClusterRoleBinding")
	binding := named[rbacv1.ClusterRoleBinding](t, template, "ClusterRoleBinding", objects)
	if first.Subjects[0] != binding.Subjects[0] || binding.RoleRef.Name != objects {
		t.Errorf("%v may list objects", binding)
	}
	onHub := role(t, "hub/agent-hub-clusterrole.yaml")
	if difference := cmp.Diff(role(t, "agent/hub-role.yaml").Rules, onHub.Rules); difference != "" {
		t.Errorf("copy the rules of deploy/agent/hub-role.yaml (-) to deploy/hub/agent-hub-clusterrole.yaml (+):\n%s", difference)
	}
	if onHub.Name != hubClusterRole {
		t.Errorf("deploy/hub/agent-hub-clusterrole.yaml is named %q, and %q is bound", onHub.Name, hubClusterRole)
	}
}

func role(t *testing.T, file string) (role rbacv1.ClusterRole) {
	t.Helper()
	content, err := os.ReadFile("../../../../deploy/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, &role); err != nil {
		t.Fatal(err)
	}
	return role
}
