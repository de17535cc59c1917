package crash

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup/faultproxy"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// quiet is the length of the period without writes at the end of a run.
const quiet = 700 * time.Millisecond

// scenario is a user's action on a managed cluster to which addon-manager reacts.
type scenario struct {
	// register creates the objects that the hub needs once.
	register func(ctx context.Context)
	// installed are the manifests of add-ons that a user has installed earlier.
	installed []string
	// change changes the installed add-ons once afterInstalled is a line of the state. It is nil if they stay as they are.
	change         func(ctx context.Context, cluster string)
	afterInstalled string
	// prepared is a line of the state before the user acts. It is empty if addon-manager has nothing to do until then.
	prepared string
	// act is the action of the user.
	act func(ctx context.Context, cluster string)
	// final are lines of the state at the end of a run without a fault.
	final []string
}

// runCount counts managed clusters. Each has one run.
var runCount int

// trial is a run of a scenario.
type trial struct {
	scenario
	leader  *leader
	cluster string
}

// prepare prepares managed clusters for runs, at the same time. On a busy machine, a webhook may answer too late to let an AddOnTemplate
// wait. Then other clusters are prepared.
func (s scenario) prepare(ctx context.Context, leading *leader, count int) (prepared []string) {
	GinkgoHelper()
	for range 3 {
		clusters := make([]string, count-len(prepared))
		for i := range clusters {
			runCount++
			clusters[i] = fmt.Sprintf("run%d", runCount)
			ocmsuite.Accept(ctx, hub, clusters[i], nil)
			for _, addOn := range s.installed {
				create(ctx, clusters[i], addOn)
			}
		}
		for _, cluster := range clusters {
			if s.change != nil {
				Eventually(state).WithArguments(ctx, cluster).Should(ContainSubstring(s.afterInstalled))
				s.change(ctx, cluster)
			}
		}
		for _, cluster := range clusters {
			if s.isPrepared(ctx, cluster) {
				prepared = append(prepared, cluster)
			}
		}
		if len(prepared) == count {
			break
		}
	}
	Expect(prepared).To(HaveLen(count), "the other clusters did not reach %q", s.prepared)
	(&trial{leader: leading}).calm()
	return prepared
}

// isPrepared waits for the state before the user acts. It reports whether the state is reached.
func (s scenario) isPrepared(ctx context.Context, cluster string) bool {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		current, err := state(ctx, cluster)
		return strings.Contains(current, s.prepared), err
	}) == nil
}

// begin injects a fault at a write, and lets the user act.
func (s scenario) begin(ctx context.Context, leading *leader, cluster string, number int, fault faultproxy.Fault) *trial {
	GinkgoHelper()
	leading.proxy.Inject(number, fault)
	s.act(ctx, cluster)
	return &trial{scenario: s, leader: leading, cluster: cluster}
}

// calm waits until addon-manager has written nothing for a while.
func (t *trial) calm() {
	GinkgoHelper()
	count, lastWrite := -1, time.Now()
	Eventually(func() time.Duration {
		if current := len(t.leader.proxy.Writes()); current != count {
			count, lastWrite = current, time.Now()
		}
		return time.Since(lastWrite)
	}).Should(BeNumerically(">=", quiet))
}

// runUndisturbed runs a scenario without a fault, and returns its final state and the writes.
func (s scenario) runUndisturbed(ctx context.Context, leading *leader) (end string, writes []faultproxy.Write) {
	GinkgoHelper()
	t := s.begin(ctx, leading, s.prepare(ctx, leading, 1)[0], 0, faultproxy.NoFault)
	for _, line := range s.final {
		Eventually(state).WithArguments(ctx, t.cluster).Should(ContainSubstring(line))
	}
	t.calm()
	for _, write := range leading.proxy.Writes() {
		Expect(write.Unchanged).To(BeFalse(), "%s has changed nothing", write)
	}
	end, err := state(ctx, t.cluster)
	Expect(err).NotTo(HaveOccurred())
	return end, leading.proxy.Changes()
}

