// Package placements runs the verbs of the plugin that read Placements and installations, on OCM's own hub. They run with the
// permissions of deploy/plugin-reader, and are compared with the decisions of OCM's placement controller.
package placements

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

func TestPlacements(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "kubectl addon and Placements")
}

var (
	hub    *ocm.Hub
	plugin string
)

// objects are created on the hub.
const objects = `
{apiVersion: v1, kind: Namespace, metadata: {name: places}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: unbound}}
---
{apiVersion: cluster.open-cluster-management.io/v1beta2, kind: ManagedClusterSet, metadata: {name: first}}
---
{apiVersion: cluster.open-cluster-management.io/v1beta2, kind: ManagedClusterSet, metadata: {name: second}}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: labeled}
spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchLabels: {gpu: some}}}}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: first, namespace: places}
spec: {clusterSet: first}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: labeled, namespace: places}
spec: {clusterSet: labeled}
---
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn, metadata: {name: app}, spec: {}}
---
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn, metadata: {name: certs}, spec: {}}
---
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: AddOnTemplate
metadata: {name: certs}
spec:
  addonName: certs
  agentSpec:
    workload:
      manifests:
      - apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: certificates.example.com}
        spec: {group: example.com, names: {kind: Certificate, plural: certificates}}
`

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(30 * time.Second)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)
	plugin = setup.Program("kubectl-addon")
	var err error
	hub, err = ocm.StartHub(ctx, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	create(ctx, objects)
	grant(ctx)
	for name, labels := range map[string]string{
		"a": "{set: first, zone: east}", "b": "{set: first, zone: west}", "c": "{set: second, zone: east}", "d": "{set: second, gpu: some}",
	} {
		join(ctx, name, labels)
	}
	tainted := join(ctx, "e", "{set: first}")
	Expect(hub.Client.Patch(ctx, tainted, client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSelectIfNew"}]}}`)))).To(Succeed())
}, NodeTimeout(5*time.Minute))

// join creates a managed cluster that is available and has a claim. Its ManagedClusterSet is its label set.
func join(ctx context.Context, name, labels string) *unstructured.Unstructured {
	labels = strings.Replace(labels, "set:", "cluster.open-cluster-management.io/clusterset:", 1)
	object := create(ctx, `{apiVersion: cluster.open-cluster-management.io/v1, kind: ManagedCluster,
		metadata: {name: `+name+`, labels: `+labels+`}, spec: {hubAcceptsClient: true, leaseDurationSeconds: 3600}}`)[0]
	status := `{"status": {"clusterClaims": [{"name": "platform", "value": "on-` + name + `"}],
		"conditions": [{"type": "ManagedClusterConditionAvailable", "status": "True",
		"reason": "Test", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}`
	Expect(hub.Client.Status().Patch(ctx, object, client.RawPatch("application/merge-patch+json", []byte(status)))).To(Succeed())
	Eventually(func(g Gomega) { // OCM taints clusters that it has not observed
		g.Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		taints, _, _ := unstructured.NestedSlice(object.Object, "spec", "taints")
		g.Expect(taints).To(BeEmpty())
	}).Should(Succeed())
	return object
}

func create(ctx context.Context, manifests string) (objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, manifest := range strings.Split(manifests, "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
		Eventually(func() error { return hub.Client.Create(ctx, object) }).Should(Succeed(), manifest)
		objects = append(objects, object)
	}
	return objects
}

// run runs the plugin as the user reader.
func run(args ...string) (out, errOut string) {
	GinkgoHelper()
	command := exec.Command(plugin, append([]string{"--kubeconfig", hub.Kubeconfig(), "--as", "reader"}, args...)...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		Fail(err.Error())
	}
	return stdout.String(), stderr.String()
}

func file(content string) string {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "file.yaml")
	Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
	return path
}

// decidedClusters waits for OCM to decide on a Placement, and returns the clusters.
func decidedClusters(ctx context.Context, placement *unstructured.Unstructured) []string {
	GinkgoHelper()
	clusters := []string{}
	Eventually(func(g Gomega) {
		g.Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(placement), placement)).To(Succeed())
		conditions, _, _ := unstructured.NestedSlice(placement.Object, "status", "conditions")
		g.Expect(conditions).NotTo(BeEmpty())
		selected, _, _ := unstructured.NestedInt64(placement.Object, "status", "numberOfSelectedClusters")
		decisions := &unstructured.UnstructuredList{}
		decisions.SetAPIVersion("cluster.open-cluster-management.io/v1beta1")
		decisions.SetKind("PlacementDecisionList")
		g.Expect(hub.Client.List(ctx, decisions, client.InNamespace(placement.GetNamespace()),
			client.MatchingLabels{"cluster.open-cluster-management.io/placement": placement.GetName()})).To(Succeed())
		clusters = []string{}
		for _, decision := range decisions.Items {
			items, _, _ := unstructured.NestedSlice(decision.Object, "status", "decisions")
			for _, item := range items {
				clusters = append(clusters, item.(map[string]any)["clusterName"].(string))
			}
		}
		g.Expect(clusters).To(HaveLen(int(selected)))
	}).Should(Succeed())
	return clusters
}

