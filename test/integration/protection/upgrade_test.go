package protection

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	operatorv1 "open-cluster-management.io/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/webhook/protector"
	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// operated is the managed cluster of the operator's hub. It has no agents.
const operated = "cluster1"

// useOperatedHub gives the specs of a container a hub of their own. OCM's operator has installed it, and Interlock's webhook runs
// beside it. No kubelet runs the Deployments of the operator, so OCM's components run as processes.
func useOperatedHub(ctx context.Context) {
	GinkgoHelper()
	otherHub, otherDeployment, otherWebhook := hub, deployment, webhook
	DeferCleanup(func() { hub, deployment, webhook = otherHub, otherDeployment, otherWebhook })
	hub = ocmsuite.Start(ctx, ocm.HubOptions{Operator: true})
	Expect(operatorv1.Install(hub.Client.Scheme())).To(Succeed())
	deployWebhook(ctx)
}

// clusterManager returns the ClusterManager for which the operator installs OCM.
func clusterManager() *operatorv1.ClusterManager {
	return &operatorv1.ClusterManager{ObjectMeta: metav1.ObjectMeta{Name: "cluster-manager"}}
}

// newestOfClusteradm is the newest minor version of OCM that the clusteradm of test/clusteradm installs.
var newestOfClusteradm = version.MajorMinor(1, 3)

// setImageTag returns a patch that sets the tag of OCM's images, as clusteradm upgrade does.
func setImageTag(tag string) client.Patch {
	var specs []string
	for field, image := range map[string]string{
		"registrationImagePullSpec": "registration", "workImagePullSpec": "work", "placementImagePullSpec": "placement",
		"addOnManagerImagePullSpec": "addon-manager",
	} {
		specs = append(specs, fmt.Sprintf("%q:%q", field, "quay.io/open-cluster-management/"+image+tag))
	}
	return client.RawPatch(types.MergePatchType, []byte(`{"spec":{`+strings.Join(specs, ",")+`}}`))
}

