// Package guard tests the guard's rule and its installation on plain API servers: one with MutatingAdmissionPolicy, one without, and
// one that changes while the tests run. Both forms pass every case of the rule. OCM's components are not part of it:
// test/integration/coexistence runs them beside each form.
package guard

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

// policyFlags are the flags that give an API server of 1.35 the policies.
var policyFlags = map[string][]string{
	"feature-gates":  {"MutatingAdmissionPolicy=true"},
	"runtime-config": {"admissionregistration.k8s.io/v1beta1=true"},
}

var (
	asPolicy  = &form{name: "as a policy"}
	asWebhook = &form{name: "as a webhook"}
	// changing is the hub whose API server changes.
	changing = &form{name: "changing"}
)

func TestGuard(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "guard")
}

var _ = Describe("The guard", func() {
	Describe("its rule", inBothForms(ruleOf))
	Describe("being installed", inBothForms(installation))
	Describe("the choice of its form", choice)
	Describe("installed late, removed and installed again", inBothForms(absence))
	Describe("served by addon-manager webhook", serving)
	Describe("on an API server that changes", upgrade)
})

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	SetDefaultConsistentlyDuration(time.Second)
	SetDefaultConsistentlyPollingInterval(20 * time.Millisecond)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)

	var starting errgroup.Group
	for f, flags := range map[*form]map[string][]string{asPolicy: policyFlags, asWebhook: nil, changing: nil} {
		starting.Go(func() (err error) {
			f.cluster, err = testenv.StartHub(ctx, testenv.Options{Name: "hub", Flags: flags})
			return err
		})
	}
	err := starting.Wait()
	DeferCleanup(stopHubs)
	Expect(err).NotTo(HaveOccurred())
	for _, f := range []*form{asPolicy, asWebhook, changing} {
		f.client = administrator(f.cluster)
		dropDefault(ctx, f.client)
		setup.Policies(ctx, f.client)
	}
	asPolicy.objects = policyObjects()
	asWebhook.server = newServer()
	asWebhook.server.start()
	DeferCleanup(func() { asWebhook.server.stop() })
	asWebhook.objects = webhookObjects(asWebhook.server)
	asWebhook.deployWebhook(ctx, asWebhook.server)
}, NodeTimeout(5*time.Minute))

func stopHubs() error {
	var stopping errgroup.Group
	for _, f := range []*form{asPolicy, asWebhook, changing} {
		if f.cluster != nil {
			stopping.Go(f.cluster.Stop)
		}
	}
	return stopping.Wait()
}

func administrator(cluster *testenv.Cluster) client.WithWatch {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(fleet.AddToScheme(scheme)).To(Succeed())
	Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	config := *cluster.Config
	config.QPS = -1
	administrator, err := client.NewWithWatch(&config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return administrator
}

// dropDefault makes add-ons writable through v1beta1 on API servers without OCM's conversion webhook. It removes the default of a field
// that v1beta1 does not have.
func dropDefault(ctx context.Context, administrator client.WithWatch) {
	GinkgoHelper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(administrator.Get(ctx, client.ObjectKey{Name: "managedclusteraddons." + group}, crd)).To(Succeed())
	for _, version := range crd.Spec.Versions {
		spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
		if field, ok := spec.Properties["installNamespace"]; ok {
			field.Default = nil
			spec.Properties["installNamespace"] = field
		}
	}
	Expect(administrator.Update(ctx, crd)).To(Succeed())
	probe := (&form{client: administrator}).install(ctx)
	Eventually(func() error {
		_, err := probe.tryWrite(ctx, viaBeta, withConditions(availableTrue()))
		return err
	}).Should(Succeed())
	Expect(probe.uninstall(ctx)).To(Succeed())
}

// inBothForms returns a container of the same cases for either form of the guard.
func inBothForms(cases func(*form)) func() {
	return func() {
		for _, f := range []*form{asPolicy, asWebhook} {
			Describe(f.name, func() { cases(f) })
		}
	}
}
