package cli

import (
	"context"
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var _ = Describe("kubectl addon why -w", func() {
	It("shows the causes again when they change, until it is interrupted", func(ctx context.Context) {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "repaired", Labels: map[string]string{"watched": "yes"}}}
		Expect(hubClient.Create(ctx, cluster)).To(Succeed())
		meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Tested",
		})
		Expect(hubClient.Status().Update(ctx, cluster)).To(Succeed())
		Expect(hubClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Name}})).To(Succeed())
		dependent := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "broken"}}
		dependent.Spec.InstallStrategy.Type = "Manual"
		dependent.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "absent", Message: "Nothing works."}}
		Expect(hubClient.Create(ctx, dependent)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(hubClient.Delete(ctx, dependent)).To(Succeed()) })
		addOn := func(name string) *addonv1alpha1.ManagedClusterAddOn {
			return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Name, Name: name}}
		}
		Expect(hubClient.Create(ctx, addOn("broken"))).To(Succeed())

		command := exec.Command(plugin, "--kubeconfig", hub.Kubeconfig(), "why", "-l", "watched=yes", "-w")
		session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(session.Kill)
		Eventually(session.Out.Contents).Should(And(
			ContainSubstring(" UTC, until you interrupt it:\n1 root cause of add-ons on 1 managed cluster with the labels watched=yes:\n"),
			ContainSubstring("1. absent is not installed\n"),
		))

		repaired := addOn("absent")
		Expect(hubClient.Create(ctx, repaired)).To(Succeed())
		meta.SetStatusCondition(&repaired.Status.Conditions, metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Tested"})
		Expect(hubClient.Status().Update(ctx, repaired)).To(Succeed())
		Eventually(session.Out.Contents).Should(ContainSubstring("No Required dependency keeps add-ons from working on 1 managed cluster"))
		Eventually(session.Interrupt()).Should(gexec.Exit(0))
	})

	DescribeTable("what cannot be watched", func(args []string, message string) {
		_, errOut, code := run(append([]string{"why", "-w"}, args...)...)
		Expect(code).To(Equal(2))
		Expect(errOut).To(ContainSubstring(message))
	},
		Entry("a file", []string{"--from", "fleet.json"}, "--watch and --from: choose one"),
		Entry("data", []string{"-o", "json"}, "--watch and --output: a watch prints text for people"),
	)
})
