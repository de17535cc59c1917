package agentaddon

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/yaml"
)

func rendered(t *testing.T, s settings) []runtime.Object {
	t.Helper()
	objects, err := render(s)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// summary is kind, namespace, name, where it goes in hosted mode, and whether
// it stays when the add-on goes.
func summary(objects []runtime.Object) []string {
	var lines []string
	for _, object := range objects {
		about := object.(metav1.Object)
		_, orphaned := about.GetAnnotations()[addonv1beta1.DeletionOrphanAnnotationKey]
		line := fmt.Sprintf("%s %s/%s %s", object.GetObjectKind().GroupVersionKind().Kind, about.GetNamespace(), about.GetName(),
			about.GetAnnotations()[addonv1beta1.HostedManifestLocationAnnotationKey])
		if orphaned {
			line += " stays"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestRender(t *testing.T) {
	for _, test := range []struct {
		name  string
		given settings
		want  []string
	}{
		{"on its own cluster", settings{cluster: "cluster1", namespace: "shared"}, []string{
			"Namespace /shared hosting stays", "ServiceAccount shared/interlock-addon-agent hosting",
			"ClusterRole /interlock-addon-agent hosting", "ClusterRoleBinding /interlock-addon-agent hosting",
			"Role shared/interlock-addon-agent hosting", "RoleBinding shared/interlock-addon-agent hosting",
			"Deployment shared/interlock-addon-agent hosting",
		}},
		{"hosted", settings{cluster: "cluster1", namespace: "interlock-agent-cluster1", hosted: true, managedSecret: "s"}, []string{
			"Namespace /interlock-agent-cluster1 hosting", "ServiceAccount interlock-agent-cluster1/interlock-addon-agent hosting",
			"ClusterRole /interlock-addon-agent:cluster1 hosting", "ClusterRoleBinding /interlock-addon-agent:cluster1 hosting",
			"Role interlock-agent-cluster1/interlock-addon-agent hosting", "RoleBinding interlock-agent-cluster1/interlock-addon-agent hosting",
			"Deployment interlock-agent-cluster1/interlock-addon-agent hosting",
			"ClusterRole /interlock-addon-agent managed",
		}},
		{"behind a proxy", settings{cluster: "c", namespace: "n", proxy: addonv1beta1.ProxyConfig{HTTPSProxy: "https://p", CABundle: []byte("CA")}}, []string{
			"Namespace /n hosting stays", "ServiceAccount n/interlock-addon-agent hosting",
			"ClusterRole /interlock-addon-agent hosting", "ClusterRoleBinding /interlock-addon-agent hosting",
			"Role n/interlock-addon-agent hosting", "RoleBinding n/interlock-addon-agent hosting",
			"ConfigMap n/interlock-addon-agent-proxy-ca hosting", "Deployment n/interlock-addon-agent hosting",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects := rendered(t, test.given)
			if diff := cmp.Diff(test.want, summary(objects)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			for _, object := range objects {
				if binding, ok := object.(*rbacv1.ClusterRoleBinding); ok && binding.Subjects[0].Namespace != test.given.namespace {
					t.Errorf("ClusterRoleBinding of %v", binding.Subjects)
				}
			}
		})
	}
}

func TestEachClusterHasItsOwnObjects(t *testing.T) {
	first := summary(rendered(t, settings{cluster: "a", namespace: "a"}))
	rendered(t, settings{cluster: "b", namespace: "b", hosted: true, proxy: addonv1beta1.ProxyConfig{HTTPProxy: "p"}})
	if diff := cmp.Diff(first, summary(rendered(t, settings{cluster: "a", namespace: "a"}))); diff != "" {
		t.Errorf("what is rendered for one cluster changes that of another:\n%s", diff)
	}
}

func TestPod(t *testing.T) {
	objects := rendered(t, settings{
		cluster: "c", namespace: "n", hosted: true, managedSecret: "managed", image: image, pullPolicy: corev1.PullAlways,
		proxy: addonv1beta1.ProxyConfig{HTTPProxy: "http://p", CABundle: []byte("CA")},
	})
	index := slices.IndexFunc(objects, func(object runtime.Object) bool { _, ok := object.(*appsv1.Deployment); return ok })
	pod := objects[index].(*appsv1.Deployment).Spec.Template.Spec
	agent := pod.Containers[0]
	want := []string{
		"--hub-kubeconfig=/var/run/hub/kubeconfig", "--log-format=json", "--cluster-name=c", "--own-lease=n/interlock-agent",
		"--kubeconfig=/var/run/managed/kubeconfig", "--hosting-kubeconfig=in-cluster", "--proxy-ca-file=/var/run/proxy/ca-bundle.crt",
	}
	if diff := cmp.Diff(want, agent.Args); diff != "" {
		t.Errorf("arguments -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]corev1.EnvVar{{Name: "HTTP_PROXY", Value: "http://p"}}, agent.Env); diff != "" {
		t.Errorf("environment -want +got:\n%s", diff)
	}
	var mounted []string
	for i, mount := range agent.VolumeMounts {
		if !mount.ReadOnly || pod.Volumes[i].Name != mount.Name {
			t.Errorf("mount %v of volume %v", mount, pod.Volumes[i])
		}
		mounted = append(mounted, mount.MountPath)
	}
	if diff := cmp.Diff([]string{"/var/run/hub", "/var/run/managed", "/var/run/proxy"}, mounted); diff != "" {
		t.Errorf("mounts -want +got:\n%s", diff)
	}
	restricted := agent.SecurityContext
	if *restricted.AllowPrivilegeEscalation || !*restricted.ReadOnlyRootFilesystem || !*pod.SecurityContext.RunAsNonRoot ||
		restricted.Capabilities.Drop[0] != "ALL" || pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("not what the restricted Pod Security Standard asks for: %v, %v", restricted, pod.SecurityContext)
	}
}

func TestTheAgentHasTheSameRightsOnTheHubHoweverItIsInstalled(t *testing.T) {
	var byHand, asAddOn rbacv1.ClusterRole
	for file, role := range map[string]*rbacv1.ClusterRole{"agent/hub-role.yaml": &byHand, "hub/agent-hub-clusterrole.yaml": &asAddOn} {
		content, err := os.ReadFile("../../../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(content, role); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(byHand.Rules, asAddOn.Rules); diff != "" {
		t.Errorf("copy the rules of deploy/agent/hub-role.yaml (-) to deploy/hub/agent-hub-clusterrole.yaml (+):\n%s", diff)
	}
	if asAddOn.Name != hubClusterRole {
		t.Errorf("addon-manager binds %s, the role is called %s", hubClusterRole, asAddOn.Name)
	}
}
