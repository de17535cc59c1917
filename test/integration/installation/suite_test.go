// Package installation has real OCM install what add-ons need, as addon-manager --lifecycle decides. Managed clusters are
// ManagedClusters that the suite keeps available: all that happens here happens on the hub.
package installation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

var (
	hub *ocm.Hub
	// account has the rights of addon-manager, and program is addon-manager.
	account *testenv.User
	program string
	manager *gexec.Session
)

func TestInstallation(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "installation")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyDuration(3 * time.Second)
	EnforceDefaultTimeoutsWhenUsingContexts()
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)
	program = setup.Program("addon-manager")
	var err error
	hub, err = ocm.StartHub(ctx, ocm.HubOptions{InterlockCRDs: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	Expect(eventsv1.AddToScheme(hub.Client.Scheme())).To(Succeed())
	grant(ctx)
	for _, name := range []string{"east", "west", "edge"} {
		join(ctx, name)
	}
}, NodeTimeout(5*time.Minute))

// Each spec has an addon-manager of its own: one that has just started has the whole budget of a minute.
var _ = BeforeEach(func() { manage(0) })

// manage starts an addon-manager that begins to act after a delay. One that the spec has started before ends.
func manage(delay time.Duration) {
	GinkgoHelper()
	if manager != nil {
		manager.Kill().Wait()
	}
	manager = setup.Run(program, "--kubeconfig", account.Kubeconfig, "--leader-elect=false", "--guard=off",
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--lifecycle", "--lifecycle-delay="+delay.String(),
		"--lifecycle-removal-delay=2s")
}

// grant gives addon-manager's account the rights of deploy/lifecycle, and no other, with the policies that limit them.
func grant(ctx context.Context) {
	GinkgoHelper()
	const user = "system:serviceaccount:interlock-system:interlock-addon-manager"
	var err error
	account, err = hub.AddUser(user)
	Expect(err).NotTo(HaveOccurred())
	role, err := testenv.ClusterRole("../../../deploy/hub", testenv.ManagerRoles...)
	Expect(err).NotTo(HaveOccurred())
	objects, err := testenv.WritePolicies("../../../deploy/hub")
	Expect(err).NotTo(HaveOccurred())
	for _, object := range append(objects, role, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
	}) {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
}

// join creates a managed cluster that is available, with its name as the label name.
func join(ctx context.Context, name string) *unstructured.Unstructured {
	GinkgoHelper()
	created := create(ctx, `{apiVersion: cluster.open-cluster-management.io/v1, kind: ManagedCluster,
		metadata: {name: `+name+`, labels: {name: `+name+`}}, spec: {hubAcceptsClient: true}}`)[0]
	report(ctx, created, "True")
	return created
}

// managed is a managed cluster, as far as a patch needs it.
func managed(name string) *unstructured.Unstructured {
	cluster := &unstructured.Unstructured{}
	cluster.SetAPIVersion("cluster.open-cluster-management.io/v1")
	cluster.SetKind("ManagedCluster")
	cluster.SetName(name)
	return cluster
}

// annotating is a patch that sets annotations.
func annotating(annotations map[string]string) []byte {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	Expect(err).NotTo(HaveOccurred())
	return patch
}

// report sets whether a managed cluster is available.
func report(ctx context.Context, cluster *unstructured.Unstructured, status string) {
	GinkgoHelper()
	patch := `{"status": {"conditions": [{"type": "ManagedClusterConditionAvailable", "status": "` + status + `",
		"reason": "Test", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	Expect(hub.Client.Status().Patch(ctx, cluster, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
}

// create creates objects, and deletes them after the spec.
func create(ctx context.Context, manifests string) (all []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, manifest := range strings.Split(manifests, "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
		Eventually(func() error { return hub.Client.Create(ctx, object) }).Should(Succeed(), manifest) // OCM makes the namespaces
		DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, object)) })
		all = append(all, object)
	}
	return all
}

// register registers an add-on that declares edges. Its install strategy and annotations are YAML.
func register(ctx context.Context, name, strategy, dependencies, annotations string) *unstructured.Unstructured {
	GinkgoHelper()
	return create(ctx, fmt.Sprintf(`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
		metadata: {name: %s, annotations: {%s}}, spec: {installStrategy: %s, dependencies: %s}}`, name, annotations, strategy, dependencies))[0]
}

// consenting lists the Placement of Interlock.
func consenting(addOn string) string {
	return "{type: Placements, placements: [{namespace: " + addonv1alpha1.InstallNamespace + ", name: " + addOn + "}]}"
}

const (
	manual   = "{type: Manual}"
	onDemand = addonv1alpha1.InstallOnDemandAnnotation + `: "true"`
)

// install installs an add-on by hand.
func install(ctx context.Context, cluster, name string) {
	GinkgoHelper()
	create(ctx, "{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn, metadata: {name: "+
		name+", namespace: "+cluster+"}, spec: {}}")
}

// installed returns the managed clusters on which an add-on is installed and not being removed.
func installed(ctx context.Context, addOn string) func() ([]string, error) {
	return func() (clusters []string, err error) {
		var all addonv1alpha1.ManagedClusterAddOnList
		err = hub.Client.List(ctx, &all)
		for _, one := range all.Items {
			if one.Name == addOn && one.DeletionTimestamp.IsZero() {
				clusters = append(clusters, one.Namespace)
			}
		}
		return clusters, err
	}
}

// notes are those of the events with a reason on an object.
func notes(ctx context.Context, about, reason string) func() ([]string, error) {
	return func() (notes []string, err error) {
		var all eventsv1.EventList
		err = hub.Client.List(ctx, &all)
		for _, event := range all.Items {
			if event.Regarding.Name == about && event.Reason == reason {
				notes = append(notes, event.Note)
			}
		}
		return notes, err
	}
}
