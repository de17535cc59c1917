package deployment

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	operatorv1 "open-cluster-management.io/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/webhook/protector"
)

var deploymentConfigs = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addondeploymentconfigs"}

// expectProtection uses all permissions that the webhook needs for protection: the reads of a cluster, of the fleet, and of the
// settings on which a
// dependency depends, and the event.
func expectProtection(ctx context.Context, address string) {
	GinkgoHelper()
	settings := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "settings"}}
	settings.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{{Name: "mode", Value: "shared"}}
	Expect(admin.Create(ctx, settings)).To(Succeed())
	removeNeeded := register(ctx, "needed", func(*addonv1alpha1.ClusterManagementAddOn) {})
	removeNeeding := register(ctx, "needing", func(registration *addonv1alpha1.ClusterManagementAddOn) {
		//nolint:staticcheck // v1alpha1 has no other field for it
		registration.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{{ConfigGroupResource: deploymentConfigs}}
		registration.Annotations = map[string]string{
			addonv1alpha1.DependenciesAnnotation: `[{name: needed, when: {expression: "config.?mode.orValue('') != 'alone'"}}]`,
		}
	})
	referToSettings(ctx, "needing", settings)

	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "needed"}}
	const consequence = "removing add-on 'needed' would break 1 add-on on 1 cluster: needing requires needed (" + cluster + ")"
	Eventually(deletion(address, protector.Path, addOn)).Should(ContainSubstring(consequence))
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "needed"}}
	Eventually(deletion(address, protector.RegistrationPath, registration)).Should(ContainSubstring(consequence))
	expectPlacementProtected(ctx, address)
	expectInstallationReviewed(ctx, address)
	expectUpgradeReviewed(ctx, address)
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
	original := addOn.DeepCopy()
	addOn.Annotations = map[string]string{addonv1alpha1.ForceAnnotation: "tested"}
	Expect(admin.Patch(ctx, addOn, client.MergeFrom(original))).To(Succeed())
	for _, event := range []struct{ user, verb string }{{"one", "create"}, {"another", "patch"}} {
		Eventually(deletionBy(event.user, address, protector.Path, addOn)).Should(ContainSubstring("It is removed nevertheless: tested"))
		Eventually(requests.used(webhookUser, event.verb, "events")).Should(BeTrue(), "the event")
	}
	Eventually(func() (bool, error) {
		_, err := deletion(address, protector.Path, addOn)()
		return requests.used(webhookUser, "get", "addondeploymentconfigs")(), err
	}).Should(BeTrue(), "the settings")
	removeNeeding()
	removeNeeded()
	Expect(admin.Delete(ctx, settings)).To(Succeed())
}

// expectPlacementProtected has OCM install a dependency by a Placement. The webhook reads the selection of the Placement.
func expectPlacementProtected(ctx context.Context, address string) {
	GinkgoHelper()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "needed"}}
	placement.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}
	Expect(admin.Create(ctx, placement)).To(Succeed())
	decision := &clusterv1beta1.PlacementDecision{}
	decision.Namespace, decision.Name = metav1.NamespaceDefault, "needed-decision-1"
	decision.Labels = map[string]string{clusterv1beta1.PlacementLabel: placement.Name, clusterv1beta1.DecisionGroupIndexLabel: "0"}
	Expect(admin.Create(ctx, decision)).To(Succeed())
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: cluster, Reason: "Tested"}}
	Expect(admin.Status().Update(ctx, decision)).To(Succeed())
	install := func(strategy string) {
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "needed"}}
		patch := fmt.Appendf(nil, `{"spec":{"installStrategy":%s}}`, strategy)
		Expect(admin.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	}
	install(`{"type":"Placements","placements":[{"namespace":"default","name":"needed"}]}`)
	Eventually(deletion(address, protector.PlacementPath, placement)).Should(ContainSubstring(
		"deleting Placement 'default/needed' removes what it installs, and would break 1 add-on on 1 cluster"))
	install(`{"type":"Manual","placements":null}`)
	Expect(admin.Delete(ctx, decision)).To(Succeed())
	Expect(admin.Delete(ctx, placement)).To(Succeed())
}

