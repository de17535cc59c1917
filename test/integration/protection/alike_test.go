package protection

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// contradiction is a case of an add-on that other add-ons or the cluster may contradict. NAME in a declaration is the prefix of the
// case.
type contradiction struct {
	// version and dependencies belong to the add-on.
	version, dependencies string
	// otherDependencies belong to another add-on, which is installed in version 1.0.0.
	otherDependencies string
	// policy is the spec of an AddOnDependencyPolicy.
	policy string
	// reason is a part of the reason why the add-on is not installed. It is empty if the add-on is installed.
	reason string
}

// registerVersion registers a version of an add-on that may be installed on demand.
func registerVersion(ctx context.Context, name, version, dependencies string) {
	GinkgoHelper()
	register(ctx, name, dependencies)
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: "true", %q: %q}}}`,
		interlockv1alpha1.InstallOnDemandAnnotation, interlockv1alpha1.AddOnVersionAnnotation, version)
	Expect(hub.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// planInstall returns the exit code and the output of kubectl addon install on a file, so that the hub refuses nothing meanwhile.
func planInstall(ctx context.Context, name, cluster string) (code int, out string) {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "fleet.yaml")
	run := func(line string) (int, string) {
		var out bytes.Buffer
		command := cli.NewCommand(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out})
		command.SetArgs(strings.Fields(line))
		return cmdline.Run(ctx, command, &out), out.String()
	}
	code, out = run("snapshot " + file + " --kubeconfig " + hub.Kubeconfig())
	Expect(code).To(Equal(cmdline.ExitOK), out)
	return run("install " + name + " --cluster " + cluster + " --plan --from " + file)
}

var _ = Describe("Interlock, kubectl addon install and admission", func() {
	onEach(func(cluster string) {
		DescribeTable("refuse the same add-ons", func(ctx context.Context, c contradiction) {
			prefix := strings.ReplaceAll(CurrentSpecReport().LeafNodeText, " ", "-")
			added, installed, requester := prefix+"-base", prefix+"-other", prefix+"-leaf"
			replacer := strings.NewReplacer("NAME", prefix)
			registerVersion(ctx, added, c.version, replacer.Replace(c.dependencies))
			registerVersion(ctx, installed, "1.0.0", replacer.Replace(c.otherDependencies))
			registerVersion(ctx, requester, "1.0.0", "[{name: "+added+", install: Auto}]")
			DeferCleanup(func(ctx context.Context) {
				for _, name := range []string{requester, added, installed} {
					Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, addOn(cluster, name)))).To(Succeed())
					Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, name).Should(BeTrue())
				}
			})
			if c.policy != "" {
				ocmsuite.Create(ctx, hub, `{apiVersion: dependency.addon.open-cluster-management.io/v1alpha1, kind: AddOnDependencyPolicy,
					metadata: {name: `+prefix+`}, spec: `+replacer.Replace(c.policy)+`}`)
			}
			Expect(hub.Client.Create(ctx, addOn(cluster, installed))).To(Succeed())

			By("admission")
			create := func() error { return hub.Client.Create(ctx, addOn(cluster, added), client.DryRunAll) }
			if c.reason == "" {
				Eventually(create).Should(Succeed())
			} else {
				Eventually(create).Should(MatchError(ContainSubstring(c.reason)))
			}

			By("the plugin")
			code, out := planInstall(ctx, added, cluster)
			if c.reason == "" {
				Expect(code).To(Equal(cmdline.ExitOK), out)
			} else {
				Expect(code).To(Equal(cmdline.ExitError), out)
			}

			By("Interlock, for another add-on")
			Expect(hub.Client.Create(ctx, addOn(cluster, requester))).To(Succeed())
			if c.reason == "" {
				Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, added).Should(BeFalse())
				return
			}
			Eventually(conditionOf).WithContext(ctx).WithArguments(cluster, requester, "Degraded").
				Should(ContainSubstring("would contradict or break"))
			Expect(isDeleted(ctx, cluster, added)).To(BeTrue())
		},
			Entry("plain", contradiction{version: "1.0.0"}),
			Entry("own version rule", contradiction{
				version: "1.0.0", dependencies: `[{name: NAME-other, version: ">= 2.0"}]`, reason: "contradicts what it needs",
			}),
			Entry("own version rule holds", contradiction{version: "1.0.0", dependencies: `[{name: NAME-other, version: ">= 1.0"}]`}),
			Entry("version rule of another", contradiction{
				version: "1.0.0", otherDependencies: `[{name: NAME-base, version: ">= 2.0", type: IfInstalled}]`, reason: "would break 1 add-on",
			}),
			Entry("version rule of another holds", contradiction{
				version: "2.0.0", otherDependencies: `[{name: NAME-base, version: ">= 2.0", type: IfInstalled}]`,
			}),
			Entry("conflict", contradiction{
				version: "1.0.0", otherDependencies: `[{name: NAME-base, type: Conflicts}]`, reason: "would break 1 add-on",
			}),
			Entry("own conflict", contradiction{
				version: "1.0.0", dependencies: `[{name: NAME-other, type: Conflicts}]`, reason: "contradicts what it needs",
			}),
			Entry("waived conflict", contradiction{
				version: "1.0.0", otherDependencies: `[{name: NAME-base, type: Conflicts}]`,
				policy: `{overrides: [{addOn: NAME-other, dependency: NAME-base, waive: {reason: a test, until: "2027-06-01T00:00:00Z"}}]}`,
			}),
			Entry("optional edge", contradiction{
				version: "1.0.0", dependencies: `[{name: NAME-other, version: ">= 2.0", type: Optional}]`,
			}),
		)
	})
})
