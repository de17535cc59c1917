package addonagent

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup/delayproxy"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// Agent is the process addon-agent of one managed cluster.
type Agent struct {
	cluster *ocm.ManagedCluster
	program string
	folder  string
	proxy   *delayproxy.Proxy
	running *process.Process
	started time.Time
}

// newAgent prepares the agent of a managed cluster. Its connections to the hub go through their own proxy.
func newAgent(hub *ocm.Hub, cluster *ocm.ManagedCluster, program, folder string) *Agent {
	GinkgoHelper()
	server, err := url.Parse(hub.Config.Host)
	Expect(err).NotTo(HaveOccurred())
	proxy, err := delayproxy.Start(server.Host)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
	return &Agent{cluster: cluster, program: program, folder: folder, proxy: proxy}
}

// Delay sets the delay of the agent's connections to the hub, in each direction.
func (a *Agent) Delay(delay time.Duration) { a.proxy.Delay(delay) }

// Log returns the file with all output of the agent.
func (a *Agent) Log() string { return filepath.Join(a.folder, "addon-agent.log") }

// Runs reports whether the process has been started and has not ended.
func (a *Agent) Runs() bool {
	if a.running == nil {
		return false
	}
	select {
	case <-a.running.Done():
		return false
	default:
		return true
	}
}

// Kill ends the process at once, like the loss of its node. It does nothing if no process runs.
func (a *Agent) Kill() error {
	if !a.Runs() {
		return nil
	}
	return a.running.Kill()
}

// Start starts addon-agent with the settings of its pod, once OCM has deployed it and addon-manager has given it its
// rights on the hub.
func (a *Agent) Start(ctx context.Context, hub *ocm.Hub) {
	GinkgoHelper()
	deployed := Deployment(ctx, a.cluster.Client, ocm.AddOnNamespace)
	Eventually(deployed).WithContext(ctx).Should(Not(BeNil()))
	deployment, err := deployed()
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() error {
		return hub.Client.Get(ctx, client.ObjectKey{Namespace: a.cluster.Name, Name: workload}, &rbacv1.RoleBinding{})
	}).WithContext(ctx).Should(Succeed(), "addon-manager --grant-agent-rights gives the agent its rights")
	HubFiles(ctx, a.cluster.Client, ocm.AddOnNamespace, a.folder)
	a.redirect(filepath.Join(a.folder, "kubeconfig"))
	login := Login(ctx, a.cluster.Cluster, a.cluster.Client, ocm.AddOnNamespace, a.folder)
	a.started = time.Now()
	a.running, err = process.Start(a.program, a.Log(), append(Args(deployment, a.folder), "--kubeconfig", login)...)
	Expect(err).NotTo(HaveOccurred())
}

// reachesHub reports whether the agent has renewed its own lease since it was started. It renews the lease while the
// hub responds.
func (a *Agent) reachesHub(ctx context.Context) (bool, error) {
	lease := &coordinationv1.Lease{}
	err := a.cluster.Client.Get(ctx, client.ObjectKey{Namespace: ocm.AddOnNamespace, Name: Name}, lease)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil && lease.Spec.RenewTime != nil && lease.Spec.RenewTime.After(a.started), err
}

// printed returns the output of the agent, for the message of a failure.
func (a *Agent) printed() string {
	content, err := os.ReadFile(a.Log())
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// redirect replaces the server in a kubeconfig of the hub by the proxy.
func (a *Agent) redirect(kubeconfig string) {
	GinkgoHelper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	for _, cluster := range config.Clusters {
		cluster.Server = "https://" + a.proxy.Address()
	}
	Expect(clientcmd.WriteToFile(*config, kubeconfig)).To(Succeed())
}
