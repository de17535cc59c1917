package agentaddon

import (
	"context"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/setup/addonagent"
	"open-cluster-management.io/interlock/test/testenv"
)

const defaultNamespace = "open-cluster-management-agent-addon"

// get returns a function that reads an object from the API server.
func get[T client.Object](ctx context.Context, reader client.Client, object T, namespace, name string) func() (T, error) {
	return func() (T, error) {
		return object, reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	}
}

func deploymentOn(ctx context.Context, cluster client.Client, namespace string) func() (*appsv1.Deployment, error) {
	return addonagent.Deployment(ctx, cluster, namespace)
}

// available returns a function that reads the condition Available of an add-on on a cluster.
func available(ctx context.Context, cluster, addOn string) func() (*metav1.Condition, error) {
	return func() (*metav1.Condition, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Get(ctx, client.ObjectKey{Namespace: cluster, Name: addOn}, object)
		return meta.FindStatusCondition(object.Status.Conditions, "Available"), err
	}
}

func haveStatus(status metav1.ConditionStatus, reason string) OmegaMatcher {
	return And(Not(BeNil()), HaveField("Status", status), HaveField("Reason", reason))
}

// login returns a kubeconfig of the agent's service account, as in its pod.
func login(ctx context.Context, cluster *testenv.Cluster, namespace string) string {
	GinkgoHelper()
	return addonagent.Login(ctx, cluster, administrator(cluster), namespace, GinkgoT().TempDir())
}

// hubOf returns the kubeconfig that the agent on a cluster was given for the hub: its folder, and its content.
func hubOf(ctx context.Context, cluster client.Client) (dir string, config *rest.Config) {
	GinkgoHelper()
	dir = GinkgoT().TempDir()
	addonagent.HubFiles(ctx, cluster, defaultNamespace, dir)
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	Expect(err).NotTo(HaveOccurred())
	return dir, config
}

// startAgent runs addon-agent as its pod would, with the hub's kubeconfig in that folder.
func startAgent(deployment *appsv1.Deployment, hubFolder string, flags ...string) *gexec.Session {
	GinkgoHelper()
	return setup.Run(agent, append(addonagent.Args(deployment, hubFolder), flags...)...)
}

// probe reports how many pods of the Deployment are ready, as the kubelet does.
func probe(ctx context.Context, cluster client.Client, ready int32) {
	GinkgoHelper()
	Eventually(func() error {
		deployment, err := deploymentOn(ctx, cluster, defaultNamespace)()
		if err != nil {
			return err
		}
		deployment.Status.ObservedGeneration, deployment.Status.Replicas = deployment.Generation, 1
		deployment.Status.ReadyReplicas, deployment.Status.AvailableReplicas = ready, ready
		return cluster.Status().Update(ctx, deployment)
	}).Should(Succeed())
}

