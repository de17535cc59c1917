package order

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const cluster = "cluster1"

// register registers an add-on that declares this; a templated one has an AddOnTemplate with a Deployment.
func register(ctx context.Context, name, declares string, templated bool) {
	GinkgoHelper()
	if templated {
		Expect(hub.Client.Create(ctx, template(name))).To(Succeed())
		registerTemplated(ctx, name, declares)
		return
	}
	Expect(hub.Client.Create(ctx, registration(name, declares))).To(Succeed())
}

func registration(name, declares string) *addonv1alpha1.ClusterManagementAddOn {
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
	if declares != "" {
		registration.Annotations = map[string]string{interlockv1alpha1.DependenciesAnnotation: declares}
	}
	return registration
}

// registerTemplated registers an add-on that OCM deploys from the AddOnTemplate of its name.
func registerTemplated(ctx context.Context, name, declares string) {
	GinkgoHelper()
	registration := registration(name, declares)
	registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
		DefaultConfig:       &addonv1alpha1.ConfigReferent{Name: name},
	}}
	Expect(hub.Client.Create(ctx, registration)).To(Succeed())
}

func template(addOn string) *addonv1alpha1.AddOnTemplate {
	GinkgoHelper()
	of, err := ocm.Template(addOn)
	Expect(err).NotTo(HaveOccurred())
	return of
}

// install installs an add-on on the cluster, with a gate if one is given.
func install(ctx context.Context, name string, gate ...string) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	if len(gate) > 0 {
		addOn.Annotations = map[string]string{interlockv1alpha1.GateAnnotation: gate[0]}
	}
	Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
}

// ordered declares that the installation waits for these.
func ordered(dependencies ...string) string {
	return "{ordering: Install, " + strings.TrimPrefix(unordered(dependencies...), "{")
}

func unordered(dependencies ...string) string {
	for i := range dependencies {
		dependencies[i] = "{name: " + dependencies[i] + "}"
	}
	return "{dependencies: [" + strings.Join(dependencies, ", ") + "]}"
}

// bringing declares that the installation waits for these, and has them installed.
func bringing(dependencies ...string) string {
	var installed []string
	for _, name := range dependencies {
		installed = append(installed, name+", install: Auto")
	}
	return ordered(installed...)
}

// consent lets Interlock install an add-on where others need it.
func consent(ctx context.Context, name string) {
	GinkgoHelper()
	setAnnotation(ctx, registration(name, ""), interlockv1alpha1.InstallOnDemandAnnotation, "true")
}

// setAnnotation sets an annotation of an object that the hub has.
func setAnnotation(ctx context.Context, object client.Object, key, value string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value)
	Expect(hub.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

func addOn(ctx context.Context, name string) (*addonv1alpha1.ManagedClusterAddOn, error) {
	found := &addonv1alpha1.ManagedClusterAddOn{}
	return found, hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, found)
}

// gate is that of an add-on; empty: it has none.
func gate(ctx context.Context, name string) (string, error) {
	found, err := addOn(ctx, name)
	return found.Annotations[interlockv1alpha1.GateAnnotation], err
}

// condition is one of an add-on, as status, reason and message; empty: it has none.
func condition(ctx context.Context, name, kind string) (string, error) {
	found, err := addOn(ctx, name)
	one := meta.FindStatusCondition(found.Status.Conditions, kind)
	if one == nil {
		return "", err
	}
	return fmt.Sprintf("%s %s: %s", one.Status, one.Reason, one.Message), err
}

func installable(ctx context.Context, name string) (string, error) {
	return condition(ctx, name, "Installable")
}

// deployed reports whether OCM has made the work of an add-on.
func deployed(ctx context.Context, name string) (bool, error) {
	err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "addon-" + name + "-deploy-0"}, &workv1.ManifestWork{})
	return err == nil, client.IgnoreNotFound(err)
}

func annotate(ctx context.Context, name, value string) {
	GinkgoHelper()
	found := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	setAnnotation(ctx, found, interlockv1alpha1.GateAnnotation, value)
}

// whenMade and whenAvailable are versions of the hub; zero: not yet.
func whenMade(name string) uint64 { return history.Made.Of(cluster, name) }

func whenAvailable(name string) uint64 { return history.Available.Of(cluster, name) }