var _ = Describe("The operator of OCM", Ordered, func() {
	// The hub runs installed, and an add-on excludes next, the first version of the next minor.
	var installed, next *version.Version
	var consequence string

	BeforeAll(func(ctx context.Context) {
		useOperatedHub(ctx)
		runs, err := hub.Version()
		Expect(err).NotTo(HaveOccurred())
		installed = version.MustParseGeneric(runs)
		next = version.MajorMinor(installed.Major(), installed.Minor()+1)
		consequence = "Open Cluster Management 1.9.0 would break 1 add-on on 1 cluster: " +
			"leaf requires Open Cluster Management version of the hub '< " + next.String() + "' (cluster1)"
		Expect(hub.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "managed"}})).To(Succeed())
		accept(ctx, operated)
		excludes := fmt.Sprintf(`{dependencies: [{name: base}], requirements: {ocm: "< %s"}}`, next)
		for name, dependencies := range map[string]string{base: "", leaf: excludes} {
			registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if dependencies != "" {
				registration.Annotations = map[string]string{interlockv1alpha1.DependenciesAnnotation: dependencies}
			}
			registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
			Expect(hub.Client.Create(ctx, registration)).To(Succeed())
			Expect(hub.Client.Create(ctx, addOn(operated, name))).To(Succeed())
		}
	})

	It("upgrades OCM to no version that installed add-ons exclude, unless a reason is given", func(ctx context.Context) {
		Eventually(func() error { return hub.Client.Patch(ctx, clusterManager(), setImageTag(":v1.9.0"), client.DryRunAll) }).
			Should(MatchError(ContainSubstring("denied the request: " + consequence)))
		Expect(hub.Client.Patch(ctx, clusterManager(), setImageTag(":v1.9.0"))).To(MatchError(ContainSubstring(consequence)))
		unchecked := ContainElement(HavePrefix(
			"whether another version of Open Cluster Management contradicts 1 add-on ('leaf') was not checked: "))
		for _, accepted := range []struct {
			tag   string
			warns gomegatypes.GomegaMatcher
		}{{":latest", unchecked}, {"@sha256:" + strings.Repeat("5f", 32), unchecked}, {":v" + installed.WithPatch(99).String(), BeEmpty()}} {
			user, warnings := impersonate("alice")
			Expect(user.Patch(ctx, clusterManager(), setImageTag(accepted.tag))).To(Succeed(), accepted.tag)
			Expect(warnings.texts).To(accepted.warns, accepted.tag)
		}
		callsBefore := calls(ctx, "upgrades")
		Expect(callsBefore).To(BeNumerically(">", 0))
		Expect(hub.Reconciled(ctx)).To(Succeed(), "it applies everything again")
		Expect(calls(ctx, "upgrades")).To(Equal(callsBefore), "what the operator and others write calls nothing")

		By("by clusteradm")
		// Without the type, clusteradm sends an empty one, which the schema of OCM 1.2 does not accept.
		values := filepath.Join(GinkgoT().TempDir(), "values.yaml")
		Expect(os.WriteFile(values, []byte("clusterManager: {resourceRequirement: {type: Default}}\n"), 0o600)).To(Succeed())
		bundle := next.WithPatch(0).String()
		out, err := hub.Clusteradm("upgrade", "clustermanager", "--bundle-version", "v"+bundle, "--cluster-manager-values-file", values)
		Expect(err).To(HaveOccurred())
		refusal := ContainSubstring(strings.Replace(consequence, "1.9.0", bundle, 1))
		unknown := ContainSubstring("couldn't find the requested version bundle: " + bundle) // OCM is newer than clusteradm
		if installed.AtLeast(newestOfClusteradm) {
			Expect(out).To(unknown)
		} else {
			Expect(out).To(refusal, "on its terminal")
		}

		By("with a reason")
		user, warnings := impersonate("alice")
		force(ctx, clusterManager())
		Expect(user.Patch(ctx, clusterManager(), setImageTag(":v1.9.0"))).To(Succeed())
		Expect(warnings.texts).To(ContainElement(consequence + ". It is changed nevertheless: tested"))
		Eventually(eventNotes(ctx, metav1.NamespaceDefault, "cluster-manager", protector.EventChangeForced)).
			Should(ContainElement(HavePrefix("alice: ")))
		Eventually(func() (string, error) {
			rolled := &appsv1.Deployment{}
			key := client.ObjectKey{Namespace: "open-cluster-management-hub", Name: "cluster-manager-registration-controller"}
			err := hub.Client.Get(ctx, key, rolled)
			if err != nil {
				return "", err
			}
			return rolled.Spec.Template.Spec.Containers[0].Image, nil
		}).Should(HaveSuffix("registration:v1.9.0"))
	})

	It("has add-ons that are protected", func(ctx context.Context) {
		Expect(hub.Client.Delete(ctx, addOn(operated, base))).To(MatchError(ContainSubstring("would break 1 add-on on 1 cluster")))
	})

	It("uninstalls OCM, which no protection blocks", func(ctx context.Context) {
		user, warnings := impersonate("alice")
		Expect(client.IgnoreNotFound(user.Delete(ctx, clusterManager()))).To(Succeed()) // a former attempt may have deleted it
		// OCM deletes its CRDs one after the other, and waits longer after each error.
		Eventually(func() error {
			return hub.Client.Get(ctx, client.ObjectKeyFromObject(clusterManager()), clusterManager())
		}).WithTimeout(3 * time.Minute).
			Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
		Expect(warnings.texts).To(BeEmpty())
	})

	It("leaves a hub from which Interlock can be uninstalled", func(ctx context.Context) {
		uninstall, err := process.Start(deployment.Program, filepath.Join(GinkgoT().TempDir(), "uninstall.log"), "uninstall",
			"--kubeconfig", hub.Kubeconfig(), "--namespace", interlock.Namespace, "--timeout", "1m")
		Expect(err).NotTo(HaveOccurred())
		Eventually(uninstall.Done()).Should(BeClosed())
		Expect(uninstall.Err()).To(Succeed())
		Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "interlock-webhook"},
		}))).To(Succeed())
	})
})
