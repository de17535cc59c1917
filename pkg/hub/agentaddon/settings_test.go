package agentaddon

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

const image = "registry.example/interlock/addon-agent:v1"

func onCluster(name string, annotations ...string) *addonv1beta1.ManagedClusterAddOn {
	installed := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: Name, Annotations: map[string]string{}}}
	for i := 0; i < len(annotations); i += 2 {
		installed.Annotations[annotations[i]] = annotations[i+1]
	}
	return installed
}

func config(change func(*addonv1beta1.AddOnDeploymentConfigSpec)) *addonv1beta1.AddOnDeploymentConfig {
	made := &addonv1beta1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "config"}}
	made.Spec.AgentInstallNamespace = defaultNamespace // what the CRD fills in
	change(&made.Spec)
	return made
}

func variable(name, value string) func(*addonv1beta1.AddOnDeploymentConfigSpec) {
	return func(spec *addonv1beta1.AddOnDeploymentConfigSpec) {
		spec.CustomizedVariables = []addonv1beta1.CustomizedVariable{{Name: name, Value: value}}
	}
}

func mirrors(pairs ...string) func(*addonv1beta1.AddOnDeploymentConfigSpec) {
	return func(spec *addonv1beta1.AddOnDeploymentConfigSpec) {
		for i := 0; i < len(pairs); i += 2 {
			spec.Registries = append(spec.Registries, addonv1beta1.ImageMirror{Source: pairs[i], Mirror: pairs[i+1]})
		}
	}
}

func memory(containerID, limit string) addonv1beta1.ContainerResourceRequirements {
	return addonv1beta1.ContainerResourceRequirements{ContainerID: containerID, Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
	}}
}

func TestSettle(t *testing.T) {
	const hosting = addonv1beta1.HostingClusterNameAnnotationKey
	toBase := func(change func(*settings)) settings {
		s := settings{cluster: "cluster1", namespace: defaultNamespace, managedSecret: "interlock-agent-managed-kubeconfig", image: image}
		change(&s)
		return s
	}
	for _, test := range []struct {
		name       string
		installed  *addonv1beta1.ManagedClusterAddOn
		registries string // the annotation of the managed cluster
		config     *addonv1beta1.AddOnDeploymentConfig
		want       func(*settings)
		wantError  string
	}{
		{name: "nothing is configured", want: func(*settings) {}},
		{
			name: "namespace of the add-on", installed: onCluster("cluster1", addonv1beta1.InstallNamespaceAnnotation, "mine"),
			want: func(s *settings) { s.namespace = "mine" },
		},
		{
			name: "namespace of the configuration comes before that of the add-on", installed: onCluster("cluster1", addonv1beta1.InstallNamespaceAnnotation, "mine"),
			config: config(func(spec *addonv1beta1.AddOnDeploymentConfigSpec) { spec.AgentInstallNamespace = "theirs" }),
			want:   func(s *settings) { s.namespace = "theirs" },
		},
		{
			name: "hosted, alone in its namespace", installed: onCluster("cluster1", hosting, "other"), config: config(variable("x", "y")),
			want: func(s *settings) { s.hosted, s.namespace = true, "interlock-agent-cluster1" },
		},
		{
			name: "hosted, where it is told", installed: onCluster("cluster1", hosting, "other"),
			config: config(func(spec *addonv1beta1.AddOnDeploymentConfigSpec) { spec.AgentInstallNamespace = "klusterlet-cluster1" }),
			want:   func(s *settings) { s.hosted, s.namespace = true, "klusterlet-cluster1" },
		},
		{
			name: "hosted, for a cluster with too long a name", installed: onCluster(strings.Repeat("c", 60), hosting, "other"),
			wantError: "set agentInstallNamespace in an AddOnDeploymentConfig for " + strings.Repeat("c", 60) + "/interlock-agent",
		},
		{name: "image", config: config(variable("Image", "a/b:c")), want: func(s *settings) { s.image = "a/b:c" }},
		{name: "pull policy", config: config(variable("ImagePullPolicy", "Never")), want: func(s *settings) { s.pullPolicy = corev1.PullNever }},
		{name: "no pull policy", config: config(variable("ImagePullPolicy", "Sometimes")), wantError: `AddOnDeploymentConfig here/config: spec.customizedVariables[ImagePullPolicy]: "Sometimes" must be one of`},
		{name: "secret", config: config(variable("ManagedKubeConfigSecret", "s")), want: func(s *settings) { s.managedSecret = "s" }},
		{name: "no secret", config: config(variable("ManagedKubeConfigSecret", "S")), wantError: `spec.customizedVariables[ManagedKubeConfigSecret]: "S"`},
		{name: "another add-on's variable", config: config(variable("Replicas", "many")), want: func(*settings) {}},
		{name: "registry", config: config(mirrors("registry.example/", "m.example/x/")), want: func(s *settings) { s.image = "m.example/x/interlock/addon-agent:v1" }},
		{name: "the last registry counts", config: config(mirrors("registry.example", "a", "elsewhere", "b", "registry.example/interlock", "c")), want: func(s *settings) { s.image = "c/addon-agent:v1" }},
		{name: "any registry", config: config(mirrors("", "m.example")), want: func(s *settings) { s.image = "m.example/addon-agent:v1" }},
		{
			name: "registry of the managed cluster", registries: `{"registries":[{"source":"registry.example","mirror":"local"}]}`,
			config: config(variable("Image", "registry.example/other:v2")), want: func(s *settings) { s.image = "local/other:v2" },
		},
		{
			name: "that of the configuration comes first", registries: `{"registries":[{"source":"registry.example","mirror":"local"}]}`,
			config: config(mirrors("registry.example", "m")), want: func(s *settings) { s.image = "m/interlock/addon-agent:v1" },
		},
		{name: "registries that cannot be read", registries: "registry.example", wantError: "ManagedCluster cluster1, annotation open-cluster-management.io/image-registries"},
		{
			name: "resources: the last that match", config: config(func(spec *addonv1beta1.AddOnDeploymentConfigSpec) {
				spec.ResourceRequirements = []addonv1beta1.ContainerResourceRequirements{
					memory("*:*:*", "1Mi"), memory("deployments:interlock-addon-agent:addon-agent", "2Mi"), memory("deployments:other:*", "3Mi"),
				}
			}),
			want: func(s *settings) {
				s.resources = &corev1.ResourceRequirements{Limits: memory("", "2Mi").Resources.Limits}
			},
		},
		{
			name: "resources of no container", config: config(func(spec *addonv1beta1.AddOnDeploymentConfigSpec) {
				spec.ResourceRequirements = []addonv1beta1.ContainerResourceRequirements{memory("addon-agent", "1Mi")}
			}),
			wantError: `spec.resourceRequirements[0].containerID: "addon-agent" must be <kind>:<name>:<container>`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.installed == nil {
				test.installed = onCluster("cluster1")
			}
			cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: test.installed.Namespace}}
			if test.registries != "" {
				cluster.Annotations = map[string]string{clusterv1.ClusterImageRegistriesAnnotationKey: test.registries}
			}
			got, err := settle(image, cluster, test.installed, test.config)
			if test.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantError) {
					t.Fatalf("error %v does not say %q", err, test.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(toBase(test.want), got, cmp.AllowUnexported(settings{})); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
