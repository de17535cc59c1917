package facts

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// allowList gives the agent the permission to list kinds, as the aggregation of its provider's ClusterRole does.
func (c *cluster) allowList(ctx context.Context, group string, resources ...string) {
	GinkgoHelper()
	name := "objects-of-" + c.name
	Expect(managed.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{group}, Resources: resources, Verbs: []string{"list"}},
	}})).To(Succeed())
	Expect(managed.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "agent-of-" + c.name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	})).To(Succeed())
	agentClient, err := dynamic.NewForConfig(c.managedUser)
	Expect(err).NotTo(HaveOccurred())
	for _, resource := range resources { // the API server observes roles a moment after they are created
		Eventually(func() error {
			kind := schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}
			_, err := agentClient.Resource(kind).List(ctx, metav1.ListOptions{})
			return err
		}).Should(Succeed())
	}
}

// createWidgets creates Widgets in the cluster's namespace.
func (c *cluster) createWidgets(ctx context.Context, group string, number int) {
	GinkgoHelper()
	adminClient, err := dynamic.NewForConfig(fleet.Managed[0].Config)
	Expect(err).NotTo(HaveOccurred())
	widgets := adminClient.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}).Namespace(c.name)
	for n := range number {
		widget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1", "kind": "Widget"}}
		widget.SetName(fmt.Sprintf("w%d", n))
		Eventually(func() error { _, err := widgets.Create(ctx, widget, metav1.CreateOptions{}); return err }).Should(Succeed())
	}
}

// counts returns the reported counts of objects, one line for each kind.
func (c *cluster) counts(ctx context.Context) func() ([]string, error) {
	return func() ([]string, error) {
		facts, err := c.facts(ctx)()
		var lines []string
		for _, fact := range facts.Status.Objects {
			count := string(fact.Reason)
			if fact.Count != nil {
				count = fmt.Sprint(*fact.Count)
			}
			lines = append(lines, fmt.Sprintf("%s %s %t", fact.Kind, count, fact.AtLeast))
		}
		return lines, err
	}
}

var _ = Describe("The objects of kinds that an add-on provides", func() {
	It("are counted where it is installed, by one request a kind, and cause no evaluation", func(ctx context.Context) {
		c, group, provider := newCluster(ctx), unique("group")+".example.com", unique("provider")
		for _, kind := range []string{"Widget", "Gadget", "Secretive"} {
			define(ctx, group, kind, "v1")
		}
		c.allowList(ctx, group, "widgets", "gadgets")
		c.createWidgets(ctx, group, 12)
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: provider}}
		registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
		for _, kind := range []string{"Widget", "Gadget", "Secretive", "Unserved"} {
			registration.Spec.Provides = append(registration.Spec.Provides, addonv1alpha1.AddonAPI{Group: group, Kind: kind})
		}
		Expect(hub.Create(ctx, registration)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(hub.Delete(ctx, registration)).To(Succeed()) })
		m := startManager(ctx)
		c.startAgent()
		c.install(ctx, provider)

		Eventually(c.counts(ctx)).Should(HaveExactElements("Gadget 0 false", "Secretive Forbidden false", "Unserved 0 false", "Widget 10 true"))
		Expect(must(c.facts(ctx)).Status.ObservedGeneration).To(Equal(must(c.facts(ctx)).Generation))
		Expect(c.onManaged.singleLists.Load()).To(BeEquivalentTo(3), "Widgets, Gadgets and what may not be listed")
		m.rest()
		evaluationsBefore, versionBefore := m.evaluations(), must(c.facts(ctx)).ResourceVersion
		Consistently(func() string { return must(c.facts(ctx)).ResourceVersion }).Should(Equal(versionBefore))
		Expect(m.evaluations()).To(Equal(evaluationsBefore))

		By("nothing being provided there any more")
		c.uninstall(ctx, provider)
		Eventually(func() error { _, err := c.facts(ctx)(); return err }).Should(Satisfy(apierrors.IsNotFound))
	})
})
