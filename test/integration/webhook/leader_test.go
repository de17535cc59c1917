package webhook

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	"github.com/prometheus/client_golang/prometheus"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	interlock "open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/pkg/hub/setup/webhookca"
	"open-cluster-management.io/interlock/test/setup"
)

// lead runs addon-manager with the permissions of deploy/hub until the spec ends.
func lead(ctx context.Context, name string) {
	GinkgoHelper()
	user := setup.Manager.User(ctx, hub, hubClient, namespace, name)
	mgr, err := interlock.NewManager(user.Config, interlock.Options{
		MetricsAddress: "0", HealthAddress: "0", Offline: evaluation.OfflineHold, Concurrency: 1,
		Registry: prometheus.NewRegistry(), WebhookNamespace: namespace,
	})
	Expect(err).NotTo(HaveOccurred())
	start(mgr)
}

// deploy creates objects until the spec ends.
func deploy(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		Expect(hubClient.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hubClient.Delete(ctx, object)) })
	}
}

func deploySecret(ctx context.Context) *corev1.Secret {
	GinkgoHelper()
	secret := &corev1.Secret{}
	setup.Read("hub/webhook-secret.yaml", secret)
	secret.Namespace = namespace
	deploy(ctx, secret)
	return secret
}

func deployConfigMap(ctx context.Context) *corev1.ConfigMap {
	GinkgoHelper()
	configMap := &corev1.ConfigMap{}
	setup.Read("hub/webhook-ca-configmap.yaml", configMap)
	configMap.Namespace = namespace
	deploy(ctx, configMap)
	return configMap
}

func deployConfigurations(ctx context.Context) (
	*admissionregistrationv1.ValidatingWebhookConfiguration, *admissionregistrationv1.MutatingWebhookConfiguration,
) {
	GinkgoHelper()
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	setup.Read("hub/webhook-configuration.yaml", validating)
	setup.Read("hub/webhook-record-configuration.yaml", mutating)
	deploy(ctx, validating, mutating)
	return validating, mutating
}

// publishedCA returns the CA in the ConfigMap.
func publishedCA(ctx context.Context) func() (string, error) {
	return func() (string, error) {
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-webhook-ca"}}
		err := hubClient.Get(ctx, client.ObjectKeyFromObject(configMap), configMap)
		return configMap.Data["ca.crt"], err
	}
}

