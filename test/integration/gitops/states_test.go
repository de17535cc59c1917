package gitops

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	requiring = `[{name: credentials, message: Cluster credentials cannot be issued.}]`
	wishing   = `[{name: relay, type: Optional, message: Clusters behind a firewall are unreachable.}]`
)

var _ = Describe("What OCM and Interlock write", Ordered, func() {
	It("to an add-on that has not reported, and to one that works", func(ctx context.Context) {
		register(ctx, "credentials", "")
		install(ctx, "credentials")
		record(ctx, addOn("credentials"), "not-reported.yaml", "Available=Unknown ManagedClusterAddOnLeaseNotFound")
		renew("credentials")
		record(ctx, addOn("credentials"), "healthy.yaml", "Available=True ManagedClusterAddOnLeaseUpdated")
	}, NodeTimeout(5*time.Minute))

	It("to an add-on whose Required dependency is missing, and installed again", func(ctx context.Context) {
		register(ctx, "gateway", requiring)
		renew("gateway")
		Expect(hub.Client.Delete(ctx, addOn("credentials"))).To(Succeed())
		install(ctx, "gateway")
		record(ctx, addOn("gateway"), "required-missing.yaml",
			"Degraded=True RequiredDependencyNotSatisfied", "Available=False RequiredDependencyNotSatisfied")
		install(ctx, "credentials")
		record(ctx, addOn("gateway"), "recovered.yaml", "Degraded=False DependenciesSatisfied", "Available=True ManagedClusterAddOnLeaseUpdated")
	}, NodeTimeout(5*time.Minute))

	It("to an add-on whose Optional dependency is missing", func(ctx context.Context) {
		register(ctx, "streaming", wishing)
		renew("streaming")
		install(ctx, "streaming")
		record(ctx, addOn("streaming"), "optional-missing.yaml",
			"Degraded=True DependencyNotSatisfied", "Available=True ManagedClusterAddOnLeaseUpdated")
	}, NodeTimeout(5*time.Minute))

	It("to an add-on from a template that requires another, in Customized mode", func(ctx context.Context) {
		template(ctx, "templated", configMap("templated"))
		register(ctx, "templated", "[{name: tunnel, message: There is no way to the cluster.}]", "templated")
		install(ctx, "templated")
		record(ctx, addOn("templated"), "template-required-missing.yaml",
			"Degraded=True RequiredDependencyNotSatisfied", "Available=False RequiredDependencyNotSatisfied")
		register(ctx, "tunnel", "")
		renew("tunnel")
		install(ctx, "tunnel")
		record(ctx, addOn("templated"), "template-recovered.yaml", "Degraded=False DependenciesSatisfied", "Available=True ProbeAvailable")
	}, NodeTimeout(5*time.Minute))

	It("while a Placement installs an add-on, and after it", func(ctx context.Context) {
		place(ctx)
		template(ctx, "placed", deployment("placed"))
		Expect(managed.WorkAgent.Stop(ctx)).To(Succeed())
		placed := newRegistration("placed", "", "placed")
		placed.Spec.InstallStrategy = ocmv1alpha1.InstallStrategy{
			Type: ocmv1alpha1.AddonInstallStrategyPlacements,
			Placements: []ocmv1alpha1.PlacementStrategy{
				{PlacementRef: ocmv1alpha1.PlacementRef{Namespace: "places", Name: "everywhere"}},
			},
		}
		Expect(hub.Client.Create(ctx, placed)).To(Succeed())
		record(ctx, registration("placed"), "registration-installing.yaml", "Progressing=True Progressing")
		record(ctx, addOn("placed"), "installing.yaml",
			"Progressing=False WaitingForManifestApplied", "RegistrationApplied=True SetPermissionApplied")
		Expect(managed.WorkAgent.Start(ctx)).To(Succeed())
		report(ctx, "placed", `{"observedGeneration":1,"replicas":1,"unavailableReplicas":1}`)
		record(ctx, addOn("placed"), "starting.yaml", "Available=False ProbeUnavailable", "Progressing=False Completed")
		report(ctx, "placed", `{"observedGeneration":1,"replicas":1,"readyReplicas":1,"availableReplicas":1,"unavailableReplicas":0}`)
		record(ctx, addOn("placed"), "installed.yaml", "Available=True ProbeAvailable", "Progressing=False Completed")
		record(ctx, registration("placed"), "registration-installed.yaml", "Progressing=False Completed")
	}, NodeTimeout(5*time.Minute))

	It("while an add-on and its registration are deleted", func(ctx context.Context) {
		hook := &batchv1.Job{
			TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: ocm.AddOnNamespace, Name: "clean-up",
				Annotations: map[string]string{ocmv1alpha1.AddonPreDeleteHookAnnotationKey: ""},
			},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "clean-up", Image: "example.com/clean-up"}},
			}}},
		}
		if CurrentSpecReport().NumAttempts == 1 { // a repeated attempt waits for the objects of the first one
			template(ctx, "hooked", configMap("hooked"), hook)
			register(ctx, "hooked", "", "hooked")
			install(ctx, "hooked")
		}
		Eventually(func(g Gomega) {
			object := addOn("hooked")
			g.Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			g.Expect(conditions(object.Object["status"])).To(ContainElement("Available=True ProbeAvailable"))
			g.Expect(object.GetFinalizers()).NotTo(BeEmpty())
		}).Should(Succeed())
		// Argo CD deletes in the same way. The hook runs for ever, because no component runs Jobs here.
		Expect(hub.Client.Delete(ctx, registration("hooked"), client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		record(ctx, addOn("hooked"), "deleting.yaml")
		record(ctx, registration("hooked"), "registration-deleting.yaml")
	}, NodeTimeout(5*time.Minute))

	It("to add-ons on a lost cluster", func(ctx context.Context) {
		register(ctx, "blocked", "[{name: absent, message: Nothing is there.}]")
		install(ctx, "blocked")
		Eventually(func(g Gomega) {
			object := addOn("blocked")
			g.Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			g.Expect(conditions(object.Object["status"])).To(ContainElement("Available=False RequiredDependencyNotSatisfied"))
		}).Should(Succeed())
		Expect(managed.RegistrationAgent.Kill()).To(Succeed())
		record(ctx, addOn("streaming"), "lost-optional-missing.yaml",
			"Available=Unknown ManagedClusterLeaseUpdateStopped", "Degraded=True DependencyNotSatisfied")
		record(ctx, addOn("gateway"), "lost.yaml", "Available=Unknown ManagedClusterLeaseUpdateStopped")
		record(ctx, addOn("blocked"), "lost-required-missing.yaml",
			"Available=Unknown ManagedClusterLeaseUpdateStopped", "Degraded=True RequiredDependencyNotSatisfied")
	}, NodeTimeout(5*time.Minute))
})

