package policies

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func managedCluster(name string, labels map[string]string) *unstructured.Unstructured {
	cluster := &unstructured.Unstructured{}
	cluster.SetAPIVersion("cluster.open-cluster-management.io/v1")
	cluster.SetKind("ManagedCluster")
	cluster.SetName(name)
	cluster.SetLabels(labels)
	return cluster
}

var _ = Describe("On labels of ManagedClusters that install add-ons", Ordered, func() {
	const (
		label          = "install.dependency.addon.open-cluster-management.io/base"
		agentOfCluster = "system:open-cluster-management:labeled:agent1"
	)
	adding, removing := merge(`{"metadata":{"labels":{"`+label+`":"true"}}}`), merge(`{"metadata":{"labels":{"`+label+`":null}}}`)
	cluster := managedCluster("labeled", nil)

	BeforeAll(func(ctx context.Context) {
		Expect(admin.Create(ctx, managedCluster("labeled", map[string]string{"tier": "edge"}))).To(Succeed())
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "own-cluster"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"cluster.open-cluster-management.io"}, Resources: []string{"managedclusters"}, Verbs: []string{"*"}},
		}}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "own-cluster"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "own-cluster"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: agentOfCluster}},
		}
		for _, object := range []client.Object{role, binding} {
			Expect(admin.Create(ctx, object)).To(Succeed())
		}
		Eventually(func() error { return clientOf(agentOfCluster).Patch(ctx, cluster.DeepCopy(), adding) }).Should(Satisfy(apierrors.IsForbidden))
	})

	It("the agent of a managed cluster changes none of them, but other fields", func(ctx context.Context) {
		userClient := clientOf(agentOfCluster)
		otherFields := merge(`{"metadata":{"labels":{"mine":"1"}},"spec":{"leaseDurationSeconds":30}}`)
		Expect(userClient.Patch(ctx, cluster.DeepCopy(), otherFields)).To(Succeed())
		Expect(userClient.Create(ctx, managedCluster("bootstrapped", map[string]string{label: "true"}))).To(Satisfy(apierrors.IsForbidden))
		Expect(userClient.Create(ctx, managedCluster("bootstrapped", map[string]string{"mine": "1"}))).To(Succeed())
		Expect(clientOf(manager).Patch(ctx, cluster.DeepCopy(), adding)).To(Succeed())
		Expect(userClient.Patch(ctx, cluster.DeepCopy(), removing)).To(Satisfy(apierrors.IsForbidden))
		Expect(userClient.Patch(ctx, cluster.DeepCopy(), merge(`{"metadata":{"labels":{"`+label+`":"x"}}}`))).To(Satisfy(apierrors.IsForbidden))
		Expect(userClient.Patch(ctx, cluster.DeepCopy(), merge(`{"spec":{"leaseDurationSeconds":40}}`))).To(Succeed())
	})

	DescribeTable("Interlock changes these, and nothing else", func(ctx context.Context, user string) {
		userClient := clientOf(user)
		Expect(userClient.Patch(ctx, cluster.DeepCopy(), adding)).To(Succeed())
		Expect(userClient.Patch(ctx, cluster.DeepCopy(), removing)).To(Succeed())
		for _, change := range []string{
			`{"metadata":{"labels":{"tier":"core"}}}`, `{"metadata":{"labels":{"tier":null}}}`,
			`{"metadata":{"labels":{"` + label + `":"true","x":"y"}}}`,
			`{"metadata":{"annotations":{"a":"b"}}}`, `{"spec":{"hubAcceptsClient":true}}`, `{"spec":{"taints":[{"key":"a","effect":"NoSelect"}]}}`,
			`{"metadata":{"finalizers":["a.b/c"]}}`,
		} {
			Expect(userClient.Patch(ctx, cluster.DeepCopy(), merge(change))).To(Satisfy(apierrors.IsForbidden), change)
		}
		Expect(userClient.Create(ctx, managedCluster("created", nil))).To(Satisfy(apierrors.IsForbidden))
	}, Entry("addon-manager", manager), Entry("the Job that uninstalls it", uninstallation))

	It("an administrator changes them, too", func(ctx context.Context) {
		Expect(admin.Patch(ctx, cluster.DeepCopy(), adding)).To(Succeed())
		Expect(admin.Patch(ctx, cluster.DeepCopy(), removing)).To(Succeed())
	})
})
