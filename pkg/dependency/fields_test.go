package dependency

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/test/fixture"
)

// fields are all fields of a declaration, each with two declarations of x that
// differ in it. On the cluster of this test their findings differ. A new field
// needs a line here; the tests below then find every place that must know it.
var fields = map[string][2]string{
	"dependencies":          {`{}`, `{dependencies: [{name: a}]}`},
	"dependencies.name":     {`{dependencies: [{name: a}]}`, `{dependencies: [{name: b}]}`},
	"dependencies.type":     {`{dependencies: [{name: a}]}`, `{dependencies: [{name: a, type: Optional}]}`},
	"dependencies.message":  {`{dependencies: [{name: a}]}`, `{dependencies: [{name: a, message: No tokens}]}`},
	"dependencies.docs":     {`{dependencies: [{name: a}]}`, `{dependencies: [{name: a, docs: "https://example.com/a"}]}`},
	"dependencies.tolerate": {`{dependencies: [{name: down}]}`, `{dependencies: [{name: down, tolerate: 2m}]}`},
	"dependencies.install":  {`{dependencies: [{name: user}]}`, `{dependencies: [{name: user, install: Auto}]}`},
	"dependencies.removal": {
		`{dependencies: [{name: user, install: Auto}]}`, `{dependencies: [{name: user, install: Auto, removal: WithLastDependent}]}`,
	},
	"dependencies.addOn":   {`{dependencies: [{name: a}]}`, `{dependencies: [{name: a, addOn: b}]}`},
	"dependencies.version": {`{dependencies: [{name: old}]}`, `{dependencies: [{name: old, version: ">= 2"}]}`},
	"dependencies.prereleases": {
		`{dependencies: [{name: beta, version: ">= 1"}]}`, `{dependencies: [{name: beta, version: ">= 1", prereleases: {}}]}`,
	},
	"dependencies.prereleases.identifiers": {
		`{dependencies: [{name: beta, version: ">= 1", prereleases: {}}]}`,
		`{dependencies: [{name: beta, version: ">= 1", prereleases: {identifiers: [rc]}}]}`,
	},
	"dependencies.api": {`{dependencies: [{name: a}]}`, `{dependencies: [{name: a, api: {kind: Pod}}]}`},
	"dependencies.api.group": {
		`{dependencies: [{name: a, api: {kind: Pod}}]}`, `{dependencies: [{name: a, api: {kind: Pod, group: g.io}}]}`,
	},
	"dependencies.api.version": {
		`{dependencies: [{name: a, api: {kind: Pod}}]}`, `{dependencies: [{name: a, api: {kind: Pod, version: v2}}]}`,
	},
	"dependencies.api.kind": {`{dependencies: [{name: a, api: {kind: Pod}}]}`, `{dependencies: [{name: a, api: {kind: Job}}]}`},
	"dependencies.api.fields": {
		`{dependencies: [{name: a, api: {kind: Served, version: v1}}]}`,
		`{dependencies: [{name: a, api: {kind: Served, version: v1, fields: [spec.new]}}]}`,
	},
	"dependencies.anyOf": {`{dependencies: [{name: down}]}`, `{dependencies: [{name: down, anyOf: [{addOn: a}, {addOn: old}]}]}`},
	"dependencies.anyOf.addOn": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {addOn: b}]}]}`, `{dependencies: [{name: x, anyOf: [{addOn: a}, {addOn: old}]}]}`,
	},
	"dependencies.anyOf.version": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {addOn: old}]}]}`,
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {addOn: old, version: ">= 2"}]}]}`,
	},
	"dependencies.anyOf.prereleases": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {addOn: beta, version: ">= 1"}]}]}`,
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {addOn: beta, version: ">= 1", prereleases: {}}]}]}`,
	},
	"dependencies.anyOf.prereleases.identifiers": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {addOn: beta, version: ">= 1", prereleases: {}}]}]}`,
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {addOn: beta, version: ">= 1", prereleases: {identifiers: [rc]}}]}]}`,
	},
	"dependencies.anyOf.api": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {addOn: b}]}]}`,
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Served, version: v1}}]}]}`,
	},
	"dependencies.anyOf.api.group": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Pod}}]}]}`,
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Pod, group: g.io}}]}]}`,
	},
	"dependencies.anyOf.api.version": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Served}}]}]}`,
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Served, version: v1}}]}]}`,
	},
	"dependencies.anyOf.api.kind": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Pod}}]}]}`,
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Job}}]}]}`,
	},
	"dependencies.anyOf.api.fields": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Served, version: v1}}]}]}`,
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Served, version: v1, fields: [spec.new]}}]}]}`,
	},
	"dependencies.anyOf.api.servedBy": {
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Served, version: v1}}]}]}`,
		`{dependencies: [{name: x, anyOf: [{addOn: a}, {api: {kind: Served, version: v1, servedBy: Hub}}]}]}`,
	},
	"dependencies.api.servedBy": {
		`{dependencies: [{name: a, api: {kind: Served, version: v1}}]}`,
		`{dependencies: [{name: a, api: {kind: Served, version: v1, servedBy: Hub}}]}`,
	},
	"dependencies.config": {
		`{dependencies: [{name: old}]}`, `{dependencies: [{name: old, config: {expression: "config.?mode.orValue('') == 'grpc'"}}]}`,
	},
	"dependencies.config.expression": {
		`{dependencies: [{name: old, config: {expression: "true"}}]}`, `{dependencies: [{name: old, config: {expression: "false"}}]}`,
	},
	"dependencies.config.message": {
		`{dependencies: [{name: old, config: {expression: "false"}}]}`,
		`{dependencies: [{name: old, config: {expression: "false", message: Streams need gRPC.}}]}`,
	},
	"dependencies.settings":                    {`{dependencies: [{name: user, install: Auto}]}`, setting(`{name: a, value: b}`, "")},
	"dependencies.settings.policy":             {setting(`{name: a, value: b}`, ""), setting(`{name: a, value: b}`, ", policy: Seal")},
	"dependencies.settings.variables":          {setting(`{name: a, value: b}`, ""), setting(`{name: a, value: b}, {name: c, value: d}`, "")},
	"dependencies.settings.variables.name":     {setting(`{name: a, value: b}`, ""), setting(`{name: b, value: b}`, "")},
	"dependencies.settings.variables.value":    {setting(`{name: a, value: b}`, ""), setting(`{name: a, value: c}`, "")},
	"dependencies.settings.variables.required": {setting(`{name: a, value: b}`, ""), setting(`{name: a, value: b, required: true}`, "")},
	"dependencies.settings.variables.valueFrom": {
		setting(`{name: a, valueFrom: "'b'"}`, ""), setting(`{name: a, valueFrom: "cluster.labels['region']"}`, ""),
	},
	"dependencies.when": {`{dependencies: [{name: a}]}`, `{dependencies: [{name: a, when: {expression: "false"}}]}`},
	"dependencies.when.clusterSelector": {
		`{dependencies: [{name: a, when: {expression: "true"}}]}`,
		`{dependencies: [{name: a, when: {expression: "true", clusterSelector: {matchLabels: {on: here}}}}]}`,
	},
	"dependencies.when.expression": {
		`{dependencies: [{name: a, when: {expression: "true"}}]}`, `{dependencies: [{name: a, when: {expression: "false"}}]}`,
	},
	"requirements":            {`{}`, `{requirements: {ocm: ">= 9"}}`},
	"requirements.kubernetes": {`{requirements: {ocm: ">= 1"}}`, `{requirements: {ocm: ">= 1", kubernetes: ">= 9"}}`},
	"requirements.ocm":        {`{requirements: {kubernetes: ">= 1"}}`, `{requirements: {kubernetes: ">= 1", ocm: ">= 9"}}`},
	"requirements.interlock":  {`{requirements: {ocm: ">= 9"}}`, `{requirements: {ocm: ">= 9", interlock: ">= 9"}}`},
	"requirements.claims":     {`{requirements: {ocm: ">= 1"}}`, `{requirements: {ocm: ">= 1", claims: {region: north}}}`},
	"ordering":                {`{dependencies: [{name: a}]}`, `{dependencies: [{name: a}], ordering: Install}`},
	"provides":                {`{}`, `{provides: [{kind: Missing}]}`},
	"provides.group":          {`{provides: [{kind: Missing}]}`, `{provides: [{kind: Missing, group: g.io}]}`},
	"provides.version":        {`{provides: [{kind: Missing}]}`, `{provides: [{kind: Missing, version: v2}]}`},
	"provides.kind":           {`{provides: [{kind: Missing}]}`, `{provides: [{kind: Other}]}`},
}

