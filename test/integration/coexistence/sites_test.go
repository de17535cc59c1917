package coexistence

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// site is a managed cluster and the fault that its agents suffer.
type site struct {
	name string
	// attended is whether addon-agent runs there, except during the fault.
	attended bool
	// fall begins the fault, and rise ends it.
	fall, rise func(context.Context, *site) error

	cluster *ocm.ManagedCluster
	user    agentUser
	agent   *process.Process
}

var sites = []*site{
	{name: "both-agents", attended: true},
	{name: "stock-agent"},
	{name: "registration-dies", attended: true, fall: stopRegistration, rise: startRegistration},
	{name: "addon-agent-dies", attended: true, fall: stopAgent, rise: startAgent},
	{name: "cluster-lost", attended: true, fall: lose, rise: regain},
}

func stopRegistration(ctx context.Context, s *site) error {
	return s.cluster.RegistrationAgent.Stop(ctx)
}

func startRegistration(ctx context.Context, s *site) error {
	return s.cluster.RegistrationAgent.Start(ctx)
}

// lose stops all agents on a cluster.
func lose(ctx context.Context, s *site) error {
	return errors.Join(stopAgent(ctx, s), s.cluster.RegistrationAgent.Kill(), s.cluster.WorkAgent.Kill(),
		s.cluster.ControllerManager.Kill(), s.cluster.StopAPIServer())
}

func regain(ctx context.Context, s *site) error {
	if err := s.cluster.StartAPIServer(); err != nil {
		return err
	}
	for _, component := range s.cluster.Components() {
		if err := component.Start(ctx); err != nil {
			return err
		}
	}
	return startAgent(ctx, s)
}

// isLost reports whether the hub considers the cluster lost during the fault.
func (s *site) isLost() bool { return s.name == "registration-dies" || s.name == "cluster-lost" }

func (s *site) join(ctx context.Context) (err error) {
	s.cluster, err = hub.Join(ctx, s.name, ocm.JoinOptions{
		WorkAgent: true, LeaseDurationSeconds: leaseDurationSeconds, AddOnLeaseInterval: addOnLeaseInterval,
	})
	return err
}

// installAddOns installs all cases. It renews their leases in place of their own processes, if they are to be renewed.
func (s *site) installAddOns(ctx context.Context) {
	GinkgoHelper()
	for _, c := range cases {
		Expect(hub.Client.Create(ctx, s.addOn(c.name()))).To(Succeed())
		switch {
		case c.kind == "lease" && c.state == live:
			s.renew(c.name())
		case c.kind == "lease" && c.state == stopped:
			Expect(s.cluster.Client.Create(ctx, &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: addOnNamespace, Name: c.name()},
				Spec:       coordinationv1.LeaseSpec{RenewTime: ptr.To(metav1.NewMicroTime(time.Now().Add(-time.Hour)))},
			})).To(Succeed())
		}
	}
}

func (s *site) addOn(name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name}}
}

// renewInterval is how soon a lease is renewed after a cluster is back.
const renewInterval = 20 * time.Second

// renew renews the lease of an add-on until the present node ends. BeforeSuite ends with the suite.
func (s *site) renew(addOn string) {
	GinkgoHelper()
	renewing, stop := context.WithCancel(context.Background())
	exit := make(chan error, 1)
	go func() { exit <- s.cluster.RenewLease(renewing, addOn, renewInterval) }()
	DeferCleanup(func() {
		stop()
		Expect(<-exit).To(Succeed())
	})
}

// report sets the status of Deployments, as the controllers of a cluster with nodes do. Without a status, there are no pods.
func (s *site) report(ctx context.Context) {
	GinkgoHelper()
	for _, c := range cases {
		status := ""
		switch c.state {
		case healthy:
			status = `{"status":{"observedGeneration":1,"replicas":1,"readyReplicas":1,"availableReplicas":1}}`
		case failing:
			status = `{"status":{"observedGeneration":1,"replicas":1,"unavailableReplicas":1}}`
		default:
			continue
		}
		Eventually(func() error {
			deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: addOnNamespace, Name: c.name()}}
			return s.cluster.Client.Status().Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(status)))
		}).Should(Succeed(), "the Deployment of %s on %s", c.name(), s.name)
	}
}

// expect waits until Available of every case is as expected, and until the label of the cluster follows a final Available.
func (s *site) expect(ctx context.Context, expected func(*site, *example) []condition) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var addOns addonv1alpha1.ManagedClusterAddOnList
		g.Expect(hub.Client.List(ctx, &addOns, client.InNamespace(s.name))).To(Succeed())
		cluster := &clusterv1.ManagedCluster{}
		g.Expect(hub.Client.Get(ctx, client.ObjectKey{Name: s.name}, cluster)).To(Succeed())
		conditions := map[string]condition{}
		for _, addOn := range addOns.Items {
			if available := meta.FindStatusCondition(addOn.Status.Conditions, "Available"); available != nil {
				conditions[addOn.Name] = condition{available.Status, available.Reason}
			}
		}
		for _, c := range cases {
			accepted := expected(s, c)
			g.Expect(accepted).To(ContainElement(conditions[c.name()]), fmt.Sprintf("Available of %s on %s", c.name(), s.name))
			if len(accepted) == 1 {
				label := cluster.Labels["feature.open-cluster-management.io/addon-"+c.name()]
				g.Expect(label).To(Equal(labelFor[accepted[0].status]), fmt.Sprintf("label for %s on %s", c.name(), s.name))
			}
		}
	}).Should(Succeed())
}

// labelFor has OCM's label of a cluster by the status of Available.
var labelFor = map[metav1.ConditionStatus]string{
	metav1.ConditionTrue: "available", metav1.ConditionFalse: "unhealthy", metav1.ConditionUnknown: "unreachable",
}

var (
	dependencyFails = condition{metav1.ConditionFalse, "RequiredDependencyNotSatisfied"}
	lostCondition   = condition{metav1.ConditionUnknown, "ManagedClusterLeaseUpdateStopped"}
)

func stockConditions(_ *site, c *example) []condition { return []condition{c.stock} }

func guardedConditions(_ *site, c *example) []condition {
	if c.independent {
		return []condition{c.stock}
	}
	return []condition{dependencyFails}
}

func down(expected func(*site, *example) []condition) func(*site, *example) []condition {
	return func(s *site, c *example) []condition {
		if s.isLost() {
			return []condition{lostCondition}
		}
		return expected(s, c)
	}
}

// unlessStillLost also accepts the condition of a lost cluster. When a cluster is back, addon-framework does not probe until the next
// event.
func unlessStillLost(expected func(*site, *example) []condition) func(*site, *example) []condition {
	return func(s *site, c *example) []condition {
		accepted := expected(s, c)
		if s.isLost() && probers[c.kind] != nil {
			accepted = append(accepted, lostCondition)
		}
		return accepted
	}
}
