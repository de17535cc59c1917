package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
)

func read(t *testing.T, content string) []Manifest {
	t.Helper()
	files, err := Read([]string{"-"}, strings.NewReader(content))
	if err := cmp.Or(err, files.Err()); err != nil {
		t.Fatal(err)
	}
	return files.Manifests
}

func TestLines(t *testing.T) {
	content := `# a comment
kind: ConfigMap
---
kind: ClusterManagementAddOn
metadata:
  name: a
  annotations:
    addon.open-cluster-management.io/dependencies: |
      - name: b
spec:
  dependencies:
  - name: b
    version: x
  -   name: c
---
kind: ClusterManagementAddOnList
items:
- metadata: {name: d}
  spec: {requirements: {claims: {
    a.b/c: ""}}}
`
	manifests := read(t, content)
	if len(manifests) != 2 {
		t.Fatal(manifests)
	}
	for field, want := range map[string]int{
		"": 4, "metadata.name": 6, "spec.dependencies": 11, "spec.dependencies[0]": 12, "spec.dependencies[0].version": 13,
		"spec.dependencies[1].name": 14, "spec.dependencies[7].name": 11, "spec.provides": 10,
		"metadata.annotations[addon.open-cluster-management.io/dependencies][0].name": 8,
	} {
		if got := manifests[0].Line(field); got != want {
			t.Errorf("%s: line %d, not %d", field, got, want)
		}
	}
	if got := manifests[1].Line("spec.requirements.claims[a.b/c]"); got != 20 {
		t.Error(got)
	}
	tabs := read(t, "{\n\t\"kind\": \"ClusterManagementAddOn\"\n}\n{\n\t\"kind\": \"ClusterManagementAddOn\"\n}\n")
	if len(tabs) != 2 || tabs[1].Line("spec") != 0 {
		t.Error("JSON that is no YAML has a line")
	}
}

func TestDefaultConfigs(t *testing.T) {
	const templates, others = "{group: addon.open-cluster-management.io, resource: addontemplates, name: t}",
		"{group: g, resource: r, name: c}"
	for content, want := range map[string][]string{
		v1beta1 + "spec: {defaultConfigs: [" + others + ", " + templates + "]}": {"t"},
		v1beta1 + "spec: {defaultConfigs: [" + others + "]}":                    nil,
		v1beta1 + "spec: {}": nil,
		v1alpha1 + "spec: {defaultConfigs: [" + templates + "]}": nil, // it has no such field
	} {
		manifests := read(t, "{"+content+", kind: ClusterManagementAddOn}")
		if got := declaration.NamedTemplates(&manifests[0].AddOn); !slices.Equal(got, want) {
			t.Errorf("%s: %q", content, got)
		}
	}
	wrong, _ := Read([]string{"-"}, strings.NewReader("{"+v1beta1+"kind: ClusterManagementAddOn, spec: {defaultConfigs: 1}}"))
	if wrong.Err() == nil {
		t.Error("configs that are no list are accepted")
	}
}

// spell lists judgements.
func spell(judged []review.Judgement) string {
	var items []string
	for _, judgement := range judged {
		items = append(items, fmt.Sprintf("%s %s", judgement.Rule, judgement.Field))
	}
	return strings.Join(items, ", ")
}

const (
	v1alpha1 = "apiVersion: addon.open-cluster-management.io/v1alpha1, "
	v1beta1  = "apiVersion: addon.open-cluster-management.io/v1beta1, "
)

