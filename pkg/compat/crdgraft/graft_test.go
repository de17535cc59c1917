package crdgraft

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"open-cluster-management.io/interlock/pkg/names"
)

func webhookTo(name, ca string) map[string]any {
	return map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"conversionReviewVersions": []any{"v1", "v1beta1"},
		"clientConfig": map[string]any{
			"caBundle": ca,
			"service":  map[string]any{"name": name, "namespace": "hub", "path": "/convert", "port": int64(9443)},
		},
	}}
}

func ours(ca string) Additions {
	return Additions{Properties: dependencies(), Conversion: webhookTo("interlock-webhook", ca)}
}

// operatorCRD returns OCM's CRD as an operator of the version writes it.
func operatorCRD(t *testing.T, version string) map[string]any {
	t.Helper()
	crd := releasedCRD(t, v1beta1File)
	annotate(crd, names.OCMVersion, version)
	crd["spec"].(map[string]any)["conversion"] = webhookTo("ocm", "theirs")
	return crd
}

func annotate(crd map[string]any, name, value string) { setAnnotation(crd, name, &value) }

func annotationOf(crd map[string]any, name string) string {
	value, _, _ := unstructured.NestedString(crd, "metadata", "annotations", name)
	return value
}

func mustGraft(t *testing.T, crd map[string]any, additions Additions) map[string]any {
	t.Helper()
	grafted, err := Graft(crd, additions)
	if err != nil {
		t.Fatal(err)
	}
	return grafted
}

func mustRemove(t *testing.T, crd map[string]any) map[string]any {
	t.Helper()
	original, err := Remove(crd)
	if err != nil {
		t.Fatal(err)
	}
	return original
}

func expectEqual(t *testing.T, subject string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", subject, diff)
	}
}

func TestGraftAndRemove(t *testing.T) {
	for name, change := range map[string]func(crd map[string]any){
		"as the operator wrote it": func(map[string]any) {},
		"without annotations":      func(crd map[string]any) { setAnnotation(crd, names.OCMVersion, nil) },
		"an empty version":         func(crd map[string]any) { annotate(crd, names.OCMVersion, "") },
		"further annotations":      func(crd map[string]any) { annotate(crd, "a", "b") },
		"an unreadable version":    func(crd map[string]any) { annotate(crd, names.OCMVersion, "main") },
		"no conversion": func(crd map[string]any) {
			crd["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "None"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			original := operatorCRD(t, "1.3.1")
			change(original)
			input := runtime.DeepCopyJSON(original)
			grafted := mustGraft(t, input, ours("a"))
			expectEqual(t, "the input is left as it is", original, input)
			expectEqual(t, "grafting twice changes nothing", grafted, mustGraft(t, grafted, ours("a")))
			expectEqual(t, "removing gives back what was found", original, mustRemove(t, grafted))
			expectEqual(t, "removing twice changes nothing", original, mustRemove(t, mustRemove(t, grafted)))
			if !Grafted(grafted) || Grafted(original) {
				t.Error("Grafted does not distinguish the two")
			}
			for _, version := range []string{"v1alpha1", "v1beta1"} {
				got, err := SpecProperties(grafted, version, "dependencies")
				if err != nil {
					t.Fatal(err)
				}
				expectEqual(t, version, dependencies(), got)
			}
			removeFromSpec(t, grafted, "dependencies")
			for _, crd := range []map[string]any{grafted, original} {
				unstructured.RemoveNestedField(crd, "spec", "conversion")
				unstructured.RemoveNestedField(crd, "metadata", "annotations")
			}
			expectEqual(t, "nothing else was changed", original, grafted)
		})
	}
}

