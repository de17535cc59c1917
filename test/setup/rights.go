package setup

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/test/testenv"
)

// folder is the path of deploy, from the folder of a suite.
const folder = "../../../deploy"

// Read reads an object of deploy.
func Read(file string, target any) {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(folder, file))
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(content, target)).To(Succeed())
}

// Rights are roles of a folder of deploy.
type Rights struct {
	folder, role string
	clusterRoles []string
}

// Manager are the rights of addon-manager, Webhook are the rights of addon-manager webhook, and Console those of addon-manager console.
var (
	Manager = Rights{"hub", "role.yaml", testenv.ManagerRoles}
	Webhook = Rights{"hub", "webhook-role.yaml", []string{"webhook-clusterrole.yaml"}}
	Console = Rights{"console", "role.yaml", []string{"clusterrole.yaml"}}
)

// User returns a new user of a cluster with only these rights.
func (r Rights) User(ctx context.Context, cluster *testenv.Cluster, administrator client.Client, namespace, name string) *testenv.User {
	GinkgoHelper()
	user, err := cluster.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	r.Grant(ctx, administrator, namespace, name)
	return user
}

// Grant gives a user these rights. The Role is in the namespace.
func (r Rights) Grant(ctx context.Context, administrator client.Client, namespace, user string) {
	GinkgoHelper()
	clusterRole, err := testenv.ClusterRole(filepath.Join(folder, r.folder), r.clusterRoles...)
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.Role{}
	Read(r.folder+"/"+r.role, role)
	role.Namespace = namespace
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	for _, object := range []client.Object{
		clusterRole, role,
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		},
	} {
		Expect(client.IgnoreAlreadyExists(administrator.Create(ctx, object))).To(Succeed())
	}
}
