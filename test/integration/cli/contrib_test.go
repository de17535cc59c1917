package cli

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// The folders have the shapes of add-ons of Open Cluster Management's contrib repository: fluid has AddOnTemplates for some
// clusters, device and otel are kustomizations, and kueue is a Helm chart with a test. Three of them report no version.
var _ = Describe("add-ons as projects have them", func() {
	It("go from their folders to manifests that a hub accepts", func(ctx context.Context) {
		folder := GinkgoT().TempDir()
		path := func(name string) string { return filepath.Join(folder, name) }
		contrib := func(name string) string { return filepath.Join("testdata", "contrib", name) }
		succeeds := func(arguments ...string) (out, errOut string) {
			GinkgoHelper()
			out, errOut, code := run(arguments...)
			Expect(code).To(Equal(0), "%s\n%s", out, errOut)
			return out, errOut
		}
		for name, version := range map[string]string{"fluid": "fluid=1.0.0", "device": "device-addon=0.1.0", "otel": "open-telemetry=1.0.0"} {
			succeeds("lint", contrib(name))
			succeeds("index", "build", contrib(name), "--to", path("index"), "--version", version)
		}
		_, errOut := succeeds("index", "build", "--chart", contrib("kueue"), "--to", path("index"))
		Expect(errOut).To(ContainSubstring("Pod test is a Helm hook (test)"))

		content, err := os.ReadFile(contrib("addons.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(path("addons.yaml"), content, 0o600)).To(Succeed())
		wishes := []string{path("addons.yaml"), "--index", path("index")}
		out, _ := succeeds(append([]string{"resolve"}, wishes...)...)
		Expect(out).To(MatchRegexp(`device-addon +0\.1\.0 +multicluster-kueue-manager 0\.2\.0 requires device-addon in version`))
		succeeds(append([]string{"build", "--locked", "--to", path("manifests")}, wishes...)...)
		succeeds(append([]string{"verify", "--to", path("manifests")}, wishes...)...)
		_, errOut = succeeds(append([]string{"package", "--to", path("addons.tar")}, wishes...)...)
		Expect(errOut).To(ContainSubstring("has 4 releases and names 3 images"))

		for _, layer := range []string{"00", "01", "02"} {
			apply(ctx, path("manifests/"+layer))
		}
		for _, name := range []string{"fluid-1.0.0", "fluid-gke-1.0.0", "multicluster-kueue-manager-0.2.0", "open-telemetry"} {
			template := &addonv1alpha1.AddOnTemplate{}
			Expect(hubClient.Get(ctx, client.ObjectKey{Name: name}, template)).To(Succeed(), name)
			Expect(template.Spec.AgentSpec.Workload.Manifests).NotTo(BeEmpty(), name)
		}
		role := &rbacv1.ClusterRole{}
		Expect(hubClient.Get(ctx, client.ObjectKey{Name: "open-telemetry-agent"}, role)).To(Succeed())
		Expect(role.Labels).To(HaveKeyWithValue("app.kubernetes.io/part-of", "open-telemetry"))
		for _, name := range []string{"fluid", "device-addon", "multicluster-kueue-manager", "open-telemetry"} {
			addOn := &addonv1alpha1.ClusterManagementAddOn{}
			Expect(hubClient.Get(ctx, client.ObjectKey{Name: name}, addOn)).To(Succeed())
			Expect(hubClient.Delete(ctx, addOn)).To(Succeed())
		}
	})
})
