package ocm

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"open-cluster-management.io/interlock/test/testenv"
)

// tokenLifetime is longer than any test.
const tokenLifetime = 24 * time.Hour

// serviceAccountKubeconfig writes a kubeconfig of a service account, with a token like a pod has, and returns its
// path.
func serviceAccountKubeconfig(ctx context.Context, cluster *testenv.Cluster, dir, namespace, name string) (string, error) {
	admin, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		return "", err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To(int64(tokenLifetime / time.Second)),
	}}
	token, err := admin.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token for service account %s/%s: %w", namespace, name, err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{Server: cluster.Config.Host, CertificateAuthorityData: cluster.Config.CAData}
	config.AuthInfos["user"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["context"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "user", Namespace: namespace}
	config.CurrentContext = "context"
	path := filepath.Join(dir, name+".kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}
