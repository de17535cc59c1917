package evaluation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestPeersAndUses(t *testing.T) {
	c := evaluator(append(fixture.Conditional("a: b, b: a!@gold, c: a!private, d: e!@gold, f: a"),
		fixture.Specified(
			t, "g",
			`{dependencies: [{name: a, version: "1"}, {name: p, api: {kind: Pod}}], requirements: {kubernetes: "*", ocm: "*", claims: {a: b}}}`,
		),
		fixture.Specified(t, "h", `dependencies: [{name: a, when: {expression: "config.size() == 0 && cluster.labels.size() == 0"}}]`),
		fixture.Specified(
			t, "i",
			`dependencies: [{name: a, when: {expression: "cluster.claims.all(cluster, cluster == '') || cluster.version == ''"}}]`,
		)))
	for addOn, want := range map[string]struct {
		uses  input.Set
		peers []string
	}{
		"a": {input.AddOn, []string{"a", "b"}},
		"b": {input.AddOn, []string{"a", "b"}},
		"c": {input.Labels, nil},
		"d": {input.AddOn, []string{"d"}},
		"f": {0, nil},
		"g": {input.Versions | input.Facts | input.Kubernetes | input.OCM | input.Claims, nil},
		"h": {input.Config | input.Labels, []string{"h"}},
	} {
		if got := c.Inputs(addOn); got != want.uses {
			t.Errorf("%s uses %b, want %b", addOn, got, want.uses)
		}
		if diff := cmp.Diff(want.peers, c.Readers(addOn, input.AddOn|input.Config)); diff != "" {
			t.Errorf("peers of %s -want, +got:\n%s", addOn, diff)
		}
	}
	if got := c.Inputs("i"); !got.Any(input.Claims) || !got.Any(input.Kubernetes) {
		t.Errorf("i uses %b", got)
	}
	if diff := cmp.Diff([]string{"h"}, c.WithInput(input.Config)); diff != "" {
		t.Errorf("users of configuration -want, +got:\n%s", diff)
	}
	if !c.AnyInput(input.Config) || evaluatorOf("a: b, b:").AnyInput(^input.Set(0)) {
		t.Error("the proposal's edges use nothing, these do")
	}
}
