// Package guard tests both forms of the guard on real API servers: one that
// has MutatingAdmissionPolicy enabled, one as it comes, and one that changes
// while the tests run. Every case of the rule is the same for both forms.
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

	"open-cluster-management.io/interlock/pkg/hub/fleet"
	"open-cluster-management.io/interlock/test/testenv"
)

// enabled are the flags that give an API server of 1.35 the policies.
var enabled = map[string][]string{
	"feature-gates":  {"MutatingAdmissionPolicy=true"},
	"runtime-config": {"admissionregistration.k8s.io/v1beta1=true"},
}

var (
	asPolicy  = &form{name: "as a policy"}
	asWebhook = &form{name: "as a webhook"}
	// unguarded is a hub as it comes, on which nothing is a guard until the
	// last specs; OCM's agent insists there at its own pace all the time.
	unguarded = &form{name: "unguarded"}
)

func TestGuard(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "guard")
}

// The order matters for the time that all of it takes: what insists every 30 s
// does so from the start, and is asked at the end.
var _ = Describe("The guard", func() {
	Describe("its rule", inBothForms(rule))
	Describe("being installed", inBothForms(installation))
	Describe("the choice of its form", choice)
	Describe("and writers that insist", Ordered, ContinueOnFailure, insistentWriters)
	Describe("coming, going and being away", inBothForms(comings))
	Describe("served by addon-manager webhook", serving)
	Describe("not being there", slowPolling)
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
	for f, flags := range map[*form]map[string][]string{asPolicy: enabled, asWebhook: nil, unguarded: nil} {
		starting.Go(func() (err error) {
			f.cluster, err = testenv.StartHub(ctx, testenv.Options{Name: "hub", Flags: flags})
			return err
		})
	}
	err := starting.Wait()
	DeferCleanup(stopHubs)
	Expect(err).NotTo(HaveOccurred())
	for _, f := range []*form{asPolicy, asWebhook, unguarded} {
		f.client = administrator(f.cluster)
		dropDefault(ctx, f.client)
	}
	asPolicy.objects = policyObjects()
	asWebhook.server = newServer()
	asWebhook.server.start()
	DeferCleanup(func() { asWebhook.server.stop() })
	asWebhook.objects = webhookObjects(asWebhook.server)
	asWebhook.deployWebhook(ctx, asWebhook.server)
	startPolling(ctx)
}, NodeTimeout(5*time.Minute))

func stopHubs() error {
	var stopping errgroup.Group
	for _, f := range []*form{asPolicy, asWebhook, unguarded} {
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

// dropDefault makes add-ons writable through v1beta1 without the conversion
// webhook that OCM has and these API servers have not: a field that v1alpha1
// has by default and v1beta1 does not know is the only one in the way.
func dropDefault(ctx context.Context, administrator client.WithWatch) {
	GinkgoHelper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(administrator.Get(ctx, client.ObjectKey{Name: "managedclusteraddons." + group}, crd)).To(Succeed())
	for _, version := range crd.Spec.Versions {
		spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
		if field, there := spec.Properties["installNamespace"]; there {
			field.Default = nil
			spec.Properties["installNamespace"] = field
		}
	}
	Expect(administrator.Update(ctx, crd)).To(Succeed())
	probe := (&form{client: administrator}).install(ctx)
	Eventually(func() error {
		_, err := probe.tryWrite(ctx, viaBeta, withConditions(runs()))
		return err
	}).Should(Succeed())
	Expect(probe.uninstall(ctx)).To(Succeed())
}

// inBothForms makes a container of the same cases for either form of the guard.
func inBothForms(cases func(*form)) func() {
	return func() {
		for _, f := range []*form{asPolicy, asWebhook} {
			Describe(f.name, func() { cases(f) })
		}
	}
}
