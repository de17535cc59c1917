package crdgraft

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// The api module ships the CRD twice: with its own version alone, and with both.
const (
	v1alpha1File = "addon/v1alpha1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"
	v1beta1File  = "addon/v1beta1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"
)

func TestAddFieldsToReleasedCRDs(t *testing.T) {
	tests := map[string]struct {
		file     string
		versions []string
	}{
		"v1alpha1 alone":       {file: v1alpha1File, versions: []string{"v1alpha1"}},
		"v1alpha1 and v1beta1": {file: v1beta1File, versions: []string{"v1alpha1", "v1beta1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			original := releasedCRD(t, tt.file)
			input := runtime.DeepCopyJSON(original)
			properties := dependencies()

			grafted, err := AddFields(input, properties)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(original, input); diff != "" {
				t.Errorf("input was changed (-before +after):\n%s", diff)
			}
			for _, version := range tt.versions {
				got, err := SpecProperties(grafted, version, "dependencies")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(properties, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", version, diff)
				}
			}
			repeated, err := AddFields(grafted, properties)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(grafted, repeated); diff != "" {
				t.Errorf("second graft changed something (-first +second):\n%s", diff)
			}
			removeFromSpec(t, grafted, "dependencies")
			if diff := cmp.Diff(original, grafted); diff != "" {
				t.Errorf("more than the field was changed (-original +without field):\n%s", diff)
			}
		})
	}
}

func TestAddFieldsChoosesVersions(t *testing.T) {
	crd := crdWith(
		versionWith("v1", true, false, map[string]any{"type": "object"}),
		versionWith("v1beta1", false, true, map[string]any{"type": "object"}),
		versionWith("v1alpha1", false, false, nil),
	)
	grafted, err := AddFields(crd, dependencies())
	if err != nil {
		t.Fatalf("a version that is neither served nor stored must not be looked at: %v", err)
	}
	for _, version := range []string{"v1", "v1beta1"} {
		if _, err := SpecProperties(grafted, version, "dependencies"); err != nil {
			t.Error(err)
		}
	}
}

func TestAddFieldsLeavesFieldsThatExist(t *testing.T) {
	theirs := map[string]any{"type": "object", "properties": map[string]any{"dependencies": map[string]any{"type": "string"}}}
	crd := crdWith(versionWith("v1", true, true, theirs))
	grafted, err := AddFields(crd, dependencies())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(crd, grafted); diff != "" {
		t.Errorf("a field of their own was changed (-before +after):\n%s", diff)
	}
}

func TestAddFieldsErrors(t *testing.T) {
	tests := map[string]struct {
		crd  map[string]any
		want string
	}{
		"another kind": {
			crd:  map[string]any{"kind": "ConfigMap"},
			want: "object is not a CustomResourceDefinition: its kind is ConfigMap",
		},
		"empty object": {
			crd:  map[string]any{},
			want: "object is not a CustomResourceDefinition: its kind is <nil>",
		},
		"no versions": {
			crd:  crdWith(),
			want: "CRD things.example.com: spec.versions is missing or empty",
		},
		"a version that is no object": {
			crd:  crdWith("v1"),
			want: "CRD things.example.com: spec.versions[0] is no object",
		},
		"nothing served": {
			crd:  crdWith(versionWith("v1", false, false, nil)),
			want: "CRD things.example.com: no version is served or stored",
		},
		"one version without spec": {
			crd: crdWith(
				versionWith("v1", true, true, map[string]any{"type": "object"}),
				versionWith("v2", true, false, nil)),
			want: `CRD things.example.com: version "v2" has no schema for spec: schema.openAPIV3Schema.properties.spec is missing or no object`,
		},
		"no schema at all": {
			crd:  crdWith(map[string]any{"name": "v1", "served": true}),
			want: `CRD things.example.com: version "v1" has no schema for spec: schema is missing or no object`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := AddFields(tt.crd, dependencies()); err == nil || err.Error() != tt.want {
				t.Errorf("got error %v\nwant      %s", err, tt.want)
			}
		})
	}
}

func TestSpecPropertiesErrors(t *testing.T) {
	crd := crdWith(versionWith("v1", true, true, map[string]any{"type": "object"}))
	if _, err := SpecProperties(crd, "v2", "dependencies"); err == nil || !strings.Contains(err.Error(), `no version "v2"`) {
		t.Errorf("unknown version: got %v", err)
	}
	_, err := SpecProperties(crd, "v1", "dependencies", "requirements")
	for _, field := range []string{"spec.dependencies", "spec.requirements"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error does not name %s: %v", field, err)
		}
	}
}

// dependencies is a small schema with the shape of spec.dependencies.
func dependencies() map[string]any {
	return map[string]any{"dependencies": map[string]any{
		"type": "array",
		"items": map[string]any{
			"type":     "object",
			"required": []any{"name"},
			"properties": map[string]any{
				"name": map[string]any{"type": "string", "minLength": int64(1)},
				"type": map[string]any{"type": "string", "default": "Required"},
			},
		},
	}}
}

