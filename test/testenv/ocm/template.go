package ocm

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Template returns an AddOnTemplate with one Deployment. Both have the name of the add-on.
func Template(addOn string) (*addonv1alpha1.AddOnTemplate, error) {
	labels := map[string]string{"app": addOn}
	content, err := json.Marshal(&appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: AddOnNamespace, Name: addOn},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent"}}},
			},
		},
	})
	template := &addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: addOn}}
	template.Spec.AddonName = addOn
	template.Spec.AgentSpec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: content}}}
	return template, err
}

// Everywhere returns a Placement that selects all managed clusters, and the objects that it needs.
func Everywhere() []client.Object {
	return []client.Object{
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "global"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"},
		},
		&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "everywhere"}},
	}
}

// OneByOne returns a strategy that installs an AddOnTemplate on all clusters of Everywhere, one cluster at a time.
func OneByOne(template string) addonv1alpha1.InstallStrategy {
	return addonv1alpha1.InstallStrategy{
		Type: addonv1alpha1.AddonInstallStrategyPlacements,
		Placements: []addonv1alpha1.PlacementStrategy{{
			PlacementRef: addonv1alpha1.PlacementRef{Namespace: metav1.NamespaceDefault, Name: "everywhere"},
			Configs: []addonv1alpha1.AddOnConfig{{
				ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
				ConfigReferent:      addonv1alpha1.ConfigReferent{Name: template},
			}},
			RolloutStrategy: clusterv1alpha1.RolloutStrategy{
				Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)},
			},
		}},
	}
}
