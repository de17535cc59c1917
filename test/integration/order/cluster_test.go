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

// onBoth returns the entries of a table whose specs run with addon-agent on the managed cluster, and without it.
func onBoth(within time.Duration) []TableEntry {
	return []TableEntry{
		Entry("with addon-agent", withAgent, NodeTimeout(within)),
		Entry("without addon-agent", withoutAgent, NodeTimeout(within)),
	}
}

// uniqueName returns the name of a registration. All managed clusters share registrations, so each cluster and each attempt of a spec has
// names of its own.
func (c managedCluster) uniqueName(name string) string {
	name += "-" + string(c)
	if attempt := CurrentSpecReport().NumAttempts; attempt > 1 {
		name = fmt.Sprintf("%s-%d", name, attempt)
	}
	return name
}

// install installs an add-on on the cluster. The gate is optional.
func (c managedCluster) install(ctx context.Context, name string, gate ...string) {
	GinkgoHelper()
	addOn := c.reference(name)
	if len(gate) > 0 {
		addOn.Annotations = map[string]string{interlockv1alpha1.GateAnnotation: gate[0]}
	}
	Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
}

// reference returns an add-on of the cluster that has only its key.
func (c managedCluster) reference(name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: string(c), Name: name}}
}

func (c managedCluster) addOn(ctx context.Context, name string) (*addonv1alpha1.ManagedClusterAddOn, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	return addOn, hub.Client.Get(ctx, client.ObjectKey{Namespace: string(c), Name: name}, addOn)
}

// gate returns the gate of an add-on. It is empty if the add-on has no gate.
func (c managedCluster) gate(ctx context.Context, name string) (string, error) {
	addOn, err := c.addOn(ctx, name)
	return addOn.Annotations[interlockv1alpha1.GateAnnotation], err
}

// dryRunGate returns the gate that an add-on would have if it were created now.
func (c managedCluster) dryRunGate(ctx context.Context, name string) (string, error) {
	addOn := c.reference(name)
	err := hub.Client.Create(ctx, addOn, client.DryRunAll)
	return addOn.Annotations[interlockv1alpha1.GateAnnotation], err
}

// condition returns a condition of an add-on as status, reason and message. It is empty if the add-on has no such condition.
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

// templates returns the desired AddOnTemplate of an add-on and the AddOnTemplate that runs on the cluster.
func (c managedCluster) templates(ctx context.Context, name string) (string, error) {
	addOn, err := c.addOn(ctx, name)
	for _, reference := range addOn.Status.ConfigReferences {
		if reference.Resource == "addontemplates" && reference.DesiredConfig != nil && reference.LastAppliedConfig != nil {
			return reference.DesiredConfig.Name + " " + reference.LastAppliedConfig.Name, err
		}
	}
	return "", err
}

// isDeployed reports whether OCM has created the ManifestWork of an add-on.
func (c managedCluster) isDeployed(ctx context.Context, name string) (bool, error) {
	err := hub.Client.Get(ctx, client.ObjectKey{Namespace: string(c), Name: "addon-" + name + "-deploy-0"}, &workv1.ManifestWork{})
	return err == nil, client.IgnoreNotFound(err)
}

// annotate sets the gate of an add-on.
func (c managedCluster) annotate(ctx context.Context, name, gate string) {
	GinkgoHelper()
	setAnnotation(ctx, c.reference(name), interlockv1alpha1.GateAnnotation, gate)
}

// expectMadeAfter expects that OCM has begun to deploy an add-on after its dependency became available. The history follows both.
func (c managedCluster) expectMadeAfter(ctx context.Context, name, dependency string) {
	GinkgoHelper()
	Eventually(c.whenAvailable).WithContext(ctx).WithArguments(dependency).Should(BeNumerically(">", 0), dependency)
	Eventually(c.whenMade).WithContext(ctx).WithArguments(name).Should(BeNumerically(">", c.whenAvailable(dependency)), name)
}

// whenMade returns the resource version at which OCM created the ManifestWork of an add-on. It is zero before that.
func (c managedCluster) whenMade(name string) uint64 { return history.Made.First(string(c), name) }

func (c managedCluster) whenAvailable(name string) uint64 {
	return history.Available.First(string(c), name)
}

// eventNotes returns the notes of the events on an add-on with a reason.
func (c managedCluster) eventNotes(ctx context.Context, name, reason string) ([]string, error) {
	return ocmsuite.Notes(ctx, hub, string(c), name, reason)()
}
