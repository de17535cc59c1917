// Package events makes events that the API server accepts.
package events

import (
	corev1 "k8s.io/api/core/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	operatorv1 "open-cluster-management.io/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// The kinds of objects that events are about. Objects from a typed cache lack theirs.
const (
	ClusterManagementAddOn = "ClusterManagementAddOn"
	ManagedClusterAddOn    = "ManagedClusterAddOn"
	AddOnTemplate          = "AddOnTemplate"
	Placement              = "Placement"
	ManagedCluster         = "ManagedCluster"
	ClusterManager         = "ClusterManager"
)

// maxNote is the maximum length of a note in bytes. The API server rejects longer notes.
const maxNote = 1024 - text.Marks

// About returns the reference to the object that an event is about.
func About(kind string, object client.Object) *corev1.ObjectReference {
	apiVersion := addonv1alpha1.GroupVersion.String()
	switch kind {
	case ManagedCluster:
		apiVersion = clusterv1.GroupVersion.String()
	case Placement:
		apiVersion = clusterv1beta1.GroupVersion.String()
	case ClusterManager:
		apiVersion = operatorv1.GroupVersion.String()
	}
	return &corev1.ObjectReference{
		APIVersion:      apiVersion,
		Kind:            kind,
		Namespace:       object.GetNamespace(),
		Name:            object.GetName(),
		UID:             object.GetUID(),
		ResourceVersion: object.GetResourceVersion(),
	}
}

// Note returns a safe message that is short enough for an event.
func Note(message string) string { return text.Final(text.CutBytes(text.OneLine(message), maxNote)) }
