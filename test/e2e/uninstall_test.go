//go:build e2e

package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func describeUninstallation() {
	It("leaves nothing behind when it is uninstalled", func(ctx context.Context) {
		if given {
			Skip("Interlock was here before the suite: whoever installed it uninstalls it")
		}
		register(ctx, "dependent", "dependency")
		abandoned := inNamespace(ctx, "unattended", "dependent")
		install(ctx, abandoned)
		Eventually(conditionOf(ctx, abandoned, degraded)).Should(be(metav1.ConditionTrue, required))

		step("run addon-manager uninstall as a Job")
		objects := kustomized("uninstall", nextVersion)
		apply(ctx, hub, objects)
		Eventually(func(g Gomega) {
			job := &batchv1.Job{}
			g.Expect(hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "interlock-uninstall"}, job)).To(Succeed())
			g.Expect(job.Status.Succeeded).To(BeEquivalentTo(1))
		}).WithTimeout(6 * time.Minute).Should(Succeed())
		Expect(conditionOf(ctx, abandoned, degraded)()).To(BeNil())
		Eventually(gone(ctx, managed, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: agentNamespace, Name: "interlock-addon-agent"}})).
			Should(BeTrue(), "the agent is still on the managed cluster")
		crd := &apiextensionsv1.CustomResourceDefinition{}
		Expect(hub.Get(ctx, client.ObjectKey{Name: registrationsCRD}, crd)).To(Succeed())
		Expect(crd.Annotations).To(HaveKeyWithValue("operator.open-cluster-management.io/version", ocmVersion))
		Expect(crd.Spec.Conversion.Webhook.ClientConfig.Service).To(BeNil(), "the conversion is the stand-in's again")

		step("delete what was deployed")
		remove(ctx, hub, objects)
		remove(ctx, hub, interlock(nextVersion))
		removeAddOns(ctx)
		Eventually(func() []string { return added(before, objectsOn(ctx, hubConfig)) }).Should(BeEmpty())
	})
}

// removeAddOns takes away what the specs brought to the hub beside Interlock.
func removeAddOns(ctx context.Context) {
	GinkgoHelper()
	for _, name := range []string{report, account} {
		uninstall(ctx, onCluster1(name))
	}
	remove(ctx, hub, reportManifests("manager.yaml"))
	remove(ctx, hub, reportManifests("clustermanagementaddon.yaml"))
	remove(ctx, hub, manifests("manifests/managed-serviceaccount.yaml"))
	var registrations addonv1alpha1.ClusterManagementAddOnList
	Expect(hub.List(ctx, &registrations)).To(Succeed())
	for i := range registrations.Items {
		Expect(hub.Delete(ctx, &registrations.Items[i])).To(Succeed())
	}
	Expect(hub.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "unattended"}})).To(Succeed())
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "managedserviceaccounts.authentication.open-cluster-management.io"}}
	Expect(hub.Delete(ctx, crd)).To(Succeed())
}

// passing are kinds of objects that come and go by themselves: the hub's own
// controllers delete them, or they are what is counted by another name.
var passing = []string{"events", "certificatesigningrequests", "endpointslices", "endpoints"}

// objectsOn are all objects of a cluster, as group, resource, namespace and name.
func objectsOn(ctx context.Context, config *rest.Config) map[string]bool {
	GinkgoHelper()
	served, err := discovery.NewDiscoveryClientForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	lister, err := metadata.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	lists, err := served.ServerPreferredResources()
	Expect(err).NotTo(HaveOccurred())
	found := map[string]bool{}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list"}}, lists) {
		for _, resource := range list.APIResources {
			if slices.Contains(passing, resource.Name) {
				continue
			}
			kind := schema.FromAPIVersionAndKind(list.GroupVersion, "").GroupVersion().WithResource(resource.Name)
			objects, err := lister.Resource(kind).List(ctx, metav1.ListOptions{})
			Expect(err).NotTo(HaveOccurred(), "%s", kind)
			for _, object := range objects.Items {
				found[strings.Join([]string{kind.Group, kind.Resource, object.Namespace, object.Name}, "/")] = true
			}
		}
	}
	return found
}

func added(before, after map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(after)), func(name string) bool { return before[name] })
}
