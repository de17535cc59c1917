// Package webhook tests conversion and admission behind a real API server.
package webhook

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	webhookadmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/webhook/admission"
	"open-cluster-management.io/interlock/pkg/webhook/conversion"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	crdName = "clustermanagementaddons.addon.open-cluster-management.io"
	// badBefore depends on itself since before anybody checked.
	badBefore = "bad-before"
)

var (
	hub       *testenv.Cluster
	hubClient client.Client
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

	server := serve(startCache(scheme))
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	convertBy(ctx, server.URL+conversion.Path, authority)
	Expect(hubClient.Create(ctx, clusterManagementAddOn(storage, badBefore, required(badBefore)))).To(Succeed())
	admitBy(ctx, server.URL+admission.Path, authority)
})

func startCache(scheme *runtime.Scheme) cache.Cache {
	GinkgoHelper()
	registered, err := cache.New(hub.Config, cache.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- registered.Start(ctx) }()
	DeferCleanup(func() error { cancel(); return <-stopped })
	_, err = registered.GetInformer(ctx, &addonv1alpha1.ClusterManagementAddOn{})
	Expect(err).NotTo(HaveOccurred())
	return registered
}

func serve(registered client.Reader) *httptest.Server {
	mux := http.NewServeMux()
	mux.Handle(conversion.Path, conversion.NewHandler(GinkgoLogr))
	mux.Handle(admission.Path, &webhookadmission.Webhook{Handler: &admission.Validator{Reader: registered}})
	server := httptest.NewTLSServer(mux)
	DeferCleanup(server.Close)
	return server
}

// deployed reads an object of deploy/hub.
func deployed(file string, object client.Object) {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join("../../../deploy/hub", file))
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(content, object)).To(Succeed())
}

// convertBy points the CRD to the handler, and waits until it is used.
func convertBy(ctx context.Context, url string, authority []byte) {
	GinkgoHelper()
	var crd apiextensionsv1.CustomResourceDefinition
	Expect(hubClient.Get(ctx, types.NamespacedName{Name: crdName}, &crd)).To(Succeed())
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: authority},
		},
	}
	Expect(hubClient.Update(ctx, &crd)).To(Succeed())

	probe := clusterManagementAddOn(storage, "probe", nil)
	Expect(hubClient.Create(ctx, probe)).To(Succeed())
	DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, probe) })
	patch(ctx, storage, "probe", `{"spec":{"supportedConfigs":[{"group":"g","resource":"r"}]}}`)
	Eventually(func() map[string]any { return read(ctx, other, "probe").Object["spec"].(map[string]any) }).Should(HaveKey("defaultConfigs"))
}

// admitBy installs the configuration of deploy/, with the handler's address,
// and waits until it is used.
func admitBy(ctx context.Context, url string, authority []byte) {
	GinkgoHelper()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	deployed("webhook-configuration.yaml", configuration)
	configuration.Name = "tested"
	Expect(configuration.Webhooks).To(HaveLen(1))
	Expect(configuration.Webhooks[0].ClientConfig.Service.Path).To(HaveValue(Equal(admission.Path)))
	configuration.Webhooks[0].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: authority}
	Expect(hubClient.Create(ctx, configuration)).To(Succeed())
	Eventually(func() error {
		return hubClient.Create(ctx, clusterManagementAddOn(storage, "probed", required("probed")), client.DryRunAll)
	}).Should(MatchError(ContainSubstring("probed → probed")))
}
