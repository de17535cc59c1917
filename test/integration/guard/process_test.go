package guard

import (
	"context"
	"fmt"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/agent"
	"open-cluster-management.io/interlock/pkg/compat/rule/installer"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/test/testenv"
)

var users int

// deployedConfig returns a configuration with the permissions with which addon-manager is deployed.
func (f *form) deployedConfig(ctx context.Context) *rest.Config {
	GinkgoHelper()
	users++
	name := fmt.Sprintf("addon-manager-%d", users)
	// The policies of deploy/hub limit this name of a service account.
	account := "system:serviceaccount:" + name + ":interlock-addon-manager"
	user, err := f.cluster.AddUser(account)
	Expect(err).NotTo(HaveOccurred())
	role, err := testenv.ClusterRole("../../../deploy/hub", testenv.ManagerRoles...)
	Expect(err).NotTo(HaveOccurred())
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: account}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
	}
	Expect(client.IgnoreAlreadyExists(f.client.Create(ctx, role))).To(Succeed())
	Expect(f.client.Create(ctx, binding)).To(Succeed())
	if f.webhooks != "" {
		f.deployRole(ctx, binding.Subjects)
	}
	return user.Config
}

// deployRole gives addon-manager its permissions in its own namespace.
func (f *form) deployRole(ctx context.Context, subjects []rbacv1.Subject) {
	GinkgoHelper()
	role := &rbacv1.Role{}
	content, err := os.ReadFile("../../../deploy/hub/role.yaml")
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(content, role)).To(Succeed())
	role.Namespace = f.webhooks
	Expect(f.client.Create(ctx, role)).To(Succeed())
	Expect(f.client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: role.Namespace, Name: role.Name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	})).To(Succeed())
}

// manage runs addon-manager on the form's hub until the returned function is
// called or the spec ends.
func (f *form) manage(ctx context.Context, mode installer.Mode) (stop func()) {
	GinkgoHelper()
	mgr, err := hub.NewManager(f.deployedConfig(ctx), hub.Options{
		MetricsAddress: "0", HealthAddress: "0", Offline: evaluation.OfflineHold, Concurrency: 4,
		Registry: prometheus.NewRegistry(), Guard: mode, WebhookNamespace: f.webhooks,
		GuardTiming: installer.Timing{Settling: 3 * time.Second, Recheck: time.Second},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(f.unregister) // after it has stopped, because it would be busy with all add-ons
	return runManager(mgr)
}

// attend runs the agent of the add-on's cluster, which is the hub itself, until
// the spec ends.
func (a addOn) attend() {
	GinkgoHelper()
	mgr, err := agent.NewManager(agent.Clusters{Hub: a.form.cluster.Config, Managed: a.form.cluster.Config}, agent.Options{
		Cluster: a.cluster, GracePeriod: time.Hour, MetricsAddress: "0", HealthAddress: "0",
		Registry: prometheus.NewRegistry(), Unnamed: true,
	})
	Expect(err).NotTo(HaveOccurred())
	runManager(mgr)
}

func runManager(mgr ctrl.Manager) (stop func()) {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	exit := make(chan error, 1)
	go func() {
		exit <- mgr.Start(ctx)
		close(exit)
	}()
	stop = func() {
		cancel()
		Eventually(exit).WithTimeout(40 * time.Second).Should(Or(Receive(BeNil()), BeClosed()))
	}
	DeferCleanup(stop)
	return stop
}
