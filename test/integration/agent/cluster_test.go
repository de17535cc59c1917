package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/agent"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv"
)

// The agent's permissions, as they are deployed.
const (
	hubRole     = "../../../deploy/agent/hub-role.yaml"
	managedRole = "../../../deploy/agent/managed-clusterrole.yaml"
)

// cluster is a managed cluster of one spec: a namespace on the hub, and namespaces of the same name on the managed and the hosting
// cluster, in which its add-ons run. So specs can share API servers.
type cluster struct {
	name string
	// grace is the agent's grace period.
	grace time.Duration
	// hubUser and managedUser are the configurations of the agent's users.
	hubUser, managedUser *rest.Config
	hosting              *rest.Config

	hubTraffic, managedTraffic, hostingTraffic traffic
	metrics                                    *prometheus.Registry
}

var clusters int

// newCluster creates a cluster whose agent has the permissions that are deployed.
func newCluster(ctx context.Context) *cluster {
	clusters++
	c := &cluster{name: fmt.Sprintf("cluster%d", clusters), grace: time.Hour, metrics: prometheus.NewRegistry()}
	for _, administrator := range []client.Client{hub, managed, hosting} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.name}}
		Expect(administrator.Create(ctx, namespace)).To(Succeed())
	}
	// The policies of deploy/hub limit this user name.
	user := "system:open-cluster-management:cluster:" + c.name + ":addon:interlock-agent:agent:interlock-agent-agent"
	c.hubUser = addUser(fleet.Hub, user)
	role := &rbacv1.Role{}
	load(hubRole, role)
	role.Namespace = c.name
	Expect(hub.Create(ctx, role)).To(Succeed())
	Expect(hub.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})).To(Succeed())
	c.managedUser = readerOfLeases(ctx, fleet.Managed[0], managed, user)
	c.hosting = readerOfLeases(ctx, fleet.Managed[1], hosting, user)
	return c
}

func readerOfLeases(ctx context.Context, cluster *testenv.Cluster, administrator client.Client, user string) *rest.Config {
	role := &rbacv1.ClusterRole{}
	load(managedRole, role)
	Expect(client.IgnoreAlreadyExists(administrator.Create(ctx, role))).To(Succeed())
	Expect(administrator.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})).To(Succeed())
	return addUser(cluster, user)
}

func addUser(cluster *testenv.Cluster, name string) *rest.Config {
	user, err := cluster.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	return user.Config
}

func load(path string, target any) {
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(content, target)).To(Succeed())
}

// startAgent runs the cluster's agent until the spec ends. The channel receives the agent's result if the agent ends earlier.
func (c *cluster) startAgent() <-chan error {
	GinkgoHelper()
	ctx, stop := context.WithCancel(context.Background())
	mgr, err := agent.NewManager(agent.Clusters{
		Hub: c.hubTraffic.watch(c.hubUser), Managed: c.managedTraffic.watch(c.managedUser), Hosting: c.hostingTraffic.watch(c.hosting),
	}, agent.Options{
		Cluster: c.name, GracePeriod: c.grace, MetricsAddress: "0", HealthAddress: "0", Registry: c.metrics, Unnamed: true,
	})
	Expect(err).NotTo(HaveOccurred())
	exit := make(chan error, 1)
	go func() { exit <- mgr.Start(ctx) }()
	DeferCleanup(func() {
		stop()
		Eventually(exit).WithTimeout(40 * time.Second).Should(Receive(BeNil()))
	})
	return exit
}

func (c *cluster) key(addOn string) client.ObjectKey {
	return client.ObjectKey{Namespace: c.name, Name: addOn}
}

// install creates an add-on that keeps its lease in the cluster's namespace.
func (c *cluster) install(ctx context.Context, addOn string, changes ...func(*addonv1alpha1.ManagedClusterAddOn)) {
	GinkgoHelper()
	object := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: addOn}}
	object.Spec.InstallNamespace = c.name //nolint:staticcheck // deprecated, and still where OCM installs an add-on
	for _, change := range changes {
		change(object)
	}
	status := object.Status
	Expect(hub.Create(ctx, object)).To(Succeed())
	c.report(ctx, addOn, map[string]any{"namespace": status.Namespace, "healthCheck": status.HealthCheck})
}

