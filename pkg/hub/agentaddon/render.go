package agentaddon

import (
	"fmt"
	"path"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/deploy"
	"open-cluster-management.io/interlock/manifests"
)

const (
	managedMount = "/var/run/managed"
	proxyMount   = "/var/run/proxy"
	proxyCAName  = workload + "-proxy-ca"
	proxyCAFile  = "ca-bundle.crt"
)

// objects are those that the work agent applies on the cluster on which the
// agent runs.
type objects struct {
	namespace          corev1.Namespace
	serviceAccount     corev1.ServiceAccount
	clusterRole        rbacv1.ClusterRole
	clusterRoleBinding rbacv1.ClusterRoleBinding
	role               rbacv1.Role
	roleBinding        rbacv1.RoleBinding
	deployment         appsv1.Deployment
}

func load() (*objects, error) {
	all := &objects{}
	for file, object := range map[string]any{
		"namespace.yaml": &all.namespace, "serviceaccount.yaml": &all.serviceAccount, "clusterrolebinding.yaml": &all.clusterRoleBinding,
		"role.yaml": &all.role, "rolebinding.yaml": &all.roleBinding, "deployment.yaml": &all.deployment,
	} {
		if err := read(file, object); err != nil {
			return nil, err
		}
	}
	if err := yaml.UnmarshalStrict(deploy.AgentManagedClusterRole, &all.clusterRole); err != nil {
		return nil, fmt.Errorf("deploy/agent/managed-clusterrole.yaml: %w", err)
	}
	return all, nil
}

func read(file string, into any) error {
	content, err := manifests.Agent.ReadFile(path.Join("agent", file))
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(content, into); err != nil {
		return fmt.Errorf("manifests/agent/%s: %w", file, err)
	}
	return nil
}

// render returns what the work agent is to apply, in order.
func render(s settings) ([]runtime.Object, error) {
	all, err := load()
	if err != nil {
		return nil, err
	}
	// In hosted mode, the rights that whoever makes the managed cluster's
	// kubeconfig is to give its user. That something is left for the managed
	// cluster also has OCM take away an agent that ran there before.
	rightsOnManaged := all.clusterRole.DeepCopy()
	annotate(rightsOnManaged, addonv1beta1.HostedManifestLocationAnnotationKey, addonv1beta1.HostedManifestLocationManagedValue)
	all.settle(s)
	result := []runtime.Object{
		&all.namespace, &all.serviceAccount, &all.clusterRole, &all.clusterRoleBinding, &all.role, &all.roleBinding,
	}
	if len(s.proxy.CABundle) > 0 {
		result = append(result, proxyCA(s))
	}
	result = append(result, &all.deployment)
	for _, object := range result {
		// In hosted mode all of it is for the hosting cluster; else this says nothing.
		annotate(object.(metav1.Object), addonv1beta1.HostedManifestLocationAnnotationKey, addonv1beta1.HostedManifestLocationHostingValue)
	}
	if s.hosted {
		result = append(result, rightsOnManaged)
	}
	return result, nil
}

func (all *objects) settle(s settings) {
	all.namespace.Name = s.namespace
	if s.namespace != ownNamespace(s.cluster) {
		// Others may live there, and removing the agent must not remove them.
		annotate(&all.namespace, addonv1beta1.DeletionOrphanAnnotationKey, "")
	}
	for _, object := range []metav1.Object{&all.serviceAccount, &all.role, &all.roleBinding, &all.deployment} {
		object.SetNamespace(s.namespace)
	}
	for _, subjects := range [][]rbacv1.Subject{all.clusterRoleBinding.Subjects, all.roleBinding.Subjects} {
		subjects[0].Namespace = s.namespace
	}
	if s.hosted {
		// A hosting cluster has an agent of its own, and perhaps others.
		name := all.clusterRole.Name + ":" + s.cluster
		all.clusterRole.Name, all.clusterRoleBinding.Name, all.clusterRoleBinding.RoleRef.Name = name, name, name
	}
	s.settlePod(&all.deployment.Spec.Template.Spec)
}

func (s settings) settlePod(pod *corev1.PodSpec) {
	pod.NodeSelector, pod.Tolerations = s.placement.NodeSelector, s.placement.Tolerations
	agent := &pod.Containers[0]
	agent.Image = s.image
	if s.pullPolicy != "" {
		agent.ImagePullPolicy = s.pullPolicy
	}
	if s.resources != nil {
		agent.Resources = *s.resources
	}
	agent.Args = append(agent.Args, "--cluster-name="+s.cluster, "--own-lease="+s.namespace+"/"+Name)
	if s.hosted {
		agent.Args = append(agent.Args, "--kubeconfig="+managedMount+"/kubeconfig", "--hosting-kubeconfig=in-cluster")
		mount(pod, "managed", managedMount, corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: s.managedSecret}})
	}
	for _, variable := range []corev1.EnvVar{
		{Name: "HTTP_PROXY", Value: s.proxy.HTTPProxy},
		{Name: "HTTPS_PROXY", Value: s.proxy.HTTPSProxy},
		{Name: "NO_PROXY", Value: s.proxy.NoProxy},
	} {
		if variable.Value != "" {
			agent.Env = append(agent.Env, variable)
		}
	}
	if len(s.proxy.CABundle) > 0 {
		agent.Args = append(agent.Args, "--proxy-ca-file="+proxyMount+"/"+proxyCAFile)
		mount(pod, "proxy", proxyMount, corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: proxyCAName},
		}})
	}
}

func mount(pod *corev1.PodSpec, name, at string, source corev1.VolumeSource) {
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	agent := &pod.Containers[0]
	agent.VolumeMounts = append(agent.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: at, ReadOnly: true})
}

func proxyCA(s settings) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: proxyCAName},
		Data:       map[string]string{proxyCAFile: string(s.proxy.CABundle)},
	}
}

func annotate(object metav1.Object, key, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}
