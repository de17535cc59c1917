package agentaddon

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/hub/setup/agentaddon"
	"open-cluster-management.io/interlock/test/setup"
)

var config = &ocmv1beta1.AddOnDeploymentConfig{
	ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "agent"},
	Spec: ocmv1beta1.AddOnDeploymentConfigSpec{
		AgentInstallNamespace: "interlock-here",
		CustomizedVariables:   []ocmv1beta1.CustomizedVariable{{Name: "ImagePullPolicy", Value: "Always"}},
		NodePlacement: &ocmv1beta1.NodePlacement{
			NodeSelector: map[string]string{"role": "infra"},
			Tolerations:  []corev1.Toleration{{Key: "infra", Operator: corev1.TolerationOpExists}},
		},
		Registries: []ocmv1beta1.ImageMirror{{Source: "quay.io/open-cluster-management/", Mirror: "mirror.example"}},
		ProxyConfig: ocmv1beta1.ProxyConfig{
			HTTPProxy: "http://proxy:3128", HTTPSProxy: "https://proxy:3129", NoProxy: ".svc",
		},
		ResourceRequirements: []ocmv1beta1.ContainerResourceRequirements{{
			ContainerID: "deployments:interlock-addon-agent:*",
			Resources:   corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}},
		}},
	},
}

// configure gives a cluster's agent a configuration, as an administrator does.
func configure(ctx context.Context, cluster string, config *ocmv1beta1.AddOnDeploymentConfig) {
	GinkgoHelper()
	Expect(hub.Create(ctx, config)).To(Succeed())
	Eventually(func() error {
		addOn, err := get(ctx, hub, &ocmv1beta1.ManagedClusterAddOn{}, cluster, addOnName)()
		if err != nil {
			return err
		}
		addOn.Spec.Configs = []ocmv1beta1.AddOnConfig{configReference(config)}
		return hub.Update(ctx, addOn)
	}).Should(Succeed())
}

func configReference(config *ocmv1beta1.AddOnDeploymentConfig) ocmv1beta1.AddOnConfig {
	return ocmv1beta1.AddOnConfig{
		ConfigGroupResource: ocmv1beta1.ConfigGroupResource{Group: ocmv1beta1.GroupName, Resource: "addondeploymentconfigs"},
		ConfigReferent:      ocmv1beta1.ConfigReferent{Namespace: config.Namespace, Name: config.Name},
	}
}

func clusterNamed(ctx context.Context, name string) (*clusterv1.ManagedCluster, error) {
	return get(ctx, hub, &clusterv1.ManagedCluster{}, "", name)()
}

// forgery requests a certificate of addon-agent on a cluster, as the registration agent of another cluster.
func forgery(ctx context.Context, requester, cluster string) *certificatesv1.CertificateSigningRequest {
	GinkgoHelper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	Expect(err).NotTo(HaveOccurred())
	groupOfAddOn := "system:open-cluster-management:cluster:" + cluster + ":addon:" + addOnName
	groups := []string{groupOfAddOn, "system:open-cluster-management:addon:" + addOnName, "system:authenticated"}
	request := signingRequest("addon-forged", cluster, addOnName, groupOfAddOn+":agent:"+addOnName+"-agent", groups, key)
	Expect(setup.ClientAs(registrationAgent(requester), hub).Create(ctx, request)).To(Succeed())
	return request
}

// signingRequest returns a request for a certificate by the registration agent of a cluster.
func signingRequest(name, cluster, addOn, user string, groups []string, key *rsa.PrivateKey) *certificatesv1.CertificateSigningRequest {
	GinkgoHelper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: user, Organization: groups},
	}, key)
	Expect(err).NotTo(HaveOccurred())
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			clusterv1.ClusterNameLabelKey: cluster, ocmv1beta1.AddonLabelKey: addOn,
		}},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages: []certificatesv1.KeyUsage{
				certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth,
			},
		},
	}
}

func removeAll(ctx context.Context) {
	GinkgoHelper()
	client, err := metadata.NewForConfig(fleet.Config)
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	Expect(agentaddon.Remove(ctx, client)).To(Succeed())
}