// report merges fields into an add-on's status.
func (c *cluster) report(ctx context.Context, addOn string, fields map[string]any) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"status": fields})
	Expect(err).NotTo(HaveOccurred())
	object := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: addOn}}
	Expect(hub.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

func customized(addOn *addonv1alpha1.ManagedClusterAddOn) {
	addOn.Status.HealthCheck.Mode = ocmv1alpha1.HealthCheckModeCustomized
}

func hostedBy(cluster string) func(*addonv1alpha1.ManagedClusterAddOn) {
	return func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		addOn.Annotations = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: cluster}
	}
}

// set writes a condition as stock writers do, with a merge patch of the whole list.
func (c *cluster) set(ctx context.Context, addOn string, condition metav1.Condition) error {
	object := &addonv1alpha1.ManagedClusterAddOn{}
	if err := hub.Get(ctx, c.key(addOn), object); err != nil {
		return err
	}
	meta.SetStatusCondition(&object.Status.Conditions, condition)
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": object.Status.Conditions}})
	if err != nil {
		return err
	}
	return hub.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("another-writer"))
}

func degraded(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: "Degraded", Status: status, Reason: reason, Message: message}
}

func available(status metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: "Available", Status: status, Reason: reason, Message: "set by another writer"}
}

// renew writes an add-on's lease as its agent does. A zero time means that the lease was never renewed.
func renew(ctx context.Context, clusterClient client.Client, namespace, addOn string, renewTime time.Time) {
	GinkgoHelper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: addOn}}
	set := func() {
		lease.Spec.RenewTime = nil
		if !renewTime.IsZero() {
			timestamp := metav1.NewMicroTime(renewTime)
			lease.Spec.RenewTime = &timestamp
		}
	}
	err := clusterClient.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	if apierrors.IsNotFound(err) {
		set()
		Expect(clusterClient.Create(ctx, lease)).To(Succeed())
		return
	}
	Expect(err).NotTo(HaveOccurred())
	set()
	Expect(clusterClient.Update(ctx, lease)).To(Succeed())
}

// availability reads the condition Available. It is for Eventually.
func (c *cluster) availability(ctx context.Context, addOn string) func() (metav1.Condition, error) {
	return func() (metav1.Condition, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		if err := hub.Get(ctx, c.key(addOn), object); err != nil {
			return metav1.Condition{}, err
		}
		if condition := meta.FindStatusCondition(object.Status.Conditions, "Available"); condition != nil {
			return *condition, nil
		}
		return metav1.Condition{}, nil
	}
}

func (c *cluster) version(ctx context.Context, addOn string) func() (string, error) {
	return func() (string, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Get(ctx, c.key(addOn), object)
		return object.ResourceVersion, err
	}
}

// events returns type and reason of the events on the add-on "proxy", oldest first.
func (c *cluster) events(ctx context.Context) func() ([]string, error) {
	return func() ([]string, error) {
		var reasons []string
		list := &eventsv1.EventList{}
		if err := hub.List(ctx, list, client.InNamespace(c.name)); err != nil {
			return nil, err
		}
		for _, event := range list.Items {
			if event.Regarding.Kind == "ManagedClusterAddOn" && event.Regarding.Name == "proxy" {
				reasons = append(reasons, event.Type+" "+event.Reason)
			}
		}
		return reasons, nil
	}
}

// series returns the names of the agent's metrics that have a series for the add-on, with the sum of their values.
func (c *cluster) series(addOn string) map[string]float64 {
	GinkgoHelper()
	families, err := c.metrics.Gather()
	Expect(err).NotTo(HaveOccurred())
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "addon" && label.GetValue() == addOn {
					values[family.GetName()] += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
				}
			}
		}
	}
	return values
}