var _ = Describe("The agent as an add-on", Ordered, func() {
	var session *gexec.Session
	clusterClient := func(name string) client.Client { return administrator(managed[name].Cluster) }
	cluster1 := func() client.Client { return clusterClient("cluster1") }
	cluster10 := func() client.Client { return clusterClient("cluster10") }

	AfterAll(func() {
		if session != nil {
			session.Kill().Wait()
		}
	})

	It("is deployed by OCM, and given its rights on each cluster", func(ctx context.Context) {
		for _, file := range []string{
			"agent-addon/addontemplate", "agent-addon/clustermanagementaddon",
		} {
			create(ctx, "deploy/"+file+".yaml")
		}
		setup.Policies(ctx, hub)
		session = startManager()
		for cluster, clusterClient := range map[string]client.Client{"cluster1": cluster1(), "cluster10": cluster10()} {
			Eventually(deploymentOn(ctx, clusterClient, defaultNamespace)).Should(HaveField("Spec.Template.Spec.Containers",
				ConsistOf(And(HaveField("Image", image), HaveField("ImagePullPolicy", corev1.PullIfNotPresent),
					HaveField("Args", ContainElements("--cluster-name="+cluster, "--hub-kubeconfig=/managed/hub-kubeconfig/kubeconfig"))))))
			Eventually(get(ctx, hub, &rbacv1.RoleBinding{}, cluster, "interlock-addon-agent")).Should(HaveField("Subjects", HaveEach(And(
				HaveField("Kind", rbacv1.UserKind), HaveField("Name", ContainSubstring(":"+cluster+":"))))))
		}
		Expect(session.ExitCode()).To(Equal(-1), "it runs")
	})

	It("reports on its cluster with the kubeconfig it was given", func(ctx context.Context) {
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{
			Name: "dependent", Annotations: map[string]string{addonv1alpha1.DependenciesAnnotation: "[{name: missing}]"},
		}}
		registration.Spec.InstallStrategy.Type = "Manual"
		Expect(hub.Create(ctx, registration)).To(Succeed())
		Expect(hub.Create(
			ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "dependent"}},
		)).To(Succeed())
		dir, _ := hubOf(ctx, cluster1())
		deployment, err := deploymentOn(ctx, cluster1(), defaultNamespace)()
		Expect(err).NotTo(HaveOccurred())
		agentSession := startAgent(deployment, dir, "--kubeconfig", login(ctx, managed["cluster1"].Cluster, defaultNamespace))
		// Without a guard, OCM's agent may replace the condition at any time, because the add-on has no lease.
		Eventually(agentSession.Err).Should(gbytes.Say(`"Available changed".*"status":"False","reason":"RequiredDependencyNotSatisfied"`))
		Eventually(get(ctx, cluster1(), &coordinationv1.Lease{}, defaultNamespace, addOnName)).Should(Not(BeNil()))
		Eventually(agentSession.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
		Expect(string(agentSession.Err.Contents())).NotTo(ContainSubstring("forbidden"))
	})

	It("counts the objects whose provider permits it, and reads no others", countsObjects)

	It("is available while its pod is ready, as OCM sees it", func(ctx context.Context) {
		probe(ctx, cluster1(), 1)
		Eventually(available(ctx, "cluster1", addOnName)).Should(haveStatus("True", "ProbeAvailable"))
		probe(ctx, cluster1(), 0)
		Eventually(available(ctx, "cluster1", addOnName)).Should(haveStatus("False", "ProbeUnavailable"))
	})

	It("gets its rights as one user, where an earlier release bound a group", func(ctx context.Context) {
		addOn, err := get(ctx, hub, &ocmv1beta1.ManagedClusterAddOn{}, "cluster1", addOnName)()
		Expect(err).NotTo(HaveOccurred())
		Expect(hub.Apply(ctx, applyrbacv1.RoleBinding("interlock-addon-agent", "cluster1").
			WithOwnerReferences(applymetav1.OwnerReference().WithAPIVersion("addon.open-cluster-management.io/v1beta1").
				WithKind("ManagedClusterAddOn").WithName(addOnName).WithUID(addOn.UID)).
			WithRoleRef(applyrbacv1.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName("interlock-addon-agent-hub")).
			WithSubjects(applyrbacv1.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(rbacv1.GroupKind).WithName("agents")),
			client.FieldOwner("interlock-addon-manager"), client.ForceOwnership)).To(Succeed())
		trigger := []byte(`{"metadata":{"annotations":{"test":"changed"}}}`)
		Expect(hub.Patch(ctx, addOn, client.RawPatch(types.MergePatchType, trigger))).To(Succeed())
		Eventually(get(ctx, hub, &rbacv1.RoleBinding{}, "cluster1", "interlock-addon-agent")).Should(HaveField("Subjects",
			And(Not(BeEmpty()), HaveEach(HaveField("Kind", rbacv1.UserKind)))))

		By("a certificate of that release being valid until it is replaced")
		formerConfig := rest.CopyConfig(fleet.Config)
		formerConfig.Impersonate.UserName = "system:open-cluster-management:cluster:cluster1:addon:interlock-agent:agent:interlock-agent"
		userClient := setup.ClientAs(formerConfig, hub)
		Eventually(func() error {
			return userClient.List(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.InNamespace("cluster1"))
		}).Should(Succeed())
		Expect(userClient.List(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.InNamespace("cluster10"))).To(Satisfy(apierrors.IsForbidden))
	})

	It("needs no right of addon-manager to write works or to approve certificates", func(ctx context.Context) {
		userClient := setup.ClientAs(managerLogin.Config, hub)
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "w"}}
		Expect(userClient.Create(ctx, work, client.DryRunAll)).To(Satisfy(apierrors.IsForbidden))
		requests := &certificatesv1.CertificateSigningRequestList{}
		Expect(hub.List(ctx, requests)).To(Succeed())
		Expect(requests.Items).NotTo(BeEmpty())
		Expect(userClient.SubResource("approval").Update(ctx, &requests.Items[0], client.DryRunAll)).To(Satisfy(apierrors.IsForbidden))
	})

	It("has exactly the permissions of its role on the whole API of the hub, and only in the namespace of its cluster", wholeAPI)

	It("may do nothing in the namespace of another cluster, and read no registrations", func(ctx context.Context) {
		_, agentConfig := hubOf(ctx, cluster1())
		userClient := setup.ClientAs(agentConfig, hub)
		foreignAddOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster10", Name: addOnName}}
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		Eventually(func() error {
			return userClient.Get(ctx, client.ObjectKey{Namespace: "cluster1", Name: addOnName}, addOn)
		}).Should(Succeed())
		status := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"namespace":"elsewhere"}}`))
		event := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster10", GenerateName: "e"}, EventTime: metav1.NowMicro()}
		for action, err := range map[string]error{
			"read":                 userClient.Get(ctx, client.ObjectKeyFromObject(foreignAddOn), foreignAddOn.DeepCopy()),
			"list":                 userClient.List(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.InNamespace("cluster10")),
			"list on all clusters": userClient.List(ctx, &addonv1alpha1.ManagedClusterAddOnList{}),
			"write the status":     userClient.Status().Patch(ctx, foreignAddOn.DeepCopy(), status),
			"write":                userClient.Patch(ctx, foreignAddOn.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{}`))),
			"delete":               userClient.Delete(ctx, foreignAddOn.DeepCopy()),
			"make an event":        userClient.Create(ctx, event),
			"read registrations":   userClient.List(ctx, &addonv1alpha1.ClusterManagementAddOnList{}),
			"read works":           userClient.List(ctx, &workv1.ManifestWorkList{}, client.InNamespace("cluster1")),
			"read secrets":         userClient.List(ctx, &corev1.SecretList{}, client.InNamespace("cluster1")),
		} {
			Expect(err).To(Satisfy(apierrors.IsForbidden), action)
		}
	})

	It("gets no certificate that another cluster requested for it", func(ctx context.Context) {
		request := forgery(ctx, "cluster10", "cluster1")
		Eventually(func() (string, error) {
			content, err := os.ReadFile(fleet.AddOnManager.Log())
			return string(content), err
		}).Should(ContainSubstring("was requested by system:open-cluster-management:cluster10:"), "what OCM's add-on manager is told")
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
		Expect(request.Status.Conditions).To(BeEmpty())
	})

	It("takes its settings from an AddOnDeploymentConfig", func(ctx context.Context) {
		configure(ctx, "cluster1", config)
		Eventually(deploymentOn(ctx, cluster1(), "interlock-here")).Should(HaveField("Spec.Template.Spec", And(
			HaveField("NodeSelector", HaveKeyWithValue("role", "infra")),
			HaveField("Tolerations", ConsistOf(corev1.Toleration{Key: "infra", Operator: corev1.TolerationOpExists})),
			HaveField("Containers", ConsistOf(And(
				HaveField("Image", "mirror.example/interlock-addon-agent:0.1.0"), HaveField("ImagePullPolicy", corev1.PullAlways),
				HaveField("Resources.Limits", HaveKeyWithValue(corev1.ResourceMemory, HaveField("Value()", int64(64<<20)))),
				HaveField("Env", ContainElements(
					corev1.EnvVar{Name: "HTTP_PROXY", Value: "http://proxy:3128"}, corev1.EnvVar{Name: "HTTPS_PROXY", Value: "https://proxy:3129"},
					corev1.EnvVar{Name: "NO_PROXY", Value: ".svc"})),
			))),
		)))
		Eventually(get(ctx, cluster1(), &corev1.Secret{}, "interlock-here", addOnName+"-hub-kubeconfig")).Should(Not(BeNil()))
		Eventually(func() error { _, err := deploymentOn(ctx, cluster1(), defaultNamespace)(); return err }).Should(Satisfy(apierrors.IsNotFound))
	})

	It("pulls from the registry that a managed cluster names", func(ctx context.Context) {
		cluster, err := clusterNamed(ctx, "cluster10")
		Expect(err).NotTo(HaveOccurred())
		metav1.SetMetaDataAnnotation(&cluster.ObjectMeta, "open-cluster-management.io/image-registries",
			`{"registries":[{"source":"quay.io/open-cluster-management","mirror":"local.example"}]}`)
		Expect(hub.Update(ctx, cluster)).To(Succeed())
		Eventually(deploymentOn(ctx, cluster10(), defaultNamespace)).Should(HaveField("Spec.Template.Spec.Containers",
			ConsistOf(HaveField("Image", "local.example/interlock-addon-agent:0.1.0"))))
	})

	It("runs nothing on a cluster that the annotation for hosted mode names", hostedNowhere)

	It("has a default for all clusters in its registration", func(ctx context.Context) {
		common := &ocmv1beta1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "all-agents"}}
		common.Spec.CustomizedVariables = []ocmv1beta1.CustomizedVariable{{Name: "ImagePullPolicy", Value: "Never"}}
		Expect(hub.Create(ctx, common)).To(Succeed())
		Eventually(func() error {
			registration, err := get(ctx, hub, &ocmv1beta1.ClusterManagementAddOn{}, "", addOnName)()
			if err != nil {
				return err
			}
			for i, config := range registration.Spec.DefaultConfigs {
				if config.Resource == "addondeploymentconfigs" {
					registration.Spec.DefaultConfigs[i] = configReference(common)
				}
			}
			return hub.Update(ctx, registration)
		}).Should(Succeed())
		Eventually(deploymentOn(ctx, cluster10(), defaultNamespace)).Should(HaveField("Spec.Template.Spec.Containers",
			ConsistOf(HaveField("ImagePullPolicy", corev1.PullNever))))
	})

	It("was never refused anything, and used every right that it has", func() {
		Expect(string(session.Err.Contents())).NotTo(MatchRegexp("(?i)forbidden|cannot set blockOwnerDeletion"))
		Expect(unused()).To(BeEmpty())
	})

	It("is installed by the deprecated flag too", func(ctx context.Context) {
		Eventually(session.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
		session = launch(manager, managerFlags(fleet.Kubeconfig(), "--install-agent", "--agent-image=registry.example/agent:v2")...)
		Eventually(session.Err).Should(gbytes.Say("--install-agent is deprecated: apply deploy/agent-addon"))
		Eventually(deploymentOn(ctx, cluster10(), defaultNamespace)).Should(HaveField("Spec.Template.Spec.Containers",
			ConsistOf(HaveField("Image", "registry.example/agent:v2"))))
		Expect(get(ctx, hub, &ocmv1beta1.ClusterManagementAddOn{}, "", addOnName)()).To(HaveField("Spec.InstallStrategy.Placements",
			ConsistOf(HaveField("PlacementRef", Equal(ocmv1beta1.PlacementRef{Namespace: "open-cluster-management-global-set", Name: "global"})))))
	})

	It("is removed from everywhere, without a trace on the hub", func(ctx context.Context) {
		Eventually(session.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
		Expect(hub.Delete(
			ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "dependent"}},
		)).To(Succeed())
		Expect(hub.Delete(ctx, &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "dependent"}})).To(Succeed())
		removeAll(ctx)
		for _, list := range []client.ObjectList{
			&ocmv1beta1.ClusterManagementAddOnList{}, &ocmv1beta1.ManagedClusterAddOnList{}, &workv1.ManifestWorkList{},
		} {
			Expect(hub.List(ctx, list)).To(Succeed())
			Expect(meta.LenList(list)).To(BeZero(), "%T", list)
		}
		templates := &unstructured.UnstructuredList{}
		templates.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("AddOnTemplateList"))
		Expect(hub.List(ctx, templates)).To(Succeed())
		Expect(templates.Items).To(BeEmpty())
		var bindings rbacv1.RoleBindingList
		Expect(hub.List(ctx, &bindings, client.MatchingLabels{ocmv1beta1.AddonLabelKey: addOnName})).To(Succeed())
		Expect(bindings.Items).To(BeEmpty())
		for _, cluster := range []client.Client{cluster1(), cluster10()} {
			for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{}} {
				Expect(cluster.List(ctx, list)).To(Succeed())
				items, err := meta.ExtractList(list)
				Expect(err).NotTo(HaveOccurred())
				Expect(items).NotTo(ContainElement(HaveField("Name", HavePrefix("interlock-"))), "%T", list)
			}
		}
		Expect(cluster1().Get(ctx, client.ObjectKey{Name: defaultNamespace}, &corev1.Namespace{})).To(Succeed(), "what others share stays")
	})

	type request = func(context.Context, client.Client) error

	DescribeTable("needs rights that no request shows", func(ctx context.Context, withheld string, request request) {
		entitledClient := setup.ClientAs(managerWithout(ctx, ""), hub)
		Eventually(func() error { return request(ctx, entitledClient) }).Should(Succeed(), "with all rights")
		limitedClient := setup.ClientAs(managerWithout(ctx, withheld), hub)
		Eventually(func() error { return request(ctx, limitedClient) }).Should(Satisfy(apierrors.IsForbidden), "without "+withheld)
	},
		Entry("to create a binding by applying", "create rolebindings", applyBinding),
		Entry("to bind the agents' role, which may later contain permissions that addon-manager lacks", "bind clusterroles", applyBindingOfMore),
	)
})
