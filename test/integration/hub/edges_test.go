package hub

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// reportTimeout is how long it may take until the hub no longer waits for the report of an agent.
const reportTimeout = time.Minute

// registerSpec creates a ClusterManagementAddOn with Interlock's fields as YAML.
func registerSpec(name, spec string) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	Expect(yaml.UnmarshalStrict([]byte(spec), &addOn.Spec)).To(Succeed())
	addOn.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	create(addOn)
}

// alter changes an object by a patch. With status, it patches the status subresource.
func alter[T client.Object](object T, key types.NamespacedName, status bool, change func(T)) {
	GinkgoHelper()
	Expect(hubClient.Get(ctx, key, object)).To(Succeed())
	original := object.DeepCopyObject().(client.Object)
	change(object)
	if status {
		Expect(hubClient.Status().Patch(ctx, object, client.MergeFrom(original))).To(Succeed())
		return
	}
	Expect(hubClient.Patch(ctx, object, client.MergeFrom(original))).To(Succeed())
}

func label(cluster, name, value string) {
	GinkgoHelper()
	alter(&clusterv1.ManagedCluster{}, types.NamespacedName{Name: cluster}, false, func(c *clusterv1.ManagedCluster) {
		metav1.SetMetaDataLabel(&c.ObjectMeta, name, value)
	})
}

func setStatus(cluster string, change func(*clusterv1.ManagedClusterStatus)) {
	GinkgoHelper()
	alter(&clusterv1.ManagedCluster{}, types.NamespacedName{Name: cluster}, true, func(c *clusterv1.ManagedCluster) { change(&c.Status) })
}

func kubernetesVersion(version string) func(*clusterv1.ManagedClusterStatus) {
	return func(status *clusterv1.ManagedClusterStatus) { status.Version.Kubernetes = version }
}

func claim(name, value string) func(*clusterv1.ManagedClusterStatus) {
	return func(status *clusterv1.ManagedClusterStatus) {
		status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: name, Value: value}}
	}
}

// versionAnnotation sets the version annotation of an add-on on a cluster.
func versionAnnotation(cluster, addOn, version string) {
	GinkgoHelper()
	key := types.NamespacedName{Namespace: cluster, Name: addOn}
	alter(&addonv1alpha1.ManagedClusterAddOn{}, key, false, func(a *addonv1alpha1.ManagedClusterAddOn) {
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, version)
	})
}

// configure creates an AddOnDeploymentConfig with the variable mode.
func configure(cluster, name, mode string) {
	GinkgoHelper()
	config := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	config.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{{Name: "mode", Value: mode}}
	create(config)
}

func reconfigure(cluster, name, mode string) {
	GinkgoHelper()
	key := types.NamespacedName{Namespace: cluster, Name: name}
	alter(&addonv1alpha1.AddOnDeploymentConfig{}, key, false, func(c *addonv1alpha1.AddOnDeploymentConfig) {
		c.Spec.CustomizedVariables[0].Value = mode
	})
}

// refer makes an add-on refer to configs, as OCM's addon-manager does.
func refer(cluster, addOn string, configs ...string) {
	GinkgoHelper()
	key := types.NamespacedName{Namespace: cluster, Name: addOn}
	alter(&addonv1alpha1.ManagedClusterAddOn{}, key, true, func(a *addonv1alpha1.ManagedClusterAddOn) {
		a.Status.ConfigReferences = nil
		for _, name := range configs {
			referent := ocmv1alpha1.ConfigReferent{Namespace: cluster, Name: name}
			a.Status.ConfigReferences = append(a.Status.ConfigReferences, ocmv1alpha1.ConfigReference{
				ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addondeploymentconfigs"},
				ConfigReferent:      referent,
				DesiredConfig:       &ocmv1alpha1.ConfigSpecHash{ConfigReferent: referent, SpecHash: "tested"},
			})
		}
	})
}