// runDisturbed runs a scenario with a fault at a write. It returns the addon-manager that runs at the end.
func (s scenario) runDisturbed(
	ctx context.Context, leading *leader, cluster string, number int, fault faultproxy.Fault, end string,
) *leader {
	GinkgoHelper()
	t := s.begin(ctx, leading, cluster, number, fault)
	struck := leading.proxy.Struck()
	// Other components write at the same time, so that a run may have one write fewer. Then no fault happens until it is quiet, and
	// none must happen later.
	Eventually(func() (string, error) {
		select {
		case <-struck:
			return "", nil
		default:
			return difference(ctx, t.cluster, end)
		}
	}).Should(BeEmpty(), "the fault has not happened, and this is not the end: -end, +state")
	select {
	case <-struck:
	default:
		t.calm()
	}
	if leading.proxy.Disarm() {
		t.replace(ctx, fault, end)
	}
	Eventually(difference).WithArguments(ctx, t.cluster, end).Should(BeEmpty(), "-end, +state")
	t.calm()
	Expect(difference(ctx, t.cluster, end)).To(BeEmpty(), "-end, +state")
	return t.leader
}

// replace has another addon-manager lead, if the fault ends the first one.
func (t *trial) replace(ctx context.Context, fault faultproxy.Fault, end string) {
	GinkgoHelper()
	switch {
	case fault.Crash():
		lists := t.leader.proxy.Lists()
		t.leader.end()
		t.leader = lead(ctx, lists)
	case fault == faultproxy.Held:
		formerLeader := t.leader
		t.leader = lead(ctx, nil)
		Eventually(difference).WithArguments(ctx, t.cluster, end).Should(BeEmpty(), "-end, +state")
		formerLeader.proxy.Release()
		(&trial{leader: formerLeader}).calm()
		formerLeader.end()
	}
}

// faults returns the faults with which a run is tried.
func faults() []faultproxy.Fault {
	if !*allFaults {
		return []faultproxy.Fault{faultproxy.CrashAfter}
	}
	return []faultproxy.Fault{
		faultproxy.CrashAfter, faultproxy.CrashBefore, faultproxy.Conflict, faultproxy.Forbidden, faultproxy.TooManyRequests,
		faultproxy.InternalError, faultproxy.LostResponse, faultproxy.Held,
	}
}

var _ = DescribeTable("The end is the same wherever addon-manager ends, when it", func(ctx context.Context, s scenario) {
	s.register(ctx)
	leading := lead(ctx, nil)
	DeferCleanup(endAll)
	end, writes := s.runUndisturbed(ctx, leading)
	AddReportEntry("writes", fmt.Sprint(writes))
	AddReportEntry("end", end)
	Expect(writes).NotTo(BeEmpty())
	for _, fault := range faults() {
		clusters := s.prepare(ctx, leading, len(writes))
		for i, write := range writes {
			By(fmt.Sprintf("%s %d of %d: %s", fault, i+1, len(writes), write))
			leading = s.runDisturbed(ctx, leading, clusters[i], i+1, fault, end)
		}
	}
}, scenarios())

// create creates an add-on on a managed cluster from its manifest.
func create(ctx context.Context, cluster, addOn string) {
	GinkgoHelper()
	ocmsuite.Create(ctx, hub, strings.ReplaceAll(addOn, "CLUSTER", cluster))
}

// uninstall deletes add-ons from a managed cluster, one after the other.
func uninstall(names ...string) func(ctx context.Context, cluster string) {
	return func(ctx context.Context, cluster string) {
		GinkgoHelper()
		for _, name := range names {
			addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
			Expect(hub.Client.Delete(ctx, addOn)).To(Succeed())
		}
	}
}

// install creates an add-on, once the hub has its registration.
func install(addOn string) func(ctx context.Context, cluster string) {
	return func(ctx context.Context, cluster string) {
		GinkgoHelper()
		create(ctx, cluster, addOn)
	}
}

// configure makes an add-on use an AddOnTemplate.
func configure(name, template string) func(ctx context.Context, cluster string) {
	return func(ctx context.Context, cluster string) {
		GinkgoHelper()
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
		patch := fmt.Sprintf(`{"spec": {"configs": [{"group": "addon.open-cluster-management.io", "resource": "addontemplates",
			"name": %q}]}}`, template)
		Expect(hub.Client.Patch(ctx, addOn, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
	}
}

// setMode changes the variable mode in the settings of an add-on, as a user does.
func setMode(name string) func(ctx context.Context, cluster string) {
	return func(ctx context.Context, cluster string) {
		GinkgoHelper()
		config := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "interlock-" + name}}
		const patch = `{"spec": {"customizedVariables": [{"name": "mode", "value": "http"}]}}`
		Expect(hub.Client.Patch(ctx, config, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
	}
}
