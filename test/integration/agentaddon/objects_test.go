package agentaddon

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
)

// provide installs an add-on on cluster1 that provides ConfigMaps and Secrets. It lets the agent count the ConfigMaps. OCM's work agent
// creates its ClusterRole.
func provide(ctx context.Context) {
	GinkgoHelper()
	const name = "provider"
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{addonv1alpha1.DependenciesAnnotation: "{provides: [{kind: ConfigMap}, {kind: Secret}]}"},
	}}
	registration.Spec.InstallStrategy.Type = "Manual"
	lets := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: "provider-objects", Labels: map[string]string{dependencyv1alpha1.AggregateToCountLabel: "true"}},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
	work.Spec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Object: lets}}}
	for _, object := range []client.Object{
		registration, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}, work,
	} {
		Expect(hub.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) {
			Expect(client.IgnoreNotFound(hub.Delete(ctx, object))).To(Succeed())
			Eventually(func() error { return hub.Get(ctx, client.ObjectKeyFromObject(object), object) }).Should(Satisfy(apierrors.IsNotFound))
		})
	}
}

// countsObjects checks the permissions of the agent to list objects on its managed cluster, and the counts that it reports. OCM's work
// agent could create the permissions, and Kubernetes aggregates them.
func countsObjects(ctx context.Context) {
	provide(ctx)
	cluster1 := administrator(managed["cluster1"].Cluster)
	kubeconfig := login(ctx, managed["cluster1"].Cluster, defaultNamespace)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	userClient := setup.ClientAs(config, hub)
	Eventually(func() error { return userClient.List(ctx, &corev1.ConfigMapList{}) }).Should(Succeed(), "the role is aggregated")
	Expect(userClient.List(ctx, &corev1.SecretList{})).To(Satisfy(apierrors.IsForbidden))
	configMapKey := client.ObjectKey{Namespace: "kube-system", Name: "kube-root-ca.crt"}
	Expect(userClient.Get(ctx, configMapKey, &corev1.ConfigMap{})).To(Satisfy(apierrors.IsForbidden))

	dir, _ := hubOf(ctx, cluster1)
	deployment, err := deploymentOn(ctx, cluster1, defaultNamespace)()
	Expect(err).NotTo(HaveOccurred())
	agentSession := startAgent(deployment, dir, "--kubeconfig", kubeconfig)
	reads := administrator(fleet.Cluster)
	Expect(dependencyv1alpha1.AddToScheme(reads.Scheme())).To(Succeed())
	Eventually(func() (counts []string, err error) {
		facts := &dependencyv1alpha1.ManagedClusterFacts{}
		err = reads.Get(ctx, client.ObjectKey{Namespace: "cluster1", Name: "cluster1"}, facts)
		for _, fact := range facts.Status.Objects {
			counts = append(counts, fmt.Sprintf("%s %s %t", fact.Kind, fact.Reason, fact.Count != nil && *fact.Count > 1))
		}
		return counts, err
	}).Should(HaveExactElements("ConfigMap  true", "Secret Forbidden false"))
	Eventually(agentSession.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))

	By("OCM leaving the rules to Kubernetes")
	role := &rbacv1.ClusterRole{}
	Expect(get(ctx, cluster1, role, "", "interlock-addon-agent-objects")()).To(HaveField("Rules", HaveLen(1)))
}
