package order

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// managedCluster is the name of a managed cluster that has joined.
type managedCluster string

const (
	withAgent    managedCluster = "cluster1"
	withoutAgent managedCluster = "cluster2"
)

// onBoth are the entries of a table whose specs run with addon-agent on the managed cluster, and without it.
func onBoth(within time.Duration) []TableEntry {
	return []TableEntry{
		Entry("with addon-agent", withAgent, NodeTimeout(within)),
		Entry("without addon-agent", withoutAgent, NodeTimeout(within)),
	}
}

// named returns a name for a registration, which all managed clusters share: each spec of a table has its own, and each attempt.
func (c managedCluster) named(name string) string {
	name += "-" + string(c)
	if attempt := CurrentSpecReport().NumAttempts; attempt > 1 {
		name = fmt.Sprintf("%s-%d", name, attempt)
	}
	return name
}

// install installs an add-on on the cluster, with a gate if one is given.
func (c managedCluster) install(ctx context.Context, name string, gate ...string) {
	GinkgoHelper()
	addOn := c.reference(name)
	if len(gate) > 0 {
		addOn.Annotations = map[string]string{interlockv1alpha1.GateAnnotation: gate[0]}
	}
	Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
}

// reference names an add-on of the cluster to a client.
func (c managedCluster) reference(name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: string(c), Name: name}}
}

func (c managedCluster) addOn(ctx context.Context, name string) (*addonv1alpha1.ManagedClusterAddOn, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	return addOn, hub.Client.Get(ctx, client.ObjectKey{Namespace: string(c), Name: name}, addOn)
}

// gate is that of an add-on; empty: it has none.
func (c managedCluster) gate(ctx context.Context, name string) (string, error) {
	addOn, err := c.addOn(ctx, name)
	return addOn.Annotations[interlockv1alpha1.GateAnnotation], err
}

// dryRunGate is the gate that an add-on would have if it were created now.
func (c managedCluster) dryRunGate(ctx context.Context, name string) (string, error) {
	addOn := c.reference(name)
	err := hub.Client.Create(ctx, addOn, client.DryRunAll)
	return addOn.Annotations[interlockv1alpha1.GateAnnotation], err
}

// condition is one of an add-on, as status, reason and message; empty: it has none.
func (c managedCluster) condition(ctx context.Context, name, kind string) (string, error) {
	addOn, err := c.addOn(ctx, name)
	set := meta.FindStatusCondition(addOn.Status.Conditions, kind)
	if set == nil {
		return "", err
	}
	return fmt.Sprintf("%s %s: %s", set.Status, set.Reason, set.Message), err
}

func (c managedCluster) installable(ctx context.Context, name string) (string, error) {
	return c.condition(ctx, name, "Installable")
}

func (c managedCluster) upgradable(ctx context.Context, name string) (string, error) {
	return c.condition(ctx, name, "Upgradable")
}

// templates are the AddOnTemplate of an add-on that OCM wants on the cluster, and the one that runs there.
func (c managedCluster) templates(ctx context.Context, name string) (string, error) {
	addOn, err := c.addOn(ctx, name)
	for _, reference := range addOn.Status.ConfigReferences {
		if reference.Resource == "addontemplates" && reference.DesiredConfig != nil && reference.LastAppliedConfig != nil {
			return reference.DesiredConfig.Name + " " + reference.LastAppliedConfig.Name, err
		}
	}
	return "", err
}

// deployed reports whether OCM has made the work of an add-on.
func (c managedCluster) deployed(ctx context.Context, name string) (bool, error) {
	err := hub.Client.Get(ctx, client.ObjectKey{Namespace: string(c), Name: "addon-" + name + "-deploy-0"}, &workv1.ManifestWork{})
	return err == nil, client.IgnoreNotFound(err)
}

// annotate sets the gate of an add-on.
func (c managedCluster) annotate(ctx context.Context, name, gate string) {
	GinkgoHelper()
	setAnnotation(ctx, c.reference(name), interlockv1alpha1.GateAnnotation, gate)
}

// expectMadeAfter expects that OCM has begun to deploy an add-on after another one became available. The history follows both.
func (c managedCluster) expectMadeAfter(ctx context.Context, name, dependency string) {
	GinkgoHelper()
	Eventually(c.whenAvailable).WithContext(ctx).WithArguments(dependency).Should(BeNumerically(">", 0), dependency)
	Eventually(c.whenMade).WithContext(ctx).WithArguments(name).Should(BeNumerically(">", c.whenAvailable(dependency)), name)
}

// whenMade and whenAvailable are versions of the hub; zero: not yet.
func (c managedCluster) whenMade(name string) uint64 { return history.Made.First(string(c), name) }

func (c managedCluster) whenAvailable(name string) uint64 {
	return history.Available.First(string(c), name)
}

// emitted are the notes of the events on an add-on with a reason.
func (c managedCluster) emitted(ctx context.Context, name, reason string) ([]string, error) {
	return ocmsuite.Notes(ctx, hub, string(c), name, reason)()
}
