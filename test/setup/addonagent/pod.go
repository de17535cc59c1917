package addonagent

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

// mountPath is where OCM mounts the kubeconfig of the hub.
const mountPath = "/managed/hub-kubeconfig"

// Deployment returns a function that reads the Deployment of addon-agent on a managed cluster.
func Deployment(ctx context.Context, cluster client.Client, namespace string) func() (*appsv1.Deployment, error) {
	return func() (*appsv1.Deployment, error) {
		deployment := &appsv1.Deployment{}
		return deployment, cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: workload}, deployment)
	}
}

// HubFiles writes the files of the Secret with the hub's kubeconfig into a folder, like they are mounted in the pod.
// It waits until OCM's registration agent has created the Secret.
func HubFiles(ctx context.Context, cluster client.Client, namespace, folder string) {
	GinkgoHelper()
	secret := &corev1.Secret{}
	Eventually(func() (map[string][]byte, error) {
		err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: Name + "-hub-kubeconfig"}, secret)
		return secret.Data, err
	}).WithContext(ctx).Should(HaveKey("tls.crt"))
	for name, content := range secret.Data {
		Expect(os.WriteFile(filepath.Join(folder, name), content, 0o600)).To(Succeed())
	}
}

// Login writes a kubeconfig of addon-agent's service account into a folder, with a token like its pod has, and returns the
// path. It waits until the account has its rights.
func Login(ctx context.Context, cluster *testenv.Cluster, administrator client.Client, namespace, folder string) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: workload}}
	token := &authenticationv1.TokenRequest{}
	Eventually(func() error {
		return administrator.SubResource("token").Create(ctx, account, token)
	}).WithContext(ctx).Should(Succeed())
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: cluster.Config.Host, CertificateAuthorityData: cluster.Config.CAData}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "c"
	path := filepath.Join(folder, "managed.kubeconfig")
	Expect(clientcmd.WriteToFile(*config, path)).To(Succeed())
	login, err := clientcmd.BuildConfigFromFlags("", path)
	Expect(err).NotTo(HaveOccurred())
	// The API server applies roles a moment after they are created.
	Eventually(func() error {
		return setup.ClientAs(login, administrator).List(
			ctx, &coordinationv1.LeaseList{}, client.InNamespace(namespace), client.MatchingFields{"metadata.name": Name},
		)
	}).WithContext(ctx).Should(Succeed())
	return path
}

// Args returns the arguments of the container, with the hub's kubeconfig in a folder, and without servers of metrics and probes.
func Args(deployment *appsv1.Deployment, hubFolder string) []string {
	var args []string
	for _, arg := range deployment.Spec.Template.Spec.Containers[0].Args {
		arg = strings.Replace(arg, "$(POD_NAMESPACE)", deployment.Namespace, 1)
		args = append(args, strings.Replace(arg, "="+mountPath, "="+hubFolder, 1))
	}
	return append(args, "--metrics-bind-address=0", "--health-probe-bind-address=0")
}
