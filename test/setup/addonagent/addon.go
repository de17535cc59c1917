// Package addonagent runs addon-agent as an add-on of OCM for a suite. OCM deploys the objects of deploy/agent-addon
// on some of the managed clusters, registers the agent and decides whether it is available. addon-agent itself is a
// process with the kubeconfig, the service account and the flags of its pod.
package addonagent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	// Name is the name of the add-on.
	Name = names.AgentAddOn
	// GrantFlag makes addon-manager give agents their rights.
	GrantFlag = "--grant-agent-rights"

	// workload is the name of the Deployment, of its service account, and of the RoleBinding on the hub.
	workload = "interlock-addon-agent"
	// placement selects the clusters with placementLabel.
	placement          = "agents"
	placementNamespace = "interlock-agents"
	placementLabel     = "interlock-agent"
)

// AddOn is addon-agent on some managed clusters of a hub.
type AddOn struct {
	hub    *ocm.Hub
	agents []*Agent
}

// New prepares the add-on on managed clusters of a hub. They need a work agent, and workloads that become available
// (ocmsuite.RunWorkloads). The processes end with the caller: call it in BeforeSuite.
func New(ctx context.Context, hub *ocm.Hub, clusters ...*ocm.ManagedCluster) *AddOn {
	GinkgoHelper()
	a := &AddOn{hub: hub}
	program, folder := setup.Program("addon-agent"), GinkgoT().TempDir()
	for _, cluster := range clusters {
		a.agents = append(a.agents, newAgent(hub, cluster, program, filepath.Join(folder, cluster.Name)))
		label := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, placementLabel)
		managedCluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster.Name}}
		Expect(hub.Client.Patch(ctx, managedCluster, client.RawPatch(types.MergePatchType, label))).To(Succeed())
	}
	DeferCleanup(a.Stop)
	a.grant(ctx)
	a.place(ctx)
	return a
}

// grant creates the roles of deploy/hub for agents, with the right of addon-manager to bind the role on the hub.
func (a *AddOn) grant(ctx context.Context) {
	GinkgoHelper()
	grantRole, agentRole, binding := &rbacv1.ClusterRole{}, &rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}
	setup.Read("hub/agent-clusterrole.yaml", grantRole)
	setup.Read("hub/agent-hub-clusterrole.yaml", agentRole)
	setup.Read("agent-addon/clusterrolebinding.yaml", binding)
	for _, object := range []client.Object{grantRole, agentRole, binding} {
		Expect(a.hub.Client.Create(ctx, object)).To(Succeed())
	}
}

// place creates the Placement that selects the clusters with the label.
func (a *AddOn) place(ctx context.Context) {
	GinkgoHelper()
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: placementNamespace, Name: "global"}}
	binding.Spec.ClusterSet = "global"
	clusters := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: placementNamespace, Name: placement}}
	clusters.Spec.Tolerations = []clusterv1beta1.Toleration{
		{Key: clusterv1.ManagedClusterTaintUnreachable, Operator: clusterv1beta1.TolerationOpExists},
		{Key: clusterv1.ManagedClusterTaintUnavailable, Operator: clusterv1beta1.TolerationOpExists},
	}
	clusters.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{placementLabel: "true"}},
	}}}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: placementNamespace}}, binding, clusters,
	} {
		Expect(a.hub.Client.Create(ctx, object)).To(Succeed())
	}
}

// Agent returns the agent of a managed cluster.
func (a *AddOn) Agent(cluster string) *Agent {
	GinkgoHelper()
	for _, agent := range a.agents {
		if agent.cluster.Name == cluster {
			return agent
		}
	}
	Fail("no addon-agent on " + cluster)
	return nil
}

// Deploy registers the add-on if it is not registered, runs each agent, and waits until OCM reports it as available.
// Meanwhile addon-manager has to run, with GrantFlag.
func (a *AddOn) Deploy(ctx context.Context) {
	GinkgoHelper()
	template, registration := &addonv1alpha1.AddOnTemplate{}, &addonv1alpha1.ClusterManagementAddOn{}
	setup.Read("agent-addon/addontemplate.yaml", template)
	setup.Read("agent-addon/clustermanagementaddon.yaml", registration)
	registration.Spec.InstallStrategy.Placements = []addonv1alpha1.PlacementStrategy{{
		PlacementRef: addonv1alpha1.PlacementRef{Namespace: placementNamespace, Name: placement},
	}}
	for _, object := range []client.Object{template, registration} {
		Expect(client.IgnoreAlreadyExists(a.hub.Client.Create(ctx, object))).To(Succeed())
	}
	for _, agent := range a.agents {
		if !agent.Runs() {
			agent.Start(ctx, a.hub)
		}
	}
	for _, agent := range a.agents {
		Eventually(a.available).WithContext(ctx).WithArguments(agent.cluster.Name).Should(
			HaveField("Status", metav1.ConditionTrue), "OCM's condition of addon-agent on %s", agent.cluster.Name)
		Eventually(agent.reachesHub).WithContext(ctx).Should(BeTrue(), agent.printed)
	}
}

// available returns the condition Available of the add-on on a cluster. It is empty if the condition is not set.
func (a *AddOn) available(ctx context.Context, cluster string) (*metav1.Condition, error) {
	installed := &addonv1alpha1.ManagedClusterAddOn{}
	err := a.hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: Name}, installed)
	available := meta.FindStatusCondition(installed.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionAvailable)
	if available == nil {
		available = &metav1.Condition{}
	}
	return available, err
}

// Kill ends all agents.
func (a *AddOn) Kill() error {
	var failures []error
	for _, agent := range a.agents {
		failures = append(failures, agent.Kill())
	}
	return errors.Join(failures...)
}

// Stop ends all agents and their proxies.
func (a *AddOn) Stop() error {
	failures := []error{a.Kill()}
	for _, agent := range a.agents {
		failures = append(failures, agent.proxy.Close())
	}
	return errors.Join(failures...)
}
