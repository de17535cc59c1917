package deployment

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// expectSmokeTest runs what helm test runs, with the rights that the chart grants to it.
func expectSmokeTest(ctx context.Context) {
	GinkgoHelper()
	const name = "interlock-smoke-test"
	account := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
	reference := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	}
	meta, local := metav1.ObjectMeta{Name: name}, metav1.ObjectMeta{Namespace: namespace, Name: name}
	objects := []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"addon.open-cluster-management.io"}, Resources: []string{"clustermanagementaddons"}, Verbs: []string{"create"},
		}}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: reference("ClusterRole"), Subjects: account},
		&rbacv1.Role{ObjectMeta: local, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{"interlock-addon-manager"},
			Verbs: []string{"get"},
		}}},
		&rbacv1.RoleBinding{ObjectMeta: local, RoleRef: reference("Role"), Subjects: account},
	}
	for _, object := range objects {
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
	user := "system:serviceaccount:" + namespace + ":" + name
	session := startManager(user, "smoke-test", "--timeout=20s", "--leader-elect-namespace="+namespace)
	Eventually(session, "1m").Should(gexec.Exit(0))
	Expect(string(session.Out.Contents())).To(ContainSubstring("the webhook refuses an add-on that requires itself"))
	for _, object := range objects {
		Expect(admin.Delete(ctx, object)).To(Succeed())
	}
}
