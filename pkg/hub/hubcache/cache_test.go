package hubcache

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

var (
	configResource   = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: fleet.ResourceConfig}
	templateResource = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: fleet.ResourceTemplate}
)

// reference returns a config reference as OCM writes it.
func reference(resource ocmv1alpha1.ConfigGroupResource, namespace, desired, applied string) ocmv1alpha1.ConfigReference {
	config := func(name string) *ocmv1alpha1.ConfigSpecHash {
		return &ocmv1alpha1.ConfigSpecHash{
			ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: namespace, Name: name},
			SpecHash:       "hash of " + name,
		}
	}
	return ocmv1alpha1.ConfigReference{ConfigGroupResource: resource, DesiredConfig: config(desired), LastAppliedConfig: config(applied)}
}

var deleted = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// fullMeta returns the metadata of objects on a real hub.
func fullMeta() metav1.ObjectMeta {
	meta := keptMeta()
	meta.Labels = map[string]string{"addon.open-cluster-management.io/hosted-manifest-location": strings.Repeat("a", 60)}
	meta.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("a", 2000)}
	meta.Finalizers = []string{"cluster.open-cluster-management.io/addon-pre-delete"}
	meta.OwnerReferences = []metav1.OwnerReference{{Kind: "ClusterManagementAddOn", Name: "leaf"}}
	meta.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "registration", FieldsV1: &metav1.FieldsV1{Raw: make([]byte, 3000)}}}
	meta.Generation = 7
	meta.CreationTimestamp = deleted
	return meta
}

func keptMeta() metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "cluster1", Name: "leaf", UID: "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", ResourceVersion: "123456", DeletionTimestamp: &deleted,
	}
}

func conditions(types ...string) []metav1.Condition {
	var list []metav1.Condition
	for _, conditionType := range types {
		list = append(
			list,
			metav1.Condition{
				Type:               conditionType,
				Status:             metav1.ConditionTrue,
				Reason:             "Tested",
				Message:            "as tested",
				LastTransitionTime: deleted,
			},
		)
	}
	return list
}

func fullManagedClusterAddOn() *addonv1alpha1.ManagedClusterAddOn {
	full := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: fullMeta()}
	full.Spec.Configs = []ocmv1alpha1.AddOnConfig{{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: "leaf"}}}
	full.Status.Namespace = "open-cluster-management-agent-addon"
	full.Status.HealthCheck.Mode = "Lease"
	full.Annotations["short"], full.Annotations["long"] = "kept", strings.Repeat("a", fleet.MaxAnnotation+1)
	full.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{
		{
			ConfigGroupResource: configResource, ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: "cluster1", Name: "deprecated"},
			DesiredConfig: &ocmv1alpha1.ConfigSpecHash{
				ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: "cluster1", Name: "desired"}, SpecHash: strings.Repeat("a", 64),
			},
		},
		{
			ConfigGroupResource: templateResource,
			ConfigReferent:      ocmv1alpha1.ConfigReferent{Name: "deprecated"},
			DesiredConfig: &ocmv1alpha1.ConfigSpecHash{
				ConfigReferent: ocmv1alpha1.ConfigReferent{Name: "template-v2"}, SpecHash: strings.Repeat("b", 64),
			},
			LastAppliedConfig: &ocmv1alpha1.ConfigSpecHash{
				ConfigReferent: ocmv1alpha1.ConfigReferent{Name: "template-v1"}, SpecHash: strings.Repeat("c", 64),
			},
		},
		{ConfigGroupResource: configResource, ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: "cluster1", Name: "old"}},
	}
	full.Status.Conditions = conditions("Configured", "Available", "Progressing", "Degraded", "RegistrationApplied")
	return full
}

