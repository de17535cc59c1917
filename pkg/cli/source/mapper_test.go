package source

import (
	"os"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// TestMapperHasKindsOfReaders tests that the mapper has all kinds that readers may read. The plugin treats a missing kind as if the hub did
// not serve it.
func TestMapperHasKindsOfReaders(t *testing.T) {
	raw, err := os.ReadFile("../../../deploy/plugin-reader/clusterrole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.Unmarshal(raw, role); err != nil {
		t.Fatal(err)
	}
	restMapper, checked := mapper(), 0
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			if !strings.HasSuffix(group, "open-cluster-management.io") {
				continue
			}
			for _, resource := range rule.Resources {
				if _, err := restMapper.KindFor(schema.GroupVersionResource{Group: group, Resource: resource}); err != nil {
					t.Error(err)
				}
				checked++
			}
		}
	}
	if checked == 0 {
		t.Error("the role has no kinds of Open Cluster Management")
	}
}
