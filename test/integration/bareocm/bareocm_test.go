// Package bareocm runs the plugin on a hub of real OCM without Interlock, as a user who may only read. It tests that there is
// nothing to install.
package bareocm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	cluster = "cluster1"
	// gateway declares dependencies by annotation, because OCM's CRD has no field for them.
	gateway      = "cluster-gateway"
	dependencies = `[{"name": "managed-serviceaccount", "message": "Cluster credentials cannot be issued."},
		{"name": "widgets", "type": "Optional", "api": {"group": "example.com", "kind": "Widget"}}]`
	note = "Interlock is not installed on this hub, so the plugin evaluates dependencies itself. Not known: "
)

func TestBareOCM(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "the plugin on OCM without Interlock")
}

var (
	hub    *ocm.Hub
	plugin string
	reader *testenv.User
)

var _ = BeforeSuite(func(ctx context.Context) {
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)
	plugin = setup.Program("kubectl-addon")
	var err error
	hub, err = ocm.StartHub(ctx, ocm.HubOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return hub.Stop() })
	managed, err := hub.Join(ctx, cluster, ocm.JoinOptions{AddOnLeaseInterval: time.Second})
	Expect(err).NotTo(HaveOccurred())

	register(ctx, "managed-serviceaccount", "")
	register(ctx, gateway, dependencies)
	addOn := &ocmv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: gateway}}
	Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
	renewing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	DeferCleanup(cancel)
	go func() {
		defer GinkgoRecover()
		Expect(managed.RenewLease(renewing, gateway, time.Minute)).To(Succeed())
	}()
	Eventually(func(g Gomega, ctx context.Context) {
		g.Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
		g.Expect(meta.IsStatusConditionTrue(addOn.Status.Conditions, "Available")).To(BeTrue(), "%v", addOn.Status.Conditions)
	}).WithContext(ctx).WithTimeout(time.Minute).Should(Succeed())
	addReader(ctx)
}, NodeTimeout(5*time.Minute))

// register creates a ClusterManagementAddOn with a dependency annotation, unless the declaration is empty.
func register(ctx context.Context, name, declaration string) {
	GinkgoHelper()
	registration := &ocmv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	if declaration != "" {
		registration.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: declaration}
	}
	Expect(hub.Client.Create(ctx, registration)).To(Succeed())
}

// addReader adds a user who may list OCM's objects, and nothing else.
func addReader(ctx context.Context) {
	GinkgoHelper()
	Expect(rbacv1.AddToScheme(hub.Client.Scheme())).To(Succeed())
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules: []rbacv1.PolicyRule{
			{
				APIGroups: []string{ocmv1alpha1.GroupName}, Resources: []string{"clustermanagementaddons", "managedclusteraddons"},
				Verbs: []string{"list"},
			},
			{APIGroups: []string{clusterv1.GroupName}, Resources: []string{"managedclusters"}, Verbs: []string{"list"}},
		},
	}
	Expect(hub.Client.Create(ctx, role)).To(Succeed())
	Expect(hub.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}},
	})).To(Succeed())
	var err error
	reader, err = hub.AddUser("reader")
	Expect(err).NotTo(HaveOccurred())
}

// run runs the plugin as the reader.
func run(args ...string) (out, errOut string, code int) {
	GinkgoHelper()
	command := exec.Command(plugin, append(args, "--kubeconfig", reader.Kubeconfig)...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		Fail(err.Error())
	}
	return stdout.String(), stderr.String(), command.ProcessState.ExitCode()
}

