package deployment

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

// expectInstallations has addon-manager --lifecycle install one add-on by itself and another by OCM, and removes both.
func expectInstallations(ctx context.Context) {
	GinkgoHelper()
	newRegistration := func(name string, annotations map[string]string) *ocmv1alpha1.ClusterManagementAddOn {
		registration := &ocmv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
		registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
		return registration
	}
	manual := newRegistration("brought-by-hand", map[string]string{addonv1alpha1.InstallOnDemandAnnotation: "true"})
	manual.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addondeploymentconfigs"},
	}}
	registration := newRegistration("brought-by-ocm", nil)
	places := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "places"}}
	binding := &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: places.Name, Name: "global"},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"},
	}
	placement := fixture.Consenting(places.Name, registration.Name, registration.Name)
	registration.Spec.InstallStrategy = ocmv1alpha1.InstallStrategy{
		Type: ocmv1alpha1.AddonInstallStrategyPlacements,
		Placements: []ocmv1alpha1.PlacementStrategy{{
			PlacementRef: ocmv1alpha1.PlacementRef{Namespace: placement.Namespace, Name: placement.Name},
		}},
	}
	dependent := newRegistration("needing", map[string]string{
		addonv1alpha1.DependenciesAnnotation: "[{name: brought-by-hand, install: Auto, removal: WithLastDependent, " +
			"settings: {variables: [{name: mode, value: grpc}]}}, {name: brought-by-ocm, install: Auto, removal: WithLastDependent}]",
	})
	addOn := func(name string) *ocmv1alpha1.ManagedClusterAddOn {
		return &ocmv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	}
	for _, object := range []client.Object{places, binding, &placement, manual, registration, dependent, addOn(dependent.Name)} {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	isAbsent := func(object client.Object) func() bool {
		return func() bool {
			return apierrors.IsNotFound(hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object))
		}
	}
	for _, name := range []string{manual.Name, registration.Name} {
		Eventually(isAbsent(addOn(name))).Should(BeFalse(), name)
	}

	config := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "interlock-" + manual.Name}}
	Eventually(isAbsent(config)).Should(BeFalse())

	Expect(hub.Client.Delete(ctx, addOn(dependent.Name))).To(Succeed())
	Eventually(isAbsent(addOn(manual.Name))).Should(BeTrue(), "addon-manager has removed it")
	Eventually(isAbsent(addOn(registration.Name))).Should(BeTrue(), "OCM has removed it")
	Expect(requests.used(managerUser, "patch", "managedclusters")()).To(BeTrue(), "the label by which OCM has installed it")

	for _, object := range []client.Object{dependent, manual, registration, places} {
		Expect(hub.Client.Delete(ctx, object)).To(Succeed())
	}
	for _, object := range []client.Object{addOn(dependent.Name), places} {
		Eventually(isAbsent(object)).Should(BeTrue(), object.GetName())
	}
}

// leaveInstalled leaves an add-on as if Interlock had created it, and the label of the managed cluster by which OCM installs another
// one. The returned function reports whether both are gone.
func leaveInstalled(ctx context.Context) (isGone func() bool) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster, Name: "brought", Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock},
	}}
	Expect(admin.Create(ctx, addOn, client.FieldOwner(names.AddonManager))).To(Succeed())
	managedCluster := &metav1.PartialObjectMetadata{} // its type is in no scheme here
	managedCluster.APIVersion, managedCluster.Kind = "cluster.open-cluster-management.io/v1", "ManagedCluster"
	Expect(admin.Get(ctx, client.ObjectKey{Name: cluster}, managedCluster)).To(Succeed())
	const labeledAddOn = "brought-by-label"
	labelPatch := client.ApplyConfigurationFromUnstructured(fleet.Labeled(cluster, managedCluster.UID, labeledAddOn))
	Expect(admin.Apply(ctx, labelPatch, fleet.InstallOwner(labeledAddOn))).To(Succeed())
	for name, uid := range map[string]types.UID{addOn.Name: addOn.UID, labeledAddOn: ""} {
		installation := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
		installation.Spec.RequestedBy = []dependencyv1alpha1.InstallationRequest{{AddOn: "another", Removal: addonv1alpha1.DependencyRemovalKeep}}
		installation.Status = dependencyv1alpha1.AddOnInstallationStatus{
			Phase: dependencyv1alpha1.PhaseInstalled, UID: uid, Generation: 1, ClusterUID: managedCluster.UID,
		}
		Expect(admin.Create(ctx, installation, client.FieldOwner(names.AddonManager))).To(Succeed())
	}
	return func() bool {
		return apierrors.IsNotFound(admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)) &&
			admin.Get(ctx, client.ObjectKeyFromObject(managedCluster), managedCluster) == nil && !fleet.HasInstallLabel(managedCluster, labeledAddOn)
	}
}

// expectTeardown has an add-on removed that waits for its dependents. It has no dependents.
func expectTeardown(ctx context.Context) {
	GinkgoHelper()
	base := &ocmv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "torn-down"}}
	base.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	leaf := base.DeepCopy()
	leaf.Name, leaf.Annotations = "after-it", map[string]string{
		addonv1alpha1.DependenciesAnnotation: "{ordering: Install, dependencies: [{name: torn-down}]}",
	}
	for _, object := range []client.Object{base, leaf} {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	addOn := &ocmv1alpha1.ManagedClusterAddOn{}
	Eventually(func() ([]string, error) {
		addOn = &ocmv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: base.Name}}
		err := hub.Client.Create(ctx, addOn, client.DryRunAll)
		return addOn.Finalizers, err
	}).Should(ContainElement(addonv1alpha1.WaitForDependentsFinalizer))
	addOn.ResourceVersion, addOn.UID, addOn.Finalizers = "", "", nil
	Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
	Expect(addOn.Finalizers).To(ContainElement(addonv1alpha1.WaitForDependentsFinalizer))
	Expect(hub.Client.Delete(ctx, addOn)).To(Succeed())
	Eventually(func() bool {
		return apierrors.IsNotFound(hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn))
	}).Should(BeTrue())
	for _, object := range []client.Object{leaf, base} {
		Expect(hub.Client.Delete(ctx, object)).To(Succeed())
	}
}
