package ocm

import (
	"context"
	"os"
	"path/filepath"
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
