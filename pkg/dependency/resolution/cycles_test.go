package resolution_test

import (
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/resolution"
)

// A version that is passed over because of a cycle names its members.
func TestACycleIsTheReasonAgainstAVersion(t *testing.T) {
	const unknown = "with it, nothing satisfies all wishes"
	for name, test := range map[string]struct{ releases, want string }{
		"of two": {
			"a 1.0.0 dependencies: [{name: b}]\nb 2.0.0 dependencies: [{name: a}]\nb 1.0.0",
			"with it, there is a dependency cycle: a → b → a",
		},
		"of one": {
			"a 1.0.0 dependencies: [{name: b}]\nb 2.0.0 dependencies: [{name: b}]\nb 1.0.0", "with it, there is a dependency cycle: b → b",
		},
		"with an add-on that is not chosen": {
			"a 1.0.0 dependencies: [{name: b}]\nb 2.0.0 dependencies: [{name: c}]\nb 1.0.0\n" +
				"c 1.0.0 dependencies: [{name: b}]\nc 2.0.0 dependencies: [{name: a}]",
			"with it, there is a dependency cycle: a → b → c → a",
		},
		"not in all versions": {
			"a 1.0.0 dependencies: [{name: b}]\nb 2.0.0 dependencies: [{name: c}]\nb 1.0.0\n" +
				"c 1.0.0 dependencies: [{name: d}]\nc 2.0.0 dependencies: [{name: a}]", unknown,
		},
		"no cycle": {"a 1.0.0 dependencies: [{name: b}]\nb 2.0.0 dependencies: [{name: c}]\nb 1.0.0", unknown},
	} {
		result, err := resolution.Resolve(releasesOf(t, test.releases), wishesOf("a"), resolution.Kind{})
		if err != nil {
			t.Fatal(err)
		}
		passedOver := result.Choices[1].PassedOver
		if len(passedOver) != 1 || passedOver[0].Because != test.want {
			t.Errorf("%s: got %q", name, passedOver)
		}
	}
}
