//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/test/snapshot"
)

// elder is an add-on that was installed before Interlock, on a cluster without addon-agent. Its dependency is never
// installed.
var elder = types.NamespacedName{Namespace: "elder", Name: "elder"}

func describeUninstallation() {
	It("leaves nothing behind when it is uninstalled", func(ctx context.Context) {
		Eventually(conditionOf(ctx, elder, degraded)).Should(be(metav1.ConditionTrue, required))
		Eventually(func(g Gomega) { // with the guard, the next write of any writer follows Degraded
			setElderAvailable(ctx)
			g.Expect(conditionOf(ctx, elder, available)()).To(be(metav1.ConditionFalse, required))
		}).Should(Succeed())
		Expect(changes(ctx, Default)).To(And(ContainSubstring(namespace), ContainSubstring(required)),
			"the comparison does not see what is installed")
		const variable = "INTERLOCK_UNINSTALL_COMMAND"
		Expect(os.Getenv(variable)).NotTo(BeEmpty(), "%s must hold a command that uninstalls Interlock: `make e2e` sets it", variable)
		execute(ctx, os.Getenv(variable))
		expectTakenBack(ctx)

		By("running deploy/uninstall once more")
		log := runJob(ctx, kustomized("../../deploy/uninstall", nextVersion))
		Expect(log).To(MatchRegexp(`conditions +0 ManagedClusterAddOns written, no condition of Interlock is left`))
		expectTakenBack(ctx)
		remove(ctx, hub, []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}})

		By("comparing the hub with what it was before")
		setElderAvailable(ctx)
		removeAddOns(ctx)
		Eventually(func(g Gomega) string { return changes(ctx, g) }).Should(BeEmpty())
	})
}

// runJob applies a Job with its rights, waits until it has succeeded, and deletes all of these objects. It returns
// the log of the Job.
func runJob(ctx context.Context, objects []*unstructured.Unstructured) string {
	GinkgoHelper()
	isJob := func(object *unstructured.Unstructured) bool { return object.GetKind() == "Job" }
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(fmt.Sprint(isJob(a)), fmt.Sprint(isJob(b)))
	})
	apply(ctx, hub, objects)
	job := &batchv1.Job{}
	Eventually(func(g Gomega) {
		g.Expect(hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "interlock-uninstall"}, job)).To(Succeed())
		if job.Status.Failed > 0 {
			StopTrying("it failed").Attach("log", logOf(ctx, job)).Now()
		}
		g.Expect(job.Status.Succeeded).To(BeEquivalentTo(1))
	}).WithTimeout(6 * time.Minute).Should(Succeed())
	log := logOf(ctx, job)
	GinkgoWriter.Println(log)
	remove(ctx, hub, objects)
	return log
}

// logOf returns the logs of a Job's pods.
func logOf(ctx context.Context, job *batchv1.Job) string {
	GinkgoHelper()
	var pods corev1.PodList
	labels := client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)}
	Expect(hub.List(ctx, &pods, client.InNamespace(job.Namespace), labels)).To(Succeed())
	cluster, err := kubernetes.NewForConfig(hubConfig)
	Expect(err).NotTo(HaveOccurred())
	var logs strings.Builder
	for _, pod := range pods.Items {
		log, err := cluster.CoreV1().Pods(job.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		Expect(err).NotTo(HaveOccurred())
		logs.Write(log)
	}
	return logs.String()
}

// expectTakenBack expects that Interlock's conditions, guard, graft and agents are gone. The deployed objects may
// still exist.
func expectTakenBack(ctx context.Context) {
	GinkgoHelper()
	var addOns addonv1alpha1.ManagedClusterAddOnList
	Expect(hub.List(ctx, &addOns)).To(Succeed())
	for _, addOn := range addOns.Items {
		key := client.ObjectKeyFromObject(&addOn)
		Expect(key.Name).NotTo(Equal(agent), "the agent is still an add-on of %s", key.Namespace)
		Expect(addOn.Status.Conditions).NotTo(ContainElement(HaveField("Reason", BeElementOf(condition.Reasons))), key.String())
	}
	for kind, version := range map[string]string{rule.KindWebhook: "v1", rule.KindPolicy: "v1beta1", rule.KindBinding: "v1beta1"} {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion(rule.Group + "/" + version)
		object.SetKind(kind)
		object.SetName(guard.Name)
		Expect(deleted(ctx, hub, object)()).To(BeTrue(), kind)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(hub.Get(ctx, client.ObjectKey{Name: registrationsCRD}, crd)).To(Succeed())
	for _, version := range crd.Spec.Versions {
		for _, field := range addonv1alpha1.GraftedSpecFields() {
			Expect(version.Schema.OpenAPIV3Schema.Properties["spec"].Properties).NotTo(HaveKey(field), version.Name)
		}
	}
	if service := crd.Spec.Conversion.Webhook.ClientConfig.Service; service != nil {
		Expect(service.Namespace).NotTo(Equal(namespace), "who converts registrations")
	}
	for name, cluster := range managedClusters {
		Eventually(func() (snapshot.Snapshot, error) { return snapshot.Take(ctx, cluster.config, ofAgent) }).
			Should(BeEmpty(), "what is left of the agent on %s", name)
	}
}

// installElder makes the add-on that was installed before Interlock.
func installElder(ctx context.Context) {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{
		Name: elder.Name, Annotations: map[string]string{addonv1alpha1.DependenciesAnnotation: "- name: never-installed"},
	}}
	registration.Spec.InstallStrategy.Type = "Manual"
	Expect(hub.Create(ctx, registration)).To(Succeed())
	install(ctx, inNamespace(ctx, elder.Namespace, elder.Name))
	setElderAvailable(ctx)
}

