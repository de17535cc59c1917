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

// reference returns a reference in the form that OCM writes. An empty name means no config.
func reference(resource ocmv1alpha1.ConfigGroupResource, namespace, desired, applied string) ocmv1alpha1.ConfigReference {
	result := ocmv1alpha1.ConfigReference{ConfigGroupResource: resource}
	config := func(name string) *ocmv1alpha1.ConfigSpecHash {
		if name == "" {
			return nil
		}
		return &ocmv1alpha1.ConfigSpecHash{
			ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: namespace, Name: name},
			SpecHash:       "hash of " + name,
		}
	}
	result.DesiredConfig, result.LastAppliedConfig = config(desired), config(applied)
	return result
}

// lean returns an add-on in the form that a cache keeps.
func lean(full *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	kept := full.DeepCopy()
	kept.Status.ConfigReferences = LeanReferences(full.Status.ConfigReferences)
	return kept
}

// running returns an add-on with a running and a desired AddOnTemplate.
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
		"FirstReference": {[]ocmv1alpha1.ConfigReference{elsewhere, template("a", "a"), template("b", "b")}, Templates{Running: "a"}},
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
		changed *addonv1alpha1.ManagedClusterAddOn
		same    bool
	}{
		"Equal":           {base(), true},
		"AnotherTemplate": {lean(running("b", "b")), false},
		"AnotherRollout":  {lean(running("a", "c")), false},
		"Annotation":      {annotated(base(), addonv1alpha1.AddOnVersionAnnotation), false},
		"FormerKey":       {annotated(base(), addonv1alpha1.FormerVersionAnnotation), false},
		"AnotherKey":      {annotated(base(), "tier"), true},
	} {
		if got := SameVersionSources(base(), tc.changed); got != tc.same {
			t.Errorf("%s: same is %t", name, got)
		}
	}
}

func annotated(addOn *addonv1alpha1.ManagedClusterAddOn, key string) *addonv1alpha1.ManagedClusterAddOn {
	metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, key, "1.0.0")
	return addOn
}

// configs is the source of addon-framework's AddOnDeploymentConfigs.
type configs map[types.NamespacedName]*ocmv1beta1.AddOnDeploymentConfig

func (c configs) Get(_ context.Context, namespace, name string) (*ocmv1beta1.AddOnDeploymentConfig, error) {
	config, exists := c[types.NamespacedName{Namespace: namespace, Name: name}]
	if !exists {
		return nil, errors.New("not found")
	}
	return config, nil
}

// randomReferences returns references to a few configs. Some configs do not exist, and some
// references lack fields that OCM's controllers sometimes leave out.
func randomReferences(random *rand.Rand) []ocmv1alpha1.ConfigReference {
	resources := []ocmv1alpha1.ConfigGroupResource{
		configResource, configResource, templateResource, {Group: "other.io", Resource: ResourceConfig},
	}
	name := func() string { return []string{"", "a", "b", "c", "missing"}[random.IntN(5)] }
	var references []ocmv1alpha1.ConfigReference
	for range random.IntN(5) {
		randomReference := reference(resources[random.IntN(len(resources))], []string{"x", "y"}[random.IntN(2)], name(), name())
		randomReference.ConfigReferent = ocmv1alpha1.ConfigReferent{Namespace: "x", Name: name()}
		if randomReference.DesiredConfig != nil && random.IntN(5) == 0 {
			randomReference.DesiredConfig.SpecHash = ""
		}
		references = append(references, randomReference)
	}
	return references
}

// TestConfigEqualsAddOnFramework tests that the variables for expressions are the variables
// that addon-framework passes to the add-on, for any references.
func TestConfigEqualsAddOnFramework(t *testing.T) {
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
	configured := 0
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		leaf := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "leaf"}}
		leaf.Status.ConfigReferences = randomReferences(random)
		want := addOnFrameworkVariables(t, stored, leaf)
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
			configured++
		}
	}
	if configured < 100 {
		t.Errorf("only %d of 500 add-ons have any variable", configured)
	}
}

// addOnFrameworkVariables returns the variables that addon-framework passes to an add-on.
// They are from the config that GetAddOnDeploymentConfigValues passes to its callers'
// functions. After an error, addon-framework renders nothing and passes no variables.
func addOnFrameworkVariables(t *testing.T, stored configs, installed *addonv1alpha1.ManagedClusterAddOn) map[string]string {
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

func TestAwaitedConfig(t *testing.T) {
	missing, found := reference(configResource, "c", "interlock-a", ""), reference(configResource, "c", "mine", "")
	missing.DesiredConfig.SpecHash = ""
	unnamed := reference(configResource, "c", "mine", "")
	unnamed.DesiredConfig = &ocmv1alpha1.ConfigSpecHash{}
	for name, test := range map[string]struct {
		references []ocmv1alpha1.ConfigReference
		want       string
	}{
		"None":         {},
		"Template":     {references: []ocmv1alpha1.ConfigReference{reference(templateResource, "", "a", "")}},
		"Missing":      {references: []ocmv1alpha1.ConfigReference{missing}, want: "c/interlock-a"},
		"Found":        {references: []ocmv1alpha1.ConfigReference{found}},
		"OnlyTheFirst": {references: []ocmv1alpha1.ConfigReference{found, missing}},
		"NotDesired":   {references: []ocmv1alpha1.ConfigReference{reference(configResource, "c", "", "mine")}},
		"WithoutAName": {references: []ocmv1alpha1.ConfigReference{unnamed}},
	} {
		t.Run(name, func(t *testing.T) {
			addOn := &addonv1alpha1.ManagedClusterAddOn{}
			addOn.Status.ConfigReferences = test.references
			config, ok := AwaitedConfig(lean(addOn))
			if ok != (test.want != "") || ok && config.String() != test.want {
				t.Errorf("got %s, %t", config, ok)
			}
		})
	}
}