func TestGraftReplacesConversionOnlyWhereThereIsOne(t *testing.T) {
	crd := operatorCRD(t, "1.3.1")
	expectEqual(t, "webhook", webhookTo("interlock-webhook", "a"), mustGraft(t, crd, ours("a"))["spec"].(map[string]any)["conversion"])
	if _, err := Graft(crd, Additions{Properties: dependencies()}); err == nil || !strings.Contains(err.Error(), "there is no other") {
		t.Errorf("grafted although its conversion loses the fields: %v", err)
	}
	crd["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "None"}
	expectEqual(t, "none", map[string]any{"strategy": "None"}, mustGraft(t, crd, ours("a"))["spec"].(map[string]any)["conversion"])
}

func TestGraftFollowsWhatChanges(t *testing.T) {
	original := operatorCRD(t, "1.3.1")
	grafted := mustGraft(t, original, ours("a"))

	t.Run("a new CA of ours", func(t *testing.T) {
		renewed := mustGraft(t, grafted, ours("b"))
		expectEqual(t, "stanza", webhookTo("interlock-webhook", "b"), renewed["spec"].(map[string]any)["conversion"])
		expectEqual(t, "original", original, mustRemove(t, renewed))
	})
	t.Run("a newer schema of ours", func(t *testing.T) {
		newer := ours("a")
		newer.Properties["dependencies"].(map[string]any)["maxItems"] = int64(7)
		newer.Properties["requirements"] = map[string]any{"type": "object"}
		upgraded := mustGraft(t, grafted, newer)
		got, err := SpecProperties(upgraded, "v1beta1", "dependencies", "requirements")
		if err != nil {
			t.Fatal(err)
		}
		expectEqual(t, "schema", newer.Properties, got)
		expectEqual(t, "original", original, mustRemove(t, upgraded))
		expectEqual(t, "back to the older one", grafted, mustGraft(t, upgraded, ours("a")))
	})
	t.Run("another place of our webhook", func(t *testing.T) {
		moved := mustGraft(t, grafted, Additions{Properties: dependencies(), Conversion: webhookTo("elsewhere", "a")})
		expectEqual(t, "original", original, mustRemove(t, moved))
	})
	t.Run("an upgrade of the operator", func(t *testing.T) {
		upgrade := operatorCRD(t, "1.4.0")
		regrafted := mustGraft(t, upgrade, ours("a"))
		if got := annotationOf(regrafted, names.OCMVersion); got != "1.4.1" {
			t.Errorf("marked %s", got)
		}
		expectEqual(t, "original", upgrade, mustRemove(t, regrafted))
	})
}

func TestRemoveLeavesWhatOthersHaveWrittenSince(t *testing.T) {
	original := operatorCRD(t, "1.3.1")
	for name, change := range map[string]func(crd map[string]any){
		"version":    func(crd map[string]any) { annotate(crd, names.OCMVersion, "1.5.0") },
		"conversion": func(crd map[string]any) { crd["spec"].(map[string]any)["conversion"] = webhookTo("ocm", "new") },
		"label": func(crd map[string]any) {
			(&unstructured.Unstructured{Object: crd}).SetLabels(map[string]string{"a": "b"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			want, grafted := runtime.DeepCopyJSON(original), mustGraft(t, original, ours("a"))
			change(want)
			change(grafted)
			expectEqual(t, "removed", want, mustRemove(t, grafted))
			if name != "label" {
				expectEqual(t, "grafted again", mustGraft(t, want, ours("a")), mustGraft(t, grafted, ours("a")))
			}
		})
	}
	t.Run("fields", func(t *testing.T) {
		want, grafted := runtime.DeepCopyJSON(original), mustGraft(t, original, ours("a"))
		for _, crd := range []map[string]any{want, grafted} {
			setField(t, crd, "dependencies", map[string]any{"type": "string"})
		}
		expectEqual(t, "a field that another writer has replaced stays", want, mustRemove(t, grafted))
	})
}

func TestGraftLeavesNativeFields(t *testing.T) {
	native := operatorCRD(t, "1.5.0")
	setField(t, native, "dependencies", map[string]any{"type": "array", "items": map[string]any{"type": "string"}})
	expectEqual(t, "a CRD that has all fields takes no graft", native, mustGraft(t, native, ours("a")))

	partly := ours("a")
	partly.Properties["requirements"] = map[string]any{"type": "object"}
	survey, err := Inspect(native, partly.Properties)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := survey.Native.String(), "v1alpha1 spec.dependencies, v1beta1 spec.dependencies"; got != want {
		t.Errorf("native: %s", got)
	}
	if got, want := survey.Added.String(), "v1alpha1 spec.requirements, v1beta1 spec.requirements"; got != want {
		t.Errorf("added: %s", got)
	}
	expectEqual(t, "removed", native, mustRemove(t, mustGraft(t, native, partly)))
}

func TestMark(t *testing.T) {
	for version, want := range map[string]string{
		"":             "0.0.1",
		"1.3.1":        "1.3.2",
		"v1.3.1":       "1.3.2",
		"1.3":          "1.3.1",
		"1.9.9":        "1.9.10",
		"1.4.0-rc.1":   "1.4.1",
		"1.3.1+build":  "1.3.2",
		"1.3.1.7":      "1.3.2",
		"2.10.0-dirty": "2.10.1",
		"main":         "",
		"7":            "",
		"1.x":          "",
	} {
		got, ok := nextPatch(version)
		if got != want || ok != (want != "") {
			t.Errorf("nextPatch(%q) = %q, %t; want %q", version, got, ok, want)
		}
	}
}

func TestRecordThatCannotBeRead(t *testing.T) {
	crd := operatorCRD(t, "1.3.1")
	annotate(crd, RecordAnnotation, "{")
	for name, err := range map[string]error{
		"Remove": func() error { _, err := Remove(crd); return err }(),
		"Graft":  func() error { _, err := Graft(crd, ours("a")); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), RecordAnnotation) || !strings.Contains(err.Error(), "apply OCM's own CRD") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLost(t *testing.T) {
	knownCRD := mustGraft(t, operatorCRD(t, "1.3.1"), ours("a"))
	object := map[string]any{"type": "object"}
	for name, tt := range map[string]struct {
		change func(crd map[string]any)
		lost   []string
	}{
		"nothing": {change: func(map[string]any) {}},
		"a field in every version": {
			change: func(crd map[string]any) { setField(t, crd, "priority", object) },
		},
		"a field of a list's items in every version": {
			change: func(crd map[string]any) {
				setField(t, crd, "dependencies", map[string]any{"type": "array", "items": map[string]any{
					"type": "object", "properties": map[string]any{"name": map[string]any{}, "weight": object},
				}})
			},
		},
		"a field in one version": {
			change: func(crd map[string]any) {
				setField(t, crd, "priority", object)
				removeFromVersion(t, crd, "v1alpha1", "priority")
			},
			lost: []string{"v1beta1 spec.priority"},
		},
		"a field that differs": {
			change: func(crd map[string]any) {
				setField(t, crd, "priority", object)
				versions, _ := versionsOf(crd)
				spec, _ := versions[0].specSchema()
				spec["properties"].(map[string]any)["priority"] = map[string]any{"type": "string"}
			},
			lost: []string{"v1alpha1 spec.priority", "v1beta1 spec.priority"},
		},
		"a version": {
			change: func(crd map[string]any) {
				spec := crd["spec"].(map[string]any)
				spec["versions"] = append(
					spec["versions"].([]any), versionWith("v1", true, false, map[string]any{}), versionWith("v0", false, false, nil),
				)
			},
			lost: []string{"version v1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			crd := operatorCRD(t, "1.3.1")
			tt.change(crd)
			got, err := Lost(crd, knownCRD)
			if err != nil {
				t.Fatal(err)
			}
			expectEqual(t, "lost", tt.lost, got)
		})
	}
}

func removeFromVersion(t *testing.T, crd map[string]any, name, field string) {
	t.Helper()
	versions, err := versionsOf(crd)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		if spec, err := version.specSchema(); err == nil && version.name() == name {
			delete(spec["properties"].(map[string]any), field)
		}
	}
}

func TestActiveVersions(t *testing.T) {
	got, err := ActiveVersions(crdWith(
		versionWith("v1beta1", true, false, nil), versionWith("v1", false, false, nil), versionWith("v1alpha1", true, true, nil)))
	if err != nil {
		t.Fatal(err)
	}
	expectEqual(t, "versions", []string{"v1alpha1", "v1beta1"}, got)
}

// setField replaces the schema of a field of spec in every version.
func setField(t *testing.T, crd map[string]any, name string, schema map[string]any) {
	t.Helper()
	versions, err := versionsOf(crd)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range versions {
		spec, err := version.specSchema()
		if err != nil {
			t.Fatal(err)
		}
		spec["properties"].(map[string]any)[name] = runtime.DeepCopyJSON(schema)
	}
}
