package order

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// rolling is an add-on that Placements install on three managed clusters. third joins for it, without addon-agent. earlyLabel marks the
// clusters with which a rollout by groups begins.
const (
	rolling    = "rolling"
	third      = managedCluster("cluster3")
	earlyLabel = "early"
)

// release creates an AddOnTemplate of the add-on. An empty dependency means that the template has no dependency.
func release(ctx context.Context, name, version, dependency string) {
	GinkgoHelper()
	addOnTemplate := template(name)
	addOnTemplate.Spec.AddonName = rolling
	addOnTemplate.Annotations = map[string]string{interlockv1alpha1.AddOnVersionAnnotation: version}
	if dependency != "" {
		addOnTemplate.Annotations[interlockv1alpha1.TemplateDependenciesAnnotation] = "[{name: " + dependency + "}]"
	}
	Expect(hub.Client.Create(ctx, addOnTemplate)).To(Succeed())
}

// rollOut rolls an AddOnTemplate out, one cluster at a time.
func rollOut(ctx context.Context, template string) {
	GinkgoHelper()
	setStrategy(ctx, oneByOne(template))
}

// setStrategy sets the install strategy of the add-on.
func setStrategy(ctx context.Context, strategy addonv1alpha1.InstallStrategy) {
	GinkgoHelper()
	Eventually(func() error {
		registration := registration(rolling, "")
		if err := hub.Client.Get(ctx, client.ObjectKeyFromObject(registration), registration); err != nil {
			return err
		}
		original := registration.DeepCopy()
		registration.Spec.InstallStrategy = strategy
		return hub.Client.Patch(ctx, registration, client.MergeFrom(original))
	}).WithContext(ctx).Should(Succeed())
}

func oneByOne(template string) addonv1alpha1.InstallStrategy {
	return addonv1alpha1.InstallStrategy{
		Type: addonv1alpha1.AddonInstallStrategyPlacements,
		Placements: []addonv1alpha1.PlacementStrategy{{
			PlacementRef: addonv1alpha1.PlacementRef{Namespace: "default", Name: "everywhere"},
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

// byGroup returns the strategy that rolls an AddOnTemplate out, one group of clusters at a time.
func byGroup(template string) addonv1alpha1.InstallStrategy {
	strategy := oneByOne(template)
	strategy.Placements[0].RolloutStrategy = clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{},
	}
	return strategy
}

// provide installs an add-on, and reports it as available in any version.
func (c managedCluster) provide(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(hub.Client.Create(ctx, c.reference(name))).To(Succeed())
	Eventually(c.reportAvailable).WithContext(ctx).WithArguments(name).Should(Succeed())
}

// reportAvailable reports that an add-on is available, as its own health check would.
func (c managedCluster) reportAvailable(ctx context.Context, name string) error {
	addOn, err := c.addOn(ctx, name)
	if err != nil {
		return err
	}
	addOn.Status.HealthCheck.Mode = addonv1alpha1.HealthCheckModeCustomized
	meta.SetStatusCondition(&addOn.Status.Conditions, metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Tested"})
	return hub.Client.Status().Update(ctx, addOn)
}

// annotateRolling sets an annotation of the add-on that is rolled out.
func (c managedCluster) annotateRolling(ctx context.Context, key, value string) {
	GinkgoHelper()
	setAnnotation(ctx, c.reference(rolling), key, value)
}

// group selects the managed clusters with which a rollout by groups begins.
func group(ctx context.Context, names ...managedCluster) {
	GinkgoHelper()
	for _, name := range names {
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, earlyLabel)
		Expect(hub.Client.Patch(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: string(name)}},
			client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	}
}

func registerOneByOne(ctx context.Context) {
	GinkgoHelper()
	for _, object := range []client.Object{
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "global"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"},
		},
		&clusterv1beta1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "everywhere"},
			Spec: clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
				DecisionGroups: []clusterv1beta1.DecisionGroup{{GroupName: earlyLabel, ClusterSelector: clusterv1beta1.GroupClusterSelector{
					LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{earlyLabel: "true"}},
				}}},
			}}},
		},
	} {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	registration := registration(rolling, "{ordering: InstallAndUpgrade}")
	//nolint:staticcheck // v1alpha1 has no other field for it
	registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
	}}
	registration.Spec.InstallStrategy = oneByOne("rolling-1")
	Expect(hub.Client.Create(ctx, registration)).To(Succeed())
}
