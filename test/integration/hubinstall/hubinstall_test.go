package hubinstall

import (
	"context"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// The life of an installation, from a hub without Interlock to one.
var _ = Describe("kubectl addon hub", Ordered, func() {
	var (
		first, second string
		digests       map[string]string
		flags         string
	)
	BeforeAll(func(ctx context.Context) {
		// An attempt that failed leaves its installation. This one begins without.
		nodes.set(func(n *node) { n.broken, n.fails = false, false })
		if installed, err := exists(ctx, secret("interlock-release"))(); installed || err != nil {
			Expect(plugin(ctx, installer, "hub uninstall --yes --timeout 2m").code).To(BeZero())
		}
		first, digests = makeRelease("0.1.0")
		second, _ = makeRelease("0.2.0")
		flags = " --registry " + images + "/team --insecure"
	})

	It("installs nothing for a user without the rights, and names them", func(ctx context.Context) {
		r := plugin(ctx, reader, "hub install "+first+flags)
		Expect(r.code).To(Equal(1), r.errors)
		Expect(r.out).To(ContainSubstring("✖ The hub refuses you"))
		Expect(r.out).To(ContainSubstring("→ docs/install.md#rights-of-the-installer"))
		Expect(r.out).To(ContainSubstring("✖ You lack"))
		Expect(r.errors).To(ContainSubstring("a check failed, and nothing was written"))
		expectNothing(ctx)
	})

	It("shows what it would do, and writes nothing", func(ctx context.Context) {
		r := plugin(ctx, installer, "hub install "+first+flags+" --dry-run")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(r.out).To(ContainSubstring("create  Deployment interlock-system/interlock-addon-manager\n"))
		Expect(r.out).To(ContainSubstring("push    " + images + "/team/interlock-addon-manager:0.1.0\n"))
		expectNothing(ctx)

		r = plugin(ctx, installer, "hub install "+first+flags+" --dry-run -o yaml")
		Expect(r.code).To(BeZero(), r.errors)
		Expect(r.out).To(ContainSubstring("image: " + images + "/team/interlock-addon-manager:0.1.0@" + digests["addon-manager"]))
		Expect(r.errors).To(ContainSubstring("✔ You have the rights to apply"))
		expectNothing(ctx)
	})

	It("refuses a registry without a name", func(ctx context.Context) {
		r := plugin(ctx, installer, "hub install "+first+" --registry team")
		Expect(r.code).To(Equal(2))
		Expect(r.errors).To(ContainSubstring(`--registry="team": "team/interlock-addon-manager:0.1.0": the registry is missing`))
	})

	It("refuses images that are not those of the chart", func(ctx context.Context) {
		r := plugin(ctx, installer, "hub install "+first+flags+" --images "+second)
		Expect(r.code).To(Equal(1))
		Expect(r.errors).To(ContainSubstring("chart and images are of different releases"))
	})

	It("says that it is not complete if the pods do not start, and goes on later", func(ctx context.Context) {
		nodes.set(func(n *node) { n.broken = true })
		r := plugin(ctx, installer, "hub install "+first+flags+" --timeout 2s")
		Expect(r.code).To(Equal(1))
		Expect(r.errors).To(ContainSubstring("interlock 0.1.0 is not installed completely: not done after 2s: "))
		Expect(r.errors).To(ContainSubstring("0 of 2 replicas are available"))
		nodes.set(func(n *node) { n.broken = false })
	})

	It("installs, has the images in the registry, and finds that Interlock works", func(ctx context.Context) {
		r := plugin(ctx, installer, "hub install "+first+flags+" --set dashboard.enabled=true")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(r.out).To(ContainSubstring("✔ The API server trusts the webhook to check declarations"))
		Expect(r.out).To(MatchRegexp(`✔ \S+ leads`))
		Expect(r.out).To(ContainSubstring("✔ The guard is installed"))
		Expect(r.out).NotTo(ContainSubstring("\n? "), "a check that the role does not allow")
		Expect(r.out).To(ContainSubstring("What to do next:"))
		Expect(r.out).To(ContainSubstring("kubectl addon hub uninstall"))

		var deployment appsv1.Deployment
		Expect(hub.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: "interlock-addon-manager"}, &deployment)).To(Succeed())
		image := deployment.Spec.Template.Spec.Containers[0].Image
		Expect(image).To(Equal(images + "/team/interlock-addon-manager:0.1.0@" + digests["addon-manager"]))
		for program, digest := range digests {
			reference, err := name.ParseReference(images+"/team/interlock-"+program+":0.1.0", name.Insecure)
			Expect(err).NotTo(HaveOccurred())
			pushed, err := remote.Index(reference)
			Expect(err).NotTo(HaveOccurred())
			Expect(pushed.Digest()).To(HaveField("Hex", strings.TrimPrefix(digest, "sha256:")))
		}
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		Expect(exists(ctx, space)()).To(BeTrue())
		Expect(space.Labels).To(HaveKeyWithValue("pod-security.kubernetes.io/enforce", "restricted"))
	})

	It("refuses to install twice, and to touch what Helm has installed", func(ctx context.Context) {
		r := plugin(ctx, installer, "hub install "+first+flags)
		Expect(r.code).To(Equal(1))
		Expect(r.out).To(ContainSubstring("✖ Interlock 0.1.0 is installed already\n  → kubectl addon hub upgrade RELEASE"))

		r = plugin(ctx, installer, "hub install "+first+flags+" --interlock-namespace elsewhere --take-ownership=false")
		Expect(r.code).To(Equal(1))
		Expect(r.out).To(MatchRegexp("✖ Objects of the ApplySet applyset-[^ ]+ exist already: [1-9]"))

		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "interlock-webhook"}}
		Expect(exists(ctx, role)()).To(BeTrue())
		patch := func(value, labels string) {
			body := `{"metadata":{"annotations":{"meta.helm.sh/release-name":` + value + `,"meta.helm.sh/release-namespace":` + value + `},
				"labels":{"applyset.kubernetes.io/part-of":` + labels + `}}}`
			Expect(hub.Client.Patch(ctx, role, client.RawPatch(types.MergePatchType, []byte(body)), client.FieldOwner("helm"))).To(Succeed())
		}
		set := role.Labels["applyset.kubernetes.io/part-of"]
		patch(`"theirs"`, "null")
		r = plugin(ctx, installer, "hub upgrade --set reports=all --take-ownership")
		Expect(r.code).To(Equal(1))
		Expect(r.out).To(ContainSubstring(
			"✖ Only Helm may change the objects of the Helm release theirs in theirs: 1, such as ClusterRole interlock-webhook"))
		Expect(r.out).To(ContainSubstring("→ helm upgrade theirs CHART -n theirs --reuse-values, or helm uninstall theirs -n theirs"))
		patch("null", `"`+set+`"`)
	})

	It("changes values of the same version, and deletes what is no longer needed", func(ctx context.Context) {
		dashboard := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-dashboard"}}
		Expect(exists(ctx, dashboard)()).To(BeTrue())
		bound := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "interlock-addon-manager-reports"}}
		Expect(exists(ctx, bound)()).To(BeFalse())
		r := plugin(ctx, installer, "hub upgrade --set reports=all --take-ownership --insecure")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(exists(ctx, bound)()).To(BeTrue())
		Expect(exists(ctx, dashboard)()).To(BeTrue(), "the value of the installation stays")

		r = plugin(ctx, installer, "hub upgrade --set dashboard.enabled=false --dry-run --insecure")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(r.out).To(ContainSubstring("delete  ConfigMap interlock-system/interlock-dashboard\n"))
		Expect(exists(ctx, dashboard)()).To(BeTrue())
		r = plugin(ctx, installer, "hub upgrade --set dashboard.enabled=false --insecure")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(exists(ctx, dashboard)()).To(BeFalse())
		Expect(exists(ctx, bound)()).To(BeTrue(), "the value of the earlier upgrade stays")
	})

	It("creates the Placement for addon-agent, and keeps what OCM deploys the agents from", func(ctx context.Context) {
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "open-cluster-management-global-set", Name: "global"}}
		r := plugin(ctx, installer, "hub upgrade --set agent.install=true,agent.placement=default/missing --insecure")
		Expect(r.code).To(Equal(1))
		Expect(r.out).To(ContainSubstring("✖ The Placement default/missing of agent.placement does not exist"))

		r = plugin(ctx, installer, "hub upgrade --set agent.install=true --insecure")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(r.out).To(ContainSubstring("The Placement open-cluster-management-global-set/global was created.\n"))
		Expect(exists(ctx, placement)()).To(BeTrue())
		template := &addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: "interlock-agent"}}
		Expect(exists(ctx, template)()).To(BeTrue())
		r = plugin(ctx, installer, "hub upgrade --set agent.install=false --insecure")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(r.out).To(ContainSubstring("ClusterRoleBinding interlock-addon-manager-agent was deleted"))
		Expect(exists(ctx, template)()).To(BeTrue(), "without it, OCM would remove every agent")
	})

	It("refuses a version whose images are missing, upgrades, and refuses to go back", func(ctx context.Context) {
		r := plugin(ctx, installer, "hub upgrade "+second+" --insecure")
		Expect(r.code).To(Equal(1))
		Expect(r.out).To(ContainSubstring("✖ There is no image " + images + "/team/interlock-addon-manager:0.2.0@"))
		Expect(r.out).To(ContainSubstring("→ kubectl addon hub upgrade RELEASE --registry " + images + "/team"))

		r = plugin(ctx, installer, "hub upgrade "+second+flags)
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(r.out).To(ContainSubstring("✔ Interlock 0.1.0 becomes 0.2.0"))
		Expect(exists(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "interlock-addon-manager-reports"}})()).To(BeTrue())

		r = plugin(ctx, installer, "hub upgrade "+first+flags)
		Expect(r.code).To(Equal(1))
		Expect(r.out).To(ContainSubstring("✖ Interlock 0.1.0 is older than the installed version 0.2.0"))
	})

	It("deletes nothing if the Job fails", func(ctx context.Context) {
		nodes.set(func(n *node) { n.fails = true })
		r := plugin(ctx, installer, "hub uninstall --yes")
		Expect(r.code).To(Equal(1))
		Expect(r.errors).To(ContainSubstring(
			"the Job interlock-uninstall failed: the test ended it: kubectl -n interlock-system logs job/interlock-uninstall"))
		nodes.set(func(n *node) { n.fails = false })
		Expect(exists(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-webhook"}})()).To(BeTrue())
		rights := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "interlock-uninstall"}}
		Expect(exists(ctx, rights)()).To(BeFalse(), "the rights of the Job")
		r = plugin(ctx, installer, "hub upgrade --set reports=off")
		Expect(r.out).To(ContainSubstring("✖ Interlock 0.2.0 is being uninstalled"))
	})

	It("asks before it uninstalls, runs the Job first, and says what stays", func(ctx context.Context) {
		r := plugin(ctx, installer, "hub uninstall")
		Expect(r.code).To(Equal(2))
		Expect(r.errors).To(ContainSubstring("use --yes"))
		r = plugin(ctx, installer, "hub uninstall --dry-run")
		Expect(r.code).To(BeZero(), r.errors)
		Expect(r.out).To(ContainSubstring("delete  Deployment interlock-system/interlock-webhook\n"))
		r = plugin(ctx, installer, "hub uninstall --yes --timeout 2m")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(r.out).To(ContainSubstring("of Interlock 0.2.0 are to be deleted, after the Job interlock-system/interlock-uninstall has removed"))
		Expect(r.out).To(ContainSubstring("What Interlock wrote to the hub was removed.\n"))
		Expect(r.out).To(ContainSubstring("To delete the namespace: kubectl delete namespace interlock-system\n"))
		expectNothing(ctx)
		Expect(exists(ctx, &addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: "interlock-agent"}})()).To(BeFalse())
		Expect(exists(ctx, &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "interlock-agent"}})()).To(BeFalse())
		r = plugin(ctx, installer, "hub upgrade --set reports=all")
		Expect(r.code).To(Equal(1))
		Expect(r.errors).To(ContainSubstring("kubectl addon hub has installed nothing in the namespace interlock-system"))
		r = plugin(ctx, installer, "hub uninstall --yes")
		Expect(r.code).To(Equal(1))
		Expect(r.errors).To(ContainSubstring("kubectl addon hub has installed nothing in the namespace interlock-system"))
	})

	It("installs the chart of a checkout with images that were built, and takes over a CRD only on request", func(ctx context.Context) {
		crd := &unstructured.Unstructured{}
		content, err := os.ReadFile("../../../deploy/hub/managedclusterfacts-crd.yaml")
		Expect(err).NotTo(HaveOccurred())
		Expect(yaml.Unmarshal(content, &crd.Object)).To(Succeed())
		Expect(hub.Client.Create(ctx, crd.DeepCopy(), client.FieldOwner("kubectl"))).To(Succeed())
		r := plugin(ctx, installer, "hub install "+chartFolder)
		Expect(r.code).To(Equal(2))
		Expect(r.errors).To(ContainSubstring("--registry REGISTRY pushes those of --images there"))
		r = plugin(ctx, installer, "hub upgrade --install "+chartFolder+flags+" --take-ownership --dry-run")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(r.out).To(And(
			ContainSubstring("- The images are not built yet"), ContainSubstring("✔ You may push to "+images+"/team"),
			ContainSubstring("push    "+images+"/team/interlock-addon-manager\n")))
		r = plugin(ctx, installer, "hub upgrade --install "+chartFolder+flags)
		Expect(r.code).To(Equal(1))
		Expect(r.errors).To(ContainSubstring("build them with make images"))
		built := " --images " + second + flags
		r = plugin(ctx, installer, "hub upgrade --install "+chartFolder+built)
		Expect(r.code).To(Equal(1))
		Expect(r.out).To(ContainSubstring(
			"✖ Objects of the field manager kubectl exist already: 1, such as CustomResourceDefinition managedclusterfacts."))
		Expect(r.out).To(ContainSubstring("→ add --take-ownership"))

		r = plugin(ctx, installer, "hub upgrade --install "+chartFolder+built+" --take-ownership")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-webhook"}}
		Expect(exists(ctx, deployment)()).To(BeTrue())
		Expect(deployment.Spec.Template.Spec.Containers[0].Image).To(Equal(images + "/team/interlock-addon-manager:0.2.0"))
		r = plugin(ctx, installer, "hub upgrade --set reports=all --insecure")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(exists(ctx, deployment)()).To(BeTrue())
		Expect(deployment.Spec.Template.Spec.Containers[0].Image).To(HaveSuffix(":0.2.0"), "the images of this chart stay")

		r = plugin(ctx, installer, "hub uninstall --yes --no-job")
		Expect(r.code).To(BeZero(), r.out+r.errors)
		Expect(r.out).NotTo(ContainSubstring("Job"))
		expectNothing(ctx)
	})
})

// expectNothing tests that no object of an installation is left.
func expectNothing(ctx context.Context) {
	GinkgoHelper()
	Expect(exists(ctx, secret("interlock-release"))()).To(BeFalse())
	var roles rbacv1.ClusterRoleList
	var crds apiextensionsv1.CustomResourceDefinitionList
	var deployments appsv1.DeploymentList
	for _, list := range []client.ObjectList{&roles, &deployments, &crds} {
		Expect(hub.Client.List(ctx, list, client.HasLabels{"applyset.kubernetes.io/part-of"})).To(Succeed())
	}
	Expect(roles.Items).To(BeEmpty())
	Expect(deployments.Items).To(BeEmpty())
	Expect(crds.Items).To(BeEmpty())
	Expect(hub.Client.List(ctx, &crds)).To(Succeed())
	for i := range crds.Items {
		Expect(crds.Items[i].Spec.Group).NotTo(Equal("dependency.addon.open-cluster-management.io"))
	}
}