// setting declares an edge that sets variables.
func setting(variables, policy string) string {
	return fmt.Sprintf(`{dependencies: [{name: user, install: Auto, settings: {variables: [%s]%s}}]}`, variables, policy)
}

func TestEveryFieldHasALine(t *testing.T) {
	var declared []string
	spec := reflect.TypeFor[addonv1alpha1.ClusterManagementAddOnSpec]()
	for i := range spec.NumField() {
		if field := spec.Field(i); !field.Anonymous { // a field of OCM
			declared = append(declared, paths(field, "")...)
		}
	}
	slices.Sort(declared)
	if diff := cmp.Diff(declared, slices.Sorted(maps.Keys(fields))); diff != "" {
		t.Errorf("fields of the API -declared, +listed here:\n%s", diff)
	}
}

// paths returns the paths of the field and of the fields in it, if its type is Interlock's.
func paths(field reflect.StructField, parent string) []string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	list := []string{parent + name}
	inner := field.Type
	for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
		inner = inner.Elem()
	}
	if inner.Kind() == reflect.Struct && strings.HasSuffix(inner.PkgPath(), "interlock/pkg/apis/addon/v1alpha1") {
		prefix := parent + name + "."
		if field.Anonymous { // its fields belong to its parent
			list, prefix = nil, parent
		}
		for i := range inner.NumField() {
			list = append(list, paths(inner.Field(i), prefix)...)
		}
	}
	return list
}

