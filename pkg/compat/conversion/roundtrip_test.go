package conversion

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/randfill"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// objects is the number of round trips in each direction.
const objects = 10_000

func TestRoundTripFromStorage(t *testing.T) {
	t.Parallel()
	roundTrip[ocmv1alpha1.ClusterManagementAddOn](t, v1alpha1, v1beta1)
}

func TestRoundTripFromV1Beta1(t *testing.T) {
	t.Parallel()
	roundTrip[ocmv1beta1.ClusterManagementAddOn](t, v1beta1, v1alpha1)
}

func TestToV1Beta1IsOCMsConversion(t *testing.T) {
	t.Parallel()
	sameAsOCM(t, v1alpha1, v1beta1, ocmv1beta1.Convert_v1alpha1_ClusterManagementAddOn_To_v1beta1_ClusterManagementAddOn)
}

func TestToV1Alpha1IsOCMsConversion(t *testing.T) {
	t.Parallel()
	sameAsOCM(t, v1beta1, v1alpha1, ocmv1beta1.Convert_v1beta1_ClusterManagementAddOn_To_v1alpha1_ClusterManagementAddOn)
}

// sameAsOCM converts random objects of type In, and compares the results with
// the conversion of the api module. So it fails if the types of a new version of the
// module differ in another field.
func sameAsOCM[In, Out, Scope any](t *testing.T, source, target string, convert func(*In, *Out, Scope) error) {
	t.Helper()
	filler := fuzzer.FuzzerFor(
		fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, dropped),
		rand.New(rand.NewSource(2)),
		serializer.NewCodecFactory(runtime.NewScheme()),
	)
	for i := range objects {
		typed := new(In)
		filler.Fill(typed)
		object := withKind(t, typed, source)
		converted, err := Convert(object, target)
		if err != nil {
			t.Fatalf("object %d: %v\n%s", i, err, object)
		}
		var result Out
		var scope Scope // no function uses it
		if err := convert(decode[In](t, object), &result, scope); err != nil {
			t.Fatal(err)
		}
		want, got := decode[Out](t, withKind(t, &result, target)), decode[Out](t, converted)
		if !equality.Semantic.DeepEqual(want, got) {
			t.Fatalf("object %d (-want +got):\n%s", i, cmp.Diff(want, got))
		}
	}
}

func withKind(t *testing.T, typed any, version string) []byte {
	t.Helper()
	object := asFields(t, encode(t, typed))
	object["apiVersion"], object["kind"] = encode(t, version), encode(t, kind)
	return encode(t, object)
}

func decode[T any](t *testing.T, raw []byte) *T {
	t.Helper()
	typed := new(T)
	if err := json.Unmarshal(raw, typed); err != nil {
		t.Fatal(err)
	}
	return typed
}

// dropped leaves out the fields that OCM's own conversion drops or changes: a deprecated
// field, and default configurations without a name, which no schema allows.
func dropped(serializer.CodecFactory) []any {
	return []any{
		func(*ocmv1alpha1.ConfigCoordinates, randfill.Continue) {},
		func(config *ocmv1alpha1.ConfigMeta, c randfill.Continue) {
			c.FillNoCustom(config)
			if config.DefaultConfig != nil && config.DefaultConfig.Name == "" {
				config.DefaultConfig = nil
			}
		},
		func(config *ocmv1beta1.AddOnConfig, c randfill.Continue) {
			c.FillNoCustom(config)
			if config.Name == "" {
				config.ConfigReferent = ocmv1beta1.ConfigReferent{Name: ocmv1beta1.ReservedNoDefaultConfigName}
			}
		},
	}
}

// roundTrip converts random objects of type T to the target version and back.
// Fields of T must be equal, and all other fields must have the same bytes.
func roundTrip[T any](t *testing.T, source, target string) {
	t.Helper()
	random := rand.New(rand.NewSource(1))
	filler := fuzzer.FuzzerFor(
		fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, dropped),
		random,
		serializer.NewCodecFactory(runtime.NewScheme()),
	)
	for i := range objects {
		typed := new(T)
		filler.Fill(typed)
		object := compose(t, random, typed, source)

		converted, err := Convert(object, target)
		if err != nil {
			t.Fatalf("object %d: %v\n%s", i, err, object)
		}
		back, err := Convert(converted, source)
		if err != nil {
			t.Fatalf("object %d, back: %v\n%s", i, err, converted)
		}
		sameUntyped(t, object, converted)
		sameUntyped(t, object, back)
		want, got := new(T), new(T)
		if err := json.Unmarshal(object, want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(back, got); err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(want, got) {
			t.Fatalf("object %d (-want +got):\n%s", i, cmp.Diff(want, got))
		}
	}
}

