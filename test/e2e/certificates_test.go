//go:build e2e

package e2e

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// day is the unit of the certificates' lifetimes.
const day = 24 * time.Hour

var (
	webhookSecret = client.ObjectKey{Namespace: namespace, Name: "interlock-webhook-certificate"}
	agentSecret   = client.ObjectKey{Namespace: agentNamespace, Name: agent + "-hub-kubeconfig"}
)

func describeCertificates() {
	It("renews the webhook's certificate and authority while requests run, none of which fails", func(ctx context.Context) {
		register(ctx, "dependent", "dependency")
		calls := []func(context.Context) error{denied, converted}
		if os.Getenv("HUB_PODS_REACHABLE") != "" { // not reachable from outside of kind's network
			calls = append(calls, trusted)
		}
		requests := keepRequesting(ctx, calls...)
		DeferCleanup(requests.stop)
		first := webhookCertificates(ctx)

		By("letting the authority come close to its end")
		first.rewriteAuthority(ctx, func(authority *x509.Certificate) { authority.NotAfter = time.Now().Add(60 * day) })
		introduced := awaitCertificates(ctx, func(current certificates) bool {
			return len(current.bundle) == 2 && !sameKey(current.bundle[0], first.bundle[0])
		})
		Expect(introduced.serving.Equal(first.serving)).To(BeTrue(), "a new authority signs nothing before it is trusted")
		requests.awaitMore()

		By("letting the new one be a week old")
		introduced.rewriteAuthority(ctx, func(authority *x509.Certificate) { authority.NotBefore = authority.NotBefore.Add(-8 * day) })
		issued := awaitCertificates(ctx, func(current certificates) bool { return !current.serving.Equal(first.serving) })
		Expect(issued.serving.CheckSignatureFrom(issued.bundle[0])).To(Succeed())
		Expect(issued.bundle).To(HaveLen(2), "who has served nothing new yet is trusted too")
		requests.awaitMore()

		By("letting it be two weeks old")
		issued.rewriteAuthority(ctx, func(authority *x509.Certificate) { authority.NotBefore = authority.NotBefore.Add(-8 * day) })
		retired := awaitCertificates(ctx, func(current certificates) bool { return len(current.bundle) == 1 })
		Expect(sameKey(retired.bundle[0], issued.bundle[0])).To(BeTrue())
		Expect(retired.serving.Equal(issued.serving)).To(BeTrue())
		requests.awaitMore()
		requests.stop()
		Expect(requests.failures).To(BeEmpty())
		expectGuarded(ctx)
	})

	It("makes a new certificate where the Secret was lost", func(ctx context.Context) {
		lost := webhookCertificates(ctx)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: webhookSecret.Namespace, Name: webhookSecret.Name}}
		Expect(hub.Delete(ctx, secret)).To(Succeed())
		Expect(denied(ctx)).To(Succeed(), "what is lost is served as long as the pods live")
		empty := manifests("../../deploy/hub/webhook-secret.yaml")
		empty[0].SetNamespace(namespace)
		apply(ctx, hub, empty)
		awaitCertificates(ctx, func(current certificates) bool { return !sameKey(current.bundle[0], lost.bundle[0]) })
		Eventually(denied).WithContext(ctx).Should(Succeed())
		Eventually(converted).WithContext(ctx).Should(Succeed())
		expectGuarded(ctx)
	})

	It("has OCM give the agent a new credential of the hub in place of one that was lost", func(ctx context.Context) {
		lost, pod := agentCertificate(ctx)(), agentPod(ctx)
		Expect(lost).NotTo(BeNil())
		credential := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: agentSecret.Namespace, Name: agentSecret.Name}}
		Expect(managed.Delete(ctx, credential)).To(Succeed())
		Eventually(agentCertificate(ctx)).Should(And(Not(BeNil()), Not(Satisfy(lost.Equal))))
		expectAgentAsserts(ctx)
		expectSame(ctx, pod)
	})
}

// describeRotatedCredential comes some time after the agent was given another credential. Kubernetes' clients use a
// credential for new connections, and look for a new one every five minutes.
func describeRotatedCredential() {
	It("has the agent take up its new credential without a restart", func(ctx context.Context) {
		pod := agentPod(ctx)
		refuseOthers(ctx, agentCertificate(ctx)())
		expectAgentAsserts(ctx)
		expectSame(ctx, pod)
	})
}

// certificates is the content of the webhook's Secret.
type certificates struct {
	secret  *corev1.Secret
	bundle  []*x509.Certificate
	serving *x509.Certificate
}

func webhookCertificates(ctx context.Context) certificates {
	GinkgoHelper()
	secret := &corev1.Secret{}
	Expect(hub.Get(ctx, webhookSecret, secret)).To(Succeed())
	read, err := readCertificates(secret)
	Expect(err).NotTo(HaveOccurred())
	return read
}

func readCertificates(secret *corev1.Secret) (certificates, error) {
	read := certificates{secret: secret}
	var err error
	if read.bundle, err = certutil.ParseCertsPEM(secret.Data[corev1.ServiceAccountRootCAKey]); err != nil {
		return read, err
	}
	serving, err := certutil.ParseCertsPEM(secret.Data[corev1.TLSCertKey])
	if err == nil {
		read.serving = serving[0]
	}
	return read, err
}

