package index_test

import (
	"fmt"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

// The difference between two locks is described per add-on, with both versions.
func TestDifferences(t *testing.T) {
	lockOf := func(kinds string) *index.Lock {
		lock, err := index.DecodeLock([]byte("apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnLock\n" +
			"clusterKinds: [" + kinds + "]\n"))
		if err != nil {
			t.Fatal(err)
		}
		return lock
	}
	kind := func(addOns ...string) string { return "{name: k, addOns: [" + strings.Join(addOns, ", ") + "]}" }
	addOn := func(name, version, fields string) string {
		return fmt.Sprintf("{name: %s, version: %s, digest: x, because: [wanted]%s}", name, version, fields)
	}
	for name, test := range map[string]struct{ locked, resolved, want string }{
		"none": {kind(addOn("a", "1.0.0", "")), kind(addOn("a", "1.0.0", ", source: elsewhere")), ""},
		"another version": {
			kind(addOn("a", "1.0.0", "")), kind(addOn("a", "1.1.0", "")), "clusters of kind k: a: locked 1.0.0, found 1.1.0: wanted",
		},
		"one less": {
			kind(addOn("a", "1.0.0", "")), kind(), "clusters of kind k: a: locked 1.0.0, found none: no wish and no chosen add-on needs it",
		},
		"one more": {kind(), kind(addOn("a", "1.0.0", "")), "clusters of kind k: a: not locked, found 1.0.0: wanted"},
		"another content": {
			kind(addOn("a", "1.0.0", "")), strings.Replace(kind(addOn("a", "1.0.0", "")), "digest: x", "digest: z", 1),
			"clusters of kind k: a: 1.0.0 has another content: locked x, found z",
		},
		"other needs": {
			kind(addOn("a", "1.0.0", "")), kind(addOn("a", "1.0.0", ", needs: [b, c]")),
			"clusters of kind k: a: 1.0.0 needs other add-ons: locked none, found b, c",
		},
		"another reason": {
			kind(addOn("a", "1.0.0", "")), strings.Replace(kind(addOn("a", "1.0.0", "")), "[wanted]", "[b 1.0.0 requires a]", 1),
			"clusters of kind k: a: 1.0.0 is chosen for another reason: b 1.0.0 requires a",
		},
		"a new version that is passed over": {
			kind(addOn("a", "1.0.0", "")), kind(addOn("a", "1.0.0", ", passedOver: [{version: 2.0.0-rc.1, because: it is a prerelease}]")),
			"clusters of kind k: a: 1.0.0 is chosen, and other higher versions are passed over: 2.0.0-rc.1 (it is a prerelease)",
		},
		"other clusters": {
			"{name: k, kubernetes: 1.30.0, addOns: []}", "{name: k, kubernetes: 1.31.0, addOns: []}",
			"clusters of kind k: the wishes describe this kind with other labels, claims, versions or APIs",
		},
		"another kind": {
			"{name: k, addOns: []}", "{name: l, addOns: []}",
			"clusters of kind k: the wishes do not name this kind; clusters of kind l: the lock does not have this kind",
		},
		"other assumptions": {
			"{name: k, addOns: []}", "{name: k, addOns: [], assumptions: [an API is served]}", "clusters of kind k: it relies on other assumptions",
		},
	} {
		var got []string
		for _, difference := range index.Differences(lockOf(test.locked), lockOf(test.resolved)) {
			got = append(got, difference.String())
		}
		if joined := strings.Join(got, "; "); joined != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, joined, test.want)
		}
	}
}