// A field makes a difference: it is part of the source and of the comparison of changes,
// its annotation form means the same, and findings or their messages depend on it.
func TestEveryFieldIsKnownEverywhere(t *testing.T) {
	for field, specs := range fields {
		t.Run(field, func(t *testing.T) {
			absent, present := fixture.Specified(t, "x", specs[0]), fixture.Specified(t, "x", specs[1])
			for _, addOn := range []addonv1alpha1.ClusterManagementAddOn{absent, present} {
				if problems := declaration.Read(&addOn).Problems; len(problems) > 0 && field != "requirements.interlock" {
					t.Fatalf("the example is wrong: %v", problems)
				}
			}
			if catalog.SameRegistration(&absent, &present) || declaration.SourceOf(&absent).Equal(declaration.SourceOf(&present)) {
				t.Error("the source does not have it")
			}
			previous, current := hub(absent), hub(present)
			if len(current.Changed(previous.Catalog)) == 0 || len(previous.Changed(current.Catalog)) == 0 {
				t.Error("Changed does not compare it")
			}
			if messages(previous) == messages(current) {
				t.Errorf("no finding and no message depends on it: %s", messages(current))
			}
			annotated := hub(fixture.Annotated("x", specs[1]))
			if diff := cmp.Diff(messages(current), messages(annotated)); diff != "" {
				t.Errorf("-field, +annotation:\n%s", diff)
			}
		})
	}
}