// rewriteAuthority issues the signing authority anew, signed by itself and with other dates. Trusted certificates
// stay trusted, and the spec does not have to wait for years.
func (c certificates) rewriteAuthority(ctx context.Context, change func(*x509.Certificate)) {
	GinkgoHelper()
	authority, err := tls.X509KeyPair(encodePEM(c.bundle[0]), c.secret.Data["ca.key"])
	Expect(err).NotTo(HaveOccurred())
	rewritten := *c.bundle[0]
	rewritten.SerialNumber = big.NewInt(time.Now().UnixNano())
	change(&rewritten)
	raw, err := x509.CreateCertificate(rand.Reader, &rewritten, &rewritten, c.bundle[0].PublicKey, authority.PrivateKey)
	Expect(err).NotTo(HaveOccurred())
	original := c.secret.DeepCopy()
	c.secret.Data[corev1.ServiceAccountRootCAKey] = slices.Concat(
		pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: raw}), encodePEM(c.bundle[1:]...))
	Expect(hub.Patch(ctx, c.secret, client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{}))).To(Succeed())
}

func encodePEM(chain ...*x509.Certificate) []byte {
	GinkgoHelper()
	content, err := certutil.EncodeCertificates(chain...)
	Expect(err).NotTo(HaveOccurred())
	return content
}

func sameKey(a, b *x509.Certificate) bool { return slices.Equal(a.SubjectKeyId, b.SubjectKeyId) }

// awaitCertificates waits until the Secret has the expected content, and the API server is configured to trust it.
func awaitCertificates(ctx context.Context, matches func(certificates) bool) certificates {
	GinkgoHelper()
	var current certificates
	Eventually(func(g Gomega) {
		secret := &corev1.Secret{}
		g.Expect(hub.Get(ctx, webhookSecret, secret)).To(Succeed())
		var err error
		current, err = readCertificates(secret)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(matches(current)).To(BeTrue())
		configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		g.Expect(hub.Get(ctx, client.ObjectKey{Name: webhook}, configuration)).To(Succeed())
		g.Expect(configuration.Webhooks).To(HaveEach(HaveField("ClientConfig.CABundle", Equal(secret.Data[corev1.ServiceAccountRootCAKey]))))
		crd := &apiextensionsv1.CustomResourceDefinition{}
		g.Expect(hub.Get(ctx, client.ObjectKey{Name: registrationsCRD}, crd)).To(Succeed())
		trusted, err := certutil.ParseCertsPEM(crd.Spec.Conversion.Webhook.ClientConfig.CABundle)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(trusted).To(ContainElement(Satisfy(current.bundle[0].Equal)))
	}).Should(Succeed())
	return current
}

// agentCertificate returns addon-agent's certificate for the hub. It is nil while the agent has no certificate.
func agentCertificate(ctx context.Context) func() *x509.Certificate {
	return func() *x509.Certificate {
		secret := &corev1.Secret{}
		Expect(client.IgnoreNotFound(managed.Get(ctx, agentSecret, secret))).To(Succeed())
		chain, err := certutil.ParseCertsPEM(secret.Data[corev1.TLSCertKey])
		if err != nil {
			return nil
		}
		return chain[0]
	}
}

// expectAgentAsserts expects the agent to observe changes on the hub, and to write there. The registration agent
// would write the same, so its writes are refused meanwhile.
func expectAgentAsserts(ctx context.Context) {
	GinkgoHelper()
	const name = "not-the-registration-agent"
	refuse(ctx, name, fmt.Sprintf("request.userInfo.username.startsWith(%q)", registrationAgents), "false")
	awaitRefusal(ctx, name, hubAs(registrationAgents+"e2e", []string{"system:masters"}))
	setCondition(ctx, onCluster1(report), metav1.Condition{Type: available, Status: metav1.ConditionUnknown, Reason: "Requested"})
	Eventually(conditionOf(ctx, onCluster1(report), available)).WithTimeout(repair).Should(be(metav1.ConditionTrue, renewed))
}

// refuseOthers makes the hub refuse the agent's writes with any other credential, for the rest of the spec.
func refuseOthers(ctx context.Context, credential *x509.Certificate) {
	GinkgoHelper()
	const name = "only-the-new-credential"
	const extra, key = "request.userInfo.extra", "'authentication.kubernetes.io/credential-id'"
	user := credential.Subject.CommonName
	refuse(ctx, name, fmt.Sprintf("request.userInfo.username == %q", user), fmt.Sprintf(
		"has(%s) && %s in %s && %s[%s].exists(id, id == 'X509SHA256=%x')", extra, key, extra, extra, key, sha256.Sum256(credential.Raw)))
	awaitRefusal(ctx, name, hubAs(user, credential.Subject.Organization))
}

// refuse makes a policy for the rest of the spec. The matching users may write conditions of add-ons only if the
// expression allows it.
func refuse(ctx context.Context, name, users, allowed string) {
	GinkgoHelper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	policy.Spec.MatchConstraints = &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
		RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{"addon.open-cluster-management.io"}, APIVersions: []string{"*"}, Resources: []string{"managedclusteraddons/status"},
			},
		},
	}}}
	policy.Spec.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "users", Expression: users}}
	policy.Spec.Validations = []admissionregistrationv1.Validation{{Message: name, Expression: allowed}}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	binding.Spec.PolicyName = name
	binding.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
	for _, object := range []client.Object{policy, binding} {
		Expect(hub.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return hub.Delete(ctx, object) })
	}
}

// awaitRefusal waits until the API server applies the policy to the user's writes.
func awaitRefusal(ctx context.Context, policy string, user client.Client) {
	GinkgoHelper()
	Eventually(func() error {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster1, Name: report}}
		return user.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, []byte(`{"status":{}}`)), client.DryRunAll)
	}).Should(MatchError(ContainSubstring(policy)))
}

// hubAs returns a client of the hub for a user with that name and those groups.
func hubAs(user string, groups []string) client.Client {
	GinkgoHelper()
	config := rest.CopyConfig(hubConfig)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	userClient, err := client.New(config, client.Options{Scheme: hub.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return userClient
}
