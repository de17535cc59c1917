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

// register registers an add-on with declared dependencies. A templated add-on has an AddOnTemplate with a Deployment.
func register(ctx context.Context, name, declaration string, templated bool) {
	GinkgoHelper()
	if templated {
		Expect(hub.Client.Create(ctx, template(name))).To(Succeed())
		registerTemplated(ctx, name, declaration)
		return
	}
	Expect(hub.Client.Create(ctx, registration(name, declaration))).To(Succeed())
}

func registration(name, declaration string) *addonv1alpha1.ClusterManagementAddOn {
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
	if declaration != "" {
		registration.Annotations = map[string]string{interlockv1alpha1.DependenciesAnnotation: declaration}
	}
	return registration
}

// registerTemplated registers an add-on that OCM deploys from the AddOnTemplate of its name.
func registerTemplated(ctx context.Context, name, declaration string) {
	GinkgoHelper()
	registration := registration(name, declaration)
	registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
		DefaultConfig:       &addonv1alpha1.ConfigReferent{Name: name},
	}}
	Expect(hub.Client.Create(ctx, registration)).To(Succeed())
}

func template(addOn string) *addonv1alpha1.AddOnTemplate {
	GinkgoHelper()
	template, err := ocm.Template(addOn)
	Expect(err).NotTo(HaveOccurred())
	return template
}

// ordered returns a declaration by which the installation waits for dependencies.
func ordered(dependencies ...string) string {
	return "{ordering: Install, " + strings.TrimPrefix(unordered(dependencies...), "{")
}

func unordered(dependencies ...string) string {
	for i := range dependencies {
		dependencies[i] = "{name: " + dependencies[i] + "}"
	}
	return "{dependencies: [" + strings.Join(dependencies, ", ") + "]}"
}

// bringing returns a declaration by which the installation waits for dependencies, and by which Interlock installs them.
func bringing(dependencies ...string) string {
	var edges []string
	for _, name := range dependencies {
		edges = append(edges, name+", install: Auto")
	}
	return ordered(edges...)
}

// consent lets Interlock install an add-on where dependents need it.
func consent(ctx context.Context, name string) {
	GinkgoHelper()
	setAnnotation(ctx, registration(name, ""), interlockv1alpha1.InstallOnDemandAnnotation, "true")
}

// setAnnotation sets an annotation of an object on the hub.
func setAnnotation(ctx context.Context, object client.Object, key, value string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value)
	Expect(hub.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// removeAnnotation removes an annotation of an object on the hub.
func removeAnnotation(ctx context.Context, object client.Object, key string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, key)
	Expect(hub.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}