func TestWrong(t *testing.T) {
	for name, test := range map[string]struct{ content, want string }{
		"a wrong name": {v1alpha1 + "spec: {depends: []}", "UnknownField spec.depends"},
		"in OCM's fields": {
			v1alpha1 + "metadata: {lables: {}}, spec: {addOnMeta: {displayname: a}}",
			"UnknownField metadata.lables, UnknownField spec.addOnMeta.displayname",
		},
		"in a nested field": {
			v1alpha1 + "spec: {dependencies: [{name: b, when: {selector: {}}}]}",
			"UnknownField spec.dependencies[0].when.selector",
		},
		"another letter case": {v1alpha1 + "spec: {Dependencies: []}", "UnknownField spec.Dependencies"},
		"a field of v1alpha1": {v1beta1 + "spec: {supportedConfigs: []}", "UnknownField spec.supportedConfigs"},
		"a field of v1beta1":  {v1beta1 + "spec: {defaultConfigs: [], dependencies: [{name: b}]}", ""},
		"all is correct":      {v1alpha1 + "spec: {supportedConfigs: [], provides: [{kind: A}]}", ""},
		"spec twice":          {v1alpha1 + "spec: {}, spec: {}", "UnknownField spec"},
		"dependencies twice":  {v1alpha1 + "spec: {dependencies: [{name: b}], dependencies: [{name: c}]}", "UnknownField spec.dependencies"},
		"a name twice": {
			v1alpha1 + "spec: {dependencies: [{name: a}, {name: b, name: c}]}",
			"UnknownField spec.dependencies[1].name",
		},
		"an annotation twice": {
			v1alpha1 + "metadata: {annotations: {a.b/c: v, a.b/c: w}}, spec: {}",
			"UnknownField metadata.annotations[a.b/c]",
		},
		"no spec":              {v1alpha1 + "metadata: {name: a}", "InvalidValue spec"},
		"another version":      {"apiVersion: addon.open-cluster-management.io/v7, spec: {}", "UnknownKind apiVersion"},
		"another group":        {"apiVersion: open-cluster-management.io/v1alpha1, spec: {}", "UnknownKind apiVersion"},
		"no version":           {"spec: {}", "UnknownKind apiVersion"},
		"a strategy":           {v1alpha1 + "spec: {installStrategy: {type: Manuel}}", "InvalidValue spec.installStrategy.type"},
		"the same in v1beta1":  {v1beta1 + "spec: {installStrategy: {type: Manuel}}", "InvalidValue spec.installStrategy.type"},
		"a typo in a strategy": {v1alpha1 + "spec: {installStrategy: {typ: Manual}}", "UnknownField spec.installStrategy.typ"},
		"a required field": {
			v1alpha1 + "spec: {installStrategy: {type: Placements, placements: [{name: a}]}}",
			"InvalidValue spec.installStrategy.placements[0].namespace",
		},
		"what review judges": {v1alpha1 + "spec: {dependencies: [{name: a, type: Needed}]}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := spell(read(t, "{kind: ClusterManagementAddOn, "+test.content+"}")[0].Wrong); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// JSON with tabs is not valid YAML, so it has no nodes.
func TestDuplicateFieldsOfJSON(t *testing.T) {
	content := "{\n\t\"kind\": \"ClusterManagementAddOn\", \"apiVersion\": \"addon.open-cluster-management.io/v1alpha1\",\n" +
		"\t\"spec\": {\"dependencies\": [{\"name\": \"a\"}], \"dependencies\": []}}"
	for _, text := range []string{content, strings.ReplaceAll(content, "\t", "")} {
		if got := spell(read(t, text)[0].Wrong); got != "UnknownField spec.dependencies" {
			t.Errorf("%s: got %q", text, got)
		}
	}
}

// A broken object does not hide the other objects of its file.
func TestBroken(t *testing.T) {
	good := "kind: ClusterManagementAddOn\napiVersion: addon.open-cluster-management.io/v1alpha1\nmetadata: {name: good}\n---\n"
	for name, test := range map[string]struct{ content, want string }{
		"no YAML": {good + "a: b: c\n", "5: Unreadable: yaml: line 5: mapping values are not allowed in this context"},
		"another type": {
			"kind: ClusterManagementAddOn\nspec:\n  dependencies: {}\n---\n" + good,
			"3: Unreadable: spec.dependencies: its value cannot be of type object",
		},
		"another type in OCM's fields": {
			"kind: ClusterManagementAddOn\nspec:\n  installStrategy:\n    placements: [{name: 1}]\n---\n" + good,
			"4: Unreadable: spec.installStrategy.placements.name: its value cannot be of type number",
		},
		"a typo in the kind": {
			"apiVersion: addon.open-cluster-management.io/v1beta1\nkind: ClusterManagementAddon\n---\n" + good,
			`2: UnknownKind: kind: "ClusterManagementAddon": `,
		},
		"no JSON":                 {"{\"kind\": ", "0: Unreadable: "},
		"another kind of OCM":     {good + "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: AddOnTemplate\n", ""},
		"a list of patches":       {good + "- {op: remove}\n", ""},
		"nothing between markers": {good + "---\n---\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := Read([]string{"-"}, strings.NewReader(test.content))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, finding := range files.Broken {
				got += fmt.Sprintf("%d: %s: %s", finding.Line, finding.Rule, finding.Message)
			}
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if strings.Contains(test.content, good) && (len(files.Manifests) != 1 || files.Manifests[0].AddOn.Name != "good") {
				t.Errorf("read %v", files.Manifests)
			}
		})
	}
}
