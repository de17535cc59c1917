package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// ManagerRoles are the files of deploy/hub with the rights of addon-manager, with every feature enabled except the
// rights of agents.
var ManagerRoles = []string{
	"clusterrole.yaml", "guard-policy-clusterrole.yaml", "guard-webhook-clusterrole.yaml", "graft-clusterrole.yaml", "webhook-ca-clusterrole.yaml",
	"reports-clusterrole.yaml", "lifecycle-clusterrole.yaml",
}

// ClusterRole returns the first ClusterRole of these files, with the rules of all of them.
func ClusterRole(folder string, files ...string) (*rbacv1.ClusterRole, error) {
	var merged *rbacv1.ClusterRole
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return nil, err
		}
		role := &rbacv1.ClusterRole{}
		if err := yaml.UnmarshalStrict(content, role); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if merged == nil {
			merged = role
		} else {
			merged.Rules = append(merged.Rules, role.Rules...)
		}
	}
	return merged, nil
}

// Policies returns all admission policies of a folder like deploy/hub, with their bindings, like a user gets them.
func Policies(folder string) ([]client.Object, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var policies []client.Object
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(content, &object.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if strings.HasPrefix(object.GetKind(), "ValidatingAdmissionPolicy") {
			policies = append(policies, object)
		}
	}
	if len(policies) == 0 {
		return nil, fmt.Errorf("no policies in %s", folder)
	}
	return policies, nil
}
