// Package ocmsuite has the common setup of suites on a hub of real OCM.
package ocmsuite

import (
	"context"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// Begin starts the hub of a suite. within is the default timeout of the suite's expectations.
func Begin(ctx context.Context, within time.Duration, options ocm.HubOptions) *ocm.Hub {
	GinkgoHelper()
	SetDefaultEventuallyTimeout(within)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)
	return Start(ctx, options)
}

// Start starts a hub.
func Start(ctx context.Context, options ocm.HubOptions) *ocm.Hub {
	GinkgoHelper()
	hub, err := ocm.StartHub(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	scheme := hub.Client.Scheme()
	Expect(errors.Join(dependencyv1alpha1.AddToScheme(scheme), eventsv1.AddToScheme(scheme))).To(Succeed())
	return hub
}

// Create creates objects, and deletes them after the spec.
func Create(ctx context.Context, hub *ocm.Hub, manifests string) []*unstructured.Unstructured {
	GinkgoHelper()
	var objects []*unstructured.Unstructured
	for _, manifest := range strings.Split(manifests, "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
		Eventually(func() error { return hub.Client.Create(ctx, object) }).Should(Succeed(), manifest) // OCM creates the namespaces
		DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, object)) })
		objects = append(objects, object)
	}
	return objects
}

// Accept makes OCM manage a cluster that has no agents, and is available. The cluster is deleted after the spec.
func Accept(ctx context.Context, hub *ocm.Hub, name string, labels map[string]string) *clusterv1.ManagedCluster {
	GinkgoHelper()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	cluster.Spec.HubAcceptsClient = true
	// Nothing renews the lease of the cluster. OCM would take it for lost after five minutes, which a slow machine needs for a suite.
	cluster.Spec.LeaseDurationSeconds = 3600
	// A cluster of that name may still be deleted: by the attempt before, for instance.
	Eventually(func() error { return hub.Client.Create(ctx, cluster) }).Should(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, cluster)) })
	Eventually(func() error { return hub.Client.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{}) }).Should(Succeed())
	Reach(ctx, hub, name, metav1.ConditionTrue)
	return cluster
}

// Reach sets the status of Available of a cluster that has no agents.
func Reach(ctx context.Context, hub *ocm.Hub, name string, status metav1.ConditionStatus) {
	GinkgoHelper()
	Eventually(func() error {
		cluster := &clusterv1.ManagedCluster{}
		if err := hub.Client.Get(ctx, client.ObjectKey{Name: name}, cluster); err != nil {
			return err
		}
		meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Tested",
		})
		return hub.Client.Status().Update(ctx, cluster)
	}).Should(Succeed())
}

// Notes returns the notes of the events in a namespace that are about an object and have a reason. Without a
// namespace, it reads all namespaces.
func Notes(ctx context.Context, hub *ocm.Hub, namespace, name, reason string) func() ([]string, error) {
	return func() ([]string, error) {
		var notes []string
		var events eventsv1.EventList
		err := hub.Client.List(ctx, &events, client.InNamespace(namespace))
		for _, event := range events.Items {
			if event.Regarding.Name == name && event.Reason == reason {
				notes = append(notes, event.Note)
			}
		}
		return notes, err
	}
}
