// Package author tests pkg/author/dependent with OCM's addon-framework,
// addon-manager and addon-agent on an OCM hub with a managed cluster.
package author

import (
	"context"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"open-cluster-management.io/addon-framework/pkg/addonmanager"
	addonagent "open-cluster-management.io/addon-framework/pkg/agent"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/agent"
	"open-cluster-management.io/interlock/pkg/agent/addonevents"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/author/dependent"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/pkg/kube/logging"
	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
	"open-cluster-management.io/interlock/test/witness/suite"
)

const cluster = "cluster1"

var (
	api     *ocm.Hub
	managed *ocm.ManagedCluster
	admin   client.Client
	// observer judges suite.Declared, because each step declares its changes.
	observer *witness.Witness
)

func TestAuthor(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "authors' library")
}

var _ = BeforeSuite(func(ctx context.Context) {
	(&logging.Options{Format: "text"}).Start(GinkgoWriter)
	SetDefaultEventuallyTimeout(60 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	var options ocm.HubOptions
	var auditLog string
	var err error
	options.Flags, auditLog, err = witness.AuditFlags(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	api, err = ocm.StartHub(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(api.Stop()).To(Succeed()) })
	managed, err = api.Join(ctx, cluster, ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: time.Second})
	Expect(err).NotTo(HaveOccurred())
	admin, err = api.Cluster.Client(addonv1alpha1.AddToScheme, ocmv1beta1.Install, workv1.Install)
	Expect(err).NotTo(HaveOccurred())
	observer = suite.Start(ctx, witness.Options{Hub: api.Config, AuditLog: auditLog, Unguarded: true}, suite.Declared)
}, NodeTimeout(5*time.Minute))

// gateway is an author's add-on with one ConfigMap.
type gateway struct{ content string }

func (g gateway) Manifests(context.Context, *clusterv1.ManagedCluster, *ocmv1beta1.ManagedClusterAddOn) ([]runtime.Object, error) {
	return []runtime.Object{&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gateway"}, Data: map[string]string{"content": g.content},
	}}, nil
}

func (g gateway) GetAgentAddonOptions() addonagent.AgentAddonOptions {
	return addonagent.AgentAddonOptions{AddonName: "gateway", HealthProber: &addonagent.HealthProber{Type: addonagent.HealthProberTypeWork}}
}

// startAuthor runs the author's hub manager until the returned function is called, or the spec ends.
func startAuthor(content string) (stop func()) {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	DeferCleanup(cancel)
	reader, err := dependent.NewHub(api.Config)
	Expect(err).NotTo(HaveOccurred())
	manager, err := addonmanager.New(api.Config)
	Expect(err).NotTo(HaveOccurred())
	Expect(manager.AddAgent(dependent.Wrap(gateway{content}, dependent.Ordered(reader)))).To(Succeed())
	Expect(manager.Start(ctx)).To(Succeed())
	return cancel
}

// startInterlock runs addon-manager, and addon-agent for the cluster.
func startInterlock() {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(context.Background())
	DeferCleanup(cancel)
	hubSide, err := hub.NewManager(api.Config, hub.Options{
		MetricsAddress: "0", HealthAddress: "0", Offline: evaluation.OfflineHold, Concurrency: 2, Registry: prometheus.NewRegistry(),
	})
	Expect(err).NotTo(HaveOccurred())
	clusterSide, err := agent.NewManager(agent.Clusters{Hub: api.Config, Managed: managed.Config}, agent.Options{
		Cluster: cluster, GracePeriod: availability.DefaultGracePeriod, MetricsAddress: "0", HealthAddress: "0",
		Registry: prometheus.NewRegistry(), Unnamed: true,
	})
	Expect(err).NotTo(HaveOccurred())
	for _, manager := range []interface{ Start(context.Context) error }{hubSide, clusterSide} {
		go func() {
			defer GinkgoRecover()
			Expect(manager.Start(ctx)).To(Succeed())
		}()
	}
}

// condition returns a function that reads a condition of the add-on.
func condition(ctx context.Context, kind string) func() (*metav1.Condition, error) {
	return func() (*metav1.Condition, error) {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		err := admin.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "gateway"}, addOn)
		return meta.FindStatusCondition(addOn.Status.Conditions, kind), err
	}
}