func TestCacheKeepsOnlyNeededFields(t *testing.T) {
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: fullMeta()}
	registration.Annotations[addonv1alpha1.DependenciesAnnotation] = "[]"
	registration.Annotations[addonv1alpha1.AddOnVersionAnnotation] = "1.2.3"
	registration.Annotations[addonv1alpha1.FormerVersionAnnotation] = "1.2.2"
	registration.Spec.Requirements = &addonv1alpha1.AddonRequirements{Kubernetes: ">= 1.28"}
	registration.Spec.Provides = []addonv1alpha1.AddonAPI{{Kind: "Pod"}}
	registration.Spec.Ordering = addonv1alpha1.OrderingInstall
	registration.Spec.AddOnMeta.Description = strings.Repeat("a", 2000)
	registration.Spec.InstallStrategy = ocmv1alpha1.InstallStrategy{Type: "Placements", Placements: []ocmv1alpha1.PlacementStrategy{{
		PlacementRef: ocmv1alpha1.PlacementRef{Namespace: "places", Name: "all"},
		Configs:      []ocmv1alpha1.AddOnConfig{{ConfigGroupResource: configResource}},
	}}}
	registration.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "base"}}
	wantRegistered := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: keptMeta()}
	wantRegistered.Generation = registration.Generation // shows changes of spec whose fields the cache lacks
	wantRegistered.Annotations = map[string]string{
		addonv1alpha1.DependenciesAnnotation: "[]", addonv1alpha1.AddOnVersionAnnotation: "1.2.3", addonv1alpha1.FormerVersionAnnotation: "1.2.2",
	}
	wantRegistered.Spec.InstallStrategy = ocmv1alpha1.InstallStrategy{Type: "Placements", Placements: []ocmv1alpha1.PlacementStrategy{{
		PlacementRef: ocmv1alpha1.PlacementRef{Namespace: "places", Name: "all"},
	}}}
	wantRegistered.Spec.Dependencies = registration.Spec.Dependencies
	wantRegistered.Spec.Requirements, wantRegistered.Spec.Provides = registration.Spec.Requirements, registration.Spec.Provides
	wantRegistered.Spec.Ordering = registration.Spec.Ordering

	wantInstalled := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: keptMeta()}
	wantInstalled.CreationTimestamp = fullMeta().CreationTimestamp
	wantInstalled.Generation = fullMeta().Generation // shows that another writer has configured it
	wantInstalled.Labels = fullMeta().Labels
	wantInstalled.Annotations = map[string]string{"short": "kept"}
	wantInstalled.Status.Conditions = conditions("Available", "Degraded")
	wantInstalled.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{
		{
			ConfigGroupResource: configResource, DesiredConfig: fullManagedClusterAddOn().Status.ConfigReferences[0].DesiredConfig,
		},
		{
			ConfigGroupResource: templateResource,
			DesiredConfig:       fullManagedClusterAddOn().Status.ConfigReferences[1].DesiredConfig,
			LastAppliedConfig:   fullManagedClusterAddOn().Status.ConfigReferences[1].LastAppliedConfig,
		},
	}

	cluster := &clusterv1.ManagedCluster{ObjectMeta: fullMeta()}
	cluster.Status.Conditions = conditions("HubAcceptedManagedCluster", clusterv1.ManagedClusterConditionAvailable)
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "product", Value: "OpenShift"}}
	cluster.Status.Version.Kubernetes = "v1.31.2"
	cluster.Status.Capacity = clusterv1.ResourceList{"cpu": resource.MustParse("8")}
	cluster.Spec.Taints = []clusterv1.Taint{{Key: "a"}}
	wantCluster := &clusterv1.ManagedCluster{ObjectMeta: keptMeta()}
	wantCluster.Labels = cluster.Labels
	wantCluster.Status.Version, wantCluster.Status.ClusterClaims = cluster.Status.Version, cluster.Status.ClusterClaims
	wantCluster.Status.Conditions = conditions(clusterv1.ManagedClusterConditionAvailable)

	config := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: fullMeta()}
	config.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{{Name: "mode", Value: "proxy"}}
	config.Spec.AgentInstallNamespace = "somewhere"
	wantConfig := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: keptMeta()}
	wantConfig.Generation = config.Generation // shows changes of spec whose fields the cache lacks
	wantConfig.Spec.CustomizedVariables = config.Spec.CustomizedVariables

	template := &addonv1alpha1.AddOnTemplate{ObjectMeta: fullMeta()}
	template.Spec.AddonName = "proxy"
	template.Spec.AgentSpec.DeleteOption = &workv1.DeleteOption{}
	template.Annotations[addonv1alpha1.TemplateDependenciesAnnotation] = "[]"
	template.Labels[addonv1alpha1.TemplateVersionLabel] = "1.0.0"
	wantTemplate := &addonv1alpha1.AddOnTemplate{ObjectMeta: keptMeta()}
	wantTemplate.Spec.AddonName = "proxy"
	wantTemplate.Annotations = map[string]string{addonv1alpha1.TemplateDependenciesAnnotation: "[]"}
	wantTemplate.Labels = map[string]string{addonv1alpha1.TemplateVersionLabel: "1.0.0"}

	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: fullMeta()}
	decision.Labels[clusterv1beta1.PlacementLabel] = "selects"
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "cluster1", Reason: "it fits"}}
	wantDecision := &clusterv1beta1.PlacementDecision{ObjectMeta: keptMeta()}
	wantDecision.Labels = map[string]string{clusterv1beta1.PlacementLabel: "selects"}
	wantDecision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "cluster1"}}

	placement := &clusterv1beta1.Placement{ObjectMeta: fullMeta()}
	placement.Spec.ClusterSets = []string{"global"}
	placement.Spec.Tolerations = []clusterv1beta1.Toleration{{Operator: clusterv1beta1.TolerationOpExists}}
	placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": "edge"}},
	}}}
	wantPlacement := &clusterv1beta1.Placement{ObjectMeta: keptMeta()}
	wantPlacement.Spec.Tolerations, wantPlacement.Spec.Predicates = placement.Spec.Tolerations, placement.Spec.Predicates

	crd := fleet.CRD()
	crd.ObjectMeta = fullMeta()
	crd.Annotations[names.OCMVersion] = "1.3.1"
	wantCRD := fleet.CRD()
	wantCRD.ObjectMeta = keptMeta()
	wantCRD.Annotations = map[string]string{names.OCMVersion: "1.3.1"}

	namespace := fleet.Namespace()
	namespace.ObjectMeta = fullMeta()
	wantNamespace := fleet.Namespace()
	wantNamespace.ObjectMeta = keptMeta()

	policy := &dependencyv1alpha1.AddOnDependencyPolicy{ObjectMeta: fullMeta()}
	policy.Spec.Overrides = []dependencyv1alpha1.DependencyOverride{{AddOn: "leaf", Dependency: "base", Type: "Optional"}}
	policy.Status.Conditions = conditions(dependencyv1alpha1.PolicyAccepted)
	wantPolicy := &dependencyv1alpha1.AddOnDependencyPolicy{ObjectMeta: keptMeta(), Spec: policy.Spec, Status: policy.Status}
	wantPolicy.Generation = policy.Generation

	tested := map[string]bool{}
	for _, test := range []struct{ full, want client.Object }{
		{registration, wantRegistered},
		{fullManagedClusterAddOn(), wantInstalled},
		{cluster, wantCluster},
		{config, wantConfig},
		{template, wantTemplate},
		{crd, wantCRD},
		{namespace, wantNamespace},
		{decision, wantDecision},
		{placement, wantPlacement},
		{policy, wantPolicy},
	} {
		t.Run(kindOf(test.full), func(t *testing.T) {
			got := ingest(t, test.full)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(got, ingest(t, got.(client.Object).DeepCopyObject().(client.Object))); diff != "" {
				t.Errorf("a second time changes it:\n%s", diff)
			}
			tested[kindOf(test.full)] = true
		})
	}
	for object := range cached() {
		if !tested[kindOf(object)] {
			t.Errorf("%s is cached, but not tested", kindOf(object))
		}
	}
}