var _ = Describe("a reader of a hub without Interlock", func() {
	It("sees with why what OCM does not report", func() {
		out, errOut, code := run("why")
		Expect(code).To(Equal(0), errOut)
		Expect(errOut).To(HavePrefix(note))
		Expect(out).To(And(
			ContainSubstring("1. managed-serviceaccount is not installed\n"),
			ContainSubstring("breaks     1 of 1 managed cluster, 1 of 1 add-on: cluster-gateway (1)\n"),
			ContainSubstring("run        clusteradm addon enable --names managed-serviceaccount --clusters cluster1 --kubeconfig "),
		))
		Expect(errOut).NotTo(ContainSubstring("forbidden"), "it needs no other right")
	})

	It("sees the way to the cause", func() {
		out, errOut, code := run("why", gateway, "-n", cluster)
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(And(
			ContainSubstring("managed-serviceaccount  Required  NotInstalled  ← root cause"),
		))
	})

	It("sees which verdicts are not known", func(ctx context.Context) {
		register(ctx, "undecided", `[{"name": "widgets", "api": {"group": "example.com", "kind": "Widget"}}]`)
		addOn := &ocmv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "undecided"}}
		Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(hub.Client.Delete(ctx, addOn)).To(Succeed()) })
		out, errOut, code := run("why", "undecided")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(And(
			ContainSubstring("No root cause of undecided is known on 1 managed cluster."),
			ContainSubstring("because the verdicts on dependencies are not known, such as undecided on cluster1: widgets"),
		))
	})

	It("sees the verdicts in the tree", func() {
		out, errOut, code := run("tree", gateway)
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(MatchRegexp(`cluster-gateway +- +- +True`))
		Expect(out).To(MatchRegexp(`managed-serviceaccount +Required +NotInstalled`))
		Expect(out).To(MatchRegexp(`Widget.example.com \(as widgets\) +Optional +Held`), "no agent reports whether the API is served")
	})

	It("sees with status that the conditions do not depend on dependencies", func() {
		out, errOut, code := run("status", "-A")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(MatchRegexp(`cluster1 +cluster-gateway +True +-`))
		Expect(errOut).To(ContainSubstring("Interlock is not installed on this hub, so no condition depends on dependencies. " +
			"kubectl addon why --kubeconfig "))

		wide, errOut, code := run("status", "-A", "-o", "wide")
		Expect(code).To(Equal(0), errOut)
		Expect(wide).To(MatchRegexp(`cluster-gateway +True .* managed-serviceaccount,widgets +NotInstalled,Held`))
	})

	It("counts verdicts, and draws the graph", func() {
		out, errOut, code := run("status", "--summary")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(MatchRegexp(`cluster-gateway +managed-serviceaccount +Required +0 +1 +0`))
		graph, errOut, code := run("graph")
		Expect(code).To(Equal(0), errOut)
		Expect(graph).To(ContainSubstring(`-->|"fails on 1 of 1"|`))
	})

	It("writes the page for a ticket, which says what is not known", func() {
		page, errOut, code := run("report", "-o", "html")
		Expect(code).To(Equal(0), errOut)
		Expect(page).To(And(
			ContainSubstring("<h3>1. managed-serviceaccount is not installed</h3>"),
			ContainSubstring(note),
			ContainSubstring("https://127.0.0.1:"),
		))
	})

	It("tries changes", func() {
		out, errOut, code := run("impact", "--install", "managed-serviceaccount")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(MatchRegexp(`cluster-gateway +managed-serviceaccount +Required +NotInstalled +Satisfied`))
	})

	It("checks a declaration with the hub", func() {
		file := filepath.Join(GinkgoT().TempDir(), "add-on.yaml")
		Expect(os.WriteFile(file, []byte(`apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  name: dependent
  annotations:
    addon.open-cluster-management.io/dependencies: '[{"name": "nowhere", "message": "Nothing works."}]'
spec:
  installStrategy: {type: Manual}
`), 0o600)).To(Succeed())
		out, errOut, code := run("lint", "--live", file)
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(ContainSubstring(`"nowhere"`))
	})

	It("stores the fleet in a file", func() {
		file := filepath.Join(GinkgoT().TempDir(), "fleet.json")
		_, errOut, code := run("snapshot", file)
		Expect(code).To(Equal(0), errOut)
		out, errOut, code := run("why", "--from", file)
		Expect(code).To(Equal(0), errOut)
		Expect(errOut).To(HavePrefix(note))
		Expect(out).To(ContainSubstring("1. managed-serviceaccount is not installed\n"))
	})

	It("sees that Interlock is not installed", func() {
		out, errOut, code := run("version", "-o", "jsonpath={.hub.components[*].status}")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(Equal("Installed Unknown Unknown Unknown Unknown Unknown"))
	})
})
