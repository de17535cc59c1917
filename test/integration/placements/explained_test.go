package placements

import (
	"context"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/setup"
)

const (
	keys       = "keys" // the dependency
	mergePatch = types.MergePatchType
)

// message returns the message of Degraded of the add-on gateway on a managed cluster.
func message(ctx context.Context, cluster string) func() (string, error) {
	return func() (string, error) {
		addOn := &unstructured.Unstructured{}
		addOn.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
		addOn.SetKind("ManagedClusterAddOn")
		err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "gateway"}, addOn)
		conditions, _, _ := unstructured.NestedSlice(addOn.Object, "status", "conditions")
		for _, item := range conditions {
			if condition := item.(map[string]any); condition["type"] == "Degraded" {
				return condition["message"].(string), err
			}
		}
		return "", err
	}
}

// patch changes an object by a JSON merge patch.
func patch(ctx context.Context, object *unstructured.Unstructured, patch string) {
	GinkgoHelper()
	Expect(hub.Client.Patch(ctx, object, client.RawPatch(mergePatch, []byte(patch)))).To(Succeed())
}

var _ = Describe("A dependency that is not installed", func() {
	It("is explained by its registration and by the decisions of its Placements", func(ctx context.Context) {
		manager := setup.Program("addon-manager")
		flags := []string{
			"--kubeconfig", hub.Kubeconfig(), "--leader-elect=false", "--guard=off",
			"--metrics-bind-address=0", "--health-probe-bind-address=0",
		}
		session := setup.Run(manager, flags...)
		create(ctx, `
{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {name: nowhere, namespace: unbound}, spec: {}}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: on-d, namespace: places}
spec: {clusterSets: [labeled]}
---
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata: {name: gateway, annotations: {addon.open-cluster-management.io/dependencies: "[{name: keys}]"}}
spec: {installStrategy: {type: Manual}}
---
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn, metadata: {name: gateway, namespace: a}, spec: {}}
---
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn, metadata: {name: gateway, namespace: d}, spec: {}}`)
		expectReported := func(explanation string) {
			GinkgoHelper()
			for _, cluster := range []string{"a", "d"} {
				Eventually(message(ctx, cluster)).Should(HaveSuffix("available. (not installed: "+explanation+")"), cluster)
				out, errOut := run("report", "-n", cluster, "-o", "yaml")
				Expect(out).To(ContainSubstring("found: 'not installed: "+explanation+"'"), errOut)
			}
		}
		expectReported("it has no ClusterManagementAddOn on this hub")

		registration := create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
			metadata: {name: keys}, spec: {installStrategy: {type: Placements, placements: [{namespace: unbound, name: nowhere}]}}}`)[0]
		const unselected = "none of its Placements selects this cluster"
		expectReported(unselected)

		By("OCM installing it on one of the clusters")
		messages := messagesOf(ctx, "d")
		patch(ctx, registration, `{"spec": {"installStrategy": {"placements": [{"namespace": "places", "name": "on-d"}]}}}`)
		Eventually(message(ctx, "d")).Should(ContainSubstring("(being installed since 2"))
		Consistently(message(ctx, "a")).WithTimeout(11 * time.Second).Should(HaveSuffix(unselected + ")"))
		Expect(messages()).To(HaveLen(1), "writes of Degraded since it was installed")

		By("addon-manager restarting")
		session.Interrupt().Wait(30 * time.Second)
		messages = messagesOf(ctx, "a")
		session = setup.Run(manager, flags...)
		Eventually(session.Err).WithTimeout(30 * time.Second).Should(gbytes.Say("Starting Controller"))

		By("OCM removing it")
		object := &unstructured.Unstructured{}
		object.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
		object.SetKind("ManagedClusterAddOn")
		Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: "d", Name: keys}, object)).To(Succeed())
		patch(ctx, object, `{"metadata": {"finalizers": ["example.com/cleaning-up"]}}`)
		patch(ctx, registration, `{"spec": {"installStrategy": {"placements": [{"namespace": "unbound", "name": "nowhere"}]}}}`)
		Eventually(message(ctx, "d")).Should(ContainSubstring("; being removed since 2"))
		Expect(messages()).To(BeEmpty(), "writes of Degraded because of the restart")
		patch(ctx, object, `{"metadata": {"finalizers": null}}`)
		expectReported(unselected)
	}, NodeTimeout(3*time.Minute))
})

// messagesOf watches gateway on a managed cluster. The returned function returns the new messages of Degraded since then.
func messagesOf(ctx context.Context, cluster string) func() []string {
	GinkgoHelper()
	latest, err := message(ctx, cluster)()
	Expect(err).NotTo(HaveOccurred())
	addOns := &unstructured.UnstructuredList{}
	addOns.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
	addOns.SetKind("ManagedClusterAddOnList")
	watcher, err := hub.Client.Watch(ctx, addOns, client.InNamespace(cluster), client.MatchingFields{"metadata.name": "gateway"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watcher.Stop)
	var mutex sync.Mutex
	var messages []string
	go func() {
		for event := range watcher.ResultChan() {
			object, isAddOn := event.Object.(*unstructured.Unstructured)
			if !isAddOn {
				continue // the watch has ended with an error
			}
			conditions, _, _ := unstructured.NestedSlice(object.UnstructuredContent(), "status", "conditions")
			for _, item := range conditions {
				if condition := item.(map[string]any); condition["type"] == "Degraded" && condition["message"] != latest {
					latest = condition["message"].(string)
					mutex.Lock()
					messages = append(messages, latest)
					mutex.Unlock()
				}
			}
		}
	}()
	return func() []string {
		mutex.Lock()
		defer mutex.Unlock()
		return slices.Clone(messages)
	}
}
