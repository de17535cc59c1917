package fleet

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"open-cluster-management.io/addon-framework/pkg/utils"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var (
	configResource   = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: ResourceConfig}
	templateResource = ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: ResourceTemplate}
)

// reference is one as OCM writes it; an empty name stands for no such config.
func reference(of ocmv1alpha1.ConfigGroupResource, namespace, desired, applied string) ocmv1alpha1.ConfigReference {
	made := ocmv1alpha1.ConfigReference{ConfigGroupResource: of}
	config := func(name string) *ocmv1alpha1.ConfigSpecHash {
		if name == "" {
			return nil
		}
		return &ocmv1alpha1.ConfigSpecHash{
			ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: namespace, Name: name},
			SpecHash:       "hash of " + name,
		}
	}
	made.DesiredConfig, made.LastAppliedConfig = config(desired), config(applied)
	return made
}

// lean is an add-on as a cache keeps it.
func lean(full *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	kept := full.DeepCopy()
	kept.Status.ConfigReferences = LeanReferences(full.Status.ConfigReferences)
	return kept
}

// running is an add-on with the AddOnTemplate that runs and the desired one.
func running(template, desired string) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	addOn.Status.ConfigReferences = append(addOn.Status.ConfigReferences, reference(templateResource, "", desired, template))
	return addOn
}

func TestTemplatesOf(t *testing.T) {
	template := func(desired, applied string) ocmv1alpha1.ConfigReference {
		return reference(templateResource, "", desired, applied)
	}
	elsewhere := reference(ocmv1alpha1.ConfigGroupResource{Group: "other.io", Resource: ResourceTemplate}, "", "a", "a")
	edited := template("a", "a")
	edited.LastAppliedConfig.SpecHash = "of before"
	for name, tc := range map[string]struct {
		references []ocmv1alpha1.ConfigReference
		want       Templates
	}{
		"None":           {nil, Templates{}},
		"AnotherKind":    {[]ocmv1alpha1.ConfigReference{reference(configResource, "x", "a", "a")}, Templates{}},
		"AnotherGroup":   {[]ocmv1alpha1.ConfigReference{elsewhere}, Templates{}},
		"NotAppliedYet":  {[]ocmv1alpha1.ConfigReference{template("b", "")}, Templates{"", "b"}},
		"EditedInPlace":  {[]ocmv1alpha1.ConfigReference{edited}, Templates{"", "a"}},
		"Runs":           {[]ocmv1alpha1.ConfigReference{template("a", "a")}, Templates{Running: "a"}},
		"Rollout":        {[]ocmv1alpha1.ConfigReference{template("b", "a")}, Templates{"a", "b"}},
		"NoneDesired":    {[]ocmv1alpha1.ConfigReference{template("", "a")}, Templates{Running: "a"}},
		"TheFirstCounts": {[]ocmv1alpha1.ConfigReference{elsewhere, template("a", "a"), template("b", "b")}, Templates{Running: "a"}},
	} {
		full := &addonv1alpha1.ManagedClusterAddOn{}
		full.Status.ConfigReferences = tc.references
		for kind, addOn := range map[string]*addonv1alpha1.ManagedClusterAddOn{"full": full, "lean": lean(full)} {
			if got := TemplatesOf(addOn); got != tc.want {
				t.Errorf("%s, %s: %+v, want %+v", name, kind, got, tc.want)
			}
		}
	}
}

func TestSameVersionSources(t *testing.T) {
	base := func() *addonv1alpha1.ManagedClusterAddOn { return lean(running("a", "b")) }
	for name, tc := range map[string]struct {
		other *addonv1alpha1.ManagedClusterAddOn
		same  bool
	}{
		"Equal":           {base(), true},
		"AnotherTemplate": {lean(running("b", "b")), false},
		"AnotherRollout":  {lean(running("a", "c")), false},
		"Annotation":      {annotated(base(), addonv1alpha1.AddOnVersionAnnotation), false},
		"FormerKey":       {annotated(base(), addonv1alpha1.FormerVersionAnnotation), false},
		"AnotherKey":      {annotated(base(), "tier"), true},
	} {
		if got := SameVersionSources(base(), tc.other); got != tc.same {
			t.Errorf("%s: same is %t", name, got)
		}
	}
}

func annotated(addOn *addonv1alpha1.ManagedClusterAddOn, key string) *addonv1alpha1.ManagedClusterAddOn {
	metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, key, "1.0.0")
	return addOn
}