// contestEvents returns the events about another writer, which the second repetition of the same write emits.
func contestEvents(ctx context.Context) func() ([]eventsv1.Event, error) {
	return func() ([]eventsv1.Event, error) {
		var events eventsv1.EventList
		err := admin.List(ctx, &events, client.InNamespace(cluster))
		return slices.DeleteFunc(events.Items, func(event eventsv1.Event) bool { return event.Reason != addonevents.ReasonContested }), err
	}
}

func haveStatus(status metav1.ConditionStatus, reason, message string) OmegaMatcher {
	return And(Not(BeNil()), HaveField("Status", status), HaveField("Reason", reason), HaveField("Message", ContainSubstring(message)))
}

func workContent(ctx context.Context) func() (string, error) {
	return func() (string, error) {
		work := &workv1.ManifestWork{}
		if err := admin.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "addon-gateway-deploy-0"}, work); err != nil {
			return "", err
		}
		return string(work.Spec.Workload.Manifests[0].Raw), nil
	}
}

// setAccounts sets Available of the dependency, which has a health check of its own and no lease.
func setAccounts(ctx context.Context, status metav1.ConditionStatus) {
	GinkgoHelper()
	observer.Cause("accounts is Available=" + string(status))
	Eventually(func() error {
		accounts := &addonv1alpha1.ManagedClusterAddOn{}
		if err := admin.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "accounts"}, accounts); err != nil {
			return err
		}
		accounts.Status.HealthCheck.Mode = "Customized"
		meta.SetStatusCondition(&accounts.Status.Conditions, metav1.Condition{Type: "Available", Status: status, Reason: "Test"})
		return admin.Status().Update(ctx, accounts)
	}).Should(Succeed())
}

var _ = Describe("An add-on that knows its dependencies", Ordered, func() {
	const missingAccounts = "Required addon 'accounts' is not installed or not available. No credentials."
	const applied, ownCheck = "AddonManifestApplied", "Probe addon unavailable with err RequiredDependencyNotSatisfied: "

	It("is installed after them, stays installed, and tells of them in its own health check, without a quarrel", func(ctx context.Context) {
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
		registration.Spec.InstallStrategy.Type = "Manual"
		// addon-framework writes registrations through v1beta1, which drops the field.
		registration.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "[{name: accounts, message: No credentials.}]"}
		Expect(admin.Create(ctx, registration)).To(Succeed())
		stop := startAuthor("first")
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "gateway"}}
		Expect(admin.Create(ctx, addOn)).To(Succeed())

		By("waiting for them, with addon-manager still away")
		Eventually(condition(ctx, dependent.ConditionInstallable)).Should(haveStatus("False", dependent.ReasonWaiting, missingAccounts))
		By("waiting for them at addon-manager's word")
		observer.Cause("Interlock starts")
		startInterlock()
		Eventually(condition(ctx, "Degraded")).Should(haveStatus("True", "RequiredDependencyNotSatisfied", missingAccounts))
		Consistently(func() error { _, err := workContent(ctx)(); return err }).WithTimeout(2 * time.Second).Should(Satisfy(apierrors.IsNotFound))

		By("their becoming available")
		observer.Cause("accounts is installed")
		accounts := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "accounts"}}
		Expect(admin.Create(ctx, accounts)).To(Succeed())
		setAccounts(ctx, "True")
		Eventually(workContent(ctx)).Should(ContainSubstring("first"))
		Eventually(condition(ctx, dependent.ConditionInstallable)).Should(haveStatus("True", dependent.ReasonSatisfied, ""))
		Eventually(condition(ctx, "ManifestApplied")).Should(haveStatus("True", applied, "successfully"))
		Eventually(condition(ctx, "Available")).Should(haveStatus("True", "ProbeAvailable", ""))

		By("their becoming unavailable")
		setAccounts(ctx, "False")
		Eventually(condition(ctx, "Available")).Should(haveStatus("False", "ProbeUnavailable", ownCheck+missingAccounts))
		Consistently(contestEvents(ctx)).WithTimeout(3*time.Second).Should(BeEmpty(), "addon-framework and addon-agent agree")

		By("a new version of the add-on meanwhile: it is installed, as it has been before")
		stop()
		startAuthor("second")
		Eventually(workContent(ctx)).Should(ContainSubstring("second"))
		Expect(condition(ctx, "Available")()).To(haveStatus("False", "ProbeUnavailable", ownCheck+missingAccounts))

		By("their coming back")
		setAccounts(ctx, "True")
		Eventually(condition(ctx, "Available")).Should(haveStatus("True", "ProbeAvailable", ""))
	})
})
