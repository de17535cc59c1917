package agentaddon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv"
)

const defaultNamespace = "open-cluster-management-agent-addon"

// get returns a function that reads an object anew.
func get[T client.Object](ctx context.Context, from client.Client, object T, namespace, name string) func() (T, error) {
	return func() (T, error) {
		return object, from.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	}
}

func deploymentOn(ctx context.Context, cluster client.Client, namespace string) func() (*appsv1.Deployment, error) {
	return get(ctx, cluster, &appsv1.Deployment{}, namespace, "interlock-addon-agent")
}

// available is the condition of the add-on of a name on a cluster.
func available(ctx context.Context, cluster, addOn string) func() (*metav1.Condition, error) {
	return func() (*metav1.Condition, error) {
		installed := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Get(ctx, client.ObjectKey{Namespace: cluster, Name: addOn}, installed)
		return meta.FindStatusCondition(installed.Status.Conditions, "Available"), err
	}
}

func be(status metav1.ConditionStatus, reason string) OmegaMatcher {
	return And(Not(BeNil()), HaveField("Status", status), HaveField("Reason", reason))
}

// login is a kubeconfig of the agent's service account, as in its pod.
func login(ctx context.Context, cluster *testenv.Cluster, namespace string) string {
	GinkgoHelper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-addon-agent"}}
	token := &authenticationv1.TokenRequest{}
	Expect(administrator(cluster).SubResource("token").Create(ctx, account, token)).To(Succeed())
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: cluster.Config.Host, CertificateAuthorityData: cluster.Config.CAData}
	config.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	config.CurrentContext = "c"
	path := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(*config, path)).To(Succeed())
	acting, err := clientcmd.BuildConfigFromFlags("", path)
	Expect(err).NotTo(HaveOccurred())
	// The API server takes up roles a moment after they are created.
	Eventually(func() error {
		return clientOf(acting).List(ctx, &coordinationv1.LeaseList{}, client.InNamespace(namespace), client.MatchingFields{"metadata.name": addOnName})
	}).Should(Succeed())
	return path
}

// files writes the content of a secret, as it is mounted.
func files(secret *corev1.Secret) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	for name, content := range secret.Data {
		Expect(os.WriteFile(filepath.Join(dir, name), content, 0o600)).To(Succeed())
	}
	return dir
}

// hubOf is what the agent on a cluster may do with the kubeconfig it was given.
func hubOf(ctx context.Context, cluster client.Client, namespace string) (dir string, config *rest.Config) {
	GinkgoHelper()
	secret := &corev1.Secret{}
	Eventually(get(ctx, cluster, secret, namespace, addOnName+"-hub-kubeconfig")).Should(HaveField("Data", HaveKey("tls.crt")))
	dir = files(secret)
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	Expect(err).NotTo(HaveOccurred())
	return dir, config
}

// startAgent runs addon-agent as its Deployment would.
func startAgent(deployment *appsv1.Deployment, mounts map[string]string, flags ...string) *gexec.Session {
	GinkgoHelper()
	arguments := deployment.Spec.Template.Spec.Containers[0].Args
	for i, argument := range arguments {
		for from, to := range mounts {
			arguments[i] = strings.Replace(arguments[i], "="+from, "="+to, 1)
		}
		Expect(argument).NotTo(ContainSubstring("filled-in"))
	}
	return run(agent, append(append(arguments, "--metrics-bind-address=0", "--health-probe-bind-address=0"), flags...)...)
}

