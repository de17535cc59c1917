package ocm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// namespace is where the agents run.
func (m *ManagedCluster) namespace() string {
	if m.hosting != nil {
		return "klusterlet-" + m.Name
	}
	return agentNamespace
}

// values are those of the klusterlet of the managed cluster.
func (m *ManagedCluster) values() map[string]any {
	filled := values(nil)
	filled["AgentNamespace"] = m.namespace()
	if m.hosting != nil {
		filled["KlusterletName"] = "klusterlet-" + m.Name
	}
	return filled
}

// workAggregate is the role in which the rights of work's agent to apply what
// ManifestWorks contain are collected. OCM's operator has no manifest of it:
// createAggregationRule in ocm 1.2.1, pkg/operator/operators/klusterlet/
// controllers/klusterletcontroller/klusterlet_managed_reconcile.go.
func (m *ManagedCluster) workAggregate() *unstructured.Unstructured {
	role := &unstructured.Unstructured{}
	role.SetGroupVersionKind(rbacv1.SchemeGroupVersion.WithKind("ClusterRole"))
	role.SetName(fmt.Sprintf("open-cluster-management:%s-work:aggregate", m.values()["KlusterletName"]))
	role.Object["aggregationRule"] = map[string]any{"clusterRoleSelectors": []any{
		map[string]any{"matchLabels": map[string]any{"open-cluster-management.io/aggregate-to-work": "true"}},
	}}
	role.Object["rules"] = []any{}
	return role
}

// installManagement creates what OCM's operator creates where the agents run.
func (m *ManagedCluster) installManagement(ctx context.Context) error {
	patterns := []string{"klusterlet/management/*role.yaml", "klusterlet/management/*role-*.yaml", "klusterlet/management/*rolebinding*.yaml"}
	if m.hosting == nil {
		rights, err := render(m.assets.program("manifests"), m.values(), patterns...)
		if err != nil {
			return err
		}
		return createAll(ctx, m.Client, rights)
	}
	rights, err := render(m.assets.program("manifests"), m.values(), append(patterns, "klusterlet/management/*serviceaccount.yaml")...)
	if err != nil {
		return err
	}
	return createAll(ctx, m.hosting.Client, append(namespaces(m.namespace()), rights...))
}

// logins writes the kubeconfig that an agent has where it runs, and returns the flags
// that name another one for the managed cluster in hosted mode.
func (m *ManagedCluster) logins(ctx context.Context, account string) (kubeconfig string, flags []string, err error) {
	if m.hosting == nil {
		kubeconfig, err = serviceAccountKubeconfig(ctx, m.Cluster, m.files.dir, agentNamespace, account)
		return kubeconfig, nil, err
	}
	dir := filepath.Join(m.files.dir, "hosting")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	if kubeconfig, err = serviceAccountKubeconfig(ctx, m.hosting.Cluster, dir, m.namespace(), account); err != nil {
		return "", nil, err
	}
	managed, err := serviceAccountKubeconfig(ctx, m.Cluster, m.files.dir, agentNamespace, account)
	return kubeconfig, []string{"--spoke-kubeconfig", managed}, err
}
