package ownmanager

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"open-cluster-management.io/addon-framework/pkg/addonmanager"
	"open-cluster-management.io/addon-framework/pkg/agent"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	// serviceAccounts and proxy are add-ons of OCM. Their managers are built on addon-framework v1.2, which writes v1alpha1.
	serviceAccounts = "managed-serviceaccount"
	proxy           = "cluster-proxy"
	// hello is an add-on of this suite. Its manager is built on the addon-framework of go.mod, which writes v1beta1.
	hello = "hello"
)

// binaries has the binaries that `make addons` builds, by their add-on.
var binaries = map[string]string{serviceAccounts: "cmd", proxy: "addon-manager"}

// installCRDs installs the CRDs of an add-on's chart, which its manager needs.
func installCRDs(ctx context.Context, addOn string) {
	GinkgoHelper()
	module := "open-cluster-management.io/" + addOn
	folder, err := exec.CommandContext(ctx, "go", "list", "-C", "../../e2e/addons", "-m", "-f", "{{.Dir}}", module).Output()
	Expect(err).NotTo(HaveOccurred())
	paths, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "charts", addOn, "crds", "*.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(paths).NotTo(BeEmpty())
	for _, path := range paths {
		content, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		for _, crd := range ocmsuite.Create(ctx, hub, strings.TrimPrefix(string(content), "---\n")) {
			Eventually(isEstablished).WithContext(ctx).WithArguments(crd).Should(BeTrue())
		}
	}
}

func isEstablished(ctx context.Context, crd *unstructured.Unstructured) (bool, error) {
	if err := hub.Client.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
		return false, err
	}
	conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(condition any) bool {
		content, ok := condition.(map[string]any)
		return ok && content["type"] == "Established" && content["status"] == "True"
	}), err
}

// processManager is the manager of an add-on of OCM.
type processManager struct {
	*process.Process
	metrics string
}

// startManager runs a binary that `make addons` builds. The name of the add-on is its user agent.
func startManager(addOn string, args ...string) *processManager {
	GinkgoHelper()
	root, err := testenv.RepositoryRoot()
	Expect(err).NotTo(HaveOccurred())
	built, folder := filepath.Join(root, "bin", "addons", binaries[addOn]), GinkgoT().TempDir()
	Expect(built).To(BeAnExistingFile(), "run `make addons`")
	path := filepath.Join(folder, addOn)
	Expect(os.Symlink(built, path)).To(Succeed())
	address := testenv.FreeAddress().String()
	program, err := process.Command{
		Path: path, Log: filepath.Join(folder, "log"),
		Args: append(args, "--metrics-bind-address="+address, "--health-probe-bind-address=0"),
		Env:  append(os.Environ(), "KUBECONFIG="+hub.Kubeconfig(), "NAMESPACE="+metav1.NamespaceDefault),
	}.Start()
	Expect(err).NotTo(HaveOccurred())
	return &processManager{program, "http://" + address + "/metrics"}
}

// startAccountManager runs the manager of managed-serviceaccount, with an image for its agents.
func startAccountManager(image string) *processManager {
	GinkgoHelper()
	return startManager(serviceAccounts, "manager", "--agent-image-name="+image)
}

// startProxyManager runs the manager of cluster-proxy. Its agents have a namespace of their own, which is deleted with them.
func startProxyManager(ctx context.Context) *processManager {
	GinkgoHelper()
	ocmsuite.Create(ctx, hub, `
apiVersion: proxy.open-cluster-management.io/v1alpha1
kind: ManagedProxyConfiguration
metadata: {name: cluster-proxy}
spec:
  authentication: {dump: {secrets: {}}, signer: {type: SelfSigned}}
  proxyServer: {image: registry.example/proxy:1, namespace: default, entrypoint: {type: PortForward, port: 8091}}
  proxyAgent: {image: registry.example/proxy:1}
`)
	return startManager(proxy, "--enable-service-proxy=false")
}

// requests counts the requests that the manager has sent, by the manager's own metric.
func (m *processManager) requests(ctx context.Context) (sum int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.metrics, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if sample, ok := strings.CutPrefix(lines.Text(), "rest_client_requests_total{"); ok {
			value, err := strconv.Atoi(sample[strings.LastIndex(sample, " ")+1:])
			if err != nil {
				return 0, err
			}
			sum += value
		}
	}
	return sum, lines.Err()
}

// helloManager is a manager that runs in this process.
type helloManager struct{ count atomic.Int64 }

// startHelloManager runs the manager until the suite ends.
func startHelloManager() *helloManager {
	GinkgoHelper()
	m := &helloManager{}
	config := rest.CopyConfig(hub.Config)
	config.UserAgent = hello
	config.Wrap(func(transport http.RoundTripper) http.RoundTripper { return &counting{transport, &m.count} })
	manager, err := addonmanager.New(config)
	Expect(err).NotTo(HaveOccurred())
	Expect(manager.AddAgent(helloAgent{})).To(Succeed())
	ctx, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	Expect(manager.Start(ctx)).To(Succeed())
	return m
}

func (m *helloManager) requests(context.Context) (int, error) { return int(m.count.Load()), nil }

// counting is a transport that counts requests.
type counting struct {
	transport http.RoundTripper
	count     *atomic.Int64
}

func (c *counting) RoundTrip(request *http.Request) (*http.Response, error) {
	c.count.Add(1)
	return c.transport.RoundTrip(request)
}

// helloAgent is an add-on with one Deployment.
type helloAgent struct{}

func (helloAgent) Manifests(context.Context, *clusterv1.ManagedCluster, *addonv1beta1.ManagedClusterAddOn) ([]runtime.Object, error) {
	labels := map[string]string{"app": hello}
	return []runtime.Object{&appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: hello},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent"}}},
			},
		},
	}}, nil
}

func (helloAgent) GetAgentAddonOptions() agent.AgentAddonOptions {
	return agent.AgentAddonOptions{
		AddonName: hello, HealthProber: &agent.HealthProber{Type: agent.HealthProberTypeDeploymentAvailability},
		Registration: &agent.RegistrationOption{Configurations: agent.KubeClientSignerConfigurations(hello, hello)},
	}
}