// setElderAvailable sets the condition that OCM's agent sets every 30 seconds.
func setElderAvailable(ctx context.Context) {
	GinkgoHelper()
	setCondition(ctx, elder, metav1.Condition{
		Type: available, Status: metav1.ConditionTrue, Reason: renewed, Message: "elder add-on is available.",
	})
}

// removeAddOns removes the other objects that the specs created on the hub.
func removeAddOns(ctx context.Context) {
	GinkgoHelper()
	for _, name := range []string{report, account, "dependent"} { // otherwise OCM would install them again
		remove(ctx, hub, []client.Object{&addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}})
	}
	for cluster := range managedClusters {
		for _, name := range []string{report, account} {
			uninstall(ctx, types.NamespacedName{Namespace: cluster, Name: name})
		}
		Eventually(func() ([]workv1.ManifestWork, error) {
			var works workv1.ManifestWorkList
			err := hub.List(ctx, &works, client.InNamespace(cluster))
			return works.Items, err
		}).Should(BeEmpty(), "what is on %s", cluster)
	}
	remove(ctx, hub, reportManifests("manager.yaml"))
	remove(ctx, hub, manifests("manifests/managed-serviceaccount.yaml"))
	remove(ctx, hub, []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "unattended"}},
		&apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: "managedserviceaccounts.authentication.open-cluster-management.io"},
		},
	})
}

// baseline is the content of the hub before Interlock.
var baseline snapshot.Snapshot

// takeFirstSnapshot waits until the hub does not change by itself any more.
func takeFirstSnapshot(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) bool {
		previous := baseline
		baseline = takeSnapshot(ctx, g)
		return cmp.Equal(previous, baseline)
	}).WithPolling(2 * time.Second).Should(BeTrue())
}

// changes returns the difference between the hub and its content before Interlock.
func changes(ctx context.Context, g Gomega) string { return cmp.Diff(baseline, takeSnapshot(ctx, g)) }

func takeSnapshot(ctx context.Context, g Gomega) snapshot.Snapshot {
	current, err := snapshot.Take(ctx, hubConfig, neutral)
	g.Expect(err).NotTo(HaveOccurred())
	return current
}

// neutral leaves out the fields that a running cluster changes by itself. Of managedFields it keeps only Interlock's
// entries, without those on add-ons, whose conditions may stay.
func neutral(object *unstructured.Unstructured) bool {
	metadata, _ := object.Object["metadata"].(map[string]any)
	delete(metadata, "generation")
	switch object.GetKind() {
	case "CertificateSigningRequest", "Endpoints", "EndpointSlice", "PodMetrics", "NodeMetrics":
		return false
	case "Event":
		controller, _ := object.Object["reportingController"].(string)
		return strings.HasPrefix(controller, "interlock-")
	case "Lease":
		delete(object.Object, "spec")
	case "CustomResourceDefinition":
		withoutStamp(object)
	case "Deployment", "ReplicaSet", "Pod":
		if isOperator(object) {
			return false // a spec upgrades it
		}
	}
	ours := slices.DeleteFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return object.GetKind() == "ManagedClusterAddOn" || !strings.HasPrefix(entry.Manager, "interlock-")
	})
	object.SetManagedFields(append([]metav1.ManagedFieldsEntry(nil), ours...))
	if !strings.HasSuffix(object.GroupVersionKind().Group, "open-cluster-management.io") {
		delete(object.Object, "status") // kubelets and controllers keep it
	}
	return true
}

// ofAgent selects the objects of addon-agent. Its lease stays, like the lease of any add-on. The names of
// kind's nodes have the same prefix.
func ofAgent(object *unstructured.Unstructured) bool {
	others := []string{"Event", "Lease", "Node", "CSINode"}
	return strings.HasPrefix(object.GetName(), "interlock") && !slices.Contains(others, object.GetKind())
}