func kindOf(object client.Object) string {
	return fmt.Sprintf("%T %s", object, object.GetObjectKind().GroupVersionKind().Kind)
}

// cached has the kinds of both caches.
func cached() map[client.Object]cache.ByObject {
	options := Options().ByObject
	maps.Copy(options, LazyOptions().ByObject)
	return options
}

// ingest transforms an object as the cache does before it stores it.
func ingest(t *testing.T, object client.Object) any {
	t.Helper()
	for kind, options := range cached() {
		if kindOf(kind) == kindOf(object) {
			transformed, err := options.Transform(object)
			if err != nil {
				t.Fatal(err)
			}
			return transformed
		}
	}
	t.Fatalf("%T is not cached", object)
	return nil
}

// The finding on a version that is too long names its length.
// The cache keeps the conditions for the gate only on an add-on with a gate.
func TestTheConditionsOfAGateAreKeptWithIt(t *testing.T) {
	gated := fullManagedClusterAddOn()
	gated.Annotations[addonv1alpha1.GateAnnotation] = addonv1alpha1.GateClosed
	gated.Status.Conditions = append(gated.Status.Conditions, conditions("Installable")...)
	lean := fleet.LeanAddOn(gated)
	want := conditions("Available", "Degraded", "Installable", "RegistrationApplied")
	if diff := cmp.Diff(want, lean.Status.Conditions); diff != "" {
		t.Error(diff)
	}
	if lean.Annotations[addonv1alpha1.GateAnnotation] != addonv1alpha1.GateClosed {
		t.Errorf("annotations %v", lean.Annotations)
	}
}

