package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

// A new user has 50 managed clusters. On 30 of them, an add-on is missing that two others require, so addon-manager reports it on 60
// add-ons. The user knows the commands of the README: why, the command that it prints, and wait.
var _ = Describe("a fleet with one cause and 60 victims", Ordered, func() {
	const clusters, affected = 50, 30
	var (
		fleet *testenv.Cluster
		admin client.Client
	)

	clusterName := func(i int) string { return fmt.Sprintf("member%02d", i) }
	install := func(ctx context.Context, cluster, addOn string) {
		object := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: addOn}}
		Expect(admin.Create(ctx, object)).To(Succeed())
		patch := client.MergeFrom(object.DeepCopy())
		meta.SetStatusCondition(&object.Status.Conditions, metav1.Condition{
			Type: "Available", Status: metav1.ConditionTrue, Reason: ocmv1alpha1.AddonAvailableReasonLeaseLeaseUpdated,
		})
		Expect(admin.Status().Patch(ctx, object, patch)).To(Succeed())
	}
	degraded := func(ctx context.Context) (count int) {
		var addOns addonv1alpha1.ManagedClusterAddOnList
		Expect(admin.List(ctx, &addOns)).To(Succeed())
		for i := range addOns.Items {
			if meta.IsStatusConditionTrue(addOns.Items[i].Status.Conditions, "Degraded") {
				count++
			}
		}
		return count
	}
	onFleet := func(args ...string) (out, errOut string, code int) {
		return run(append(args, "--kubeconfig", fleet.Kubeconfig())...)
	}

	BeforeAll(func(ctx context.Context) {
		fleet = setup.Hub(ctx, nil)
		admin = setup.Administrator(fleet, addonv1alpha1.AddToScheme, clusterv1.Install)
		setup.Run(setup.Program("addon-manager"), "--kubeconfig", fleet.Kubeconfig(), "--metrics-bind-address=0", "--health-probe-bind-address=0",
			"--leader-elect=false")
		for _, registration := range fixture.Registrations("gateway: store, portal: store, store") {
			registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
			Expect(admin.Create(ctx, &registration)).To(Succeed())
		}
		for i := range clusters {
			member := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: clusterName(i)}}
			Expect(admin.Create(ctx, member)).To(Succeed())
			meta.SetStatusCondition(&member.Status.Conditions, metav1.Condition{
				Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "ManagedClusterAvailable",
			})
			Expect(admin.Status().Update(ctx, member)).To(Succeed())
			Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: clusterName(i)}})).To(Succeed())
			install(ctx, clusterName(i), "gateway")
			install(ctx, clusterName(i), "portal")
			if i >= affected {
				install(ctx, clusterName(i), "store")
			}
		}
		Eventually(degraded).WithContext(ctx).WithTimeout(time.Minute).Should(Equal(2 * affected))
	})

	It("is understood, mended by the command that is printed, and seen green", func(ctx context.Context) {
		_, _, code := onFleet("wait", "-A", "--timeout", "1s")
		Expect(code).To(Equal(1))

		start := time.Now()
		out, errOut, code := onFleet("why")
		Expect(code).To(Equal(0), errOut)
		Expect(time.Since(start)).To(BeNumerically("<", 10*time.Second))
		Expect(out).To(HavePrefix("1 root cause of add-ons on 50 managed clusters:\n\n1. store is not installed\n"))
		Expect(out).To(MatchRegexp(`breaks +30 of 50 managed clusters, 60 of 100 add-ons: gateway \(30\), portal \(30\)`))

		keys := enabledBy(out, fleet.Kubeconfig())
		Expect(keys).To(HaveLen(affected))
		for _, key := range keys {
			install(ctx, key.Namespace, key.Name)
		}

		_, errOut, code = onFleet("wait", "-A", "--timeout", "1m")
		Expect(code).To(Equal(0), errOut)
		Eventually(degraded).WithContext(ctx).WithTimeout(time.Minute).Should(BeZero())
		out, errOut, code = onFleet("why")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(Equal("No Required dependency keeps add-ons from working on 50 managed clusters.\n"))
		out, errOut, code = onFleet("status", "-A", "--failing", "--check")
		Expect(code).To(Equal(0), out+errOut)
	})
})

var runLine = regexp.MustCompile(`(?m)^ +run +(.*)$`)

// enabledBy returns the add-ons that the printed commands would install. This suite has no clusteradm, which `make clusteradm` builds.
// So it does the same as `clusteradm addon enable`: it creates the ManagedClusterAddOns that the command names.
func enabledBy(out, kubeconfig string) (keys []client.ObjectKey) {
	GinkgoHelper()
	lines := runLine.FindAllStringSubmatch(out, -1)
	Expect(lines).NotTo(BeEmpty(), out)
	for _, line := range lines {
		command := strings.Fields(line[1])
		Expect(command[:3]).To(Equal([]string{"clusteradm", "addon", "enable"}), line[1])
		flags := map[string]string{}
		for pair := range slices.Chunk(command[3:], 2) {
			flags[pair[0]] = pair[1]
		}
		Expect(flags).To(HaveLen(3))
		Expect(flags).To(HaveKeyWithValue("--kubeconfig", kubeconfig), "it acts on the hub that was read")
		for _, addOn := range strings.Split(flags["--names"], ",") {
			for _, cluster := range strings.Split(flags["--clusters"], ",") {
				keys = append(keys, client.ObjectKey{Namespace: cluster, Name: addOn})
			}
		}
	}
	return keys
}
