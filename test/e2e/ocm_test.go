//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// registrationAgents is how the names of the registration agent's users begin.
const registrationAgents = "system:open-cluster-management:" + cluster1 + ":"

// clusterLease is the interval at which the registration agent renews the
// cluster's lease. The hub waits for five intervals before the cluster is lost.
const clusterLease = 10

// ensureOCM checks that OCM is on the hub and that the managed cluster has
// joined, shortens the time after which the hub notices a lost cluster, and makes
// the Placement that add-ons are installed by.
func ensureOCM(ctx context.Context) {
	GinkgoHelper()
	Eventually(clusterAvailable(ctx)).Should(Equal(metav1.ConditionTrue), "OCM's hub has to have a managed cluster named %s", cluster1)
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster1}}
	patch := fmt.Appendf(nil, `{"spec":{"leaseDurationSeconds":%d}}`, clusterLease)
	Eventually(func() error { return hub.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, patch)) }).Should(Succeed())
	apply(ctx, hub, manifests("../../docs/examples/global-placement.yaml"))
	Eventually(func() ([]clusterv1beta1.PlacementDecision, error) {
		var decisions clusterv1beta1.PlacementDecisionList
		err := hub.List(ctx, &decisions, client.MatchingLabels{clusterv1beta1.PlacementLabel: "global"})
		return decisions.Items, err
	}).Should(ConsistOf(HaveField("Status.Decisions", ConsistOf(HaveField("ClusterName", cluster1)))))
}

// clusterAvailable returns the status of the managed cluster's Available.
func clusterAvailable(ctx context.Context) func() (metav1.ConditionStatus, error) {
	return func() (metav1.ConditionStatus, error) {
		cluster := &clusterv1.ManagedCluster{}
		err := hub.Get(ctx, client.ObjectKey{Name: cluster1}, cluster)
		condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
		if condition == nil {
			return "", err
		}
		return condition.Status, err
	}
}

// moduleFolder is where a module of a go.mod is.
func moduleFolder(in, module string) string {
	GinkgoHelper()
	command := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	command.Dir = in
	out, err := command.Output()
	Expect(err).NotTo(HaveOccurred(), "find the module %s", module)
	return strings.TrimSpace(string(out))
}

func awaitCRD(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(func() (bool, error) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := hub.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			return false, err
		}
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established {
				return condition.Status == apiextensionsv1.ConditionTrue, nil
			}
		}
		return false, nil
	}).Should(BeTrue(), name)
}