func TestAVersionIsKeptAtAnyLength(t *testing.T) {
	full := fullManagedClusterAddOn()
	for _, name := range []string{addonv1alpha1.AddOnVersionAnnotation, addonv1alpha1.FormerVersionAnnotation} {
		full.Annotations[name] = strings.Repeat("1", fleet.MaxAnnotation+1)
	}
	annotations := ingest(t, full).(client.Object).GetAnnotations()
	delete(full.Annotations, "long")
	delete(full.Annotations, corev1.LastAppliedConfigAnnotation)
	if diff := cmp.Diff(full.Annotations, annotations); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestAnAddOnTakesAboutOneKibibyte(t *testing.T) {
	full := fullManagedClusterAddOn()
	full.DeletionTimestamp = nil
	lean := ingest(t, full).(*addonv1alpha1.ManagedClusterAddOn).DeepCopy()
	lean.Status.ConfigReferences = nil // add-ons with equal references share them
	encoded, err := json.Marshal(lean)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > 1024 {
		t.Errorf("%d bytes of text: %s", len(encoded), encoded)
	}
}

func TestTombstonesPass(t *testing.T) {
	tombstone := toolscache.DeletedFinalStateUnknown{Key: "cluster1/leaf", Obj: fullManagedClusterAddOn()}
	for _, options := range Options().ByObject {
		got, err := options.Transform(tombstone)
		if err != nil || !cmp.Equal(got, any(tombstone)) {
			t.Errorf("got %v, error %v", got, err)
		}
	}
}

func TestIndexes(t *testing.T) {
	addOn := ingest(t, fullManagedClusterAddOn()).(*addonv1alpha1.ManagedClusterAddOn)
	if diff := cmp.Diff([]string{"cluster1/desired"}, ConfigKeys(addOn)); diff != "" {
		t.Errorf("configs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"template-v1", "template-v2"}, TemplateNames(addOn)); diff != "" {
		t.Errorf("templates (-want +got):\n%s", diff)
	}
	full := &addonv1alpha1.ManagedClusterAddOn{}
	full.Status.Conditions = []metav1.Condition{
		{Type: "Upgradable", Status: metav1.ConditionFalse, Reason: gate.ReasonWaiting},
	}
	waits := ingest(t, ptr.To(fixture.Holds("template-v3", *full))).(*addonv1alpha1.ManagedClusterAddOn)
	if diff := cmp.Diff([]string{"template-v3"}, TemplateNames(waits)); diff != "" {
		t.Errorf("the template that waits (-want +got):\n%s", diff)
	}
	empty := &addonv1alpha1.ManagedClusterAddOn{}
	if ConfigKeys(empty) != nil || TemplateNames(empty) != nil {
		t.Error("an add-on without configs is indexed")
	}
}
