package cli

import (
	"context"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/setup"
)

// lister may list the objects that the plugin reads, and watch nothing.
const lister = "lister"

// On cluster3, portal requires store.
var _ = Describe("what moves", Ordered, func() {
	var admin client.Client

	create := func(ctx context.Context, objects ...client.Object) {
		for _, object := range objects {
			Expect(admin.Create(ctx, object)).To(Succeed())
			DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(admin.Delete(ctx, object)) })
		}
	}
	newAddOn := func(name string) *addonv1alpha1.ManagedClusterAddOn {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster3", Name: name}}
	}
	report := func(ctx context.Context, name string, status metav1.ConditionStatus) {
		addOn := newAddOn(name)
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
		addOn.Status.Conditions = []metav1.Condition{{Type: "Available", Status: status, Reason: "Reported", LastTransitionTime: metav1.Now()}}
		Expect(admin.Status().Update(ctx, addOn)).To(Succeed())
	}
	start := func(args ...string) *gexec.Session {
		command := exec.Command(plugin, append([]string{"--kubeconfig", hub.Kubeconfig()}, args...)...)
		session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(session.Kill)
		return session
	}

	BeforeAll(func(ctx context.Context) {
		admin = setup.Administrator(hub, addonv1alpha1.AddToScheme, clusterv1.Install, eventsv1.AddToScheme, rbacv1.AddToScheme)
		Expect(client.IgnoreAlreadyExists(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cluster3"}}))).To(Succeed())
		for _, registration := range fixture.Registrations("portal: store, store:") {
			registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
			create(ctx, &registration)
		}
		create(ctx, newAddOn("portal"), newAddOn("store"))
		report(ctx, "portal", metav1.ConditionTrue)
		report(ctx, "store", metav1.ConditionFalse)
		listRule := rbacv1.PolicyRule{
			APIGroups: []string{addonv1alpha1.GroupVersion.Group, clusterv1.GroupName, dependencyv1alpha1.GroupVersion.Group},
			Verbs:     []string{"list"},
			Resources: []string{"clustermanagementaddons", "managedclusteraddons", "managedclusters", "addondependencypolicies"},
		}
		metadata := metav1.ObjectMeta{Name: lister}
		create(ctx, &rbacv1.ClusterRole{ObjectMeta: metadata, Rules: []rbacv1.PolicyRule{listRule}}, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metadata, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: lister},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: lister}},
		})
	})

	It("is waited for until the time is over", func() {
		out, errOut, code := run("wait", "portal", "-n", "cluster3", "--timeout", "1s")
		Expect(code).To(Equal(1), errOut)
		hint := "run  kubectl addon why portal -n cluster3 --kubeconfig " + hub.Kubeconfig() + "\n"
		Expect(out).To(And(ContainSubstring("store is not available: Reported"), HaveSuffix(hint)))
		Expect(errOut).To(ContainSubstring("timed out after 1s: 0 of 1 add-on ok"))
	})

	It("is waited for until it works", func(ctx context.Context) {
		session := start("wait", "portal", "-n", "cluster3", "--timeout", "1m")
		Consistently(session, time.Second).ShouldNot(gexec.Exit())
		report(ctx, "store", metav1.ConditionTrue)
		Eventually(session, 10*time.Second).Should(gexec.Exit(0))
		Expect(string(session.Out.Contents())).To(Equal("1 of 1 add-on ok\n"), "it prints each change although this is no terminal")
		Expect(session.Err.Contents()).To(BeEmpty())
	})

	It("needs the right to watch, and the hub", func() {
		_, errOut, code := run("wait", "store", "-n", "cluster3", "--for=gone", "--as", lister)
		Expect(code).To(Equal(3))
		Expect(errOut).To(And(ContainSubstring("forbidden"), ContainSubstring("ask for that right; docs/kubectl-addon.md lists the rights")))
		_, errOut, code = run("wait", "portal", "-n", "cluster3", "--server", "https://127.0.0.1:1")
		Expect(code).To(Equal(3), errOut)
	})

	It("is followed as it happens", func(ctx context.Context) {
		happen := func(reason string) {
			create(ctx, &eventsv1.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: "cluster3", Name: "store." + strings.ToLower(reason)}, EventTime: metav1.NowMicro(),
				ReportingController: "test", ReportingInstance: "test", Action: "Test", Type: corev1.EventTypeWarning, Reason: reason, Note: "noted",
				Regarding: *events.About(events.ManagedClusterAddOn, newAddOn("store")),
			})
		}
		happen("Earlier")
		_, errOut, code := run("events", "portal", "-n", "cluster3", "-w", "-o", "json")
		Expect(code).To(Equal(2), errOut)
		session := start("events", "portal", "-n", "cluster3", "-w")
		Eventually(session.Out, 10*time.Second).Should(gbytes.Say("cluster3 +store +Warning +Earlier +noted\n"))
		happen("Later")
		Eventually(session.Out, 10*time.Second).Should(gbytes.Say("cluster3 +store +Warning +Later +noted\n"))
		Expect(session.Err.Contents()).To(BeEmpty())
	})

	It("shows conditions to those who may not list events", func() {
		out, errOut, code := run("events", "portal", "-n", "cluster3", "--as", lister)
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(And(ContainSubstring("Available=True"), Not(ContainSubstring("noted"))))
		Expect(errOut).To(And(ContainSubstring("Some events are missing: list events"), ContainSubstring("forbidden")))
	})
})
