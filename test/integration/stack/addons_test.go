package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// portal is at the top of the stack.
const portal = "portal"

// needs is the stack: what each add-on requires.
var needs = map[string][]string{
	portal: {"gateway", "tunnel"}, "gateway": {"tokens"}, "tunnel": {"tokens", "certs"}, "tokens": nil, "certs": nil,
}

// declaration of an add-on of a run: ordered, and with automatic installation of what it requires.
func declaration(name string, run uint64, install string) string {
	var edges []string
	for _, need := range needs[name] {
		edges = append(edges, fmt.Sprintf("{name: %s, install: %s}", of(need, run), install))
	}
	return "{ordering: Install, dependencies: [" + strings.Join(edges, ", ") + "]}"
}

// registered are the AddOnTemplate and the registration of an add-on of a run. Its owner consents to its installation.
func registered(name string, run uint64, install string) []client.Object {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: of(name, run), Annotations: map[string]string{
		interlockv1alpha1.DependenciesAnnotation:    declaration(name, run, install),
		interlockv1alpha1.InstallOnDemandAnnotation: "true",
		// All three clusters are more than half of the fleet.
		interlockv1alpha1.ApproveInstallAnnotation: "3",
	}}}
	registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
	registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
		DefaultConfig:       &addonv1alpha1.ConfigReferent{Name: of(name, run)},
	}}
	return []client.Object{registration, template(of(name, run))}
}

func template(addOn string) *addonv1alpha1.AddOnTemplate {
	GinkgoHelper()
	labels := map[string]string{"app": addOn}
	content, err := json.Marshal(&appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: ocm.AddOnNamespace, Name: addOn},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: "registry.example/agent"}}},
			},
		},
	})
	Expect(err).NotTo(HaveOccurred())
	of := &addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: addOn}}
	of.Spec.AddonName = addOn
	of.Spec.AgentSpec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: content}}}
	return of
}

func installed(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
}

// probe waits until the gate rule is in force, and the webhook closes gates. It needs an add-on that is installed.
func probe(ctx context.Context) {
	GinkgoHelper()
	for _, object := range append(registered("certs", 0, "Never"), installed(clusters[0], of("certs", 0))) {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	Eventually(leader).WithContext(ctx).Should(BeNumerically(">=", 0))
	Expect(hub.Client.Create(ctx, registered(portal, 0, "Never")[0])).To(Succeed())
	waitsAtCreation(ctx, portal, 0)
}

// waitsAtCreation waits until the webhook closes the gate of an add-on: it has read what the add-on declares.
func waitsAtCreation(ctx context.Context, name string, run uint64) {
	GinkgoHelper()
	Eventually(func() (map[string]string, error) {
		trial := installed(clusters[0], of(name, run))
		err := hub.Client.Create(ctx, trial, client.DryRunAll)
		return trial.Annotations, err
	}).WithContext(ctx).WithPolling(100 * time.Millisecond).Should(HaveKeyWithValue(interlockv1alpha1.GateAnnotation, interlockv1alpha1.GateClosed))
}
