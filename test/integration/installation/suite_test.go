// Package installation has real OCM install the dependencies of add-ons, as addon-manager --lifecycle decides. The managed cluster east
// has addon-agent, as an add-on of OCM. The cluster west does not have it. All others are ManagedClusters that the suite keeps
// available.
package installation

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/test/setup/addonagent"
	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

var (
	hub *ocm.Hub
	// deployment is the deployment of Interlock on the hub.
	deployment *interlock.Interlock
	// manager is the running addon-manager.
	manager *interlock.Running
	// members are the managed clusters that have agents, by name.
	members = map[string]*ocm.ManagedCluster{}
)

const withAgent, withoutAgent = "east", "west"

// onBoth returns the entries of a table whose specs run with addon-agent on the managed cluster, and without it.
func onBoth() []TableEntry {
	return []TableEntry{Entry("with addon-agent", withAgent), Entry("without addon-agent", withoutAgent)}
}

func TestInstallation(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "installation")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultConsistentlyDuration(3 * time.Second)
	hub = ocmsuite.Begin(ctx, 30*time.Second, ocm.HubOptions{InterlockCRDs: true})
	deployment = interlock.DeployManager(ctx, hub)
	create(ctx, `{apiVersion: v1, kind: Namespace, metadata: {name: places}}
---
{apiVersion: cluster.open-cluster-management.io/v1beta2, kind: ManagedClusterSetBinding, metadata: {name: global, namespace: places},
 spec: {clusterSet: global}}`)
	joinReal(ctx, withAgent, withoutAgent)
	join(ctx, "edge")
	agents := addonagent.New(ctx, hub, members[withAgent])
	manage("2s")
	agents.Deploy(ctx)
	stopManaging()
}, NodeTimeout(5*time.Minute))

// Each spec has an addon-manager of its own. It counts changes of the last minute.
var _ = BeforeEach(func() {
	manage("2s")
	DeferCleanup(stopManaging)
})

// manage starts an addon-manager that removes unused add-ons after a delay. A running one is stopped first.
func manage(removalDelay string) {
	GinkgoHelper()
	stopManaging()
	manager = deployment.Manage("--leader-elect=false", "--guard=off", "--lifecycle",
		"--lifecycle-removal-delay="+removalDelay, addonagent.GrantFlag)
}

func stopManaging() {
	GinkgoHelper()
	if manager != nil {
		Expect(manager.Kill()).To(Succeed())
		manager = nil
	}
}

// joinReal has managed clusters join the hub, with OCM's agents and their names as the label name.
func joinReal(ctx context.Context, names ...string) {
	GinkgoHelper()
	clusters := make([]*ocm.ManagedCluster, len(names))
	var joins errgroup.Group
	for i, name := range names {
		joins.Go(func() (err error) {
			clusters[i], err = hub.Join(ctx, name, ocm.JoinOptions{WorkAgent: true})
			return err
		})
	}
	Expect(joins.Wait()).To(Succeed())
	for i, name := range names {
		members[name] = clusters[i]
		ocmsuite.RunWorkloads(clusters[i])
		merge(ctx, managed(name), `{"metadata": {"labels": {"name": "`+name+`"}}}`)
	}
}

// join has OCM manage a cluster that is available and has its name as the label name.
func join(ctx context.Context, name string) {
	GinkgoHelper()
	ocmsuite.Accept(ctx, hub, name, map[string]string{"name": name})
}

// managed returns a ManagedCluster that has only its name, as a patch needs it.
func managed(name string) *unstructured.Unstructured {
	cluster := &unstructured.Unstructured{}
	cluster.SetAPIVersion("cluster.open-cluster-management.io/v1")
	cluster.SetKind("ManagedCluster")
	cluster.SetName(name)
	return cluster
}

// annotating returns a patch that sets annotations.
func annotating(annotations map[string]string) []byte {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	Expect(err).NotTo(HaveOccurred())
	return patch
}

// create creates objects, and deletes them after the spec.
func create(ctx context.Context, manifests string) []*unstructured.Unstructured {
	GinkgoHelper()
	return ocmsuite.Create(ctx, hub, manifests)
}

// register registers an add-on that declares edges. Its install strategy and annotations are YAML.
func register(ctx context.Context, name, strategy, dependencies, annotations string) *unstructured.Unstructured {
	GinkgoHelper()
	return create(ctx, fmt.Sprintf(`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
		metadata: {name: %s, annotations: {%s}}, spec: {installStrategy: %s, dependencies: %s}}`, name, annotations, strategy, dependencies))[0]
}

// places is a namespace with Placements.
const places = "places"

// consent creates the two Placements by which the owner of an add-on lets Interlock install it. It returns an install strategy that
// lists them.
func consent(ctx context.Context, addOn string) string {
	GinkgoHelper()
	var references []string
	for _, name := range []string{addOn + "-1", addOn + "-2"} {
		place(ctx, name, "{matchExpressions: [{key: "+catalog.InstallLabel(addOn)+", operator: Exists}]}", "[{operator: Exists}]")
		references = append(references, "{namespace: "+places+", name: "+name+"}")
	}
	return "{type: Placements, placements: [" + strings.Join(references, ", ") + "]}"
}

// place creates a Placement of managed clusters with labels.
func place(ctx context.Context, name, selector, tolerations string) {
	GinkgoHelper()
	create(ctx, `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement, metadata: {name: `+name+`, namespace: `+places+`},
		spec: {tolerations: `+tolerations+`, predicates: [{requiredClusterSelector: {labelSelector: `+selector+`}}]}}`)
}

// labeledClusters returns the managed clusters that have the label of an add-on.
func labeledClusters(ctx context.Context, addOn string) func() ([]string, error) {
	return func() (clusters []string, err error) {
		var list clusterv1.ManagedClusterList
		err = hub.Client.List(ctx, &list, client.HasLabels{catalog.InstallLabel(addOn)})
		for i := range list.Items {
			clusters = append(clusters, list.Items[i].Name)
		}
		return clusters, err
	}
}

const (
	manual   = "{type: Manual}"
	onDemand = addonv1alpha1.InstallOnDemandAnnotation + `: "true"`
)

// install installs an add-on by hand.
func install(ctx context.Context, cluster, name string) {
	GinkgoHelper()
	create(ctx, "{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn, metadata: {name: "+
		name+", namespace: "+cluster+"}, spec: {}}")
}

// clustersWith returns the managed clusters on which an add-on is installed and not being removed.
func clustersWith(ctx context.Context, addOn string) func() ([]string, error) {
	return func() (clusters []string, err error) {
		var addOns addonv1alpha1.ManagedClusterAddOnList
		err = hub.Client.List(ctx, &addOns)
		for _, addOnItem := range addOns.Items {
			if addOnItem.Name == addOn && addOnItem.DeletionTimestamp.IsZero() {
				clusters = append(clusters, addOnItem.Namespace)
			}
		}
		return clusters, err
	}
}

// notes returns the notes of the events with a reason on an object.
func notes(ctx context.Context, about, reason string) func() ([]string, error) {
	return ocmsuite.Notes(ctx, hub, "", about, reason)
}
