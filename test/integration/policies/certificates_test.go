package policies

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OCM's gRPC server requests certificates for agents, and names the agents in an annotation.
const (
	grpcServer = "system:serviceaccount:open-cluster-management-hub:grpc-server-sa"
	requester  = "open-cluster-management.io/csr-user"
)

// request is a request for a certificate of addon-agent on a cluster, by a user.
func request(ctx context.Context, user, cluster string, annotations map[string]string) *certificatesv1.CertificateSigningRequest {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "agent"}}, key)
	Expect(err).NotTo(HaveOccurred())
	request := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "addon-", Annotations: annotations, Labels: map[string]string{
			clusterv1.ClusterNameLabelKey: cluster, "open-cluster-management.io/addon-name": "interlock-agent",
		}},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}
	Expect(clientOf(user).Create(ctx, request)).To(Succeed())
	return request
}

func approve(ctx context.Context, request *certificatesv1.CertificateSigningRequest) error {
	approved := request.DeepCopy()
	approved.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Tested",
	}}
	return admin.SubResource("approval").Update(ctx, approved)
}

var _ = Describe("A certificate of addon-agent", Ordered, func() {
	BeforeAll(func(ctx context.Context) {
		everyone := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "everyone"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "everything"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}},
		}
		Expect(admin.Create(ctx, everyone)).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return admin.Delete(ctx, everyone) })
		Eventually(func() error {
			return approve(ctx, request(ctx, "someone", "cluster1", nil))
		}).Should(MatchError(ContainSubstring("interlock-agent-certificates")))
	})

	const registrationAgent = "system:open-cluster-management:cluster1:agent"
	DescribeTable("is approved", func(ctx context.Context, user, cluster string, annotations map[string]string) {
		Expect(approve(ctx, request(ctx, user, cluster, annotations))).To(Succeed())
	},
		Entry("for the cluster whose registration agent requests it", registrationAgent, "cluster1", nil),
		Entry("for a cluster that is registered by gRPC", grpcServer, "cluster1", map[string]string{requester: registrationAgent}),
	)

	DescribeTable("is not approved", func(ctx context.Context, user, cluster string, annotations map[string]string) {
		signingRequest := request(ctx, user, cluster, annotations)
		Expect(approve(ctx, signingRequest)).To(MatchError(ContainSubstring("which is not the registration agent of that cluster")))
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(signingRequest), signingRequest)).To(Succeed())
		Expect(signingRequest.Status.Conditions).To(BeEmpty())
	},
		Entry("for another cluster", registrationAgent, "cluster2", nil),
		Entry("for a cluster whose name begins the same", "system:open-cluster-management:cluster10:agent", "cluster1", nil),
		Entry("for a cluster whose name is longer", registrationAgent, "cluster10", nil),
		Entry("for no cluster", registrationAgent, "", nil),
		Entry("for a cluster named cluster, by the agent of an add-on elsewhere",
			"system:open-cluster-management:cluster:cluster1:addon:another:agent:another-agent", "cluster", nil),
		Entry("for a cluster by a user with no agent's name", "system:open-cluster-management:cluster1", "cluster1", nil),
		Entry("by another user who names an agent", "someone", "cluster1", map[string]string{requester: registrationAgent}),
		Entry("by gRPC for another cluster", grpcServer, "cluster2", map[string]string{requester: registrationAgent}),
		Entry("by gRPC for no user", grpcServer, "cluster1", nil),
	)

	It("of another add-on is not judged", func(ctx context.Context) {
		signingRequest := request(ctx, "someone", "cluster1", nil)
		signingRequest.Labels["open-cluster-management.io/addon-name"] = "another"
		Expect(admin.Update(ctx, signingRequest)).To(Succeed())
		Expect(approve(ctx, signingRequest)).To(Succeed())
		Expect(approve(ctx, request(ctx, "someone", "cluster1", nil))).To(Satisfy(apierrors.IsInvalid))
	})
})
