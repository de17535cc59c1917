package deployment

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/webhook/protection"
)

var deploymentConfigs = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addondeploymentconfigs"}

// expectProtection uses all rights of the webhook that protection needs: what it reads of a cluster, of the fleet and
// of the settings on which a dependency depends, and the event.
func expectProtection(ctx context.Context, address string) {
	GinkgoHelper()
	settings := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "settings"}}
	settings.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{{Name: "mode", Value: "shared"}}
	Expect(admin.Create(ctx, settings)).To(Succeed())
	removeNeeded := register(ctx, "needed", func(*addonv1alpha1.ClusterManagementAddOn) {})
	removeNeeding := register(ctx, "needing", func(registered *addonv1alpha1.ClusterManagementAddOn) {
		//nolint:staticcheck // v1alpha1 has no other field for it
		registered.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{{ConfigGroupResource: deploymentConfigs}}
		registered.Annotations = map[string]string{
			addonv1alpha1.DependenciesAnnotation: `[{name: needed, when: {expression: "config.?mode.orValue('') != 'alone'"}}]`,
		}
	})
	referToSettings(ctx, "needing", settings)

	needed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "needed"}}
	const breaks = "removing add-on 'needed' would break 1 add-on on 1 cluster: needing requires needed (" + cluster + ")"
	Eventually(deletion(address, protection.Path, needed)).Should(ContainSubstring(breaks))
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "needed"}}
	Eventually(deletion(address, protection.RegistrationPath, registration)).Should(ContainSubstring(breaks))
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(needed), needed)).To(Succeed())
	before := needed.DeepCopy()
	needed.Annotations = map[string]string{addonv1alpha1.ForceAnnotation: "tested"}
	Expect(admin.Patch(ctx, needed, client.MergeFrom(before))).To(Succeed())
	Eventually(deletion(address, protection.Path, needed)).Should(ContainSubstring("It is removed nevertheless: tested"))
	Eventually(requests.used(webhookUser, "create", "events")).Should(BeTrue(), "the event")
	Eventually(func() (bool, error) {
		_, err := deletion(address, protection.Path, needed)()
		return requests.used(webhookUser, "get", "addondeploymentconfigs")(), err
	}).Should(BeTrue(), "the settings")
	removeNeeding()
	removeNeeded()
	Expect(admin.Delete(ctx, settings)).To(Succeed())
}

// referToSettings has OCM refer the status of an add-on to its settings.
func referToSettings(ctx context.Context, name string, settings *addonv1alpha1.AddOnDeploymentConfig) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	patch := fmt.Appendf(nil, `{"spec":{"configs":[{"group":%q,"resource":%q,"namespace":%q,"name":%q}]}}`,
		deploymentConfigs.Group, deploymentConfigs.Resource, settings.Namespace, settings.Name)
	Expect(admin.Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	Eventually(func(g Gomega) { // OCM refers, and the add-on's own manager adds the hash
		g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
		g.Expect(addOn.Status.ConfigReferences).To(ConsistOf(HaveField("DesiredConfig", Not(BeNil()))))
		addOn.Status.ConfigReferences[0].DesiredConfig.SpecHash = "tested"
		g.Expect(admin.Status().Update(ctx, addOn)).To(Succeed())
	}).Should(Succeed())
}

// deletion is the webhook's answer to the deletion of an object.
func deletion(address, path string, of client.Object) func() (string, error) {
	return func() (string, error) {
		object, err := json.Marshal(of)
		if err != nil {
			return "", err
		}
		body := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"DELETE","oldObject":` +
			string(object) + `}}`
		request, err := http.NewRequest(http.MethodPost, "https://"+address+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		request.Header.Set("Content-Type", "application/json")
		_, answer, err := call(request)
		return answer, err
	}
}
