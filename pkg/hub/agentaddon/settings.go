package agentaddon

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

const (
	// defaultNamespace is where OCM installs add-ons, shared by many of them.
	defaultNamespace = "open-cluster-management-agent-addon"

	workload  = "interlock-addon-agent" // the Deployment, and what belongs to it
	container = "addon-agent"
)

// The customized variables of an AddOnDeploymentConfig that are heeded.
const (
	variableImage         = "Image"
	variablePullPolicy    = "ImagePullPolicy"
	variableManagedSecret = "ManagedKubeConfigSecret"
)

var pullPolicies = []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}

// settings are what makes the agent of one managed cluster differ from that of
// another.
type settings struct {
	cluster, namespace string
	// hosted: it runs on another cluster than the one it is about.
	hosted        bool
	managedSecret string
	image         string
	pullPolicy    corev1.PullPolicy
	placement     addonv1beta1.NodePlacement
	proxy         addonv1beta1.ProxyConfig
	resources     *corev1.ResourceRequirements
}

// settle works out the settings for a cluster. The config may be nil. Errors
// name the AddOnDeploymentConfig, the field and the value.
func settle(
	image string, cluster *clusterv1.ManagedCluster, installed *addonv1beta1.ManagedClusterAddOn, config *addonv1beta1.AddOnDeploymentConfig,
) (settings, error) {
	settled := settings{
		cluster: cluster.Name, hosted: isHosted(installed), image: image, managedSecret: Name + "-managed-kubeconfig",
	}
	var err error
	if settled.namespace, err = namespaceOf(installed, config); err != nil {
		return settings{}, err
	}
	if config != nil {
		if err := settled.take(config); err != nil {
			return settings{}, fmt.Errorf("AddOnDeploymentConfig %s/%s: %w", config.Namespace, config.Name, err)
		}
	}
	if config == nil || len(config.Spec.Registries) == 0 {
		settled.image, err = utils.OverrideImageByAnnotation(cluster.Annotations, settled.image)
		if err != nil {
			return settings{}, fmt.Errorf("ManagedCluster %s, annotation %s: %w", cluster.Name, clusterv1.ClusterImageRegistriesAnnotationKey, err)
		}
	}
	return settled, nil
}

func (s *settings) take(config *addonv1beta1.AddOnDeploymentConfig) error {
	for _, variable := range config.Spec.CustomizedVariables {
		switch variable.Name {
		case variableImage:
			s.image = variable.Value
		case variablePullPolicy:
			s.pullPolicy = corev1.PullPolicy(variable.Value)
			if !slices.Contains(pullPolicies, s.pullPolicy) {
				return fmt.Errorf("spec.customizedVariables[%s]: %q must be one of %v", variable.Name, variable.Value, pullPolicies)
			}
		case variableManagedSecret:
			if problems := validation.IsDNS1123Subdomain(variable.Value); len(problems) > 0 {
				return fmt.Errorf("spec.customizedVariables[%s]: %q: %s", variable.Name, variable.Value, problems[0])
			}
			s.managedSecret = variable.Value
		}
	}
	s.image = mirrored(config.Spec.Registries, s.image)
	if config.Spec.NodePlacement != nil {
		s.placement = *config.Spec.NodePlacement
	}
	s.proxy = config.Spec.ProxyConfig
	return s.takeResources(config.Spec.ResourceRequirements)
}

// takeResources heeds the last of those that are for the agent's container, as
// OCM does: <kind>:<name>:<container>, each of which may be a *.
func (s *settings) takeResources(requirements []addonv1beta1.ContainerResourceRequirements) error {
	for i, requirement := range requirements {
		parts := strings.Split(requirement.ContainerID, ":")
		if len(parts) != 3 {
			return fmt.Errorf("spec.resourceRequirements[%d].containerID: %q must be <kind>:<name>:<container>", i, requirement.ContainerID)
		}
		matches := true
		for part, own := range []string{"deployments", workload, container} {
			matches = matches && (parts[part] == "*" || parts[part] == own)
		}
		if matches {
			s.resources = &requirements[i].Resources
		}
	}
	return nil
}

// mirrored replaces the image's registry by the mirror of the last source that
// the image comes from.
func mirrored(registries []addonv1beta1.ImageMirror, image string) string {
	result := image
	for _, registry := range registries {
		source, mirror := strings.TrimSuffix(registry.Source, "/"), strings.TrimSuffix(registry.Mirror, "/")
		if source == "" {
			name := image[strings.LastIndex(image, "/")+1:]
			result = strings.TrimPrefix(mirror+"/"+name, "/")
		} else if rest, ok := strings.CutPrefix(image, source); ok {
			result = mirror + rest
		}
	}
	return result
}

func isHosted(installed *addonv1beta1.ManagedClusterAddOn) bool {
	_, hosted := installed.Annotations[addonv1beta1.HostingClusterNameAnnotationKey]
	return hosted
}

// namespaceOf returns the namespace that the agent runs in. A hosting cluster
// runs the agents of several clusters, whose secrets OCM gives the same names:
// there each has a namespace of its own, unless it is told another than OCM's
// default, which an AddOnDeploymentConfig always contains.
func namespaceOf(installed *addonv1beta1.ManagedClusterAddOn, config *addonv1beta1.AddOnDeploymentConfig) (string, error) {
	given := installed.Annotations[addonv1beta1.InstallNamespaceAnnotation]
	if config != nil {
		given = cmp.Or(config.Spec.AgentInstallNamespace, given)
	}
	if !isHosted(installed) {
		return cmp.Or(given, defaultNamespace), nil
	}
	if given != "" && given != defaultNamespace {
		return given, nil
	}
	own := ownNamespace(installed.Namespace)
	if len(own) > validation.DNS1123LabelMaxLength {
		return "", fmt.Errorf("namespace %s is too long for the hosting cluster: set agentInstallNamespace in an AddOnDeploymentConfig for %s/%s",
			own, installed.Namespace, installed.Name)
	}
	return own, nil
}

// ownNamespace is a namespace with nothing but the agent of that cluster in it.
func ownNamespace(cluster string) string { return Name + "-" + cluster }
