package webhook

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv"
)

// withoutField removes spec.dependencies from the CRD, as an upgrade of OCM does. The returned function restores the field. Stored
// objects stay.
func withoutField(ctx context.Context) (putBack func(context.Context)) {
	GinkgoHelper()
	change := func(ctx context.Context, change func(version string, spec apiextensionsv1.JSONSchemaProps)) {
		GinkgoHelper()
		Eventually(func() error {
			var crd apiextensionsv1.CustomResourceDefinition
			if err := hubClient.Get(ctx, types.NamespacedName{Name: crdName}, &crd); err != nil {
				return err
			}
			for _, version := range crd.Spec.Versions {
				change(version.Name, version.Schema.OpenAPIV3Schema.Properties["spec"])
			}
			return hubClient.Update(ctx, &crd)
		}).Should(Succeed())
	}
	properties := map[string]apiextensionsv1.JSONSchemaProps{}
	change(ctx, func(version string, spec apiextensionsv1.JSONSchemaProps) {
		properties[version] = spec.Properties["dependencies"]
		delete(spec.Properties, "dependencies")
	})
	return func(ctx context.Context) {
		change(ctx, func(version string, spec apiextensionsv1.JSONSchemaProps) {
			spec.Properties["dependencies"] = properties[version]
		})
	}
}

var _ = Describe("addon-manager webhook that started before the field existed", func() {
	It("reads declarations once the field exists", func(ctx context.Context) {
		putBack := withoutField(ctx)
		DeferCleanup(putBack)
		create := func(options ...client.CreateOption) error { // refused while the field is missing
			object := clusterManagementAddOn(storage, "base", required("gateway"))
			object.SetAnnotations(map[string]string{addonv1alpha1.DependenciesAnnotation: "[{name: gateway}]"}) // the record of the field
			return hubClient.Create(ctx, object, append(options, client.FieldValidation(metav1.FieldValidationStrict))...)
		}
		// The API server may still serve the field for a moment.
		Eventually(func() error { return create(client.DryRunAll) }).Should(MatchError(ContainSubstring("unknown field")))

		files, address := mount(), testenv.FreeAddress().String()
		startWithFiles(withoutSecrets(ctx, "regraft"), address, files)
		withoutHandlers(ctx)
		configuration := admitBy(ctx, "regraft", balance(address), files.authority.CertPEM)
		DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, configuration) })
		Eventually(func() error { // it has read the registrations, and decides
			return hubClient.Create(ctx, annotatedRegistration(storage, "probed", "[{name: probed}]"), client.DryRunAll)
		}).Should(MatchError(ContainSubstring("probed → probed")))

		// Watches from before the removal last for a second, and still lack the field. The annotation counts.
		putBack(ctx)
		Eventually(func() error { return create() }).WithPolling(time.Millisecond).Should(Succeed())
		DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, reference(storage, "base")) })
		Eventually(func() error {
			return hubClient.Create(ctx, clusterManagementAddOn(storage, "gateway", required("base")), client.DryRunAll)
		}).Should(MatchError(ContainSubstring("base → gateway → base")))
	})
})
