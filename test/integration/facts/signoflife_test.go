package facts

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const agentAddOn = "interlock-agent"

// asAddOn has the cluster's agent run as an add-on, which renews its own lease.
func (c *cluster) asAddOn(ctx context.Context) {
	GinkgoHelper()
	c.agentAddOn = agentAddOn
	rights := metav1.ObjectMeta{Namespace: c.name, Name: "own-lease"}
	Expect(managed.Create(ctx, &rbacv1.Role{ObjectMeta: rights, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create", "patch"},
	}}})).To(Succeed())
	Expect(managed.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: rights, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: rights.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "agent-of-" + c.name}},
	})).To(Succeed())
	c.install(ctx, agentAddOn)
}

// setAsOCM sets Available as OCM's own components do, with a merge patch of the whole list of conditions.
func (c *cluster) setAsOCM(ctx context.Context, name string, status metav1.ConditionStatus, reason string) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		if err := hub.Get(ctx, types.NamespacedName{Namespace: c.name, Name: name}, addOn); err != nil {
			return err
		}
		meta.SetStatusCondition(&addOn.Status.Conditions, metav1.Condition{Type: "Available", Status: status, Reason: reason, Message: "stock"})
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": addOn.ResourceVersion},
			"status":   map[string]any{"conditions": addOn.Status.Conditions},
		})
		if err != nil {
			return err
		}
		return hub.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch))
	})).To(Succeed())
}

// reach sets Available of the ManagedCluster, by a clock that has an offset.
func (c *cluster) reach(ctx context.Context, status metav1.ConditionStatus, offset time.Duration) {
	GinkgoHelper()
	cluster := &clusterv1.ManagedCluster{}
	Expect(hub.Get(ctx, types.NamespacedName{Name: c.name}, cluster)).To(Succeed())
	original := cluster.DeepCopy()
	cluster.Status.Conditions = []metav1.Condition{{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Test",
		LastTransitionTime: metav1.NewTime(time.Now().Add(offset)),
	}}
	Expect(hub.Status().Patch(ctx, cluster, client.MergeFrom(original))).To(Succeed())
}

var _ = Describe("An agent that runs as an add-on", func() {
	const stopped, clusterLost = "ManagedClusterAddOnLeaseUpdateStopped", "ManagedClusterLeaseUpdateStopped"
	const updated = "ManagedClusterAddOnLeaseUpdated"
	var c *cluster
	var m *manager
	var group, gateway string
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		group, gateway = unique("group")+".example.com", unique("gateway")
		m = startManager(ctx)
		c.asAddOn(ctx)
		define(ctx, group, "Widget", "v1")
		register(ctx, gateway, onAPI("widgets", group, "Widget"), onAPI("gadgets", group, "Gadget"))
		c.install(ctx, gateway)
		c.startAgent()
		Eventually(c.degraded(ctx, gateway)).Should(And(HavePrefix(failing), ContainSubstring("Gadget"), Not(ContainSubstring("Widget"))))
		Eventually(func() float64 { return m.clustersInState("answered") }).Should(BeEquivalentTo(1))
		m.rest()
	})

	It("has its reports count as unknown after it died, until it is back", func(ctx context.Context) {
		versionBefore := must(c.facts(ctx)).ResourceVersion
		c.stopAgent()
		c.setAsOCM(ctx, agentAddOn, metav1.ConditionFalse, stopped)
		Eventually(func() float64 { return m.clustersInState("answered") }).Should(BeZero())
		Eventually(c.degraded(ctx, gateway)).WithTimeout(recovery).Should(And(HavePrefix(failing), ContainSubstring("Widget"),
			ContainSubstring("not known: the managed cluster's addon-agent does not run (interlock-agent: Available=False, "+stopped+", since ")))
		Expect(m.clustersInState("waiting")).To(BeEquivalentTo(1))

		c.startAgent()
		Eventually(c.degraded(ctx, gateway)).Should(And(HavePrefix(failing), ContainSubstring("Gadget"), Not(ContainSubstring("Widget"))))
		Eventually(func() float64 { return m.clustersInState("answered") }).Should(BeEquivalentTo(1))
		m.rest()
		Expect(must(c.facts(ctx)).ResourceVersion).To(Equal(versionBefore), "the sign of life is no write")
	})

	It("is waited for when its cluster comes back, whatever the cluster's clock", func(ctx context.Context) {
		Expect(hub.Create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: c.name}})).To(Succeed())
		for _, offset := range []time.Duration{-6 * time.Minute, 24 * time.Hour} {
			c.reach(ctx, metav1.ConditionTrue, offset)
			m.rest()
			versionBefore := must(c.resourceVersion(ctx, gateway))
			By("the loss being seen on the agent first")
			c.stopAgent()
			c.setAsOCM(ctx, agentAddOn, metav1.ConditionUnknown, clusterLost)
			m.rest()
			Expect(m.clustersInState("answered")).To(BeZero())
			c.reach(ctx, metav1.ConditionUnknown, 0)
			m.rest()
			c.reach(ctx, metav1.ConditionTrue, offset)
			m.rest()
			Expect(must(c.resourceVersion(ctx, gateway))).To(Equal(versionBefore))
			c.startAgent()
			c.setAsOCM(ctx, agentAddOn, metav1.ConditionTrue, updated) // as the registration agent reads the lease
			Eventually(func() float64 { return m.clustersInState("answered") }).Should(BeEquivalentTo(1))
			m.rest()
			Expect(must(c.resourceVersion(ctx, gateway))).To(Equal(versionBefore))
		}
	})
})