func crdWith(versions ...any) map[string]any {
	return map[string]any{
		"kind":     "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things.example.com"},
		"spec":     map[string]any{"versions": versions},
	}
}

func versionWith(name string, served, storage bool, spec map[string]any) map[string]any {
	properties := map[string]any{}
	if spec != nil {
		properties["spec"] = spec
	}
	return map[string]any{
		"name": name, "served": served, "storage": storage,
		"schema": map[string]any{"openAPIV3Schema": map[string]any{"properties": properties}},
	}
}

func releasedCRD(t *testing.T, file string) map[string]any {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/api").Output()
	if err != nil {
		t.Fatalf("find the api module: %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := yaml.YAMLToJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	crd := map[string]any{}
	if err := json.Unmarshal(encoded, &crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func removeFromSpec(t *testing.T, crd map[string]any, field string) {
	t.Helper()
	versions, _, err := unstructured.NestedSlice(crd, "spec", "versions")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		unstructured.RemoveNestedField(version.(map[string]any),
			"schema", "openAPIV3Schema", "properties", "spec", "properties", field)
	}
	if err := unstructured.SetNestedSlice(crd, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
}

// OCM's field according to the proposal lacks the nested fields of Interlock.
func TestGraftAddsNestedPropertiesToASmallerField(t *testing.T) {
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties}
	}
	text := map[string]any{"type": "string"}
	theirs := map[string]any{"type": "array", "items": object(map[string]any{
		"name": map[string]any{"type": "string", "minLength": int64(1)}, "theirs": text,
		"free": map[string]any{"type": "object", preserve: true}, "map": map[string]any{"type": "object", "additionalProperties": text},
		"bare": map[string]any{"type": "object"}, "other": text,
	})}
	original := operatorCRD(t, "1.4.0")
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		setSpecProperty(t, original, version, "dependencies", theirs)
	}
	bare := object(map[string]any{"text": text})
	additions := ours("a")
	additions.Properties = map[string]any{"dependencies": map[string]any{"type": "array", "items": object(map[string]any{
		"name": text, "when": object(map[string]any{"expression": text}), "free": bare, "map": bare, "bare": bare, "other": bare,
	})}}

	survey, err := Inspect(original, additions.Properties)
	if err != nil {
		t.Fatal(err)
	}
	const added = "v1alpha1 spec.dependencies[].bare.text, v1alpha1 spec.dependencies[].when, " +
		"v1beta1 spec.dependencies[].bare.text, v1beta1 spec.dependencies[].when"
	expectEqual(t, "added", added, survey.Added.String())
	expectEqual(t, "native", "v1alpha1 spec.dependencies, v1beta1 spec.dependencies", survey.Native.String())

	grafted := mustGraft(t, original, additions)
	want := runtime.DeepCopyJSON(theirs)
	properties := want["items"].(map[string]any)["properties"].(map[string]any)
	properties["when"], properties["bare"] = object(map[string]any{"expression": text}), bare
	got, err := SpecProperties(grafted, "v1beta1", "dependencies")
	if err != nil {
		t.Fatal(err)
	}
	expectEqual(t, "schema", want, got["dependencies"])
	expectEqual(t, "grafting twice changes nothing", grafted, mustGraft(t, grafted, additions))
	expectEqual(t, "removing gives back what was found", original, mustRemove(t, grafted))
	if HasFields(original, additions.Properties) || !HasFields(grafted, additions.Properties) {
		t.Error("a nested property that is missing is a missing field")
	}

	t.Run("a nested property that another writer changed stays", func(t *testing.T) {
		changed, want := runtime.DeepCopyJSON(grafted), runtime.DeepCopyJSON(theirs)
		for _, version := range []string{"v1alpha1", "v1beta1"} {
			fields, err := SpecProperties(changed, version, "dependencies")
			if err != nil {
				t.Fatal(err)
			}
			fields["dependencies"].(map[string]any)["items"].(map[string]any)["properties"].(map[string]any)["when"] = text
			setSpecProperty(t, changed, version, "dependencies", fields["dependencies"])
		}
		want["items"].(map[string]any)["properties"].(map[string]any)["when"] = text
		got, err := SpecProperties(mustRemove(t, changed), "v1alpha1", "dependencies")
		if err != nil {
			t.Fatal(err)
		}
		expectEqual(t, "schema", want, got["dependencies"])
	})
}

func setSpecProperty(t *testing.T, crd map[string]any, version, name string, schema any) {
	t.Helper()
	versions, err := versionsOf(crd)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		if v.name() != version {
			continue
		}
		spec, err := v.specSchema()
		if err != nil {
			t.Fatal(err)
		}
		spec["properties"].(map[string]any)[name] = runtime.DeepCopyJSONValue(schema)
	}
}
