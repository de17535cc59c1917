// Package webhook tests conversion and admission behind a real API server.
package webhook

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	webhookadmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/conversion"
	"open-cluster-management.io/interlock/pkg/webhook/admission"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	crdName = "clustermanagementaddons.addon.open-cluster-management.io"
	// badBefore is an add-on that depends on itself. It was registered before admission checked that.
	badBefore = "bad-before"
)

var (
	hub       *testenv.Cluster
	hubClient client.Client
	// managerBinary is the path of addon-manager.
	managerBinary string
	// The handlers that serve most specs run in this process.
	handlersURL       string
	handlersAuthority []byte
)

func TestWebhook(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(20 * time.Second)
	RunSpecs(t, "conversion and admission")
}

var _ = BeforeSuite(func(ctx context.Context) {
	log.SetLogger(GinkgoLogr)
	var err error
	hub, err = testenv.StartHub(ctx, testenv.Options{Name: "hub"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return hub.Stop() })

	scheme := runtime.NewScheme()
	Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(addonv1alpha1.AddToScheme(scheme)).To(Succeed())
	hubClient, err = client.New(hub.Config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	server := serve(hubClient)
	handlersURL = server.URL
	handlersAuthority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	convertBy(ctx, handlersURL, handlersAuthority)
	Expect(hubClient.Create(ctx, clusterManagementAddOn(storage, badBefore, required(badBefore)))).To(Succeed())
	admitBy(ctx, "tested", handlersURL, handlersAuthority)
	awaitAdmission(ctx)

	managerBinary = setup.Program("addon-manager")
	Expect(hubClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
})

func serve(reader client.Reader) *httptest.Server {
	mux := http.NewServeMux()
	mux.Handle(conversion.Path, conversion.NewHandler(GinkgoLogr))
	mux.Handle(admission.Path, judgedTogether(&webhookadmission.Webhook{Handler: admission.NewValidator(reader, reader)}))
	mux.Handle(
		admission.PolicyPath,
		&webhookadmission.Webhook{Handler: &admission.PolicyValidator{Clock: clock.RealClock{}, Registered: reader}},
	)
	server := httptest.NewTLSServer(mux)
	DeferCleanup(server.Close)
	return server
}

// convertBy points the CRD to the conversion at an address, and waits until one is used.
func convertBy(ctx context.Context, url string, authority []byte) {
	GinkgoHelper()
	convertTrusting(ctx, url, authority)
	probe := clusterManagementAddOn(storage, "probe", nil)
	Expect(hubClient.Create(ctx, probe)).To(Succeed())
	defer func() { Expect(hubClient.Delete(ctx, probe)).To(Succeed()) }()
	patch(ctx, storage, "probe", `{"spec":{"supportedConfigs":[{"group":"g","resource":"r"}]}}`)
	Eventually(func(g Gomega) {
		object := reference(betaVersion, "probe")
		g.Expect(hubClient.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		g.Expect(object.Object["spec"]).To(HaveKey("defaultConfigs"))
	}).Should(Succeed())
}

func convertTrusting(ctx context.Context, url string, authority []byte) {
	GinkgoHelper()
	desired := &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To(url + conversion.Path), CABundle: authority},
		},
	}
	// The API server writes the CRD's status, so an update may be based on an outdated object.
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := hubClient.Get(ctx, types.NamespacedName{Name: crdName}, &crd); err != nil {
			return err
		}
		crd.Spec.Conversion = desired
		return hubClient.Update(ctx, &crd)
	})).To(Succeed())
}

// admitBy installs the configuration of deploy/ under a name, with the address of the handler in place of the Service.
func admitBy(ctx context.Context, name, url string, authority []byte) *admissionregistrationv1.ValidatingWebhookConfiguration {
	GinkgoHelper()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	setup.Read("hub/webhook-configuration.yaml", configuration)
	configuration.Name = name
	configuration.Webhooks = configuration.Webhooks[:2] // the suite protection tests the third webhook
	for i, path := range []string{admission.Path, admission.PolicyPath} {
		Expect(configuration.Webhooks[i].ClientConfig.Service.Path).To(HaveValue(Equal(path)))
		configuration.Webhooks[i].ClientConfig = admissionregistrationv1.WebhookClientConfig{
			URL:      ptr.To(url + path),
			CABundle: authority,
		}
	}
	Expect(hubClient.Create(ctx, configuration)).To(Succeed())
	return configuration
}

func awaitAdmission(ctx context.Context) {
	GinkgoHelper()
	Eventually(func() error { return registerForItself(ctx) }).Should(MatchError(ContainSubstring("probed → probed")))
}

// registerForItself sends a registration that admission denies, as a dry run.
func registerForItself(ctx context.Context) error {
	return hubClient.Create(ctx, clusterManagementAddOn(storage, "probed", required("probed")), client.DryRunAll)
}

// withoutHandlers lets a spec use another server than the handlers of this process, which take over again afterwards.
func withoutHandlers(ctx context.Context) {
	GinkgoHelper()
	tested := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "tested"}}
	Expect(hubClient.Delete(ctx, tested)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		convertBy(ctx, handlersURL, handlersAuthority)
		admitBy(ctx, "tested", handlersURL, handlersAuthority)
		awaitAdmission(ctx)
	})
}
