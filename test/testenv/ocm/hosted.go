package ocm

import (
	"context"
	"os"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// workAggregate returns the role that collects the rights of work's agent to apply the content of ManifestWorks.
// OCM's operator has no manifest of it: createAggregationRule in ocm 1.2.1, pkg/operator/operators/klusterlet/
// controllers/klusterletcontroller/klusterlet_managed_reconcile.go.
func workAggregate() *unstructured.Unstructured {
	role := &unstructured.Unstructured{}
	role.SetGroupVersionKind(rbacv1.SchemeGroupVersion.WithKind("ClusterRole"))
	role.SetName("open-cluster-management:klusterlet-work:aggregate")
	role.Object["aggregationRule"] = map[string]any{"clusterRoleSelectors": []any{
		map[string]any{"matchLabels": map[string]any{"open-cluster-management.io/aggregate-to-work": "true"}},
	}}
	role.Object["rules"] = []any{}
	return role
}

// logins writes the kubeconfig of an agent for the cluster where it runs, and returns its path. In hosted mode, it
// also returns the flags with another kubeconfig for the managed cluster.
func (m *ManagedCluster) logins(ctx context.Context, account string) (string, []string, error) {
	kubeconfig, err := serviceAccountKubeconfig(ctx, m.Cluster, m.files.dir, agentNamespace, account)
	if err != nil || m.hosting == nil {
		return kubeconfig, nil, err
	}
	dir := filepath.Join(m.files.dir, "hosting")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	flags := []string{"--spoke-kubeconfig", kubeconfig}
	kubeconfig, err = serviceAccountKubeconfig(ctx, m.hosting.Cluster, dir, agentNamespace, account)
	return kubeconfig, flags, err
}