// referToSettings has OCM refer the status of an add-on to its settings.
func referToSettings(ctx context.Context, name string, settings *addonv1alpha1.AddOnDeploymentConfig) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	patch := fmt.Appendf(nil, `{"spec":{"configs":[{"group":%q,"resource":%q,"namespace":%q,"name":%q}]}}`,
		deploymentConfigs.Group, deploymentConfigs.Resource, settings.Namespace, settings.Name)
	Expect(admin.Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	Eventually(func(g Gomega) { // OCM refers to the settings, and the add-on's own manager adds the hash
		g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
		g.Expect(addOn.Status.ConfigReferences).To(ConsistOf(HaveField("DesiredConfig", Not(BeNil()))))
		addOn.Status.ConfigReferences[0].DesiredConfig.SpecHash = "tested"
		g.Expect(admin.Status().Update(ctx, addOn)).To(Succeed())
	}).Should(Succeed())
}

// expectInstallationReviewed has the webhook review an add-on that requires another version of a dependency than the version that OCM
// installs.
func expectInstallationReviewed(ctx context.Context, address string) {
	GinkgoHelper()
	annotate := func(object client.Object, annotation, value string) {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, annotation, value)
		Expect(admin.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	}
	crd := fleet.CRD()
	crd.Name = fleet.OCMVersionCRD
	version, err := hub.Version()
	Expect(err).NotTo(HaveOccurred())
	annotate(crd, names.OCMVersion, version)
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "needed"}}
	annotate(registration, addonv1alpha1.AddOnVersionAnnotation, "@ocm")
	dependent := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "choosy"}}
	dependent.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	dependent.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: `[{name: needed, version: ">= 2.0"}]`}
	//nolint:staticcheck // v1alpha1 has no other field for it
	dependent.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{{ // an AddOnTemplate that the cache does not have
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"},
		DefaultConfig:       &ocmv1alpha1.ConfigReferent{Name: "not-created-yet"},
	}}
	Expect(admin.Create(ctx, dependent)).To(Succeed())
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: dependent.Name}}
	review := answer(address, protector.Path, "", "CREATE", "object", addOn)
	Eventually(func() (string, error) {
		// OCM removes it if its cache had the Placement in the registration before the Placement's decision.
		needed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "needed"}}
		if err := admin.Create(ctx, needed); err != nil && !apierrors.IsAlreadyExists(err) {
			return "", err
		}
		return review()
	}).Should(ContainSubstring(
		"add-on 'choosy' on cluster " + cluster + " contradicts what it needs: Required addon 'needed' is not installed or not available in"))
	Eventually(requests.used(webhookUser, "get", "managedclusterfacts")).Should(BeTrue())
	Eventually(requests.used(webhookUser, "get", "addontemplates")).Should(BeTrue())
	Expect(admin.Delete(ctx, dependent)).To(Succeed())
}

// expectUpgradeReviewed has the webhook review images of OCM in a version that an add-on does not accept.
func expectUpgradeReviewed(ctx context.Context, address string) {
	GinkgoHelper()
	unregister := register(ctx, "dated", func(registration *addonv1alpha1.ClusterManagementAddOn) {
		registration.Annotations = map[string]string{ // a version that an agent may report
			addonv1alpha1.DependenciesAnnotation: `{dependencies: [{name: needed, version: "< 9"}], requirements: {ocm: "< 1.9"}}`,
		}
	})
	manager := &operatorv1.ClusterManager{ObjectMeta: metav1.ObjectMeta{Name: "cluster-manager"}}
	newManager := manager.DeepCopy()
	Expect(admin.Create(ctx, manager)).To(Succeed())
	newManager.Spec.RegistrationImagePullSpec = "quay.io/open-cluster-management/registration:v1.9.0"
	Eventually(answer(address, protector.UpgradePath, "", "UPDATE", "object", newManager)).Should(ContainSubstring(
		"Open Cluster Management 1.9.0 would break 1 add-on on 1 cluster"))
	Eventually(requests.used(webhookUser, "list", "managedclusterfacts")).Should(BeTrue())
	Expect(admin.Delete(ctx, manager)).To(Succeed())
	unregister()
}

// deletion returns the webhook's response to the deletion of an object.
func deletion(address, path string, object client.Object) func() (string, error) {
	return deletionBy("", address, path, object)
}

func deletionBy(user, address, path string, object client.Object) func() (string, error) {
	return answer(address, path, user, "DELETE", "oldObject", object)
}

// answer returns the webhook's response to an operation of a user on an object.
func answer(address, path, user, operation, field string, object client.Object) func() (string, error) {
	return func() (string, error) {
		object, err := json.Marshal(object)
		if err != nil {
			return "", err
		}
		body := fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","userInfo":{"username":%q},`+
			`"operation":%q,%q:%s}}`, user, operation, field, object)
		request, err := http.NewRequest(http.MethodPost, "https://"+address+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		request.Header.Set("Content-Type", "application/json")
		_, answer, err := call(request)
		return answer, err
	}
}
