package deployment

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/snapshot"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

func loadManifest(file string, object any) {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join("../../../deploy", file))
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(content, object)).To(Succeed())
}

// The life of an installation, from before it to after it.
var _ = Describe("What deploy/ installs", Ordered, func() {
	var (
		deployed, uninstallation []*unstructured.Unstructured
		snapshotBefore           snapshot.Snapshot
		manager, webhook         *gexec.Session
		metrics, webhookMetrics  string
		webhookAddress           string
	)
	managerWith := func(arguments ...string) *gexec.Session {
		metrics = testenv.FreeAddress().String()
		return startManager(managerUser, append(arguments, "--leader-elect-namespace="+namespace, "--metrics-bind-address="+metrics,
			"--metrics-secure", "--health-probe-bind-address=0")...)
	}

	BeforeAll(func(ctx context.Context) {
		deployed, uninstallation = kustomized("../hack/deployment/testdata/all"), kustomized("../hack/deployment/testdata/uninstall-remove")
		webhookAddress = testenv.FreeAddress().String()
		serveOnLoopback(deployed, webhookAddress)
		furnish(ctx)
		grantAgent(ctx)
		for _, object := range deployed {
			if object.GetKind() == "Namespace" {
				apply(ctx, []*unstructured.Unstructured{object})
			}
		}
		snapshotBefore = takeSnapshot(ctx, Default)
	})

	It("is accepted by the API server, its pods in a namespace that enforces restricted Pod Security", func(ctx context.Context) {
		apply(ctx, deployed)
		apply(ctx, uninstallation)
		var pods []corev1.PodTemplateSpec
		for _, object := range append(deployed, uninstallation...) {
			switch object.GetKind() {
			case "Deployment":
				pods = append(pods, convert[appsv1.Deployment](object).Spec.Template)
			case "Job":
				pods = append(pods, convert[batchv1.Job](object).Spec.Template)
			}
		}
		Expect(pods).To(HaveLen(3))
		for _, template := range pods {
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{GenerateName: "tried-", Namespace: namespace, Labels: template.Labels},
				Spec:       template.Spec,
			}
			Expect(admin.Create(ctx, pod, client.DryRunAll)).To(Succeed())
			loose := &corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: *template.Spec.DeepCopy()}
			loose.ResourceVersion, loose.UID, loose.Name = "", "", ""
			loose.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = ptr.To(true)
			Expect(admin.Create(ctx, loose, client.DryRunAll)).To(MatchError(ContainSubstring("violates PodSecurity")))
		}
		remove(ctx, uninstallation)
	})

	It("works: Degraded, events, and Available by the agent", func(ctx context.Context) {
		By("OCM's webhook and its registration agent being away")
		Expect(hub.Webhooks.Stop(ctx)).To(Succeed())
		Expect(managed.RegistrationAgent.Stop(ctx)).To(Succeed())
		renew(ctx, independent, 0)
		Expect(managed.Client.Delete(
			ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: configured.Name}},
		)).To(Succeed())

		requests.begin("writes Degraded, emits events, and keeps reports (--reports)")
		manager = managerWith("--guard=off", "--reports=all")
		requests.begin("serves webhooks and keeps its certificate")
		webhookMetrics = testenv.FreeAddress().String()
		webhook = startManager(webhookUser, "webhook", "--lifecycle", "--namespace="+namespace, "--webhook-bind-address="+webhookAddress,
			"--metrics-bind-address="+webhookMetrics, "--metrics-secure", "--health-probe-bind-address=0")
		for _, key := range []types.NamespacedName{gateway, neverLeased} {
			Eventually(condition(ctx, key, "Degraded")).Should(Equal("True/"+required), key.String())
		}
		Eventually(reports(ctx)).ShouldNot(BeZero())
		Eventually(fleetReported(ctx)).Should(BeTrue())
		Eventually(review(webhookAddress, "cycle", "cycle")).Should(ContainSubstring("cycle → cycle"))
		Eventually(review(webhookAddress, "placed", "other")).Should(ContainSubstring("there is no Placement"))
		Eventually(requests.used(webhookUser, "get", "placements")).Should(BeTrue())

		requests.begin("the agent reports Available")
		agent, err := hub.AddUser(agentUser)
		Expect(err).NotTo(HaveOccurred())
		session := startOn(managed.Cluster, "addon-agent", agentUser, "--cluster-name="+cluster, "--hub-kubeconfig", agent.Kubeconfig,
			"--metrics-bind-address=0", "--health-probe-bind-address=0")
		for _, key := range []types.NamespacedName{gateway, neverLeased} {
			Eventually(condition(ctx, key, "Available")).Should(Equal("False/" + required))
		}
		Eventually(condition(ctx, independent, "Available")).Should(Equal("True/ManagedClusterAddOnLeaseUpdated"))
		Eventually(condition(ctx, configured, "Available")).Should(Equal("Unknown/ManagedClusterAddOnLeaseNotFound"))

		By("both being back")
		Expect(hub.Webhooks.Start(ctx)).To(Succeed())
		Expect(managed.RegistrationAgent.Start(ctx)).To(Succeed())
		renew(ctx, independent, expiredAge)
		renew(ctx, configured, 0)
		for _, key := range []types.NamespacedName{configured, independent} {
			Eventually(condition(ctx, key, "Available")).Should(Equal(stockAvailable[key]))
		}

		requests.begin("applies policies, and says in their status what they do")
		policy := &dependencyv1alpha1.AddOnDependencyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "relaxed"}}
		policy.Spec.Overrides = []dependencyv1alpha1.DependencyOverride{{AddOn: neverLeased.Name, Dependency: "nowhere", Type: "Optional"}}
		Expect(admin.Create(ctx, policy)).To(Succeed())
		Eventually(func() (dependencyv1alpha1.AddOnDependencyPolicyStatus, error) {
			err := admin.Get(ctx, client.ObjectKeyFromObject(policy), policy)
			return policy.Status, err
		}).Should(HaveField("Overrides", HaveLen(1)))
		Expect(admin.Delete(ctx, policy)).To(Succeed())

		requests.begin("asks a cluster and is answered")
		widgets := `
- {name: widgets, api: {group: example.com, kind: Widget}}
- {name: widgets-of-the-hub, api: {group: example.com, kind: Widget, servedBy: Hub}}
- {name: ` + templated.Name + `, type: IfInstalled, version: ">= 1.0"}
- {name: placed, type: Optional}`
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "placed"}}
		registration.Spec.InstallStrategy.Type = "Placements"
		registration.Spec.InstallStrategy.Placements = []ocmv1alpha1.PlacementStrategy{
			{PlacementRef: ocmv1alpha1.PlacementRef{Namespace: "default", Name: "missing"}},
		}
		Expect(admin.Create(ctx, registration)).To(Succeed())
		Expect(requests.used(managerUser, "watch", "placementdecisions")()).To(BeFalse())
		unregister := register(ctx, "widgetry", func(registration *addonv1alpha1.ClusterManagementAddOn) {
			registration.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: widgets}
		})
		Eventually(factsOf(ctx)).Should(HaveField("Status.APIs", ConsistOf(HaveField("Served", metav1.ConditionFalse))))
		Eventually(requests.used(managerUser, "watch", "addontemplates")).Should(BeTrue())
		Eventually(requests.used(managerUser, "watch", "placementdecisions")).Should(BeTrue())
		for _, resource := range []string{"apiservices", "customresourcedefinitions"} {
			Eventually(requests.used(agentUser, "watch", resource)).Should(BeTrue(), resource)
			Eventually(requests.used(managerUser, "watch", resource)).Should(BeTrue(), resource)
		}
		unregister()
		Expect(admin.Delete(ctx, registration)).To(Succeed())
		Eventually(func() error { _, err := factsOf(ctx)(); return err }).Should(Satisfy(apierrors.IsNotFound))
		stop(session)
	})

	It("passes the test of helm test", expectSmokeTest)

	It("serves metrics only to those who may read them", func(ctx context.Context) {
		requests.begin("serves metrics to those who may read them")
		account := func(name string) client.Object {
			return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster2", Name: name}}
		}
		prometheus, stranger := account("prometheus"), account("stranger")
		objects := []client.Object{prometheus, stranger, &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "prometheus"},
			Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
		}, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "prometheus"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "prometheus"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "cluster2", Name: "prometheus"}},
		}}
		for _, object := range objects {
			Expect(admin.Create(ctx, object)).To(Succeed())
		}
		for _, address := range []string{metrics, webhookMetrics} {
			Eventually(scrape(address, "")).Should(Equal(http.StatusUnauthorized))
			Eventually(scrape(address, tokenOf(ctx, stranger))).Should(Equal(http.StatusForbidden))
			Eventually(scrape(address, tokenOf(ctx, prometheus))).Should(Equal(http.StatusOK))
		}
		for _, object := range objects {
			Expect(admin.Delete(ctx, object)).To(Succeed())
		}
	})

	It("warns of removals that break something", func(ctx context.Context) {
		requests.begin("protects what installed add-ons require")
		expectProtection(ctx, webhookAddress)
	})

	It("reports a writer that keeps overwriting it", func(ctx context.Context) {
		requests.begin("tells again and again of a writer that insists")
		Eventually(func(g Gomega) {
			setAsOwnManager(ctx, gateway, metav1.Condition{
				Type: "Degraded", Status: metav1.ConditionFalse,
				Reason: "AllWell", Message: "says another",
			})
			g.Eventually(condition(ctx, gateway, "Degraded")).Should(Equal("True/" + required))
			repeated := &corev1.EventList{}
			g.Expect(admin.List(ctx, repeated, client.InNamespace("cluster1"))).To(Succeed())
			g.Expect(repeated.Items).To(ContainElement(SatisfyAll(
				HaveField("Reason", "DegradedContested"), HaveField("Series", HaveField("Count", BeNumerically(">", 1))))))
		}).WithTimeout(2 * time.Minute).Should(Succeed())
	})

	It("installs each form of the guard and removes it", func(ctx context.Context) {
		stop(manager)
		for mode, kinds := range map[string][]string{"policy": {rule.KindPolicy, rule.KindBinding}, "webhook": {rule.KindWebhook}} {
			requests.begin("installs the guard and the gate rule, and opens a gate (--guard=" + mode + " --lifecycle)")
			manager = managerWith("--guard="+mode, "--lifecycle", "--lifecycle-removal-delay=1s")
			for _, kind := range kinds {
				Eventually(guards(ctx, kind)).Should(BeTrue())
				Eventually(ruleOf(ctx, kind, names.Gate)).Should(BeTrue())
			}
			expectGateOpened(ctx)
			expectBundle(ctx)
			if mode == "policy" { // both forms behave alike here
				requests.begin("installs what is needed (--lifecycle)")
				expectInstallations(ctx)
				requests.begin("removes add-ons in order (--lifecycle)")
				expectTeardown(ctx)
			}
			Eventually(reports(ctx)).Should(BeZero(), "without --reports, those that are left are deleted")
			Eventually(fleetReported(ctx)).Should(BeFalse())
			for _, resource := range map[string][]string{
				"policy":  {"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"},
				"webhook": {"mutatingwebhookconfigurations"},
			}[mode] {
				for _, name := range []string{names.Guard, names.Gate} {
					Eventually(requests.usedOn(managerUser, "watch", resource, name)).Should(BeTrue(), "it watches %s %s", resource, name)
				}
			}
			Eventually(requests.usedOn(managerUser, "update", "mutatingwebhookconfigurations", "interlock-lifecycle")).Should(BeTrue())
			Eventually(requests.usedOn(managerUser, "watch", "mutatingwebhookconfigurations", "interlock-lifecycle")).Should(BeTrue())
			stop(manager)
			requests.begin("removes the guard and the gate rule (--guard=off)")
			manager = managerWith("--guard=off")
			for _, kind := range kinds {
				Eventually(guards(ctx, kind)).Should(BeFalse())
				Eventually(ruleOf(ctx, kind, names.Gate)).Should(BeFalse())
			}
			stop(manager)
		}
		for _, object := range conversionObjects(ctx) {
			Expect(admin.Delete(ctx, object, client.DryRunAll)).To(Succeed(), "before the CRD is grafted")
		}
		requests.begin("grafts the CRD (--graft-crds)")
		manager = managerWith("--guard=webhook", "--graft-crds", "--webhook-address="+webhookAddress)
		Eventually(guards(ctx, rule.KindWebhook)).Should(BeTrue())
		Eventually(checkGrafted(ctx)).Should(Succeed())

		requests.begin("reads OCM's version for an add-on that requires one")
		unregister := register(ctx, "versioned", requiringOCM)
		Eventually(condition(ctx, types.NamespacedName{Namespace: "cluster1", Name: "versioned"}, "Degraded")).Should(Equal("True/" + required))
		Eventually(requests.usedOn(managerUser, "watch", "customresourcedefinitions", "managedclusters.cluster.open-cluster-management.io")).
			Should(BeTrue())
		unregister()

		requests.begin("doubts that a field was removed, and restores it")
		crd := &unstructured.Unstructured{}
		crd.SetAPIVersion("apiextensions.k8s.io/v1")
		crd.SetKind("CustomResourceDefinition")
		crd.SetName(crdName)
		removals := `{"metadata":{"annotations":{"` + crdgraft.RemovalsAnnotation + `":"2100-01-01T00:00:00Z"}}}`
		Expect(admin.Patch(ctx, crd, client.RawPatch(types.MergePatchType, []byte(removals)))).To(Succeed())
		unregister = register(ctx, "doubted", requiringOCM)
		doubtful := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "doubted"}}
		Expect(admin.Patch(ctx, doubtful, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"requirements":null}}`)))).To(Succeed())
		Eventually(func() (*addonv1alpha1.AddonRequirements, error) {
			err := admin.Get(ctx, client.ObjectKeyFromObject(doubtful), doubtful)
			return doubtful.Spec.Requirements, err
		}).ShouldNot(BeNil())
		Eventually(requests.used(managerUser, "get", "clustermanagementaddons")).Should(BeTrue())
		Eventually(requests.used(webhookUser, "get", "customresourcedefinitions")).Should(BeTrue())
		unregister()
	})

	It("is not uninstalled while a declaration would be lost", func(ctx context.Context) {
		apply(ctx, uninstallation)
		stop(manager)
		recording := slices.DeleteFunc(slices.Clone(deployed), func(object *unstructured.Unstructured) bool {
			return object.GetKind() != "MutatingWebhookConfiguration"
		})
		remove(ctx, recording)
		Eventually(recordsFields(ctx)).Should(BeFalse(), "for a moment, the API server still calls the webhook")
		ambiguous := func(registration *addonv1alpha1.ClusterManagementAddOn) {
			requiringOCM(registration)
			registration.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "[{name: other}]"}
		}
		unregister := []func(){register(ctx, "unrecorded", requiringOCM), register(ctx, "ambiguous", ambiguous)}
		requests.begin("makes missing records, and refuses to uninstall without them")
		uninstall := startManager(uninstallUser, "uninstall", "--namespace="+namespace, "--timeout=2m")
		Eventually(uninstall).Should(gexec.Exit(1))
		Expect(uninstall.Err).To(gbytes.Say("nothing was removed: records: .* ClusterManagementAddOns ambiguous would be lost"))
		Expect(checkGrafted(ctx)()).To(Succeed())
		for _, remove := range unregister {
			remove()
		}
		apply(ctx, recording)
		remove(ctx, uninstallation)
		manager = managerWith("--guard=webhook", "--graft-crds", "--reports=unsatisfied", "--webhook-address="+webhookAddress)
	})

	It("does not let the webhook be deleted while it converts OCM's objects", func(ctx context.Context) {
		for _, object := range conversionObjects(ctx) {
			deleteDryRun := func() error { return admin.Delete(ctx, object, client.DryRunAll) }
			Eventually(deleteDryRun).Should(MatchError(And(
				ContainSubstring("is grafted"), ContainSubstring("Run `addon-manager uninstall`"), ContainSubstring(allowDeletion))))
			if object.GetNamespace() != "" {
				Expect(admin.DeleteAllOf(ctx, object, client.InNamespace(namespace), client.DryRunAll)).NotTo(Succeed(), "with all others")
			}
			annotate(ctx, object, `"true"`)
			Expect(admin.Delete(ctx, object, client.DryRunAll)).To(Succeed(), "the annotation overrides it")
			annotate(ctx, object, "null")
			Expect(deleteDryRun()).NotTo(Succeed())
		}
		for _, object := range []client.Object{
			&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-metrics"}},
			&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "interlock-webhook"}},
			&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-addon-manager"}},
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster}},
		} {
			Expect(client.IgnoreNotFound(admin.Delete(ctx, object, client.DryRunAll))).To(Succeed(), "%T %s", object, object.GetName())
		}
	})

	It("is uninstalled, and the hub is as before", func(ctx context.Context) {
		Eventually(reports(ctx)).ShouldNot(BeZero())
		Eventually(fleetReported(ctx)).Should(BeTrue())
		requests.begin("keeps in a report what is held: no agent reports the API yet")
		unregister := register(ctx, "widgetry", func(registration *addonv1alpha1.ClusterManagementAddOn) {
			registration.Spec.Dependencies = []addonv1alpha1.AddonDependency{
				{Name: "widgets", API: &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: "example.com", Kind: "Widget"}}},
			}
		})
		Eventually(func() error { _, err := factsOf(ctx)(); return err }).Should(Succeed())
		Eventually(requests.used(managerUser, "get", "addondependencyreports")).Should(BeTrue())
		installAgentAddOn(ctx)
		gatedAddOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: unjoined.Namespace, Name: unjoined.Name}}
		Expect(admin.Patch(ctx, gatedAddOn, client.RawPatch(types.MergePatchType, gateOf(addonv1alpha1.GateOpen)))).To(Succeed())
		apply(ctx, uninstallation)
		isGone := leaveInstalled(ctx)
		requests.begin("uninstalls, and removes what was installed (--installed=remove)")
		uninstall := startManager(uninstallUser, "uninstall", "--namespace="+namespace, "--timeout=2m", "--installed=remove")

		By("the Deployment being scaled down, which here only this test does")
		Eventually(func() (*int32, error) {
			var deployment appsv1.Deployment
			err := admin.Get(ctx, types.NamespacedName{Namespace: namespace, Name: "interlock-addon-manager"}, &deployment)
			return deployment.Spec.Replicas, err
		}).Should(HaveValue(BeZero()))
		Consistently(uninstall, "2s").ShouldNot(gexec.Exit(), "before the leader has stopped")
		Expect(condition(ctx, neverLeased, "Degraded")()).To(Equal("True/" + required))
		stop(manager)

		Eventually(uninstall).Should(gexec.Exit(0))
		Expect(uninstall.Out).To(gbytes.Say(
			"installed +1 ManagedClusterAddOns deleted, 0 handed over[^;]*; 1 labels of ManagedClusters withdrawn, 0 stay"))
		Eventually(isGone).Should(BeTrue())
		Expect(uninstall.Out).To(gbytes.Say("agent +no addon-agent is left as an add-on on any managed cluster"))
		Expect(uninstall.Out).To(gbytes.Say("guard +neither the guard nor the gate rule is left"))
		Expect(uninstall.Out).To(gbytes.Say("facts +1 ManagedClusterFacts deleted"))
		Expect(uninstall.Out).To(gbytes.Say(`reports +[1-9]\d* AddOnDependencyReports deleted, and the AddOnFleetReport`))
		Expect(fleetReported(ctx)()).To(BeFalse())
		Expect(uninstall.Out).To(gbytes.Say("gates +1 opened and removed"))
		Expect(uninstall.Out).To(gbytes.Say(`conditions +[1-9]\d* ManagedClusterAddOns written, no condition .* on any of 7`))
		Expect(condition(ctx, unjoined, "Degraded")()).To(Equal("True/DiskFull"))

		requests.begin("uninstalls again, where next to nothing is left")
		leaveRules(ctx)
		leaveAgent(ctx)
		secondUninstall := startManager(uninstallUser, "uninstall", "--namespace="+namespace, "--timeout=2m")
		Eventually(secondUninstall).Should(gexec.Exit(0))
		Expect(secondUninstall.Out).To(gbytes.Say(`conditions +0 ManagedClusterAddOns written`))

		stop(webhook)
		remove(ctx, uninstallation)
		remove(ctx, deployed)
		unregister()
		Eventually(func(g Gomega) {
			g.Expect(takeSnapshot(ctx, g).Traces("interlock-")).To(BeEmpty(), "what managedFields say of Interlock")
		}).WithTimeout(20 * time.Second).Should(Succeed())
		reportedByOCM(ctx)
		Eventually(func(g Gomega) {
			g.Expect(cmp.Diff(snapshotBefore, takeSnapshot(ctx, g))).To(BeEmpty())
		}).WithTimeout(20 * time.Second).Should(Succeed())
	})

	It("has needed each of its permissions, and had no request refused", func() {
		rights := append(granted(append(deployed, uninstallation...)), agentRights()...)
		unneeded, uncovered, table := check(rights, requests.allRequests())
		for _, line := range table {
			fmt.Fprintln(GinkgoWriter, line)
		}
		Expect(unneeded).To(BeEmpty(), "rights that nothing needs")
		Expect(uncovered).To(BeEmpty(), "requests that no right covers")
	})
})

func requiringOCM(registration *addonv1alpha1.ClusterManagementAddOn) {
	registration.Spec.Requirements = &addonv1alpha1.AddonRequirements{OCM: ">= 999"}
}

// checkGrafted returns an error until the API server serves the fields of the grafted CRD. For a moment after it stores the CRD, it
// drops the fields from new objects.
func checkGrafted(ctx context.Context) func() error {
	return func() error {
		probe := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "probed"}}
		probe.Spec.InstallStrategy.Type = "Manual"
		probe.Spec.Requirements = &addonv1alpha1.AddonRequirements{OCM: ">= 1"}
		return admin.Create(ctx, probe, client.FieldValidation("Strict"), client.DryRunAll)
	}
}

// recordsFields reports whether admission records declarations in fields.
func recordsFields(ctx context.Context) func() (bool, error) {
	return func() (bool, error) {
		probe := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "probed"}}
		probe.Spec.InstallStrategy.Type = "Manual"
		requiringOCM(probe)
		err := admin.Create(ctx, probe, client.DryRunAll)
		return probe.Annotations[addonv1alpha1.RecordAnnotation] != "", err
	}
}
