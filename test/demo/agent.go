package main

import (
	"fmt"
	"os"
	"path/filepath"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// The rights that an addon-agent needs, as they are shipped. It gets no other rights.
var (
	agentHubRole     = filepath.Join("deploy", "agent", "hub-role.yaml")
	agentManagedRole = filepath.Join("deploy", "agent", "managed-clusterrole.yaml")
)

const agentUser = "addon-agent"

// startAgent starts a cluster's addon-agent with its own user on the hub and on the managed cluster.
func (w *world) startAgent(cluster string) error {
	onHub, err := w.agentOnHub(cluster)
	if err != nil {
		return fmt.Errorf("make addon-agent of %s a user of the hub: %w", cluster, err)
	}
	onManaged, err := w.agentOnManaged(cluster)
	if err != nil {
		return fmt.Errorf("make addon-agent a user of %s: %w", cluster, err)
	}
	agent, err := w.run(cluster+"-addon-agent", filepath.Join(w.bin, "addon-agent"), "--cluster-name", cluster,
		"--hub-kubeconfig", onHub, "--kubeconfig", onManaged, "--lease-grace-period", w.grace.String(),
		"--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--log-format", "json")
	if err == nil {
		w.services = append(w.services, agent)
	}
	return err
}

// agentOnHub creates the user of an addon-agent on the hub, and returns its kubeconfig.
func (w *world) agentOnHub(cluster string) (string, error) {
	role := &rbacv1.Role{}
	if err := readManifest(agentHubRole, role); err != nil {
		return "", err
	}
	role.Namespace = cluster
	name := agentUser + "-" + cluster
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   user(name),
	}
	if err := w.hub.Create(w.ctx, role); err != nil {
		return "", err
	}
	if err := w.hub.Create(w.ctx, binding); err != nil {
		return "", err
	}
	account, err := w.ocm.AddUser(name)
	if err != nil {
		return "", err
	}
	return account.Kubeconfig, nil
}

// agentOnManaged creates the user of an addon-agent on its managed cluster, and returns its kubeconfig.
func (w *world) agentOnManaged(cluster string) (string, error) {
	role := &rbacv1.ClusterRole{}
	if err := readManifest(agentManagedRole, role); err != nil {
		return "", err
	}
	managed, err := clientOf(w.managed[cluster].Cluster)
	if err != nil {
		return "", err
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   user(agentUser),
	}
	if err := managed.Create(w.ctx, role); err != nil {
		return "", err
	}
	if err := managed.Create(w.ctx, binding); err != nil {
		return "", err
	}
	account, err := w.managed[cluster].AddUser(agentUser)
	if err != nil {
		return "", err
	}
	return account.Kubeconfig, nil
}

func user(name string) []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
}

func readManifest(path string, target any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w (is this the repository's folder?)", err)
	}
	if err := yaml.UnmarshalStrict(text, target); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
