package guard

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/compat/rule/installer"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	namespace   = "interlock-system"
	serviceName = "interlock-webhook"
)

// serving tests the webhook as it is deployed, in two replicas with processes of their own. The API server reaches the first replica.
func serving() {
	It("works in every replica, fails no write when all are dead, and recovers when they are back", func(ctx context.Context) {
		f := &form{name: "as deployed", cluster: asPolicy.cluster, client: asPolicy.client, webhooks: namespace}
		replicas := []string{testenv.FreeAddress().String(), testenv.FreeAddress().String()}
		user := f.deployReplicas(ctx, replicas[0])
		f.objects = append(f.objects, webhookObjects(asWebhook.server)...)
		DeferCleanup(f.leave)
		start := f.starter(user)
		sessions := []*gexec.Session{start(replicas[0]), start(replicas[1])}
		f.manage(ctx, installer.ModeWebhook)
		f.awaitForce(ctx, true)
		Expect(f.versions(ctx)()).To(And(HaveLen(1), HaveKey(rule.KindWebhook)))
		for _, address := range replicas {
			Eventually(func() error { return f.ask(ctx, address) }).Should(Succeed())
		}

		a := f.newAddOn(ctx)
		f.register(ctx)
		a.awaitFailure(ctx)
		a.write(ctx, viaBeta, setCondition(availableTrue()))
		Expect(a.availability(ctx)()).To(Equal(required))

		By("all replicas being dead")
		for _, session := range sessions {
			Eventually(session.Kill()).Should(gexec.Exit())
		}
		for _, version := range []string{viaStorage, viaBeta} {
			Expect(find(a.write(ctx, version, setCondition(availableTrue())), "Available")).To(Equal(availableTrue()))
			Expect(find(a.put(ctx, version, append(conditionsOf(a.get(ctx, version)), progressing())...), "Progressing")).NotTo(BeNil())
			a.write(ctx, version, withConditions(guarded(earlyTime), find(a.get(ctx, version), "Degraded")))
		}
		a.write(ctx, viaBeta, setCondition(availableTrue()))

		By("being back")
		sessions = []*gexec.Session{start(replicas[0]), start(replicas[1])}
		f.awaitForce(ctx, true)
		Expect(find(a.write(ctx, viaBeta, setCondition(progressing())), "Available")["reason"]).To(Equal(required))

		By("losing the CA: all get another")
		authorityBefore := f.authority(ctx)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-webhook-certificate"}}
		Expect(f.client.Patch(ctx, secret, client.RawPatch(types.MergePatchType, []byte(`{"data":null}`)))).To(Succeed())
		Eventually(func() []byte { return f.authority(ctx) }).WithTimeout(60 * time.Second).ShouldNot(Or(BeEmpty(), Equal(authorityBefore)))
		f.awaitForce(ctx, true)

		for _, session := range sessions {
			Eventually(session.Terminate()).Should(gexec.Exit(0))
			Expect(session.Err).NotTo(gbytes.Say("(?i)forbidden"))
		}
	})
}

// deployReplicas installs the objects of deploy/hub for the webhook. Its Service leads to the address. It returns the user with its
// permissions.
func (f *form) deployReplicas(ctx context.Context, address string) *testenv.User {
	GinkgoHelper()
	_, text, err := net.SplitHostPort(address)
	Expect(err).NotTo(HaveOccurred())
	port, err := strconv.ParseInt(text, 10, 32)
	Expect(err).NotTo(HaveOccurred())
	user, err := f.cluster.AddUser("webhook")
	Expect(err).NotTo(HaveOccurred())
	secret, configuration := &corev1.Secret{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	configMap := &corev1.ConfigMap{}
	clusterRole, role := &rbacv1.ClusterRole{}, &rbacv1.Role{}
	for file, object := range map[string]client.Object{
		"webhook-secret.yaml": secret, "webhook-configuration.yaml": configuration,
		"webhook-ca-configmap.yaml": configMap, "webhook-clusterrole.yaml": clusterRole, "webhook-role.yaml": role,
	} {
		content, err := os.ReadFile(filepath.Join("../../../deploy/hub", file))
		Expect(err).NotTo(HaveOccurred())
		Expect(yaml.UnmarshalStrict(content, object)).To(Succeed())
	}
	secret.Namespace, configMap.Namespace, role.Namespace = namespace, namespace, namespace
	configuration.Webhooks[0].ClientConfig.Service.Port = ptr.To(int32(port))
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "webhook"}}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, secret, configMap, configuration, clusterRole, role,
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: clusterRole.Name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		},
		// There is no network of Services here, but the API server follows a name.
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: serviceName},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
		},
	} {
		Expect(f.client.Create(ctx, object)).To(Succeed())
	}
	DeferCleanup(f.client.Delete, configuration)
	return user
}

// starter builds addon-manager, and returns a function that runs its webhook at an address.
func (f *form) starter(user *testenv.User) func(address string) *gexec.Session {
	GinkgoHelper()
	binary := setup.Program("addon-manager")
	return func(address string) *gexec.Session {
		GinkgoHelper()
		session, err := gexec.Start(exec.Command(binary, "webhook", "--kubeconfig", user.Kubeconfig, "--namespace", namespace,
			"--webhook-bind-address", address, "--metrics-bind-address=0", "--health-probe-bind-address=0"), nil, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait() })
		return session
	}
}

// authority returns the CA by which the API server trusts the guard's webhook.
func (f *form) authority(ctx context.Context) []byte {
	GinkgoHelper()
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	Expect(f.client.Get(ctx, client.ObjectKey{Name: guard.Name}, configuration)).To(Succeed())
	return configuration.Webhooks[0].ClientConfig.CABundle
}

// ask sends a write to one replica for review, as the API server would.
func (f *form) ask(ctx context.Context, address string) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(f.authority(ctx))
	httpClient := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: pool, ServerName: serviceName + "." + namespace + ".svc", MinVersion: tls.VersionTLS12},
	}}
	body, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []any{availableTrue(), fails(missingBase)}}})
	if err != nil {
		return err
	}
	review, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request:  &admissionv1.AdmissionRequest{UID: "1", Object: runtime.RawExtension{Raw: body}},
	})
	if err != nil {
		return err
	}
	response, err := httpClient.Post("https://"+address+guard.Path, "application/json", bytes.NewReader(review))
	if err != nil {
		return err
	}
	var answer admissionv1.AdmissionReview
	err = errors.Join(json.NewDecoder(response.Body).Decode(&answer), response.Body.Close())
	if err != nil || answer.Response == nil || len(answer.Response.Patch) == 0 {
		return fmt.Errorf("answer %+v, %w", answer.Response, err)
	}
	return nil
}