// newRegistration returns a registration with a declaration, and with templates if there are any.
func newRegistration(name, declaration string, templates ...string) *ocmv1alpha1.ClusterManagementAddOn {
	registration := &ocmv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if declaration != "" {
		registration.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: declaration}
	}
	registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	for _, name := range templates {
		registration.Spec.SupportedConfigs = []ocmv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
			ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"},
			DefaultConfig:       &ocmv1alpha1.ConfigReferent{Name: name},
		}}
	}
	return registration
}

func register(ctx context.Context, name, declaration string, templates ...string) {
	GinkgoHelper()
	Expect(hub.Client.Create(ctx, newRegistration(name, declaration, templates...))).To(Succeed())
}

func install(ctx context.Context, name string) {
	GinkgoHelper()
	object := addOn(name)
	object.Object["spec"] = map[string]any{}
	Eventually(func() error { return hub.Client.Create(ctx, object) }).Should(Succeed())
}

// renew renews the lease of an add-on until the suite ends.
func renew(name string) {
	GinkgoHelper()
	renewing, stop := context.WithCancel(context.Background())
	exit := make(chan error, 1)
	go func() { exit <- managed.RenewLease(renewing, name, renewInterval) }()
	ends = append(ends, func() error {
		stop()
		return <-exit
	})
}

// ends stop the renewal of leases.
var ends []func() error

var _ = AfterSuite(func() {
	for _, end := range ends {
		Expect(end()).To(Succeed())
	}
})

// template creates an AddOnTemplate of an add-on that deploys objects.
func template(ctx context.Context, name string, objects ...runtime.Object) {
	GinkgoHelper()
	template := &ocmv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}}
	template.Spec.AddonName = name
	for _, object := range objects {
		content, err := json.Marshal(object)
		Expect(err).NotTo(HaveOccurred())
		template.Spec.AgentSpec.Workload.Manifests = append(template.Spec.AgentSpec.Workload.Manifests,
			workv1.Manifest{RawExtension: runtime.RawExtension{Raw: content}})
	}
	Expect(hub.Client.Create(ctx, template)).To(Succeed())
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: name},
	}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: "example.com/" + name}}},
			},
		},
	}
}

// report sets the status of a Deployment, as the controllers of a cluster with nodes do.
func report(ctx context.Context, name, status string) {
	GinkgoHelper()
	Eventually(func() error {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: name}}
		return managed.Client.Status().Patch(ctx, deployment, client.RawPatch(types.MergePatchType, []byte(`{"status":`+status+`}`)))
	}).Should(Succeed())
}

// place creates a Placement that selects every cluster.
func place(ctx context.Context) {
	GinkgoHelper()
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "places"}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "places", Name: "default"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "default"},
		},
		&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "places", Name: "everywhere"}},
	} {
		Eventually(func() error { return hub.Client.Create(ctx, object) }).WithTimeout(20 * time.Second).Should(Succeed())
	}
}
