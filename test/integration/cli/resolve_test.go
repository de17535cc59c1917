package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

var _ = Describe("resolving add-ons from a hub", func() {
	newRegistration := func(name string, annotations map[string]string) *addonv1alpha1.ClusterManagementAddOn {
		addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations}}
		addOn.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
		return addOn
	}

	configured := func(name string) *ocmv1alpha1.AddOnDeploymentConfig {
		return &ocmv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}

	It("makes an index, a lock and manifests, which the hub accepts again", func(ctx context.Context) {
		gateway := newRegistration("resolve-gateway", map[string]string{
			addonv1alpha1.DependenciesAnnotation: "[{name: resolve-proxy, version: '>= 2'}]",
		})
		templates := ocmv1alpha1.ConfigMeta{ConfigGroupResource: declaration.Templates}
		settings := ocmv1alpha1.ConfigMeta{
			ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupVersion.Group, Resource: "addondeploymentconfigs"},
			DefaultConfig:       &ocmv1alpha1.ConfigReferent{Namespace: "default", Name: "resolve-gateway"},
		}
		gateway.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{templates, settings} //nolint:staticcheck // v1alpha1 has no other field for it
		template := &addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{
			Name: "resolve-gateway-1", Annotations: map[string]string{addonv1alpha1.AddOnVersionAnnotation: "1.0.0"},
		}}
		template.Spec.AddonName = gateway.Name
		objects := []client.Object{
			gateway, template, newRegistration("resolve-proxy", map[string]string{addonv1alpha1.AddOnVersionAnnotation: "2.1.0"}),
			newRegistration("resolve-unversioned", nil), configured("resolve-gateway"), configured("resolve-other"),
		}
		for _, object := range objects {
			Expect(hubClient.Create(ctx, object)).To(Succeed())
			DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hubClient.Delete(ctx, object)) })
		}

		folder := GinkgoT().TempDir()
		path := func(name string) string { return filepath.Join(folder, name) }
		out, errOut, code := run("index", "build", "--live", "--to", path("index"))
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(And(ContainSubstring("resolve-gateway 1.0.0 was added"), ContainSubstring("resolve-proxy 2.1.0 was added")))
		Expect(errOut).To(ContainSubstring(`add-on "resolve-unversioned": it reports no version`))
		content, err := os.ReadFile(path("index/addons/resolve-gateway/1.0.0.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(content)).To(And(
			ContainSubstring("kind: AddOnTemplate"), ContainSubstring("kind: AddOnDeploymentConfig"), Not(ContainSubstring("resolve-other")),
			Not(ContainSubstring("resourceVersion")), Not(ContainSubstring("managedFields")),
		))

		Expect(os.WriteFile(path("addons.yaml"), []byte(strings.Join([]string{
			"apiVersion: dependency.addon.open-cluster-management.io/v1alpha1", "kind: AddOnWishes", "addOns: [{name: resolve-gateway}]", "",
		}, "\n")), 0o600)).To(Succeed())
		_, errOut, code = run("resolve", path("addons.yaml"), "--index", path("index"))
		Expect(code).To(Equal(0), errOut)
		_, errOut, code = run("build", path("addons.yaml"), "--index", path("index"), "--to", path("manifests"), "--locked")
		Expect(code).To(Equal(0), errOut)

		for _, object := range objects[:3] {
			Expect(hubClient.Delete(ctx, object)).To(Succeed())
		}
		for _, layer := range []string{"00", "01"} {
			apply(ctx, path("manifests/"+layer))
		}
		Expect(hubClient.Get(ctx, client.ObjectKeyFromObject(template), template)).To(Succeed())

		_, errOut, code = run("verify", path("addons.yaml"), "--index", path("index"), "--live", "-n", "cluster1")
		Expect(code).To(Equal(1))
		Expect(errOut).To(ContainSubstring("2 differences, 1 managed cluster compared"))

		By("packing the lock, and trying a new release on the hub")
		_, errOut, code = run("package", path("addons.yaml"), "--index", path("index"), "--to", path("addons.tar"))
		Expect(code).To(Equal(0), errOut)
		_, errOut, code = run("upgrade", path("addons.yaml"), "--index", path("addons.tar"), "--live", "-n", "cluster1")
		Expect(code).To(Equal(0), errOut)
		Expect(errOut).To(ContainSubstring("0 changes, tried on 1 managed cluster"))
		content, err = os.ReadFile(path("manifests/00/resolve-proxy.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(path("new.yaml"), []byte(strings.ReplaceAll(string(content), "2.1.0", "2.2.0")), 0o600)).To(Succeed())
		_, errOut, code = run("index", "build", path("new.yaml"), "--to", path("index"))
		Expect(code).To(Equal(0), errOut)
		out, errOut, code = run("upgrade", path("addons.yaml"), "--index", path("index"), "--live", "-n", "cluster1", "--write")
		Expect(code).To(Equal(0), errOut)
		Expect(out).To(MatchRegexp(`resolve-proxy +2\.1\.0 +2\.2\.0`))
		Expect(errOut).To(And(ContainSubstring("1 change, tried on 1 managed cluster"), ContainSubstring("addons.lock was written")))
	})
})

// apply applies the manifests of a folder, as kubectl apply --server-side does.
func apply(ctx context.Context, folder string) {
	GinkgoHelper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).NotTo(BeEmpty())
	for _, file := range files {
		content, err := os.Open(file)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(content.Close)
		for documents := yaml.NewYAMLOrJSONDecoder(content, 4096); ; {
			object := &unstructured.Unstructured{}
			err := documents.Decode(&object.Object)
			if errors.Is(err, io.EOF) {
				break
			}
			Expect(err).NotTo(HaveOccurred(), file)
			Expect(hubClient.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("gitops"))).To(Succeed(), file)
		}
	}
}
