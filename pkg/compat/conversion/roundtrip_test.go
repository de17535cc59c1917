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

// objects is how many are converted there and back in each direction.
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
// those of the api module. It fails when the types of another version of the
// module differ in a further field.
func sameAsOCM[In, Out, Scope any](t *testing.T, version, other string, convert func(*In, *Out, Scope) error) {
	t.Helper()
	filler := fuzzer.FuzzerFor(
		fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, dropped),
		rand.New(rand.NewSource(2)),
		serializer.NewCodecFactory(runtime.NewScheme()),
	)
	for i := range objects {
		typed := new(In)
		filler.Fill(typed)
		object := withKind(t, typed, version)
		converted, err := Convert(object, other)
		if err != nil {
			t.Fatalf("object %d: %v\n%s", i, err, object)
		}
		var result Out
		var scope Scope // no function uses it
		if err := convert(decode[In](t, object), &result, scope); err != nil {
			t.Fatal(err)
		}
		want, got := decode[Out](t, withKind(t, &result, other)), decode[Out](t, converted)
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

// dropped leaves out what OCM's own conversion drops or names: a deprecated
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

// roundTrip converts random objects of type T to the other version and back.
// What T knows must be equal, the rest must be the same bytes.
func roundTrip[T any](t *testing.T, version, other string) {
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
		object := compose(t, random, typed, version)

		there, err := Convert(object, other)
		if err != nil {
			t.Fatalf("object %d: %v\n%s", i, err, object)
		}
		back, err := Convert(there, version)
		if err != nil {
			t.Fatalf("object %d, back: %v\n%s", i, err, there)
		}
		sameUntyped(t, object, there)
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

// compose makes the JSON of an object: what is typed, with random values of
// Interlock's fields and of unknown fields; every tenth object
// without spec, every tenth without status, and some with null for either.
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

// addNewer adds unknown fields at any depth, and sets known ones to null. The
// two structs that v1beta1 has at no place cannot keep any.
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

// newerOf collects the unknown fields by their path, which is the same in both
// versions but for the two lists that are renamed.
func newerOf(t *testing.T, path string, node any, found map[string]string) map[string]string {
	t.Helper()
	switch node := node.(type) {
	case []any:
		for i, element := range node {
			newerOf(t, fmt.Sprint(path, "[", i, "]"), element, found)
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
				found[path+"."+name] = string(encode(t, value))
				continue
			}
			newerOf(t, path+"."+name, value, found)
		}
	}
	return found
}

// anything is any JSON value: the CRD's schema decides what is allowed, not conversion.
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

// sameUntyped compares what conversion must not touch, byte by byte.
func sameUntyped(t *testing.T, before, after []byte) {
	t.Helper()
	want, got := newerOf(t, "", decoded(t, before), map[string]string{}), newerOf(t, "", decoded(t, after), map[string]string{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("unknown fields (-before +after):\n%s\n%s", diff, before)
	}
	a, b := asFields(t, before), asFields(t, after)
	for _, name := range []string{"metadata", "kind"} {
		if string(a[name]) != string(b[name]) {
			t.Fatalf("%s: before %s, after %s", name, a[name], b[name])
		}
	}
	for _, name := range []string{"spec", "status"} {
		_, had := a[name]
		if _, has := b[name]; had != has {
			t.Fatalf("%s: present before %t, after %t", name, had, has)
		}
	}
	if a["spec"] == nil || string(a["spec"]) == "null" {
		return
	}
	before, after = a["spec"], b["spec"]
	a, b = asFields(t, before), asFields(t, after)
	for _, name := range addonv1alpha1.GraftedSpecFields() {
		_, had := a[name]
		if _, has := b[name]; had != has || string(a[name]) != string(b[name]) {
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