// configs is what addon-framework reads an AddOnDeploymentConfig from.
type configs map[types.NamespacedName]*ocmv1beta1.AddOnDeploymentConfig

func (c configs) Get(_ context.Context, namespace, name string) (*ocmv1beta1.AddOnDeploymentConfig, error) {
	config, exists := c[types.NamespacedName{Namespace: namespace, Name: name}]
	if !exists {
		return nil, errors.New("not found")
	}
	return config, nil
}

// randomReferences are references to a few configs, of which not all exist, with
// everything that OCM's controllers leave out at times left out at times.
func randomReferences(random *rand.Rand) []ocmv1alpha1.ConfigReference {
	of := []ocmv1alpha1.ConfigGroupResource{configResource, configResource, templateResource, {Group: "other.io", Resource: ResourceConfig}}
	name := func() string { return []string{"", "a", "b", "c", "missing"}[random.IntN(5)] }
	var references []ocmv1alpha1.ConfigReference
	for range random.IntN(5) {
		made := reference(of[random.IntN(len(of))], []string{"x", "y"}[random.IntN(2)], name(), name())
		made.ConfigReferent = ocmv1alpha1.ConfigReferent{Namespace: "x", Name: name()}
		if made.DesiredConfig != nil && random.IntN(5) == 0 {
			made.DesiredConfig.SpecHash = ""
		}
		references = append(references, made)
	}
	return references
}

// What an expression reads as config is what addon-framework gives the add-on,
// whatever its references are.
func TestConfigIsWhatAddOnFrameworkGives(t *testing.T) {
	stored := configs{}
	var objects []client.Object
	for _, namespace := range []string{"x", "y"} {
		for _, name := range []string{"a", "b", "c"} {
			object := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			object.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{
				{Name: "from", Value: namespace + "/" + name}, {Name: "only-" + name, Value: "1"}, {Name: "only-" + name, Value: "2"},
			}
			objects = append(objects, object)
			converted := &ocmv1beta1.AddOnDeploymentConfig{}
			stock := &ocmv1alpha1.AddOnDeploymentConfig{ObjectMeta: object.ObjectMeta, Spec: object.Spec}
			if err := ocmv1beta1.Convert_v1alpha1_AddOnDeploymentConfig_To_v1beta1_AddOnDeploymentConfig(stock, converted, nil); err != nil {
				t.Fatal(err)
			}
			stored[client.ObjectKeyFromObject(object)] = converted
		}
	}
	reader, _ := hub(t, nil, objects...)
	some := 0
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		leaf := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "leaf"}}
		leaf.Status.ConfigReferences = randomReferences(random)
		want := asAddOnFrameworkGives(t, stored, leaf)
		for kind, addOn := range map[string]*addonv1alpha1.ManagedClusterAddOn{"full": leaf, "lean": lean(leaf)} {
			got := map[string]string{}
			if key, refers := ConfigOf(addOn); refers {
				variables, read, err := Objects{Reader: reader}.Config(t.Context(), key)
				if err != nil || !read {
					t.Fatal(err)
				}
				maps.Copy(got, variables)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, %s, references %+v (-addon-framework +Interlock):\n%s", seed, kind, addOn.Status.ConfigReferences, diff)
			}
		}
		if len(want) > 0 {
			some++
		}
	}
	if some < 100 {
		t.Errorf("only %d of 500 add-ons are given any variable", some)
	}
}

// asAddOnFrameworkGives returns the variables that addon-framework gives an add-on:
// those of the config that GetAddOnDeploymentConfigValues passes to its callers'
// functions. Where that returns an error, it renders nothing, and gives none.
func asAddOnFrameworkGives(t *testing.T, stored configs, installed *addonv1alpha1.ManagedClusterAddOn) map[string]string {
	t.Helper()
	stock := &ocmv1alpha1.ManagedClusterAddOn{ObjectMeta: installed.ObjectMeta, Spec: installed.Spec, Status: installed.Status}
	converted := &ocmv1beta1.ManagedClusterAddOn{}
	if err := ocmv1beta1.Convert_v1alpha1_ManagedClusterAddOn_To_v1beta1_ManagedClusterAddOn(stock, converted, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	config, err := utils.GetDesiredAddOnDeploymentConfig(converted, stored)
	if err != nil || config == nil {
		return want
	}
	for _, variable := range config.Spec.CustomizedVariables {
		want[variable.Name] = variable.Value
	}
	return want
}
