package ownmanager

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

func registration(name string) *addonv1alpha1.ClusterManagementAddOn {
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
	return registration
}

// register registers an add-on with a declaration, as the chart of managed-serviceaccount does. No AddOnTemplate deploys it.
func register(ctx context.Context, name, declaration string) {
	GinkgoHelper()
	registration := registration(name)
	registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addondeploymentconfigs"},
	}}
	if declaration != "" {
		registration.Annotations = map[string]string{interlockv1alpha1.DependenciesAnnotation: declaration}
	}
	Expect(hub.Client.Create(ctx, registration)).To(Succeed())
}

// registerTemplated registers an add-on that OCM deploys from an AddOnTemplate.
func registerTemplated(ctx context.Context, name string) {
	GinkgoHelper()
	template, err := ocm.Template(name)
	Expect(err).NotTo(HaveOccurred())
	Expect(hub.Client.Create(ctx, template)).To(Succeed())
	registration := registration(name)
	registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
		DefaultConfig:       &addonv1alpha1.ConfigReferent{Name: name},
	}}
	Expect(hub.Client.Create(ctx, registration)).To(Succeed())
}

// declare sets the dependencies of a registered add-on.
func declare(ctx context.Context, name, dependencies string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`,
		interlockv1alpha1.DependenciesAnnotation, "{dependencies: "+dependencies+"}")
	Expect(hub.Client.Patch(ctx, registration(name), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

func key(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: cluster, Name: name} }

func install(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(hub.Client.Create(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: key(name)})).To(Succeed())
}

// touch changes an add-on in a way that has no effect on it.
func touch(ctx context.Context, name, value string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"touched":%q}}}`, value)
	Expect(hub.Client.Patch(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: key(name)}, client.RawPatch(types.MergePatchType, patch))).
		To(Succeed())
}

func addOn(ctx context.Context, name string) (*addonv1alpha1.ManagedClusterAddOn, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	return addOn, hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, addOn)
}

// gate returns the gate of an add-on. It is empty without a gate.
func gate(ctx context.Context, name string) (string, error) {
	addOn, err := addOn(ctx, name)
	return addOn.Annotations[interlockv1alpha1.GateAnnotation], err
}

// dryRunGate returns the gate that an add-on would have if it were created now.
func dryRunGate(ctx context.Context, name string) (string, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: key(name)}
	err := hub.Client.Create(ctx, addOn, client.DryRunAll)
	return addOn.Annotations[interlockv1alpha1.GateAnnotation], err
}

// condition returns a condition of an add-on as status, reason and message. It is empty without the condition.
func condition(ctx context.Context, name, kind string) (string, error) {
	addOn, err := addOn(ctx, name)
	condition := meta.FindStatusCondition(addOn.Status.Conditions, kind)
	if condition == nil {
		return "", err
	}
	return fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message), err
}

// registrations counts the registrations that the manager of an add-on has set. It sets them together with RegistrationApplied.
func registrations(ctx context.Context, name string) (int, error) {
	addOn, err := addOn(ctx, name)
	return len(addOn.Status.Registrations), err
}

// workContent returns the content of an add-on's ManifestWork. It is empty without a ManifestWork.
func workContent(ctx context.Context, name string) (string, error) {
	work := &workv1.ManifestWork{}
	err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "addon-" + name + "-deploy-0"}, work)
	var content strings.Builder
	for _, manifest := range work.Spec.Workload.Manifests {
		content.Write(manifest.Raw)
	}
	return content.String(), client.IgnoreNotFound(err)
}