var _ = Describe("An edge that looks at more than an add-on", Ordered, func() {
	var manager *process
	var cluster, otherCluster string
	var plain string

	// expectOneEvaluated runs a change and expects that it triggers only one add-on, which is on the cluster: one evaluation, and one more for
	// the write that
	// follows.
	expectOneEvaluated := func(addOn string, matcher OmegaMatcher, change func()) {
		GinkgoHelper()
		manager.rest()
		evaluationsBefore, versionsBefore := manager.evaluations(), must(versions(otherCluster))
		change()
		Eventually(degradedOf(cluster, addOn), reportTimeout).Should(matcher)
		manager.rest()
		Expect(manager.evaluations()-evaluationsBefore).
			To(BeNumerically("<=", 3), "the add-on, again for its own write, and once if that came in between")
		Expect(must(versions(otherCluster))).To(Equal(versionsBefore))
	}

	BeforeAll(func() {
		manager = start()
		cluster, otherCluster = newCluster(), newCluster()
		accept(cluster)
		accept(otherCluster)
		plain = unique("plain")
		register(plain, required("nobody"))
		for _, cluster := range []string{cluster, otherCluster} {
			install(cluster, plain)
			Eventually(degradedOf(cluster, plain)).Should(requiredFails())
		}
	})

	It("follows the labels of the managed cluster", func() {
		leaf := unique("labels")
		registerSpec(leaf, `dependencies: [{name: nobody, when: {clusterSelector: {matchLabels: {network: private}}}}]`)
		install(cluster, leaf)
		install(otherCluster, leaf)
		expectOneEvaluated(leaf, requiredFails(ContainSubstring("Required addon 'nobody'")), func() { label(cluster, "network", "private") })
		expectOneEvaluated(leaf, satisfied(), func() { label(cluster, "network", "public") })
		Expect(must(degradedOf(otherCluster, leaf))).To(BeNil(), "not applicable, never written")
	})

	It("follows claims", func() {
		leaf := unique("claims")
		registerSpec(leaf, `requirements: {claims: {version.openshift.io: ">= 4.14"}}`)
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("the managed cluster has no such claim")))
		expectOneEvaluated(leaf, requiredFails(ContainSubstring("it is 4.13.9")), func() {
			setStatus(cluster, claim("version.openshift.io", "4.13.9"))
		})
		expectOneEvaluated(leaf, satisfied(), func() { setStatus(cluster, claim("version.openshift.io", "4.14.1")) })
	})

	It("follows a Kubernetes upgrade that OCM reports", func() {
		leaf := unique("kubernetes")
		registerSpec(leaf, `requirements: {kubernetes: ">= 1.31"}`)
		setStatus(cluster, kubernetesVersion("v1.30.4+k3s1"))
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("it is v1.30.4+k3s1")))
		expectOneEvaluated(
			leaf, requiredFails(ContainSubstring("prereleases are not accepted")),
			func() { setStatus(cluster, kubernetesVersion("v1.32.0-rc.1")) },
		)
		expectOneEvaluated(leaf, satisfied(), func() { setStatus(cluster, kubernetesVersion("v1.31.2-gke.100")) })
	})

	It("follows the configuration of the add-on, of the first config that it refers to", func() {
		leaf, unconcerned := unique("config"), unique("config")
		registerSpec(leaf, `dependencies: [{name: nobody, when: {expression: "config.?mode.orValue('') == 'proxy'"}}]`)
		register(unconcerned)
		configure(cluster, "first", "direct")
		configure(cluster, "last", "direct")
		install(cluster, leaf, unconcerned)
		refer(cluster, leaf, "first", "last")
		refer(cluster, unconcerned, "first", "last")
		expectOneEvaluated(leaf, requiredFails(ContainSubstring("nobody")), func() { reconfigure(cluster, "first", "proxy") })
		expectOneEvaluated(leaf, satisfied(), func() { refer(cluster, leaf, "last", "first") })
		expectOneEvaluated(leaf, requiredFails(ContainSubstring("nobody")), func() { refer(cluster, leaf, "first", "last") })

		By("another than the first")
		manager.rest()
		evaluationsBefore := manager.evaluations()
		reconfigure(cluster, "last", "any")
		Consistently(manager.evaluations).Should(Equal(evaluationsBefore))

		By("one that is deleted")
		reconfigure(cluster, "last", "proxy")
		expectOneEvaluated(leaf, satisfied(), func() {
			Expect(hubClient.Delete(
				ctx, &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "first"}},
			)).To(Succeed())
		})
	})

	It("follows labels and annotations of the add-on itself", func() {
		leaf := unique("own")
		registerSpec(leaf, `dependencies: [{name: nobody, when: {expression: "addOn.annotations.?tier.orValue('') == 'gold'"}}]`)
		install(cluster, leaf)
		key := types.NamespacedName{Namespace: cluster, Name: leaf}
		expectOneEvaluated(leaf, requiredFails(), func() {
			alter(&addonv1alpha1.ManagedClusterAddOn{}, key, false, func(a *addonv1alpha1.ManagedClusterAddOn) {
				metav1.SetMetaDataAnnotation(&a.ObjectMeta, "tier", "gold")
			})
		})
	})

	It("follows the version of the add-on that it is on", func() {
		leaf, base := unique("versions"), unique("base")
		register(base)
		registerSpec(leaf, `dependencies: [{name: `+base+`, version: ">= 0.6"}]`)
		installAvailable(cluster, base)
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(requiredFails(ContainSubstring("version not known")))

		By("the annotation on the ManagedClusterAddOn")
		expectOneEvaluated(leaf, satisfied(), func() { versionAnnotation(cluster, base, "0.6.1") })
		expectOneEvaluated(
			leaf, requiredFails(ContainSubstring("version 0.5.0 from its ManagedClusterAddOn")),
			func() { versionAnnotation(cluster, base, "0.5.0") },
		)

		By("the annotation on the ClusterManagementAddOn, where the first is not there")
		versionAnnotation(cluster, base, "")
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(requiredFails(ContainSubstring("version not known")))
		amend(base, func(addOn *addonv1alpha1.ClusterManagementAddOn) {
			metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, "v0.7.0")
		})
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(satisfied())
	})

	It("follows the hub's OCM version, which stands on OCM's CRDs", func() {
		setVersion := func(version string) {
			GinkgoHelper()
			alter(&apiextensionsv1.CustomResourceDefinition{}, types.NamespacedName{Name: fleet.OCMVersionCRD}, false,
				func(crd *apiextensionsv1.CustomResourceDefinition) {
					metav1.SetMetaDataAnnotation(&crd.ObjectMeta, names.OCMVersion, version)
				})
		}
		leaf := unique("ocm")
		registerSpec(leaf, `requirements: {ocm: ">= 1.3"}`)
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("does not report it")))
		setVersion("1.2.0")
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("it is 1.2.0")))
		setVersion("1.3.1")
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
	})

	It("is evaluated for nothing else that a managed cluster reports", func() {
		manager.rest()
		evaluationsBefore := manager.evaluations()
		setStatus(cluster, func(status *clusterv1.ManagedClusterStatus) {
			meta.SetStatusCondition(&status.Conditions, metav1.Condition{
				Type: clusterv1.ManagedClusterConditionHubAccepted, Status: metav1.ConditionTrue, Reason: "Test", Message: "as tested",
			})
			status.Capacity = clusterv1.ResourceList{}
		})
		alter(&clusterv1.ManagedCluster{}, types.NamespacedName{Name: cluster}, false, func(c *clusterv1.ManagedCluster) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, "a", "b")
		})
		Consistently(manager.evaluations).Should(Equal(evaluationsBefore))
	})

	It("reports that no agent has reported an API", func() {
		leaf := unique("api")
		registerSpec(leaf, `dependencies: [{name: permissions, api: {group: rbac.open-cluster-management.io, kind: ClusterPermission}}]`)
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf), reportTimeout).Should(requiredFails(
			ContainSubstring(
				"Required API 'ClusterPermission.rbac.open-cluster-management.io' is not served.",
			), ContainSubstring("addon-agent has not reported it")))
		Eventually(manager.unsatisfied(leaf, "dependency", "permissions", "verdict", string(evaluation.APINotServed))).Should(HaveLen(1))
	})

	It("is not written by an addon-manager that restarts", func() {
		manager.rest()
		manager.stop()
		writesBefore, versionsBefore := writes(), must(versions(cluster))
		manager = start()
		Eventually(manager.evaluations).Should(BeNumerically(">", 0))
		manager.rest()
		Expect(writes()).To(Equal(writesBefore))
		Expect(must(versions(cluster))).To(Equal(versionsBefore))
	})
})
