// Package rights runs addon-manager as a process with only the permissions of deploy/.
package rights

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	gomegatypes "github.com/onsi/gomega/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/gaterule"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	namespace    = "interlock-system"
	deployFolder = "../../../deploy/hub"
	// account is the user of addon-manager, which the policies of deploy/hub limit.
	account = "system:serviceaccount:" + namespace + ":interlock-addon-manager"
)

func TestRights(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "rights of addon-manager")
}

var (
	hub     *testenv.Cluster
	admin   client.Client
	manager string
)

var _ = BeforeSuite(func(ctx context.Context) {
	manager = setup.Program("addon-manager")
	// In Kubernetes 1.35, the API is served but not applied without the feature gate.
	hub = setup.Hub(ctx, map[string][]string{"runtime-config": {"admissionregistration.k8s.io/v1beta1=true"}})
	admin = setup.Administrator(hub, addonv1alpha1.AddToScheme, dependencyv1alpha1.AddToScheme)
	for _, name := range []string{namespace, "cluster1"} {
		Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	setup.Policies(ctx, admin)
})

// runTemplate installs an add-on on cluster1 that is available and runs an AddOnTemplate of its name and a version.
func runTemplate(ctx context.Context, name, version string) {
	GinkgoHelper()
	template := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"addonName": name, "agentSpec": map[string]any{}},
	}}
	template.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("AddOnTemplate"))
	template.SetName(name)
	template.SetAnnotations(map[string]string{addonv1alpha1.AddOnVersionAnnotation: version})
	Expect(admin.Create(ctx, template)).To(Succeed())
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
	Expect(admin.Create(ctx, addOn)).To(Succeed())
	config := &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: name}, SpecHash: "tested"}
	addOn.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{{
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"},
		ConfigReferent:      config.ConfigReferent, DesiredConfig: config, LastAppliedConfig: config,
	}}
	meta.SetStatusCondition(&addOn.Status.Conditions, metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Tested"})
	Expect(admin.Status().Update(ctx, addOn)).To(Succeed())
}

// start runs addon-manager as a process of a user.
func start(user *testenv.User, arguments ...string) *gexec.Session {
	GinkgoHelper()
	arguments = append([]string{"--reports=unsatisfied"}, arguments...) // a later flag takes precedence
	arguments = append(arguments, "--kubeconfig", user.Kubeconfig, "--log-format=json",
		"--leader-elect-namespace", namespace, "--graft-crds", "--metrics-bind-address=0", "--health-probe-bind-address=0")
	return setup.Run(manager, arguments...)
}

