package declaration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestAnyOfIsValidated(t *testing.T) {
	const two = "anyOf: [{addOn: a}, {addOn: b}]"
	for name, tc := range map[string]struct{ entry, want string }{
		"Fine":             {two, ""},
		"RangesOfOne":      {"anyOf: [{addOn: a, version: '1'}, {addOn: a, version: '2'}]", ""},
		"One":              {"anyOf: [{addOn: a}]", "spec.dependencies[0].anyOf: Invalid value: 1: must have at least 2 items"},
		"Nine":             {"anyOf: [" + strings.Repeat("{addOn: a},", 9) + "]", "anyOf: Too many: 9: must have at most 8 items"},
		"Same":             {"anyOf: [{addOn: a}, {addOn: b}, {addOn: a}]", `spec.dependencies[0].anyOf[2]: Duplicate value: {"addOn":"a"}`},
		"SameAPI":          {"anyOf: [{api: {kind: Pod}}, {api: {kind: Pod}}]", `.anyOf[1]: Duplicate value: {"api":{"kind":"Pod"}}`},
		"Nothing":          {"anyOf: [{addOn: a}, {}]", `anyOf[1]: Invalid value: {}: an alternative is an add-on or an API`},
		"Both":             {"anyOf: [{addOn: a}, {addOn: b, api: {kind: Pod}}]", "is an add-on or an API: set one of addOn and api"},
		"VersionOfAPI":     {"anyOf: [{addOn: a}, {version: '1', api: {kind: Pod}}]", "spec.dependencies[0].anyOf[1].version"},
		"Prereleases":      {"anyOf: [{addOn: a}, {addOn: b, prereleases: {}}]", "spec.dependencies[0].anyOf[1].prereleases"},
		"Range":            {"anyOf: [{addOn: a}, {addOn: b, version: newest}]", "spec.dependencies[0].anyOf[1].version"},
		"Kind":             {"anyOf: [{addOn: a}, {api: {kind: ''}}]", "spec.dependencies[0].anyOf[1].api.kind"},
		"Fields":           {"anyOf: [{addOn: a}, {api: {kind: Pod, fields: ['a[]']}}]", "spec.dependencies[0].anyOf[1].api.fields[0]"},
		"ServedBy":         {"anyOf: [{addOn: a}, {api: {kind: Pod, servedBy: Moon}}]", `anyOf[1].api.servedBy: Unsupported value: "Moon"`},
		"LongName":         {"anyOf: [{addOn: a}, {addOn: " + strings.Repeat("b", 254) + "}]", "spec.dependencies[0].anyOf[1].addOn"},
		"AddOn":            {"addOn: c, " + two, "addOn excludes anyOf"},
		"Version":          {"version: '1', " + two, "version excludes anyOf"},
		"OwnPrereleases":   {"prereleases: {}, " + two, "prereleases excludes anyOf"},
		"OwnAPI":           {"api: {kind: Pod}, " + two, "api excludes anyOf"},
		"Tolerate":         {"tolerate: 2m, " + two, "tolerate excludes anyOf"},
		"Config":           {`config: {expression: "true"}, ` + two, "config excludes anyOf"},
		"Conflicts":        {"type: Conflicts, " + two, `type: Invalid value: "Conflicts": type must be Required or Optional`},
		"IfInstalled":      {"type: IfInstalled, " + two, "type must be Required or Optional where anyOf is set"},
		"UnknownAnnotated": {"anyOf: [{addOn: a}, {addOn: b, when: {}}]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "UnknownAnnotated" {
				addOn := fixture.Annotated("x", "[{name: t, "+tc.entry+"}]")
				if got := Read(&addOn); !got.Invalid || !strings.Contains(got.Problems[0].Message, `unknown field "when"`) {
					t.Errorf("got %v", got.Problems)
				}
				return
			}
			addOn := fixture.Specified(t, "x", "dependencies: [{name: t, "+tc.entry+"}]")
			got := Read(&addOn)
			if got.Invalid != (tc.want != "") || got.Invalid && !strings.Contains(got.Problems[0].Message, tc.want) {
				t.Errorf("got %v, want %q", got.Problems, tc.want)
			}
		})
	}
}

// An alternative is compiled as an edge of the same name and type.
func TestAlternativesAreEdges(t *testing.T) {
	addOn := fixture.Specified(t, "x",
		"dependencies: [{name: t, type: Optional, message: m, anyOf: [{addOn: a, version: '1'}, {api: {kind: Pod}}]}]")
	edge := Read(&addOn).Edges[0]
	var got []string
	for end := range edge.Ends() {
		kind := ""
		if end.Dependency.API != nil {
			kind = end.Dependency.API.Kind
		}
		got = append(got, end.Dependency.Name+" "+string(end.Dependency.Type)+" "+end.AddOn+" "+kind)
	}
	if diff := cmp.Diff([]string{"t Optional a ", "t Optional  Pod"}, got); diff != "" {
		t.Error(diff)
	}
	if edge.Waits() || edge.MayWait() || edge.AddOn != "" || !edge.IsOn("a") || edge.IsOn("") || edge.IsOn("t") {
		t.Errorf("the edge itself is on %q", edge.AddOn)
	}
	required := addonv1alpha1.DependencyTypeRequired
	if edge.Blocking().Alternatives[0].Dependency.Type != required || edge.Alternatives[0].Dependency.Type == required {
		t.Error("the alternatives of a blocking edge block, and no others")
	}
}

// A record keeps the fields of an alternative that a smaller schema lost, in any position.
func TestARecordKeepsAlternatives(t *testing.T) {
	recorded := map[string]any{"dependencies": []any{map[string]any{"name": "t", "anyOf": []any{
		map[string]any{"addOn": "a", "version": "1"}, map[string]any{"api": map[string]any{"kind": "Pod", "fields": []any{"spec"}}},
	}}}}
	pruned := map[string]any{"dependencies": []any{map[string]any{"name": "t", "anyOf": []any{
		map[string]any{"addOn": "a"}, map[string]any{"api": map[string]any{"kind": "Pod"}},
	}}}}
	swapped := map[string]any{"dependencies": []any{map[string]any{"name": "t", "anyOf": []any{
		map[string]any{"api": map[string]any{"kind": "Pod"}}, map[string]any{"addOn": "a"},
	}}}}
	want := map[string]any{"dependencies": []any{map[string]any{"name": "t", "anyOf": []any{
		map[string]any{"api": map[string]any{"kind": "Pod", "fields": []any{"spec"}}}, map[string]any{"addOn": "a", "version": "1"},
	}}}}
	if diff := cmp.Diff(want, merge(pruned, swapped, recorded)); diff != "" {
		t.Error(diff)
	}
}
