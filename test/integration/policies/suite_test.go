// Package policies tests the admission policies of deploy/hub on a real API server. RBAC grants everything to the users of these tests,
// so that only a
// policy can refuse a write.
package policies

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

const group = "addon.open-cluster-management.io"

// The users that the policies limit.
const (
	agentUser  = "system:open-cluster-management:cluster:cluster1:addon:interlock-agent:agent:interlock-agent-agent"
	formerUser = "system:open-cluster-management:cluster:cluster1:addon:interlock-agent:agent:interlock-agent"
	tokenUser  = "system:serviceaccount:cluster1:interlock-agent-agent"
	manager    = "system:serviceaccount:interlock-system:interlock-addon-manager"

	uninstallation = "system:serviceaccount:interlock-system:interlock-uninstall"
)

// unlimitedUsers are users that the policies do not limit.
var unlimitedUsers = []string{
	"system:open-cluster-management:cluster1:registration-agent",
	"system:open-cluster-management:cluster:cluster1:addon:another:agent:another-agent",
	"system:serviceaccount:cluster1:another-agent",
	"system:serviceaccount:open-cluster-management-hub:addon-manager-controller-sa",
	uninstallation, // except for labels of ManagedClusters
}

var (
	hub   *testenv.Cluster
	admin client.Client
	crd   = &apiextensionsv1.CustomResourceDefinition{}
)

func TestPolicies(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "admission policies")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	hub = setup.Hub(ctx, nil)
	admin = clientOf("")
	Expect(admin.Get(ctx, client.ObjectKey{Name: "managedclusteraddons." + group}, crd)).To(Succeed())
	for _, name := range []string{"cluster1", "cluster2"} {
		Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	everything := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "everything"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "everything"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "everything"},
	}
	for _, name := range append([]string{agentUser, formerUser, tokenUser, manager}, unlimitedUsers...) {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name})
	}
	for _, object := range []client.Object{everything, binding} {
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
	setup.Policies(ctx, admin)
	awaitPolicies(ctx)
})

// clientOf returns a client that impersonates a user. Without a name, it is the administrator's client.
func clientOf(user string) client.Client {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(apiextensionsv1.AddToScheme(scheme)).To(Succeed())
	config := rest.CopyConfig(hub.Config)
	config.QPS = -1
	config.Impersonate.UserName = user
	userClient, err := client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return userClient
}

// awaitPolicies waits until the API server applies the policies, which takes a moment after their creation.
func awaitPolicies(ctx context.Context) {
	GinkgoHelper()
	probe := install(ctx, "v1alpha1", "cluster1")
	for _, user := range []string{agentUser, manager} {
		Eventually(func() error {
			return clientOf(user).Patch(ctx, probe.DeepCopy(), merge(`{"metadata":{"annotations":{"by":"`+user+`"}}}`))
		}).Should(Satisfy(apierrors.IsForbidden), user)
	}
}

var addOnCount int

// install creates an add-on that has every field of its status.
func install(ctx context.Context, version, namespace string) *unstructured.Unstructured {
	GinkgoHelper()
	addOnCount++
	addOn := &unstructured.Unstructured{}
	addOn.SetAPIVersion(group + "/" + version)
	addOn.SetKind("ManagedClusterAddOn")
	addOn.SetNamespace(namespace)
	addOn.SetGenerateName("add-on-")
	addOn.SetLabels(map[string]string{"label": "before"})
	addOn.SetAnnotations(map[string]string{"annotation": "before"})
	addOn.SetFinalizers([]string{"example.com/before"})
	addOn.Object["spec"] = map[string]any{}
	Expect(admin.Create(ctx, addOn)).To(Succeed())
	status := map[string]any{}
	for field, schema := range statusOf(version) {
		status[field] = sample(schema, "before")
	}
	status["conditions"] = []any{
		condition("Degraded", "False", "Before"), condition("Available", "True", "Before"), condition("Progressing", "False", "Before"),
		condition("RegistrationApplied", "True", "Before"),
	}
	addOn.Object["status"] = status
	Expect(admin.Status().Update(ctx, addOn)).To(Succeed())
	return addOn
}

func condition(kind, status, reason string) map[string]any {
	return map[string]any{
		"type": kind, "status": status, "reason": reason, "message": reason, "lastTransitionTime": "2026-01-02T03:04:05Z",
	}
}

func merge(patch string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(patch)) }
