package agentaddon

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
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

	"open-cluster-management.io/interlock/pkg/hub/agentaddon"
	"open-cluster-management.io/interlock/test/ocmstandin"
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
		Registries: []ocmv1beta1.ImageMirror{{Source: "registry.example/", Mirror: "mirror.example"}},
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
		installed, err := get(ctx, hub, &ocmv1beta1.ManagedClusterAddOn{}, cluster, addOnName)()
		if err != nil {
			return err
		}
		installed.Spec.Configs = []ocmv1beta1.AddOnConfig{configReference(config)}
		return hub.Update(ctx, installed)
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

// forgeries are requests by registration agents of clusters for more than they
// should get, by what addon-manager says of each.
func forgeries(ctx context.Context) map[string]*certificatesv1.CertificateSigningRequest {
	GinkgoHelper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	Expect(err).NotTo(HaveOccurred())
	group := func(cluster string) string {
		return "system:open-cluster-management:cluster:" + cluster + ":addon:" + addOnName
	}
	user := func(cluster string) string { return group(cluster) + ":agent:" + addOnName }
	everybody := "system:open-cluster-management:addon:" + addOnName
	made := map[string]*certificatesv1.CertificateSigningRequest{}
	for name, forgery := range map[string]struct {
		by, cluster, user string
		groups            []string
	}{
		"addon-of-a-cluster-with-a-shorter-name": {"cluster10", "cluster1", user("cluster1"), []string{group("cluster1"), everybody}},
		"addon-with-the-group-of-another":        {"cluster10", "cluster10", user("cluster10"), []string{group("cluster10"), everybody, group("cluster1")}},
		"addon-under-another-name":               {"cluster10", "cluster10", user("cluster1"), []string{group("cluster10"), everybody}},
	} {
		request, err := ocmstandin.SigningRequest(name, forgery.cluster, addOnName, forgery.user, forgery.groups, key)
		Expect(err).NotTo(HaveOccurred())
		Expect(clientOf(registrationAgent(ctx, forgery.by).Config).Create(ctx, request)).To(Succeed())
		made[name] = request
	}
	return made
}

func removeAll(ctx context.Context) {
	GinkgoHelper()
	client, err := metadata.NewForConfig(fleet.Hub.Config)
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	Expect(agentaddon.Remove(ctx, client)).To(Succeed())
}
