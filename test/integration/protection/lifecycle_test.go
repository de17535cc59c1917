package protection

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// manifests are applied by a GitOps tool, each dependent before its dependencies. CLUSTER is the managed cluster.
const manifests = `[
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn, metadata: {namespace: CLUSTER, name: leaf}, spec: {}},
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn, metadata: {namespace: CLUSTER, name: friend}, spec: {}},
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn, metadata: {namespace: CLUSTER, name: base}, spec: {}},
{apiVersion: addon.open-cluster-management.io/v1beta1, kind: ClusterManagementAddOn,
 metadata: {name: friend, annotations: {addon.open-cluster-management.io/dependencies: "[{name: base, type: Optional, version: '>= 2'}]"}},
 spec: {installStrategy: {type: Manual}}},
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
 metadata: {name: leaf, annotations: {addon.open-cluster-management.io/dependencies: "[{name: base, version: '>= 2'}]"}},
 spec: {installStrategy: {type: Manual}}},
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
 metadata: {name: base, annotations: {dependency.addon.open-cluster-management.io/version: "1.0"}},
 spec: {installStrategy: {type: Placements, placements: [{namespace: default, name: everywhere}]},
  supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: base-v2}}]}},
{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement,
 metadata: {namespace: default, name: everywhere, annotations: {
  cluster.open-cluster-management.io/experimental-scheduling-disable: "true"}}, spec: {}},
{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnTemplate,
 metadata: {name: base-v2, annotations: {dependency.addon.open-cluster-management.io/version: "2.0"}},
 spec: {addonName: base, agentSpec: {workload: {manifests: []}}}}]`

func objects(list string) []*unstructured.Unstructured {
	GinkgoHelper()
	var objects []*unstructured.Unstructured
	var contents []map[string]any
	Expect(yaml.Unmarshal([]byte(list), &contents)).To(Succeed())
	for _, content := range contents {
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	return objects
}

var _ = Describe("Protection that refuses", func() {
	onEach(refusals)

	It("does not block a cluster whose namespace is deleted", func(ctx context.Context) {
		registerAll(ctx)
		accept(ctx, "emptied")
		installAll(ctx, "emptied")
		// kube-controller-manager deletes the objects in the namespace. OCM creates the namespace again, which may take minutes.
		Expect(hub.Client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "emptied"}})).To(Succeed())
		for _, name := range []string{base, leaf, friend} {
			Eventually(isDeleted).WithContext(ctx).WithArguments("emptied", name).Should(BeTrue())
		}
	})
})

// registerAll registers base, leaf, which requires base, and friend, for which base is optional.
func registerAll(ctx context.Context) {
	GinkgoHelper()
	register(ctx, base, "")
	register(ctx, leaf, `[{name: base, version: ">= 1"}]`)
	register(ctx, friend, "[{name: base, type: Optional}]")
}

// refusals describes the requests that protection refuses on a managed cluster, and those that it lets pass.
func refusals(cluster string) {
	It("does not block a GitOps tool that applies everything in the worst order, twice", func(ctx context.Context) {
		user, warnings := impersonate("gitops")
		// The webhook accepts the creation of an add-on with unknown dependencies. OCM removes base again until its Placement selects
		// the cluster.
		for round := range 2 {
			for _, dryRun := range []bool{true, false} {
				for _, object := range objects(strings.ReplaceAll(manifests, "CLUSTER", cluster)) {
					options := []client.PatchOption{client.FieldOwner("gitops"), client.ForceOwnership}
					if dryRun {
						options = append(options, client.DryRunAll)
					}
					//nolint:staticcheck // an unstructured object has no other way
					err := user.Patch(ctx, object, client.Apply, options...)
					Expect(err).NotTo(HaveOccurred(), "round %d, %s %s", round, object.GetKind(), object.GetName())
				}
			}
		}
		Expect(warnings.texts).NotTo(ContainElement(Or(ContainSubstring("would break"), ContainSubstring("contradicts"))))
		for _, object := range objects(strings.ReplaceAll(manifests, "CLUSTER", cluster)) { // dependents first
			Expect(client.IgnoreNotFound(user.Delete(ctx, object))).To(Succeed())
			Eventually(func() bool {
				return apierrors.IsNotFound(hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object))
			}).Should(BeTrue())
		}
		Expect(warnings.texts).NotTo(ContainElement(Or(ContainSubstring("would break"), ContainSubstring("contradicts"))))
	})

	Context("with the dependencies of others installed", func() {
		BeforeEach(registerAll)

		It("prints the reason on the terminal of clusteradm, which can disable everything in a permitted order", func(ctx context.Context) {
			installAll(ctx, cluster)
			disable := func(name string) (string, error) {
				return hub.Clusteradm("addon", "disable", "--names", name, "--clusters", cluster)
			}
			user, _ := impersonate("alice") // the webhook reads registrations from a cache
			Eventually(func() error { return user.Delete(ctx, addOn(cluster, base), client.DryRunAll) }).ShouldNot(Succeed())
			out, err := disable(base)
			Expect(err).To(HaveOccurred())
			Expect(out).To(SatisfyAll(ContainSubstring(breakage(cluster)), ContainSubstring("Remove first what requires it.")))
			Expect(isDeleted(ctx, cluster, base)).To(BeFalse())
			for _, name := range []string{leaf, base, friend} {
				out, err := disable(name)
				Expect(err).NotTo(HaveOccurred(), out)
				Eventually(isDeleted).WithContext(ctx).WithArguments(cluster, name).Should(BeTrue())
			}

			old := addOn(cluster, base)
			old.Annotations = map[string]string{interlockv1alpha1.AddOnVersionAnnotation: "0.9"}
			Expect(hub.Client.Create(ctx, old)).To(Succeed())
			DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, old)) })
			out, err = hub.Clusteradm("addon", "enable", "--names", leaf, "--clusters", cluster)
			Expect(err).To(HaveOccurred())
			Expect(out).To(ContainSubstring("add-on 'leaf' on cluster " + cluster + " contradicts what it needs"))
		})

		It("passes requests without a name, and names and reasons of any length", func(ctx context.Context) {
			installAll(ctx, cluster)
			generated := addOn(cluster, "")
			generated.GenerateName = "generated-"
			Expect(hub.Client.Create(ctx, generated)).To(Succeed())
			Expect(hub.Client.Delete(ctx, generated)).To(Succeed())
			long := fmt.Sprintf("%0100d\n%02000d", 1, 2)
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, interlockv1alpha1.ForceAnnotation, long)
			Expect(hub.Client.Patch(ctx, addOn(cluster, base), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
			user, warnings := impersonate("alice")
			Expect(user.Delete(ctx, addOn(cluster, base), client.DryRunAll)).To(Succeed())
			Expect(warnings.texts).
				To(ConsistOf(SatisfyAll(HavePrefix(breakage(cluster)+". It is removed nevertheless: 000"), Not(ContainSubstring("\n")))))
		})
	})
}
