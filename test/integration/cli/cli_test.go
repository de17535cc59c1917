// Package cli runs the plugin as users do, against a real API server.
package cli

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

func TestCLI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "kubectl addon")
}

var (
	hub       *testenv.Cluster
	hubClient client.Client
	plugin    string
)

var _ = BeforeSuite(func(ctx context.Context) {
	plugin = setup.Program("kubectl-addon")
	hub = setup.Hub(ctx, nil)
	install(ctx)
})

func install(ctx context.Context) {
	hubClient = setup.Administrator(hub, addonv1alpha1.AddToScheme, clusterv1.Install)
	Expect(hubClient.Create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "empty"}})).To(Succeed())
	Expect(hubClient.Create(ctx, &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster2", Labels: map[string]string{"environment": "production"}},
	})).To(Succeed())
	for _, cluster := range []string{"cluster1", "cluster2"} {
		Expect(hubClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster}})).To(Succeed())
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "gateway"}}
		Expect(hubClient.Create(ctx, addOn)).To(Succeed())
		if cluster == "cluster1" {
			addOn.Status.Conditions = []metav1.Condition{{
				Type: "Degraded", Status: metav1.ConditionTrue, Reason: "RequiredDependencyNotSatisfied",
				Message:            "Required addon 'x' is not installed or not available. (not installed)",
				LastTransitionTime: metav1.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC),
			}}
			Expect(hubClient.Status().Update(ctx, addOn)).To(Succeed())
		}
	}
}

var _ = Describe("a user who may only list add-ons", func() {
	BeforeEach(func(ctx context.Context) {
		role := &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "reader"},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{addonv1alpha1.GroupVersion.Group}, Resources: []string{"managedclusteraddons"}, Verbs: []string{"list"},
			}},
		}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: role.ObjectMeta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}},
		}
		for _, object := range []client.Object{role, binding} {
			Expect(hubClient.Create(ctx, object)).To(Succeed())
			DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, object) })
		}
	})

	It("sees that there are none", func() {
		_, errOut, code := run("status", "-n", "kube-system", "--as", "reader")
		Expect(code).To(Equal(0), errOut)
		Expect(errOut).To(ContainSubstring(`No add-ons found on managed cluster "kube-system"`))
	})

	It("cannot check what may be no cluster", func() {
		_, errOut, code := run("status", "-n", "kube-system", "--check", "--as", "reader")
		Expect(code).To(Equal(3))
		Expect(errOut).To(And(
			ContainSubstring(`whether it is a managed cluster is not known`), ContainSubstring("forbidden"), ContainSubstring("ask for that right"),
		))
	})
})

func run(args ...string) (out, errOut string, code int) {
	command := exec.Command(plugin, append([]string{"--kubeconfig", hub.Kubeconfig()}, args...)...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		Fail(err.Error())
	}
	return stdout.String(), stderr.String(), command.ProcessState.ExitCode()
}

var _ = Describe("kubectl addon version", func() {
	It("shows what the hub runs", func() {
		out, errOut, code := run("version", "-o", "jsonpath={range .hub.components[*]}{.name}: {.status}{'\\n'}{end}")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(And(
			HavePrefix("Kubernetes: Installed\nOpen Cluster Management: Installed\ninterlock-addon-manager: NotInstalled\n"),
			HaveSuffix("addon-agent, as OCM deploys it: NotInstalled\n"),
		))
	})

	It("shows the version of Kubernetes to a user without rights", func() {
		out, errOut, code := run("version", "--as", "nobody")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(MatchRegexp(`(?m)^  Kubernetes: v1\.`))
		Expect(out).To(MatchRegexp(`(?m)^  interlock-addon-manager: not known: .*forbidden`))
	})
})