func clientOf(config *rest.Config) client.Client {
	GinkgoHelper()
	acting, err := client.New(config, client.Options{Scheme: hub.Scheme(), Mapper: hub.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	return acting
}

// host has a cluster's agent run on another cluster, or on none but its own.
func host(ctx context.Context, guest, hosting string) {
	GinkgoHelper()
	Eventually(func() error {
		installed, err := get(ctx, hub, &ocmv1beta1.ManagedClusterAddOn{}, guest, addOnName)()
		if err != nil {
			return err
		}
		delete(installed.Annotations, ocmv1beta1.HostingClusterNameAnnotationKey)
		if hosting != "" {
			metav1.SetMetaDataAnnotation(&installed.ObjectMeta, ocmv1beta1.HostingClusterNameAnnotationKey, hosting)
		}
		return hub.Update(ctx, installed)
	}).Should(Succeed())
}

var _ = Describe("The agent as an add-on", Ordered, func() {
	var session *gexec.Session
	on := func(name string) client.Client { return administrator(managed[name].Cluster) }
	one, two := func() client.Client { return on("cluster1") }, func() client.Client { return on("cluster10") }

	AfterAll(func() {
		if session != nil {
			session.Kill().Wait()
		}
	})

	It("waits, and can be stopped, while the hub has no work API", func(ctx context.Context) {
		bare, err := testenv.StartHub(ctx, testenv.Options{Name: "without-work"})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(bare.Stop)
		waiting := run(manager, managerFlags(bare.Kubeconfig(), "default")...)
		Eventually(waiting.Err).Should(gbytes.Say("addon-agent cannot be deployed yet.*manifestworks of work.open-cluster-management.io/v1"))
		Consistently(waiting).WithTimeout(2 * time.Second).ShouldNot(gexec.Exit())
		Eventually(waiting.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
	})

	It("registers itself, and is deployed and given its rights on each cluster", func(ctx context.Context) {
		session = launch(manager, managerFlags(managerLogin.Kubeconfig, namespace)...)
		registered := &ocmv1beta1.ClusterManagementAddOn{}
		Eventually(get(ctx, hub, registered, "", addOnName)).Should(HaveField("Spec.InstallStrategy.Placements",
			ConsistOf(HaveField("PlacementRef", Equal(ocmv1beta1.PlacementRef{Namespace: "open-cluster-management-global-set", Name: "global"})))))
		for cluster, on := range map[string]client.Client{"cluster1": one(), "cluster10": two()} {
			Eventually(deploymentOn(ctx, on, defaultNamespace)).Should(HaveField("Spec.Template.Spec.Containers",
				ConsistOf(And(HaveField("Image", image), HaveField("Args", ContainElement("--cluster-name="+cluster))))))
		}
		Expect(session.ExitCode()).To(Equal(-1), "it runs")
	})

	It("reports on its cluster with the kubeconfig it was given, as any add-on does on itself", func(ctx context.Context) {
		dir, _ := hubOf(ctx, one(), defaultNamespace)
		deployment, err := deploymentOn(ctx, one(), defaultNamespace)()
		Expect(err).NotTo(HaveOccurred())
		running := startAgent(deployment, map[string]string{"/var/run/hub": dir}, "--kubeconfig", login(ctx, managed["cluster1"].Cluster, defaultNamespace))
		Eventually(available(ctx, "cluster1", addOnName)).Should(be("True", "ManagedClusterAddOnLeaseUpdated"))
		Expect(one().Get(ctx, client.ObjectKey{Namespace: defaultNamespace, Name: addOnName}, &coordinationv1.Lease{})).To(Succeed())
		Eventually(running.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
		Expect(string(running.Err.Contents())).NotTo(ContainSubstring("forbidden"))
	})

	It("may do nothing in the namespace of another cluster, and read no registrations", func(ctx context.Context) {
		_, ours := hubOf(ctx, one(), defaultNamespace)
		acting := clientOf(ours)
		theirs := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster10", Name: addOnName}}
		own := &addonv1alpha1.ManagedClusterAddOn{}
		Eventually(func() error { return acting.Get(ctx, client.ObjectKey{Namespace: "cluster1", Name: addOnName}, own) }).Should(Succeed())
		status := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"namespace":"elsewhere"}}`))
		event := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster10", GenerateName: "e"}, EventTime: metav1.NowMicro()}
		for what, err := range map[string]error{
			"read":                 acting.Get(ctx, client.ObjectKeyFromObject(theirs), theirs.DeepCopy()),
			"list":                 acting.List(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.InNamespace("cluster10")),
			"list on all clusters": acting.List(ctx, &addonv1alpha1.ManagedClusterAddOnList{}),
			"write the status":     acting.Status().Patch(ctx, theirs.DeepCopy(), status),
			"write":                acting.Patch(ctx, theirs.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{}`))),
			"delete":               acting.Delete(ctx, theirs.DeepCopy()),
			"make an event":        acting.Create(ctx, event),
			"read registrations":   acting.List(ctx, &addonv1alpha1.ClusterManagementAddOnList{}),
			"read works":           acting.List(ctx, &workv1.ManifestWorkList{}, client.InNamespace("cluster1")),
			"read secrets":         acting.List(ctx, &corev1.SecretList{}, client.InNamespace("cluster1")),
		} {
			Expect(err).To(Satisfy(apierrors.IsForbidden), what)
		}
	})

	It("gives nobody a certificate that is not the one of its own agent", func(ctx context.Context) {
		for name, request := range forgeries(ctx) {
			Eventually(session.Err.Contents).Should(MatchRegexp("is not approved.*"+name), name)
			Expect(hub.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
			Expect(request.Status.Conditions).To(BeEmpty(), name)
		}
	})

	It("takes its settings from an AddOnDeploymentConfig", func(ctx context.Context) {
		configure(ctx, "cluster1", config)
		Eventually(deploymentOn(ctx, one(), "interlock-here")).Should(HaveField("Spec.Template.Spec", And(
			HaveField("NodeSelector", HaveKeyWithValue("role", "infra")),
			HaveField("Tolerations", ConsistOf(corev1.Toleration{Key: "infra", Operator: corev1.TolerationOpExists})),
			HaveField("Containers", ConsistOf(And(
				HaveField("Image", "mirror.example/interlock/addon-agent:v1"), HaveField("ImagePullPolicy", corev1.PullAlways),
				HaveField("Resources.Limits", HaveKeyWithValue(corev1.ResourceMemory, HaveField("Value()", int64(64<<20)))),
				HaveField("Env", ContainElements(
					corev1.EnvVar{Name: "HTTP_PROXY", Value: "http://proxy:3128"}, corev1.EnvVar{Name: "HTTPS_PROXY", Value: "https://proxy:3129"},
					corev1.EnvVar{Name: "NO_PROXY", Value: ".svc"})),
			))),
		)))
		Eventually(get(ctx, one(), &corev1.Secret{}, "interlock-here", addOnName+"-hub-kubeconfig")).Should(Not(BeNil()))
		Eventually(func() error { _, err := deploymentOn(ctx, one(), defaultNamespace)(); return err }).Should(Satisfy(apierrors.IsNotFound))

		By("saying what is wrong with one that cannot be used")
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
		config.Spec.CustomizedVariables = []ocmv1beta1.CustomizedVariable{{Name: "ImagePullPolicy", Value: "Sometimes"}}
		Expect(hub.Update(ctx, config)).To(Succeed())
		Eventually(func() (string, error) {
			installed, err := get(ctx, hub, &ocmv1beta1.ManagedClusterAddOn{}, "cluster1", addOnName)()
			if condition := meta.FindStatusCondition(installed.Status.Conditions, ocmv1beta1.ManagedClusterAddOnManifestApplied); condition != nil {
				return condition.Message, err
			}
			return "", err
		}).Should(ContainSubstring(`AddOnDeploymentConfig interlock-system/agent: spec.customizedVariables[ImagePullPolicy]: "Sometimes" must be one of`))
	})

	It("pulls from the registry that a managed cluster names", func(ctx context.Context) {
		cluster, err := clusterNamed(ctx, "cluster10")
		Expect(err).NotTo(HaveOccurred())
		metav1.SetMetaDataAnnotation(&cluster.ObjectMeta, "open-cluster-management.io/image-registries",
			`{"registries":[{"source":"registry.example","mirror":"local.example"}]}`)
		Expect(hub.Update(ctx, cluster)).To(Succeed())
		Eventually(deploymentOn(ctx, two(), defaultNamespace)).Should(HaveField("Spec.Template.Spec.Containers",
			ConsistOf(HaveField("Image", "local.example/interlock/addon-agent:v1"))))
	})

	It("has a default for all clusters in its registration, which stays what an administrator made it", func(ctx context.Context) {
		common := &ocmv1beta1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "all-agents"}}
		common.Spec.CustomizedVariables = []ocmv1beta1.CustomizedVariable{{Name: "Image", Value: "registry.example/interlock/addon-agent:v2"}}
		Expect(hub.Create(ctx, common)).To(Succeed())
		Eventually(func() error {
			registered, err := get(ctx, hub, &ocmv1beta1.ClusterManagementAddOn{}, "", addOnName)()
			if err != nil {
				return err
			}
			registered.Spec.DefaultConfigs = []ocmv1beta1.AddOnConfig{configReference(common)}
			return hub.Update(ctx, registered)
		}).Should(Succeed())
		Eventually(deploymentOn(ctx, two(), defaultNamespace)).Should(HaveField("Spec.Template.Spec.Containers",
			ConsistOf(HaveField("Image", "local.example/interlock/addon-agent:v2"))))
		Eventually(get(ctx, hub, &ocmv1beta1.ClusterManagementAddOn{}, "", addOnName)).Should(And(
			HaveField("Spec.DefaultConfigs", ConsistOf(configReference(common))),
			HaveField("Status.DefaultConfigReferences", ConsistOf(HaveField("DesiredConfig.SpecHash", Not(BeEmpty()))))))
	})

	It("runs on the hosting cluster in hosted mode", func(ctx context.Context) {
		join(ctx, "guest", managed["cluster10"])
		Eventually(deploymentOn(ctx, on("guest"), defaultNamespace)).Should(Not(BeNil()))
		host(ctx, "guest", "cluster10")
		place := addOnName + "-guest"
		Eventually(deploymentOn(ctx, two(), place)).Should(Not(BeNil()))
		Eventually(func() error { _, err := deploymentOn(ctx, on("guest"), defaultNamespace)(); return err }).Should(Satisfy(apierrors.IsNotFound),
			"where it ran before")
		dir, _ := hubOf(ctx, two(), place)
		Expect(two().Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: addOnName + "-managed-kubeconfig"},
			StringData: map[string]string{"kubeconfig": "made by an administrator"},
		})).To(Succeed())
		deployment, err := deploymentOn(ctx, two(), place)()
		Expect(err).NotTo(HaveOccurred())
		Expect(deployment.Spec.Template.Spec.Volumes).To(ContainElement(HaveField("Secret.SecretName", addOnName+"-managed-kubeconfig")))

		folder := GinkgoT().TempDir()
		content, err := os.ReadFile(managed["guest"].Kubeconfig())
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(folder, "kubeconfig"), content, 0o600)).To(Succeed())
		running := startAgent(deployment, map[string]string{
			"/var/run/hub": dir, "/var/run/managed": folder, "in-cluster": login(ctx, managed["cluster10"].Cluster, place),
		})
		Eventually(available(ctx, "guest", addOnName)).Should(be("True", "ManagedClusterAddOnLeaseUpdated"))
		Expect(two().Get(ctx, client.ObjectKey{Namespace: place, Name: addOnName}, &coordinationv1.Lease{})).To(Succeed())
		running.Signal(syscall.SIGTERM)
		Eventually(running).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
	})

	It("comes back from a hosting cluster to its own", func(ctx context.Context) {
		host(ctx, "guest", "")
		Eventually(func() error { _, err := deploymentOn(ctx, two(), addOnName+"-guest")(); return err }).Should(Satisfy(apierrors.IsNotFound))
		Eventually(deploymentOn(ctx, on("guest"), defaultNamespace)).Should(Not(BeNil()))
	})

	It("is registered again after its registration was deleted", func(ctx context.Context) {
		Expect(hub.Delete(ctx, &ocmv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: addOnName}})).To(Succeed())
		Eventually(get(ctx, hub, &ocmv1beta1.ClusterManagementAddOn{}, "", addOnName)).Should(Not(BeNil()))
	})

	It("was never refused anything, and used every right that it has", func() {
		Expect(string(session.Err.Contents())).NotTo(MatchRegexp("(?i)forbidden|cannot set blockOwnerDeletion"))
		Expect(unused()).To(BeEmpty())
	})

	It("is removed from everywhere, without a trace on the hub", func(ctx context.Context) {
		Eventually(session.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
		removeAll(ctx)
		for _, list := range []client.ObjectList{&ocmv1beta1.ClusterManagementAddOnList{}, &ocmv1beta1.ManagedClusterAddOnList{}, &workv1.ManifestWorkList{}} {
			Expect(hub.List(ctx, list)).To(Succeed())
			Expect(meta.LenList(list)).To(BeZero(), "%T", list)
		}
		var bindings rbacv1.RoleBindingList
		Expect(hub.List(ctx, &bindings, client.MatchingLabels{ocmv1beta1.AddonLabelKey: addOnName})).To(Succeed())
		Expect(bindings.Items).To(BeEmpty())
		for _, cluster := range []client.Client{one(), two(), on("guest")} {
			for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{}} {
				Expect(cluster.List(ctx, list)).To(Succeed())
				items, err := meta.ExtractList(list)
				Expect(err).NotTo(HaveOccurred())
				Expect(items).NotTo(ContainElement(HaveField("Name", HavePrefix("interlock-"))), "%T", list)
			}
		}
		Expect(one().Get(ctx, client.ObjectKey{Name: defaultNamespace}, &corev1.Namespace{})).To(Succeed(), "what others share stays")
		Eventually(func() error {
			return two().Get(ctx, client.ObjectKey{Name: addOnName + "-guest"}, &corev1.Namespace{})
		}).Should(Satisfy(apierrors.IsNotFound), "what is the agent's alone goes")
	})

	DescribeTable("needs rights that no request shows", func(ctx context.Context, without string, request func(context.Context, client.Client) error) {
		entitled := clientOf(managerWithout(ctx, ""))
		Eventually(func() error { return request(ctx, entitled) }).Should(Succeed(), "with all rights")
		lacking := clientOf(managerWithout(ctx, without))
		Eventually(func() error { return request(ctx, lacking) }).Should(Satisfy(apierrors.IsForbidden), "without "+without)
	},
		Entry("to create by applying", "create clustermanagementaddons", applyRegistration),
		Entry("to make an owner wait", "update managedclusteraddons/finalizers", createWork),
		Entry("to approve for a signer", "approve signers", approveRequest),
		Entry("to create a binding by applying", "create rolebindings", applyBinding),
		Entry("to bind the agents' role, which may come to contain what addon-manager may not", "bind clusterroles", applyBindingOfMore),
	)

	It("can be stopped while the hub is away, whether it has ever seen it or not", func() {
		seen := run(manager, managerFlags(managerLogin.Kubeconfig, namespace)...)
		Eventually(seen.Err).Should(gbytes.Say("addon-agent is deployed where its add-on is installed"))
		Expect(fleet.StopAPIServer()).To(Succeed())
		DeferCleanup(fleet.StartAPIServer)
		unseen := run(manager, managerFlags(managerLogin.Kubeconfig, namespace)...)
		Consistently(unseen).WithTimeout(3 * time.Second).ShouldNot(gexec.Exit())
		Eventually(unseen.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
		// A leader that cannot renew its lease ends by itself sooner or later.
		Eventually(seen.Terminate()).WithTimeout(30 * time.Second).Should(gexec.Exit())
	})
})
