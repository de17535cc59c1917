package stack

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// disturbance is a fault while the stack is installed. It may return a function that repairs the fault at the end of the run.
type disturbance struct {
	name   string
	inject func(ctx context.Context, cluster *ocm.ManagedCluster) (mend func(context.Context))
}

var disturbances = []disturbance{
	{"the agents of a cluster are killed", killAgents},
	{"addon-agent is killed where it runs", killAddOnAgents},
	{"the leader is killed, and another replica takes over", changeLeader},
	{"the webhook is away", stopWebhook},
	{"a cluster is cut off until it is lost", cutOff},
}

func killAgents(ctx context.Context, cluster *ocm.ManagedCluster) func(context.Context) {
	GinkgoHelper()
	killBoth(cluster)
	startAgents(ctx, cluster)
	return nil
}

// killAddOnAgents kills addon-agent, which the kubelets start again.
func killAddOnAgents(ctx context.Context, _ *ocm.ManagedCluster) func(context.Context) {
	GinkgoHelper()
	Expect(agents.Kill()).To(Succeed())
	agents.Deploy(ctx)
	return nil
}

// killBoth kills both agents of a cluster. The hub loses the cluster ten seconds later unless they are started again.
func killBoth(cluster *ocm.ManagedCluster) {
	GinkgoHelper()
	for _, agent := range []*ocm.Component{cluster.RegistrationAgent, cluster.WorkAgent} {
		Expect(agent.Kill()).To(Succeed())
	}
}

func startAgents(ctx context.Context, cluster *ocm.ManagedCluster) {
	GinkgoHelper()
	for _, agent := range []*ocm.Component{cluster.RegistrationAgent, cluster.WorkAgent} {
		Expect(agent.Start(ctx)).To(Succeed())
	}
}

func changeLeader(ctx context.Context, _ *ocm.ManagedCluster) func(context.Context) {
	GinkgoHelper()
	leaderBefore, err := leader()
	Expect(err).NotTo(HaveOccurred())
	Expect(managers[leaderBefore].Kill()).To(Succeed())
	managers[leaderBefore] = manage()
	Eventually(leader).WithContext(ctx).Should(BeNumerically(">=", 0), "the other replica, or the new one")
	return nil
}

func stopWebhook(ctx context.Context, _ *ocm.ManagedCluster) func(context.Context) {
	GinkgoHelper()
	Expect(webhook.Stop(ctx)).To(Succeed())
	serving := false
	serve := func(context.Context) {
		if !serving {
			webhook, serving = deployment.Serve("--lifecycle"), true
		}
	}
	DeferCleanup(serve) // where the run fails
	return serve
}

func cutOff(ctx context.Context, cluster *ocm.ManagedCluster) func(context.Context) {
	GinkgoHelper()
	killBoth(cluster)
	Eventually(reached).WithContext(ctx).WithArguments(cluster.Name).Should(Equal(metav1.ConditionUnknown))
	startAgents(ctx, cluster)
	Eventually(reached).WithContext(ctx).WithArguments(cluster.Name).Should(Equal(metav1.ConditionTrue))
	return nil
}

// reached returns whether the hub reaches a cluster.
func reached(ctx context.Context, name string) (metav1.ConditionStatus, error) {
	cluster := &clusterv1.ManagedCluster{}
	err := hub.Client.Get(ctx, client.ObjectKey{Name: name}, cluster)
	if available := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable); available != nil {
		return available.Status, err
	}
	return "", err
}
