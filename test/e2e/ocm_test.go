//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
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

// registrationAgents is the prefix of the names of the registration agent's users.
const registrationAgents = "system:open-cluster-management:" + cluster1 + ":"

// clusterLease is the interval at which the registration agent renews the
// cluster's lease. The hub waits for five intervals before the cluster is lost.
const clusterLease = 10

// ensureOCM checks that OCM is on the hub and that the managed clusters have joined. It shortens the time until the
// hub notices a lost cluster, and makes the Placement by which add-ons are installed.
func ensureOCM(ctx context.Context) {
	GinkgoHelper()
	for name := range managedClusters {
		Eventually(clusterAvailable(ctx, name)).Should(Equal(metav1.ConditionTrue), "OCM's hub has to have a managed cluster named %s", name)
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
		patch := fmt.Appendf(nil, `{"spec":{"leaseDurationSeconds":%d}}`, clusterLease)
		Eventually(func() error { return hub.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, patch)) }).Should(Succeed())
	}
	apply(ctx, hub, manifests("../../docs/examples/global-placement.yaml"))
	Eventually(func() ([]string, error) {
		var decisions clusterv1beta1.PlacementDecisionList
		err := hub.List(ctx, &decisions, client.MatchingLabels{clusterv1beta1.PlacementLabel: "global"})
		var selected []string
		for _, decision := range decisions.Items {
			for _, cluster := range decision.Status.Decisions {
				selected = append(selected, cluster.ClusterName)
			}
		}
		return selected, err
	}).Should(ConsistOf(slices.Collect(maps.Keys(managedClusters))))
}

// clusterAvailable returns the status of a managed cluster's Available.
func clusterAvailable(ctx context.Context, name string) func() (metav1.ConditionStatus, error) {
	return func() (metav1.ConditionStatus, error) {
		cluster := &clusterv1.ManagedCluster{}
		err := hub.Get(ctx, client.ObjectKey{Name: name}, cluster)
		condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
		if condition == nil {
			return "", err
		}
		return condition.Status, err
	}
}

// moduleFolder returns the folder of a module in a go.mod.
func moduleFolder(folder, module string) string {
	GinkgoHelper()
	command := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	command.Dir = folder
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