var _ = Describe("addon-manager with the rights of deploy/hub", Ordered, func() {
	It("elects itself, writes Degraded, emits events, and stops cleanly, without any forbidden request", func(ctx context.Context) {
		user := setup.Manager.User(ctx, hub, admin, namespace, account)
		session := start(user)

		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
		registration.Spec.InstallStrategy.Type = "Manual"
		registration.Spec.Dependencies = []addonv1alpha1.AddonDependency{
			{Name: "missing"},
			{Name: "widgets", API: &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: "example.com", Kind: "Widget"}}},
			{Name: "on-the-hub", API: &addonv1alpha1.DependencyAPI{
				AddonAPI: addonv1alpha1.AddonAPI{Group: "example.com", Kind: "OnHub"}, ServedBy: addonv1alpha1.APIServerHub,
			}},
		}
		Expect(admin.Create(ctx, registration)).To(Succeed())
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "gateway"}}
		Expect(admin.Create(ctx, addOn)).To(Succeed())

		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKey{Namespace: "cluster1", Name: "cluster1"}, &dependencyv1alpha1.ManagedClusterFacts{})).
				To(Succeed())
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
			degraded := meta.FindStatusCondition(addOn.Status.Conditions, "Degraded")
			g.Expect(degraded).NotTo(BeNil())
			g.Expect(degraded.Message).To(ContainSubstring("Required API 'OnHub.example.com' is not served by the hub. (not served)"))
			g.Expect(admin.Get(ctx, client.ObjectKey{Namespace: "cluster1", Name: "cluster1"}, &dependencyv1alpha1.AddOnDependencyReport{})).
				To(Succeed())
			g.Expect(admin.Get(ctx, client.ObjectKey{Name: dependencyv1alpha1.FleetReportName}, &dependencyv1alpha1.AddOnFleetReport{})).
				To(Succeed())
			var events eventsv1.EventList
			g.Expect(admin.List(ctx, &events)).To(Succeed())
			g.Expect(reasons(events)).To(ContainElements("RequiredDependencyNotSatisfied", "DependencyNotRegistered", "LeaderElection"))
		}).WithTimeout(30 * time.Second).Should(Succeed())

		By("reading objects that only some declarations need")
		dependent := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "asking"}}
		dependent.Spec.InstallStrategy.Type = "Manual"
		dependent.Spec.Requirements = &addonv1alpha1.AddonRequirements{OCM: ">= 1.0"}
		dependent.Spec.Dependencies = []addonv1alpha1.AddonDependency{
			{Name: "missing", When: &addonv1alpha1.DependencyWhen{Expression: "config.size() == 0"}},
			{Name: "templated", Version: ">= 0.6"},
		}
		runTemplate(ctx, "templated", "0.5.0")
		Expect(admin.Create(ctx, dependent)).To(Succeed())
		addOn = &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "asking"}}
		Expect(admin.Create(ctx, addOn)).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
			degraded := meta.FindStatusCondition(addOn.Status.Conditions, "Degraded")
			g.Expect(degraded).NotTo(BeNil())
			g.Expect(degraded.Message).To(And(
				ContainSubstring("Required addon 'missing'"), ContainSubstring("Open Cluster Management version of the hub"),
				ContainSubstring("version 0.5.0 from its AddOnTemplate")))
		}).WithTimeout(90 * time.Second).Should(Succeed())

		By("nothing being asked of the cluster any more")
		original := registration.DeepCopy()
		registration.Spec.Dependencies = registration.Spec.Dependencies[:1]
		Expect(admin.Patch(ctx, registration, client.MergeFrom(original))).To(Succeed())
		Expect(admin.Delete(ctx, addOn)).To(Succeed()) // "asking" needs the version of "templated"
		Eventually(func() error {
			return admin.Get(ctx, client.ObjectKey{Namespace: "cluster1", Name: "cluster1"}, &dependencyv1alpha1.ManagedClusterFacts{})
		}).WithTimeout(30 * time.Second).Should(Satisfy(apierrors.IsNotFound))

		Eventually(session.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
		Expect(session.Err).NotTo(gbytes.Say("(?i)forbidden"))
	})

	It("installs the guard where it finds the webhook, and removes it when it is off, and no request is refused", func(ctx context.Context) {
		user, err := hub.AddUser(account)
		Expect(err).NotTo(HaveOccurred())
		configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		setup.Read("hub/webhook-configuration.yaml", configuration)
		configuration.Webhooks[0].ClientConfig.CABundle = authority()
		Expect(admin.Create(ctx, configuration)).To(Succeed())
		DeferCleanup(admin.Delete, configuration)

		forms := []any{rule.KindPolicy, rule.KindBinding}
		if !servesPolicies() { // then the policy is not in force, and the webhook is needed too
			forms = append(forms, rule.KindWebhook)
		}
		for _, mode := range []struct {
			argument string
			kinds    gomegatypes.GomegaMatcher
		}{
			{"--guard=off", BeEmpty()}, // the specs before have left the guard
			{"--guard=auto", ConsistOf(forms...)},
			{"--guard=off", BeEmpty()},
		} {
			session := start(user, mode.argument)
			Eventually(guardObjects(ctx)).WithTimeout(60*time.Second).Should(mode.kinds, mode.argument)
			Eventually(session.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
			Expect(session.Err).NotTo(gbytes.Say("(?i)forbidden"))
		}
	})

	It("may change the CRD that it grafts, and may only watch the others", func(ctx context.Context) {
		const graftedCRD = "clustermanagementaddons.addon.open-cluster-management.io"
		user, err := hub.AddUser(account)
		Expect(err).NotTo(HaveOccurred())
		everything := setup.Administrator(hub, apiextensionsv1.AddToScheme)
		limitedClient := setup.ClientAs(user.Config, everything)

		crds := &apiextensionsv1.CustomResourceDefinitionList{}
		Expect(limitedClient.List(ctx, crds, client.MatchingFields{"metadata.name": graftedCRD})).To(Succeed())
		Expect(crds.Items).To(HaveLen(1))
		Expect(limitedClient.List(ctx, crds)).To(Succeed(), "the APIs of the hub can change with any")

		Expect(everything.List(ctx, crds)).To(Succeed())
		Expect(len(crds.Items)).To(BeNumerically(">", 1))
		for i := range crds.Items {
			crd := &crds.Items[i]
			err := limitedClient.Update(ctx, crd, client.DryRunAll)
			if crd.Name == graftedCRD {
				Expect(err).NotTo(HaveOccurred())
			} else {
				Expect(err).To(Satisfy(apierrors.IsForbidden), crd.Name)
			}
			Expect(limitedClient.Delete(ctx, crd, client.DryRunAll)).To(Satisfy(apierrors.IsForbidden), crd.Name)
			Expect(limitedClient.Patch(ctx, crd, client.RawPatch(types.MergePatchType, []byte(`{}`)), client.DryRunAll)).
				To(Satisfy(apierrors.IsForbidden), crd.Name)
		}
	})

	It("deletes reports without --reports, and may then not write any", func(ctx context.Context) {
		limitedClient := setup.ClientAs(baseUser(ctx, "without-reports"), admin)
		report := &dependencyv1alpha1.AddOnDependencyReport{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "cluster1"}}
		fleetReport := &dependencyv1alpha1.AddOnFleetReport{ObjectMeta: metav1.ObjectMeta{Name: dependencyv1alpha1.FleetReportName}}
		Expect(limitedClient.Get(ctx, client.ObjectKeyFromObject(report), report)).To(Satisfy(apierrors.IsForbidden))
		for _, object := range []client.Object{report, fleetReport} {
			for _, err := range []error{
				limitedClient.Create(ctx, object, client.DryRunAll), limitedClient.Update(ctx, object, client.DryRunAll),
				limitedClient.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{}`)), client.DryRunAll),
			} {
				Expect(err).To(Satisfy(apierrors.IsForbidden))
			}
		}

		account, err := hub.AddUser(account)
		Expect(err).NotTo(HaveOccurred())
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(report), report)).To(Succeed(), "an earlier process with --reports wrote it")
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(fleetReport), fleetReport)).To(Succeed())
		session := start(account, "--reports=off")
		for _, object := range []client.Object{report, fleetReport} {
			Eventually(func() error { return admin.Get(ctx, client.ObjectKeyFromObject(object), object) }).
				WithTimeout(60 * time.Second).Should(Satisfy(apierrors.IsNotFound))
		}
		Eventually(session.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
		Expect(session.Err).NotTo(gbytes.Say("(?i)forbidden"))
	})

	It("may open no gate and install no gate rule without the rights of the lifecycle", func(ctx context.Context) {
		limitedClient := setup.ClientAs(baseUser(ctx, "without-lifecycle"), admin)
		gatedAddOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "gated"}}
		gatedAddOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
		Expect(admin.Create(ctx, gatedAddOn)).To(Succeed())
		DeferCleanup(admin.Delete, gatedAddOn)
		openGate := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+addonv1alpha1.GateAnnotation+`":"open"}}}`))
		objects, err := gaterule.Rule.Policy("v1beta1")
		Expect(err).NotTo(HaveOccurred())
		webhook, err := gaterule.Rule.Webhook(admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/gate")})
		Expect(err).NotTo(HaveOccurred())
		webhookConfiguration := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "interlock-lifecycle"}}
		refusals := []error{
			limitedClient.Patch(ctx, gatedAddOn.DeepCopy(), openGate),
			limitedClient.Update(ctx, webhookConfiguration, client.DryRunAll),
		}
		for _, object := range append(objects, webhook) {
			refusals = append(refusals, limitedClient.Create(ctx, object, client.DryRunAll),
				limitedClient.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{}`)), client.DryRunAll))
		}
		for _, err := range refusals {
			Expect(err).To(Satisfy(apierrors.IsForbidden))
		}
		for _, object := range append(objects, webhook) {
			Expect(client.IgnoreNotFound(limitedClient.Delete(ctx, object))).To(Succeed(), "what an earlier --lifecycle left")
		}
	})

	It("serves as OCM's TLS profile wants, and stops when the profile changes", expectProfile)

	It("waits for an unavailable hub, and can be stopped meanwhile", func(ctx context.Context) {
		user, err := hub.AddUser(account)
		Expect(err).NotTo(HaveOccurred())
		Expect(hub.StopAPIServer()).To(Succeed())

		session := start(user, "--metrics-secure") // it reads the TLS profile
		Consistently(session).WithTimeout(2 * time.Second).ShouldNot(gexec.Exit())
		Eventually(session.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))

		waiting := start(user)
		Consistently(waiting).WithTimeout(2 * time.Second).ShouldNot(gexec.Exit())
		Expect(hub.StartAPIServer()).To(Succeed())
		late := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster2", Name: "gateway"}}
		Eventually(func() error {
			return errors.Join(
				client.IgnoreAlreadyExists(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cluster2"}})),
				client.IgnoreAlreadyExists(admin.Create(ctx, late)))
		}).WithTimeout(30 * time.Second).Should(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(admin.Get(ctx, client.ObjectKeyFromObject(late), late)).To(Succeed())
			g.Expect(meta.IsStatusConditionTrue(late.Status.Conditions, "Degraded")).To(BeTrue())
		}).WithTimeout(90 * time.Second).Should(Succeed())
	})
})

// baseUser returns a new user with the permissions that addon-manager has on any hub.
func baseUser(ctx context.Context, name string) *rest.Config {
	GinkgoHelper()
	user, err := hub.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	role, err := testenv.ClusterRole(deployFolder, "clusterrole.yaml")
	Expect(err).NotTo(HaveOccurred())
	role.Name = name
	Expect(admin.Create(ctx, role)).To(Succeed())
	Expect(admin.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	})).To(Succeed())
	return user.Config
}

func authority() []byte {
	GinkgoHelper()
	certificate, _, err := cert.GenerateSelfSignedCertKey("webhook", nil, nil)
	Expect(err).NotTo(HaveOccurred())
	return certificate
}

// servesPolicies reports whether the API server has MutatingAdmissionPolicies by default, as 1.37 has them, and 1.35 has not.
func servesPolicies() bool {
	GinkgoHelper()
	served, err := discovery.NewDiscoveryClientForConfigOrDie(hub.Config).ServerResourcesForGroupVersion("admissionregistration.k8s.io/v1")
	Expect(err).NotTo(HaveOccurred())
	return slices.ContainsFunc(served.APIResources, func(resource metav1.APIResource) bool {
		return resource.Name == "mutatingadmissionpolicies"
	})
}

// guardObjects returns the kinds of the guard's objects that exist.
func guardObjects(ctx context.Context) func() ([]string, error) {
	return func() ([]string, error) {
		kinds := []string{}
		for kind, version := range map[string]string{
			rule.KindPolicy: "v1beta1", rule.KindBinding: "v1beta1", rule.KindWebhook: "v1",
		} {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(schema.GroupVersionKind{Group: rule.Group, Version: version, Kind: kind})
			err := admin.Get(ctx, client.ObjectKey{Name: guard.Name}, object)
			if err == nil {
				kinds = append(kinds, kind)
			} else if !apierrors.IsNotFound(err) {
				return nil, err
			}
		}
		return kinds, nil
	}
}

func reasons(events eventsv1.EventList) []string {
	var reasons []string
	for _, event := range events.Items {
		reasons = append(reasons, event.Reason)
	}
	return reasons
}
