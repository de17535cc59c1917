package order

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

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
	made, err := ocm.Template(addOn)
	Expect(err).NotTo(HaveOccurred())
	return made
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

// removeAnnotation removes an annotation of an object that the hub has.
func removeAnnotation(ctx context.Context, object client.Object, key string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, key)
	Expect(hub.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}
