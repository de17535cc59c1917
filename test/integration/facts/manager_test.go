package facts

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	interlockhub "open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

// manager is an addon-manager with the permissions that are deployed.
type manager struct {
	traffic traffic
	metrics *prometheus.Registry
	stop    context.CancelFunc
	exit    chan error
}

var managerUser *rest.Config

// managerConfig returns the configuration of addon-manager's account.
func managerConfig(ctx context.Context) *rest.Config {
	GinkgoHelper()
	if managerUser != nil {
		return managerUser
	}
	const name = "addon-manager"
	role := &rbacv1.ClusterRole{}
	load("../../../deploy/hub/clusterrole.yaml", role)
	Expect(hub.Create(ctx, role)).To(Succeed())
	Expect(hub.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	})).To(Succeed())
	managerUser = addUser(fleet.Hub, name)
	return managerUser
}

// startManager runs addon-manager until the spec ends, or until it is stopped.
func startManager(ctx context.Context) *manager {
	GinkgoHelper()
	m := &manager{metrics: prometheus.NewRegistry(), exit: make(chan error, 1)}
	mgr, err := interlockhub.NewManager(m.traffic.watch(managerConfig(ctx)), interlockhub.Options{
		MetricsAddress: "0", HealthAddress: "0", Offline: evaluation.OfflineHold, Concurrency: 4, Registry: m.metrics,
	})
	Expect(err).NotTo(HaveOccurred())
	runContext, stop := context.WithCancel(context.Background())
	m.stop = stop
	go func() { m.exit <- mgr.Start(runContext) }()
	DeferCleanup(func() {
		if m.stop != nil {
			m.end()
		}
	})
	return m
}

func (m *manager) end() {
	GinkgoHelper()
	m.stop()
	m.stop = nil
	Eventually(m.exit).WithTimeout(40 * time.Second).Should(Receive(BeNil()))
}

// clustersInState returns the number of clusters with requested facts, by the state of their request.
func (m *manager) clustersInState(value string) float64 {
	GinkgoHelper()
	families, err := m.metrics.Gather()
	Expect(err).NotTo(HaveOccurred())
	sum := 0.0
	for _, family := range families {
		for _, series := range family.GetMetric() {
			for _, pair := range series.GetLabel() {
				if family.GetName() == metrics.NameFactsClusters && pair.GetValue() == value {
					sum += series.GetGauge().GetValue()
				}
			}
		}
	}
	return sum
}

// evaluations returns how many add-ons have been evaluated so far.
func (m *manager) evaluations() uint64 {
	GinkgoHelper()
	families, err := m.metrics.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() == metrics.NameEvaluation {
			return family.GetMetric()[0].GetHistogram().GetSampleCount()
		}
	}
	return 0
}

// rest waits until nothing has been evaluated or written for a while.
func (m *manager) rest() {
	GinkgoHelper()
	activity := func() string { return fmt.Sprint(m.evaluations(), m.traffic.writes.Load()) }
	lastActivity, lastChange := activity(), time.Now()
	Eventually(func() time.Duration {
		if current := activity(); current != lastActivity {
			lastActivity, lastChange = current, time.Now()
		}
		return time.Since(lastChange)
	}).Should(BeNumerically(">", time.Second))
}

// register creates a ClusterManagementAddOn, and removes it after the spec.
func register(ctx context.Context, name string, dependencies ...addonv1alpha1.AddonDependency) {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	registration.Spec.Dependencies = dependencies
	Expect(hub.Create(ctx, registration)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(client.IgnoreNotFound(hub.Delete(ctx, registration))).To(Succeed())
	})
}

// declare replaces the dependencies of a registered add-on.
func declare(ctx context.Context, name string, dependencies ...addonv1alpha1.AddonDependency) {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{}
	Expect(hub.Get(ctx, types.NamespacedName{Name: name}, registration)).To(Succeed())
	original := registration.DeepCopy()
	registration.Spec.Dependencies = dependencies
	Expect(hub.Patch(ctx, registration, client.MergeFrom(original))).To(Succeed())
}

func onAPI(name, group, kind string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, API: &addonv1alpha1.DependencyAPI{
		AddonAPI: addonv1alpha1.AddonAPI{Group: group, Kind: kind},
	}}
}

func onVersion(name, version string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, Version: version}
}

// degraded returns reason and message of Degraded, for use with Eventually.
func (c *cluster) degraded(ctx context.Context, addOn string) func() (string, error) {
	return func() (string, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		if err := hub.Get(ctx, types.NamespacedName{Namespace: c.name, Name: addOn}, object); err != nil {
			return "", err
		}
		condition := meta.FindStatusCondition(object.Status.Conditions, "Degraded")
		if condition == nil {
			return "", nil
		}
		return condition.Reason + ": " + condition.Message, nil
	}
}
