package protection

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	// widgets is the number of objects of a kind on the cluster.
	widgets = 3

	widgetDefinition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
		spec: {group: example.com, names: {kind: Widget, plural: widgets}, scope: Namespaced, versions: [
		{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`
	// widgetRights lets addon-agent count the objects. The provider of the API grants it.
	widgetRights = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: widget-objects, labels: {
		dependency.addon.open-cluster-management.io/aggregate-to-count: "true"}}, rules: [
		{apiGroups: [example.com], resources: [widgets], verbs: [list]}]}`
	widget = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: widget-%d, namespace: default}}"
)

// createWidgets has a managed cluster serve a kind, and creates objects of it.
func createWidgets(ctx context.Context, cluster *ocm.ManagedCluster) {
	GinkgoHelper()
	manifests := []string{widgetDefinition, widgetRights}
	for i := range widgets {
		manifests = append(manifests, fmt.Sprintf(widget, i))
	}
	for _, manifest := range manifests {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
		Eventually(func() error { return cluster.Client.Create(ctx, object) }).
			Should(Succeed(), "the kind is served a moment after its definition")
	}
}

// lose has the hub lose a managed cluster until the spec ends.
func lose(ctx context.Context, name string) {
	GinkgoHelper()
	expectLeaseEvery := func(ctx context.Context, seconds int) error {
		patch := fmt.Appendf(nil, `{"spec":{"leaseDurationSeconds":%d}}`, seconds)
		return merge(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, string(patch))
	}
	Expect(managed[name].RegistrationAgent.Kill()).To(Succeed())
	Expect(expectLeaseEvery(ctx, 1)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(expectLeaseEvery(ctx, 60)).To(Succeed())
		Expect(managed[name].RegistrationAgent.Start(ctx)).To(Succeed())
		Eventually(available).WithContext(ctx).WithArguments(name).Should(Equal(metav1.ConditionTrue))
	})
	Eventually(available).WithContext(ctx).WithArguments(name).Should(Equal(metav1.ConditionUnknown))
}

// available returns whether the hub reaches a managed cluster.
func available(ctx context.Context, name string) (metav1.ConditionStatus, error) {
	cluster := &clusterv1.ManagedCluster{}
	err := hub.Client.Get(ctx, client.ObjectKey{Name: name}, cluster)
	if set := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable); set != nil {
		return set.Status, err
	}
	return "", err
}

var _ = Describe("The removal of an add-on that provides an API", func() {
	It("warns of the objects that exist with addon-agent, and is not refused", func(ctx context.Context) {
		const provider, otherProvider = "provider", "other-provider"
		const consequence = ", which add-on 'provider' provides: they are lost or left without a controller when it is removed"
		createWidgets(ctx, managed[withAgent])
		register(ctx, provider, "{provides: [{group: example.com, kind: Widget, version: v1}]}")
		register(ctx, otherProvider, "{provides: [{group: example.com, kind: Widget}]}")
		Expect(hub.Client.Create(ctx, addOn(withAgent, provider))).To(Succeed())
		user, warnings := impersonate("alice")
		dryRunDelete := func(object client.Object) func() (string, error) {
			return func() (string, error) {
				warnings.texts = nil
				err := user.Delete(ctx, object, client.DryRunAll)
				return strings.Join(warnings.texts, "; "), err
			}
		}
		// The webhook reads registrations from a cache, and addon-agent counts again after a while.
		warning := fmt.Sprintf("%s has %d objects of Widget.example.com%s", withAgent, widgets, consequence)
		Eventually(dryRunDelete(addOn(withAgent, provider))).Should(Equal(warning))
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: provider}}
		Eventually(dryRunDelete(registration)).Should(Equal(warning))

		By("another add-on providing the kind")
		Expect(hub.Client.Create(ctx, addOn(withAgent, otherProvider))).To(Succeed())
		Eventually(dryRunDelete(addOn(withAgent, provider))).Should(BeEmpty())
		Expect(hub.Client.Delete(ctx, addOn(withAgent, otherProvider))).To(Succeed())
		Eventually(isDeleted).WithContext(ctx).WithArguments(withAgent, otherProvider).Should(BeTrue())

		By("OCM having lost the cluster")
		lose(ctx, withAgent)
		lastReport := fmt.Sprintf("%s last reported %d objects of Widget.example.com%s", withAgent, widgets, consequence)
		Eventually(dryRunDelete(registration)).Should(Equal(lastReport))

		By("deleting it")
		warnings.texts = nil
		Expect(user.Delete(ctx, addOn(withAgent, provider))).To(Succeed())
		Expect(warnings.texts).To(ConsistOf(lastReport))
	})
})
