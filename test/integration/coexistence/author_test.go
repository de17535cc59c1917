package coexistence

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"open-cluster-management.io/addon-framework/pkg/addonmanager"
	"open-cluster-management.io/addon-framework/pkg/agent"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// probers are the health probers of addon-framework that read ManifestWorks.
var probers = map[string]func(name string) *agent.HealthProber{
	"work": func(name string) *agent.HealthProber {
		return utils.NewDeploymentProber(types.NamespacedName{Namespace: addOnNamespace, Name: name})
	},
	"deployment": func(string) *agent.HealthProber {
		return &agent.HealthProber{Type: agent.HealthProberTypeDeploymentAvailability}
	},
	"workload": func(string) *agent.HealthProber {
		return &agent.HealthProber{Type: agent.HealthProberTypeWorkloadAvailability}
	},
}

// probedAddOn is an add-on with a prober that its author has selected.
type probedAddOn struct {
	name    string
	prober  *agent.HealthProber
	objects []runtime.Object
}

func (p *probedAddOn) Manifests(context.Context, *clusterv1.ManagedCluster, *addonv1beta1.ManagedClusterAddOn) ([]runtime.Object, error) {
	return p.objects, nil
}

func (p *probedAddOn) GetAgentAddonOptions() agent.AgentAddonOptions {
	return agent.AgentAddonOptions{AddonName: p.name, HealthProber: p.prober}
}

// startAuthors runs the managers of all probed add-ons, as one process of their authors would. The returned function stops them.
func startAuthors(ctx context.Context, hub *rest.Config) (stop func(), err error) {
	config := rest.CopyConfig(hub)
	config.UserAgent = "author"
	manager, err := addonmanager.New(config)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		if prober := probers[c.kind]; prober != nil {
			if err := manager.AddAgent(&probedAddOn{c.name(), prober(c.name()), c.manifests()}); err != nil {
				return nil, err
			}
		}
	}
	runContext, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if err := manager.Start(runContext); err != nil {
		cancel()
		return nil, err
	}
	return cancel, nil
}

// manifests returns the content of a probed add-on's work: a Deployment, and an object in a namespace that does not exist if the work
// shall not be
// applied.
func (c *example) manifests() []runtime.Object {
	labels := map[string]string{"app": c.name()}
	objects := []runtime.Object{&appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: addOnNamespace, Name: c.name()},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent"}}},
			},
		},
	}}
	if c.state == unapplied {
		objects = append(objects, &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "nowhere", Name: c.name()},
		})
	}
	return objects
}