// compose makes the JSON of an object: the typed fields, and random values of
// Interlock's fields and of unknown fields. Every tenth object has no spec, every
// tenth no status, and some have null for either.
func compose(t *testing.T, random *rand.Rand, typed any, version string) []byte {
	t.Helper()
	content := asFields(t, encode(t, typed))
	content["apiVersion"], content["kind"] = encode(t, version), encode(t, kind)
	content[newerField(random)] = encode(t, anything(random, 2))
	for _, name := range []string{"spec", "status"} {
		tree := decoded(t, content[name]).(map[string]any)
		addNewer(random, tree)
		if name == "spec" {
			for _, field := range addonv1alpha1.GraftedSpecFields() {
				if random.Intn(5) > 0 {
					tree[field] = anything(random, 4)
				}
			}
		}
		content[name] = encode(t, tree)
		switch random.Intn(20) {
		case 0, 1:
			delete(content, name)
		case 2:
			content[name] = encode(t, nil)
		}
	}
	return encode(t, content)
}

const newer = "newer"

func newerField(random *rand.Rand) string { return fmt.Sprint(newer, random.Intn(3)) }

// addNewer adds unknown fields at any depth, and sets known ones to null. It skips
// two structs that v1beta1 does not have, because they cannot keep any.
func addNewer(random *rand.Rand, node any) {
	switch node := node.(type) {
	case []any:
		for _, element := range node {
			addNewer(random, element)
		}
	case map[string]any:
		for name, value := range node {
			switch {
			case name == "addOnConfiguration" || name == "defaultConfig":
			case (name == "addOnMeta" || name == "placements" || name == "configReferences") && random.Intn(20) == 0:
				node[name] = nil
			default:
				addNewer(random, value)
			}
		}
		if random.Intn(2) == 0 {
			node[newerField(random)] = anything(random, 2)
		}
	}
}

// newerOf collects the unknown fields by their path. It maps the two renamed lists to their names in v1beta1, so that paths
// are the same in both versions.
func newerOf(t *testing.T, path string, node any, fields map[string]string) map[string]string {
	t.Helper()
	switch node := node.(type) {
	case []any:
		for i, element := range node {
			newerOf(t, fmt.Sprint(path, "[", i, "]"), element, fields)
		}
	case map[string]any:
		for name, value := range node {
			switch name {
			case "supportedConfigs":
				name = "defaultConfigs"
			case "defaultconfigReferences":
				name = "defaultConfigReferences"
			}
			if strings.HasPrefix(name, newer) {
				fields[path+"."+name] = string(encode(t, value))
				continue
			}
			newerOf(t, path+"."+name, value, fields)
		}
	}
	return fields
}

// anything returns a random JSON value. Conversion must keep every value, because only the CRD's schema limits them.
func anything(random *rand.Rand, depth int) any {
	switch kind := random.Intn(7); {
	case kind == 0:
		return nil
	case kind == 1:
		return random.Int63()
	case kind == 2:
		return random.NormFloat64()
	case kind == 3 || depth == 0:
		return fmt.Sprintf("<%q & %c>", random.Int(), rune(0x4e00+random.Intn(1000)))
	case kind < 6:
		list := make([]any, random.Intn(4))
		for i := range list {
			list[i] = anything(random, depth-1)
		}
		return list
	default:
		object := map[string]any{}
		for range random.Intn(4) {
			object[fmt.Sprint("key", random.Intn(100))] = anything(random, depth-1)
		}
		return object
	}
}

// sameUntyped compares the bytes of the fields that conversion must not change.
func sameUntyped(t *testing.T, original, converted []byte) {
	t.Helper()
	want, got := newerOf(t, "", decoded(t, original), map[string]string{}), newerOf(t, "", decoded(t, converted), map[string]string{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("unknown fields (-before +after):\n%s\n%s", diff, original)
	}
	a, b := asFields(t, original), asFields(t, converted)
	for _, name := range []string{"metadata", "kind"} {
		if string(a[name]) != string(b[name]) {
			t.Fatalf("%s: before %s, after %s", name, a[name], b[name])
		}
	}
	for _, name := range []string{"spec", "status"} {
		_, inOriginal := a[name]
		if _, inConverted := b[name]; inOriginal != inConverted {
			t.Fatalf("%s: present before %t, after %t", name, inOriginal, inConverted)
		}
	}
	if a["spec"] == nil || string(a["spec"]) == "null" {
		return
	}
	original, converted = a["spec"], b["spec"]
	a, b = asFields(t, original), asFields(t, converted)
	for _, name := range addonv1alpha1.GraftedSpecFields() {
		_, inOriginal := a[name]
		if _, inConverted := b[name]; inOriginal != inConverted || string(a[name]) != string(b[name]) {
			t.Fatalf("spec.%s: before %s, after %s", name, a[name], b[name])
		}
	}
}

func asFields(t *testing.T, raw []byte) fields {
	t.Helper()
	var content fields
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	return content
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
