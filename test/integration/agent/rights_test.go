package agent

import (
	"context"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
)

func isWrite(r request) bool { return r.method != http.MethodGet }

var _ = Describe("The agent's rights", func() {
	It("suffice for all its requests, and allow no others", func(ctx context.Context) {
		c, neighbor := newCluster(ctx), newCluster(ctx)
		c.startAgent()
		c.install(ctx, "proxy")
		neighbor.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("Unknown", leaseNotFound))
		renew(ctx, managed, c.name, "proxy", time.Now())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))
		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", required))
		Expect(c.set(ctx, "proxy", degraded("False", "DependenciesSatisfied", ""))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))
		Eventually(c.events(ctx)).ShouldNot(BeEmpty())

		for _, traffic := range []*traffic{&c.hubTraffic, &c.managedTraffic} {
			Expect(traffic.recordedRequests()).NotTo(BeEmpty())
			Expect(traffic.recordedRequests()).NotTo(ContainElement(Satisfy(isRefused)))
		}

		agent := setup.ClientAs(c.hubUser, hub)
		Expect(agent.List(ctx, &addonv1alpha1.ClusterManagementAddOnList{})).To(Satisfy(apierrors.IsForbidden))
		Expect(agent.List(ctx, &addonv1alpha1.ManagedClusterAddOnList{})).To(Satisfy(apierrors.IsForbidden), "of all clusters")
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		Expect(agent.Get(ctx, neighbor.key("proxy"), addOn)).To(Satisfy(apierrors.IsForbidden))
		ownAddOn := &addonv1alpha1.ManagedClusterAddOn{}
		Expect(agent.Get(ctx, c.key("proxy"), ownAddOn)).To(Succeed())
		ownAddOn.Labels = map[string]string{"changed": "by-the-agent"}
		Expect(agent.Update(ctx, ownAddOn)).To(Satisfy(apierrors.IsForbidden))
		Expect(agent.Delete(ctx, ownAddOn)).To(Satisfy(apierrors.IsForbidden))
		Expect(agent.List(ctx, &coordinationv1.LeaseList{}, client.InNamespace(c.name))).To(Satisfy(apierrors.IsForbidden))
	})

	It("may be limited to the leases of its add-ons, as it watches no others", func(ctx context.Context) {
		c := newCluster(ctx)
		user := "reader-of-one-lease-in-" + c.name
		Expect(managed.Create(ctx, &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: user},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"proxy"},
				Verbs: []string{"get", "list", "watch"},
			}},
		})).To(Succeed())
		Expect(managed.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: user},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		})).To(Succeed())
		c.managedUser = addUser(fleet.Managed[0], user)
		c.grace = 2 * time.Second
		c.startAgent()

		By("creating and renewing unrelated leases meanwhile")
		for _, name := range []string{"node-1", "node-2", "gateway"} {
			renew(ctx, managed, c.name, name, time.Now())
		}
		c.install(ctx, "proxy")
		renew(ctx, managed, c.name, "proxy", time.Now())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))
		for _, name := range []string{"node-1", "node-2", "gateway"} {
			renew(ctx, managed, c.name, name, time.Now())
		}
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", leaseStopped))
		Expect(c.managedTraffic.recordedRequests()).NotTo(ContainElement(Or(Satisfy(isRefused), Satisfy(notAbout("proxy")))))

		By("watching no longer once the add-on is gone")
		Expect(hub.Delete(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: "proxy"}})).To(Succeed())
		Eventually(func() map[string]float64 { return c.series("proxy") }).Should(BeEmpty())
		requestsBefore := len(c.managedTraffic.recordedRequests())
		renew(ctx, managed, c.name, "proxy", time.Now())
		Consistently(func() int { return len(c.managedTraffic.recordedRequests()) }).WithTimeout(time.Second).Should(Equal(requestsBefore))
	})
})