var _ = Describe("kubectl addon status", func() {
	It("lists all clusters as a table", func() {
		out, _, code := run("status", "-A")
		Expect(code).To(Equal(0))
		Expect(out).To(HavePrefix("NAMESPACE   NAME      AVAILABLE   DEGRADED   SINCE   REASON"))
		Expect(out).To(ContainSubstring("cluster1    gateway   -           True       "))
		Expect(out).To(ContainSubstring("cluster2    gateway   -           -"))
	})

	It("lists one cluster as JSON and YAML", func() {
		out, _, code := run("status", "-n", "cluster1", "-o", "json")
		Expect(code).To(Equal(0))
		Expect(out).To(MatchJSON(`[{"namespace":"cluster1","name":"gateway","available":"","degraded":"True","since":"2026-08-01T10:00:00Z",
			"reason":"RequiredDependencyNotSatisfied",
			"message":"Required addon 'x' is not installed or not available. (not installed)"}]`))
		asYAML, _, code := run("status", "gateway", "-n", "cluster1", "-o", "yaml")
		Expect(code).To(Equal(0))
		Expect(asYAML).To(MatchYAML(out))
	})

	It("selects managed clusters by their labels", func() {
		out, errOut, code := run("status", "-l", "environment=production")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(And(ContainSubstring("cluster2"), Not(ContainSubstring("cluster1"))))
	})

	It("lists again what changes, until it is interrupted", func(ctx context.Context) {
		command := exec.Command(plugin, "--kubeconfig", hub.Kubeconfig(), "status", "watched", "-A", "-w")
		watchSession, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(watchSession.Kill)

		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster2", Name: "watched"}}
		Expect(hubClient.Create(ctx, addOn)).To(Succeed())
		Eventually(watchSession.Out.Contents).Should(ContainSubstring("cluster2    watched   -           -"))
		addOn.Status.Conditions = []metav1.Condition{{Type: "Available", Status: "False", Reason: "Stopped", LastTransitionTime: metav1.Now()}}
		Expect(hubClient.Status().Update(ctx, addOn)).To(Succeed())
		Eventually(watchSession.Out.Contents).Should(ContainSubstring("cluster2    watched   False       -          "))
		Expect(hubClient.Delete(ctx, addOn)).To(Succeed())
		Eventually(watchSession.Out.Contents).Should(ContainSubstring("deleted"))
		Eventually(watchSession.Interrupt()).Should(gexec.Exit(0))
		Expect(string(watchSession.Out.Contents())).NotTo(ContainSubstring("gateway"))
	})

	It("lists the cluster that the kubeconfig's namespace names", func() {
		config, err := clientcmd.LoadFromFile(hub.Kubeconfig())
		Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
		argsFor := func(namespace string) []string {
			config.Contexts[config.CurrentContext].Namespace = namespace
			Expect(clientcmd.WriteToFile(*config, file)).To(Succeed())
			return []string{"status", "--kubeconfig", file}
		}
		out, errOut, code := run(argsFor("cluster2")...)
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(And(ContainSubstring("cluster2"), Not(ContainSubstring("cluster1"))))

		_, errOut, code = run(argsFor("empty")...)
		Expect(code).To(Equal(0))
		Expect(errOut).To(ContainSubstring(`No add-ons found on managed cluster "empty", the kubeconfig's namespace; name another with -n`))
	})

	DescribeTable("exit codes", func(args []string, code int, message string) {
		_, errOut, exitCode := run(args...)
		Expect(exitCode).To(Equal(code), errOut)
		Expect(errOut).To(ContainSubstring(message))
	},
		Entry("a check that fails", []string{"status", "-A", "--check"}, 1, "required dependencies are not satisfied"),
		Entry("a check that passes", []string{"status", "-n", "cluster2", "--check"}, 0, ""),
		Entry(
			"a managed cluster without add-ons", []string{"status", "-n", "empty"}, 0,
			`No add-ons found on managed cluster "empty"; name another with -n`,
		),
		Entry(
			"a check of one without add-ons", []string{"status", "-n", "empty", "--check"}, 0,
			`No add-ons found on managed cluster "empty"; name another with -n`,
		),
		Entry(
			"a cluster that does not exist", []string{"status", "-n", "nowhere"}, 1,
			`no managed cluster "nowhere" on this hub: name another with -n, or list all with -A`,
		),
		Entry(
			"no cluster named, and the kubeconfig names none", []string{"status"}, 2,
			`no managed cluster named: the kubeconfig's namespace "default" is none on this hub; name one with -n CLUSTER, or list all with -A`,
		),
		Entry(
			"a check of an add-on without a cluster", []string{"status", "gateway", "--check"}, 2,
			`name one with -n CLUSTER, or list all with -A`,
		),
		Entry(
			"a namespace that is named, as the kubeconfig would", []string{"status", "-n", "default"}, 1,
			`no managed cluster "default" on this hub: name another with -n`,
		),
		Entry(
			"a check of a cluster that does not exist", []string{"status", "-n", "nowhere", "--check"}, 1,
			`no managed cluster "nowhere" on this hub`,
		),
		Entry(
			"a namespace that is no managed cluster", []string{"status", "-n", "kube-system", "--check"}, 1,
			`no managed cluster "kube-system" on this hub`,
		),
		Entry(
			"an add-on on a cluster that does not exist", []string{"status", "gateway", "-n", "nowhere", "--check"}, 1,
			`no managed cluster "nowhere" on this hub`,
		),
		Entry(
			"a check of an add-on that does not exist", []string{"status", "proxy", "-n", "empty", "--check"}, 1,
			`No add-on "proxy" found on managed cluster "empty"`,
		),
		Entry(
			"a check of one that exists nowhere", []string{"status", "proxy", "-A", "--check"}, 1, `No add-on "proxy" found on any managed cluster`,
		),
		Entry(
			"one that is asked for by name is", []string{"status", "proxy", "-n", "cluster1"}, 1,
			`No add-on "proxy" found on managed cluster "cluster1"`,
		),
		Entry("a flag that does not exist", []string{"status", "--al"}, 2, "unknown flag: --al"),
		Entry("an error with a terminal escape", []string{"status", "--\x1b[31mred"}, 2, "unknown flag: -- [31mred"),
		Entry("a format that does not exist", []string{"status", "-o", "xml"}, 2, `--output="xml": must be one of`),
		Entry("a verb that does not exist", []string{"statsu"}, 2, `unknown command "statsu"`),
		Entry("too many arguments", []string{"status", "a", "b"}, 2, "accepts at most 1 arg(s)"),
		Entry("a hub that does not answer", []string{"status", "--server", "https://127.0.0.1:1"}, 3, "list managedclusteraddons"),
	)
})
