package versions

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// deploying returns an AddOnTemplate whose Deployment has an image.
func deploying(addOn, image string) *addonv1alpha1.AddOnTemplate {
	GinkgoHelper()
	template, err := ocm.Template(addOn)
	Expect(err).NotTo(HaveOccurred())
	manifest := &template.Spec.AgentSpec.Workload.Manifests[0]
	manifest.Raw = []byte(strings.Replace(string(manifest.Raw), `"registry.example/agent"`, `"`+image+`"`, 1))
	return template
}

var _ = Describe("An add-on that reports no version", func() {
	It("gets the version that kubectl addon suggest proposes", func(ctx context.Context) {
		plugin := setup.Program("kubectl-addon")
		run := func(args ...string) string {
			GinkgoHelper()
			out, err := exec.CommandContext(ctx, plugin, append([]string{"--kubeconfig", hub.Kubeconfig()}, args...)...).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), "%s", out)
			GinkgoWriter.Printf("%v:\n%s\n", args, out)
			return string(out)
		}
		templated := deploying("templated", "registry.example:5000/agent:v0.10.0")
		create(ctx, templated)
		register(ctx, "templated", "", defaultTemplate(templated.Name))
		itself := register(ctx, "deployed-itself", "")
		register(ctx, "picky",
			`[{name: templated, type: IfInstalled, version: ">= 0.9"}, {name: deployed-itself, type: IfInstalled, version: "< 2"}]`)
		for _, name := range []string{"templated", "deployed-itself", "picky"} {
			install(ctx, withAgent, name)
		}
		work := &workv1.ManifestWork{}
		work.Namespace, work.Name = withAgent, "addon-deployed-itself-deploy-0"
		work.Labels = map[string]string{addonv1alpha1.AddonLabelKey: "deployed-itself"}
		work.Spec.Workload.Manifests = deploying("deployed-itself", "registry.example/itself:1.2.3@sha256:0123").Spec.AgentSpec.Workload.Manifests
		create(ctx, work)
		Eventually(degradedOf).WithContext(ctx).WithArguments(withAgent, "picky").WithTimeout(unanswered).Should(And(
			ContainSubstring("'templated' is installed, but not in version '>= 0.9'. (version not known"),
			ContainSubstring("'deployed-itself' is installed, but not in version '< 2'. (version not known")))

		Eventually(configReferences).WithContext(ctx).WithArguments(withAgent, "templated").Should(ContainElement(
			HaveField("LastAppliedConfig", HaveValue(HaveField("Name", templated.Name)))), "with addon-agent, the verdict is there before")

		By("the warning of lint")
		manifest := filepath.Join(GinkgoT().TempDir(), "new.yaml")
		Expect(os.WriteFile(manifest, []byte(`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
			metadata: {name: new}, spec: {installStrategy: {type: Manual},
			dependencies: [{name: templated, message: m, version: ">= 0.9"}]}}`), 0o600)).To(Succeed())
		Expect(run("lint", "--live", manifest)).To(And(
			ContainSubstring(`no version of "templated" is known on 1 of the 1 managed cluster where it is installed (cluster1)`),
			ContainSubstring("[VersionNotReported]")))

		By("the suggestions, and their commands")
		Expect(run("suggest", "templated")).To(And(
			MatchRegexp(`templated +0\.10\.0 +1 +AddOnTemplate templated: image registry\.example:5000/agent:v0\.10\.0\n`),
			ContainSubstring("run  kubectl annotate addontemplate templated dependency.addon.open-cluster-management.io/version=0.10.0 ")))
		var suggestion struct {
			Versions []struct{ Version string }
		}
		Expect(json.Unmarshal([]byte(run("suggest", "deployed-itself", "-o", "json")), &suggestion)).To(Succeed())
		Expect(suggestion.Versions).To(ConsistOf(HaveField("Version", "1.2.3")))
		Expect(run("suggest", "deployed-itself")).To(ContainSubstring(
			"run  kubectl annotate clustermanagementaddon deployed-itself dependency.addon.open-cluster-management.io/version=1.2.3 "))

		By("making the changes of the commands")
		for object, version := range map[client.Object]string{templated: "0.10.0", itself: "1.2.3"} {
			observer.Cause("the user sets the version of " + object.GetName())
			patch := `{"metadata": {"annotations": {"` + interlockv1alpha1.AddOnVersionAnnotation + `": "` + version + `"}}}`
			Expect(hub.Client.Patch(ctx, object, client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
		}
		Eventually(degradedOf).WithContext(ctx).WithArguments(withAgent,
			"picky").WithTimeout(unanswered).Should(HavePrefix("False DependenciesSatisfied"))
		Expect(run("lint", "--live", manifest)).To(ContainSubstring("No problems found"))
		Expect(run("suggest", "templated")).NotTo(ContainSubstring("0.10.0"))
	}, NodeTimeout(5*time.Minute))
})