var _ = Describe("The leader of addon-manager with the rights of deploy/hub", func() {
	It("writes only the published CA to the configurations, and refuses invalid CAs", func(ctx context.Context) {
		configMap := deployConfigMap(ctx)
		validating, mutating := deployConfigurations(ctx)
		lead(ctx, "leader")
		webhook, err := client.New(grant(ctx, "publisher").Config, client.Options{Scheme: hubClient.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		publish := func(ca string) {
			GinkgoHelper()
			configMap.Data, configMap.ResourceVersion = map[string]string{"ca.crt": ca}, ""
			Expect(webhook.Update(ctx, configMap)).To(Succeed())
		}
		expectTrusted := func(ca []byte) {
			GinkgoHelper()
			// The deployed configurations, with the CA.
			for i := range validating.Webhooks {
				validating.Webhooks[i].ClientConfig.CABundle = ca
			}
			for i := range mutating.Webhooks {
				mutating.Webhooks[i].ClientConfig.CABundle = ca
			}
			Eventually(func(g Gomega) {
				validatingReplica, mutatingReplica := validating.DeepCopy(), mutating.DeepCopy()
				g.Expect(hubClient.Get(ctx, client.ObjectKeyFromObject(validatingReplica), validatingReplica)).To(Succeed())
				g.Expect(hubClient.Get(ctx, client.ObjectKeyFromObject(mutatingReplica), mutatingReplica)).To(Succeed())
				g.Expect(validatingReplica.Webhooks).To(Equal(validating.Webhooks))
				g.Expect(mutatingReplica.Webhooks).To(Equal(mutating.Webhooks))
			}).Should(Succeed())
		}
		ca := mount().authority.CertPEM
		publish(string(ca))
		expectTrusted(ca)

		By("another writer removing it")
		removeCA := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/webhooks/0/clientConfig/caBundle"}]`))
		Expect(hubClient.Patch(ctx, mutating.DeepCopy(), removeCA)).To(Succeed())
		expectTrusted(ca)

		By("publishing an invalid CA")
		versionsBefore := versions(ctx, validating, mutating)
		for _, invalid := range []struct {
			ca     string
			series gomegatypes.GomegaMatcher // the second is an event of the same series
		}{{"x", BeNil()}, {strings.Repeat("x", 900_000), Not(BeNil())}} {
			publish(invalid.ca)
			Eventually(func() ([]eventsv1.Event, error) {
				var events eventsv1.EventList
				err := hubClient.List(ctx, &events, client.InNamespace(namespace))
				return events.Items, err
			}).Should(ContainElement(And(
				HaveField("Reason", webhookca.EventRefused), HaveField("Regarding.Name", configMap.Name),
				HaveField("Note", ContainSubstring("key ca.crt: no certificates in PEM")), HaveField("Series", invalid.series))))
		}
		publish("")
		Consistently(func() []string { return versions(ctx, validating, mutating) }).WithTimeout(2 * time.Second).Should(Equal(versionsBefore))

		By("a CA being published again")
		ca = mount().authority.CertPEM
		publish(string(ca))
		expectTrusted(ca)
	})
})

// versions returns the resourceVersions of objects.
func versions(ctx context.Context, objects ...client.Object) []string {
	GinkgoHelper()
	var resourceVersions []string
	for _, object := range objects {
		object = object.DeepCopyObject().(client.Object)
		Expect(hubClient.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		resourceVersions = append(resourceVersions, object.GetResourceVersion())
	}
	return resourceVersions
}

var _ = Describe("The identity of addon-manager webhook", func() {
	It("may write no webhook configuration and no CRD, so that it cannot intercept the hub's writes", func(ctx context.Context) {
		validating, mutating := deployConfigurations(ctx)
		configMap := deployConfigMap(ctx)
		compromised, err := client.New(grant(ctx, "compromised").Config, client.Options{Scheme: hubClient.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		foreign, guard := validating.DeepCopy(), mutating.DeepCopy()
		foreign.Name, guard.Name = "of-another-component", "interlock-required-dependency"
		foreign.ResourceVersion, guard.ResourceVersion = "", ""
		deploy(ctx, foreign, guard)
		crd := &apiextensionsv1.CustomResourceDefinition{}
		Expect(hubClient.Get(ctx, types.NamespacedName{Name: crdName}, crd)).To(Succeed())
		foreignConfigMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "of-another-component"}}
		deploy(ctx, foreignConfigMap)

		forbidden := Satisfy(apierrors.IsForbidden)
		for _, object := range []client.Object{validating, mutating, foreign, guard, crd, foreignConfigMap} {
			stored := object.DeepCopyObject().(client.Object)
			stored.SetName("made-by-webhook")
			stored.SetResourceVersion("")
			stored.SetUID("")
			name := object.GetName()
			nothing := client.RawPatch(types.MergePatchType, []byte(`{}`))
			Expect(compromised.Update(ctx, object, client.DryRunAll)).To(forbidden, name)
			Expect(compromised.Patch(ctx, object, nothing, client.DryRunAll)).To(forbidden, name)
			Expect(compromised.Create(ctx, stored, client.DryRunAll)).To(forbidden, name)
			Expect(compromised.Delete(ctx, object, client.DryRunAll)).To(forbidden, name)
			Expect(compromised.DeleteAllOf(ctx, object, client.InNamespace(object.GetNamespace()), client.DryRunAll)).To(forbidden, name)
		}
		Expect(compromised.Update(ctx, configMap)).To(Succeed(), "what it publishes")
		Expect(compromised.Delete(ctx, configMap)).To(forbidden)
	})
})
