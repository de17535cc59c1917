package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup/faultproxy"
	"open-cluster-management.io/interlock/test/setup/interlock"
)

// uninstallation is an uninstallation of Interlock from the hub that may be interrupted.
type uninstallation struct {
	// cluster is a managed cluster with traces of Interlock of every kind.
	cluster string
	// installed is the value of --installed.
	installed string
}

// registerTraces creates the registrations of the add-ons of a cluster.
func registerTraces(ctx context.Context) {
	GinkgoHelper()
	waitingTemplate("x", scenario{}).register(ctx)
	registering(append(consentManifests("x-label"),
		registration("x-demand", onDemand, manual, "dependencies: []"),
		registration("x-user", "", manual, "ordering: Install, dependencies: "+
			"[{name: x-demand, install: Auto, removal: WithLastDependent, settings: {variables: [{name: mode, value: grpc}]}}, "+
			"{name: x-label, install: Auto, removal: WithLastDependent}]"),
		registration("x-gated", "", manual, "ordering: Install, dependencies: [{name: x-absent}]"),
		registration("x-degraded", "", manual, "dependencies: [{name: x-absent}]"),
		registration("x-unit", addonv1alpha1.BundleAnnotation+`: "true"`, manual, "dependencies: [{name: x-degraded}]"),
	)...)(ctx)
}

// begin lets Interlock act on a new managed cluster, and then ends addon-manager.
func (u *uninstallation) begin(ctx context.Context) {
	GinkgoHelper()
	leading := lead(ctx, nil)
	s := scenario{
		register: func(context.Context) {},
		installed: []string{
			addOn("x-user", ""), addOn("x-gated", ", annotations: {"+addonv1alpha1.GateAnnotation+": closed}"), addOn("x-degraded", ""),
			addOn("x-unit", ", annotations: {"+withoutAgent+`: "true"}`), addOn("x-leaf", ""),
		},
		change: configure("x-leaf", "x-leaf-2"), afterInstalled: "add-on x-leaf has Upgradable=True",
		prepared: "add-on x-leaf has Upgradable=False",
	}
	u.cluster = s.prepare(ctx, leading, 1)[0]
	for _, line := range []string{
		"installation x-demand is Installed", "installation x-label is Installed", "label ", "add-on x-gated has Installable=False",
		"add-on x-degraded has Degraded=True", "add-on x-unit has Available=False",
	} {
		Eventually(state).WithArguments(ctx, u.cluster).Should(ContainSubstring(line))
	}
	(&trial{leader: leading}).calm()
	leading.end()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: interlock.Namespace, Name: names.AddonManager}}
	Expect(hub.Client.Delete(ctx, lease)).To(Succeed())
}

// attempt is the result of an uninstallation.
type attempt struct {
	output string
	writes []faultproxy.Write
	// struck is true if the fault has happened, and failed is true if the uninstallation has ended with an error because of it.
	struck, failed bool
}

// run uninstalls Interlock with a fault at a write. A crash kills the process.
func (u *uninstallation) run(number int, fault faultproxy.Fault) (a attempt) {
	GinkgoHelper()
	proxy, err := faultproxy.Start(hub.Config, nil, "/scale") // each run begins with it
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(proxy.Close()).To(Succeed()) }()
	folder := GinkgoT().TempDir()
	kubeconfig, err := proxy.Kubeconfig(folder)
	Expect(err).NotTo(HaveOccurred())
	proxy.Inject(number, fault)
	log := filepath.Join(folder, "uninstall.log")
	uninstall, err := process.Start(deployment.Program, log, "uninstall", "--kubeconfig", kubeconfig,
		"--namespace", interlock.Namespace, "--installed", u.installed)
	Expect(err).NotTo(HaveOccurred())
	select {
	case <-uninstall.Done():
	case <-proxy.Struck():
		a.struck = true
		if fault.Crash() {
			_ = uninstall.Kill() // it may have ended by itself, without a connection
		}
		Eventually(uninstall.Done()).Should(BeClosed())
	}
	content, err := os.ReadFile(log)
	Expect(err).NotTo(HaveOccurred())
	if !a.struck {
		Expect(uninstall.Err()).NotTo(HaveOccurred(), "%s", content)
	}
	for _, write := range proxy.Writes() {
		Expect(write.Unchanged).To(BeFalse(), "%s has changed nothing", write)
	}
	a.output, a.writes, a.failed = string(content), proxy.Changes(), uninstall.Err() != nil
	return a
}