// hub returns an evaluator with x and an add-on that depends on an API of it.
func hub(x addonv1alpha1.ClusterManagementAddOn) *evaluation.Evaluator {
	return evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		x,
		{ObjectMeta: metav1.ObjectMeta{Name: "user"}, Spec: addonv1alpha1.ClusterManagementAddOnSpec{
			Dependencies: []addonv1alpha1.AddonDependency{{Name: "missing", API: &addonv1alpha1.DependencyAPI{
				AddonAPI: addonv1alpha1.AddonAPI{Kind: "Missing", Version: "v1"},
			}}},
		}},
	}))
}

// messages returns the findings and messages on x, and on the add-on that needs an API of x.
func messages(e *evaluation.Evaluator) string {
	running := func(version string) evaluation.Observation {
		return evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, ""), Version: version}
	}
	installed := map[string]evaluation.Observation{"old": running("1.0.0"), "beta": running("2.0.0-beta.1")}
	installed["down"] = evaluation.Observation{
		Installed: true, Available: fixture.Available(metav1.ConditionFalse, "Stopped"), Lapse: evaluation.Lapse{Since: fixture.Now.Time},
	}
	cluster := evaluation.Cluster{Available: metav1.ConditionTrue, KubernetesVersion: "v1.35.0", OCMVersion: "1.3.1"}
	cluster.Facts.APIs = evaluation.APIFacts{addonv1alpha1.AddonAPI{Kind: "Served", Version: "v1"}: {
		Served: metav1.ConditionTrue, Fields: map[string]evaluation.FieldFact{"spec.new": {Exists: metav1.ConditionFalse}},
	}}
	var text strings.Builder
	for _, addOn := range []string{"x", "user"} {
		state := e.State(addOn, cluster, func(name string) evaluation.Observation { return installed[name] })
		findings := e.Evaluate(addOn, state)
		for _, finding := range findings {
			wished, _ := finding.Settings()
			fmt.Fprintln(&text, finding.Name(), finding.Verdict, wished)
		}
		fmt.Fprintln(&text, condition.Message(findings, condition.MaxMessage), gate.Decide(e.Declaration(addOn), findings).Step)
	}
	fmt.Fprintln(&text, installation.Removable(e.Catalog))
	return text.String()
}

// The CRD serves every field, and the reference explains it.
func TestEveryFieldIsPublished(t *testing.T) {
	reference, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	schemas := schemasOfSpec(t)
	for field := range fields {
		names := strings.Split(field, ".")
		for version, schema := range schemas {
			if !hasField(schema, names) {
				t.Errorf("the CRD has no spec.%s in %s", field, version)
			}
		}
		if name := names[len(names)-1]; !strings.Contains(string(reference), name) {
			t.Errorf("docs/reference.md does not explain %s", field)
		}
	}
}

func schemasOfSpec(t *testing.T) map[string]map[string]any {
	t.Helper()
	path, err := filepath.Glob("../../manifests/crds/*clustermanagementaddons.crd.yaml")
	if err != nil || len(path) != 1 {
		t.Fatalf("CRDs %v: %v", path, err)
	}
	content, err := os.ReadFile(path[0])
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := yaml.ToJSON(content)
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := json.Unmarshal(encoded, &crd); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]map[string]any{}
	for _, version := range crd.Spec.Versions {
		properties, _ := version.Schema.OpenAPIV3Schema["properties"].(map[string]any)
		schemas[version.Name], _ = properties["spec"].(map[string]any)
	}
	if len(schemas) == 0 {
		t.Fatal("the CRD has no version")
	}
	return schemas
}

// hasField reports whether a schema has the field of this path.
func hasField(schema map[string]any, path []string) bool {
	if items, isList := schema["items"].(map[string]any); isList {
		schema = items
	}
	if len(path) == 0 {
		return true
	}
	properties, _ := schema["properties"].(map[string]any)
	inner, ok := properties[path[0]].(map[string]any)
	return ok && hasField(inner, path[1:])
}