var _ = Describe("impact --placement", func() {
	DescribeTable("selects what OCM's placement controller selects", func(ctx context.Context, namespace, spec string, expected ...string) {
		// The Placement has a name of its own, because decisions of a deleted Placement of the same name would keep clusters with the
		// taint NoSelectIfNew.
		manifest := `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement,
			metadata: {name: tried-` + rand.String(5) + `, namespace: ` + namespace + `}, spec: ` + spec + `}`
		out, errOut := run("impact", "--install", "app", "--placement", file(manifest), "-o", "json")
		var plan struct{ Placement struct{ Clusters []string } }
		if !strings.Contains(errOut, "selects no managed cluster") {
			Expect(json.Unmarshal([]byte(out), &plan)).To(Succeed(), errOut)
		}
		Expect(plan.Placement.Clusters).To(ConsistOf(expected), errOut)

		placement := create(ctx, manifest)[0]
		DeferCleanup(func(ctx context.Context) {
			Expect(hub.Client.Delete(ctx, placement)).To(Succeed())
			Eventually(func() error { return hub.Client.Get(ctx, client.ObjectKeyFromObject(placement), placement) }).ShouldNot(Succeed())
		})
		Expect(decidedClusters(ctx, placement)).To(ConsistOf(expected), "OCM's decision")
	},
		Entry("bound sets", "places", "{}", "a", "b", "d"),
		Entry("no bound set", "unbound", "{}"),
		Entry("one set", "places", "{clusterSets: [first]}", "a", "b"),
		Entry("a set by labels", "places", "{clusterSets: [labeled]}", "d"),
		Entry("a set that is not bound", "places", "{clusterSets: [second]}"),
		Entry("a toleration", "places", "{clusterSets: [first], tolerations: [{key: gpu, operator: Exists}]}", "a", "b", "e"),
		Entry("another toleration", "places", "{clusterSets: [first], tolerations: [{key: gpu, value: other}]}", "a", "b"),
		Entry("labels", "places", "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {zone: east}}}}]}", "a"),
		Entry("claims", "places",
			"{predicates: [{requiredClusterSelector: {claimSelector: {matchExpressions: [{key: platform, operator: NotIn, values: [on-a]}]}}}]}",
			"b", "d"),
		Entry("an expression", "places",
			`{predicates: [{requiredClusterSelector: {celSelector: {celExpressions: ['managedCluster.metadata.labels["zone"] == "west"']}}}]}`, "b"),
	)
})

var _ = Describe("suggest", func() {
	It("reads AddOnTemplates and ManifestWorks", func(ctx context.Context) {
		create(ctx, `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ManagedClusterAddOn
metadata: {name: app, namespace: a}
spec: {}
---
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: addon-app-deploy-0, namespace: a, labels: {open-cluster-management.io/addon-name: app}}
spec: {workload: {manifests: [{apiVersion: example.com/v1, kind: Certificate, metadata: {name: tls, namespace: default}}]}}`)
		out, errOut := run("suggest")
		Expect(out).To(MatchRegexp(`app +certs +Required +ManifestWork a/addon-app-deploy-0: has Certificate tls \(example.com\)`), errOut)
	})
})

var _ = Describe("lint --live", func() {
	It("finds where a Placement installs an add-on without its dependencies", func(ctx context.Context) {
		placement := create(ctx, `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement,
			metadata: {name: linted, namespace: places}, spec: {clusterSets: [first]}}`)[0]
		Expect(decidedClusters(ctx, placement)).To(ConsistOf("a", "b"))
		out, errOut := run("lint", "--live", file(`{kind: ClusterManagementAddOn, metadata: {name: app}, spec: {
			installStrategy: {type: Placements, placements: [{name: linted, namespace: places}]}, dependencies: [{name: certs, message: m}]}}`))
		Expect(out).To(ContainSubstring(`on 2 managed clusters where "certs", which it needs, is not installed: a, b`), errOut)
	})
})