// traces returns the state of the managed cluster, the admission rules, and the lease.
func (u *uninstallation) traces(ctx context.Context) (string, error) {
	current, err := state(ctx, u.cluster)
	if err != nil {
		return "", err
	}
	lines := strings.Split(current, "\n")
	for _, kind := range []string{"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "Lease"} {
		objects := &unstructured.UnstructuredList{}
		objects.SetAPIVersion("admissionregistration.k8s.io/v1beta1")
		if kind == "Lease" {
			objects.SetAPIVersion("coordination.k8s.io/v1")
		}
		objects.SetKind(kind + "List")
		if err := hub.Client.List(ctx, objects); err != nil {
			return "", err
		}
		for i := range objects.Items {
			if name := objects.Items[i].GetName(); strings.HasPrefix(name, "interlock") {
				lines = append(lines, kind+" "+name)
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

// expectEnd expects the state at the end of an undisturbed run.
func (u *uninstallation) expectEnd(ctx context.Context, end string) {
	GinkgoHelper()
	Eventually(func() (string, error) {
		current, err := u.traces(ctx)
		return cmp.Diff(strings.Split(end, "\n"), strings.Split(current, "\n")), err
	}).Should(BeEmpty(), "-end, +state")
}

// undisturbed uninstalls Interlock without a fault. It returns the final state and the writes.
func (u *uninstallation) undisturbed(ctx context.Context, final []string) (string, []faultproxy.Write) {
	GinkgoHelper()
	u.begin(ctx)
	undisturbed := u.run(0, faultproxy.NoFault)
	output := undisturbed.output
	AddReportEntry("output", output)
	AddReportEntry("writes", fmt.Sprint(undisturbed.writes))
	for _, line := range final {
		Eventually(u.traces).WithArguments(ctx).Should(ContainSubstring(line), output)
	}
	for _, trace := range []string{"Degraded=True", "Installable", "Upgradable", "gate \"closed\"", "installation ", "Lease", "interlock-"} {
		Expect(u.traces(ctx)).NotTo(ContainSubstring(trace), output)
	}
	end, err := u.traces(ctx)
	Expect(err).NotTo(HaveOccurred())
	AddReportEntry("end", end)
	return end, undisturbed.writes
}

// tryFault uninstalls Interlock again and again, with a fault at a later write each time. If the uninstallation ends with an error, the
// next one begins with the writes that are left. Otherwise it begins on another managed cluster.
func (u *uninstallation) tryFault(ctx context.Context, fault faultproxy.Fault, end string, writes []faultproxy.Write) {
	GinkgoHelper()
	u.begin(ctx)
	for position, number := 1, 1; ; position, number = position+1, number+1 {
		Expect(position).To(BeNumerically("<=", len(writes)+1), "it does not end")
		disturbed := u.run(number, fault)
		switch {
		case disturbed.failed:
			number = 1
			continue
		case disturbed.struck:
			u.expectEnd(ctx, end)
			u.begin(ctx)
			number = position
			continue
		}
		u.expectEnd(ctx, end)
		return
	}
}

var _ = DescribeTable("The end of an uninstallation is the same wherever it ends, when Interlock", func(
	ctx context.Context, installed string, final ...string,
) {
	DeferCleanup(endAll)
	registerTraces(ctx)
	u := &uninstallation{installed: installed}
	end, writes := u.undisturbed(ctx, final)

	after := 3 // each run takes three seconds
	if *allFaults {
		after = 1
	}
	By(fmt.Sprintf("ending it after %d writes, and running it again, until it is done", after))
	u.begin(ctx)
	for runs, struck := 0, true; struck; runs++ {
		Expect(runs).To(BeNumerically("<=", len(writes)), "it does not end")
		struck = u.run(after, faultproxy.CrashAfter).struck
	}
	u.expectEnd(ctx, end)

	for _, fault := range faults() {
		if fault != faultproxy.Held && fault != faultproxy.CrashAfter {
			By(fault.String() + " each write")
			u.tryFault(ctx, fault, end, writes)
		}
	}
},
	Entry("keeps what it has installed", NodeTimeout(60*time.Minute), "keep", `add-on x-demand installed by ""`, "label "),
	Entry("removes what it has installed", NodeTimeout(60*time.Minute), "remove", "deleted x-demand", "deleted x-label"),
)
