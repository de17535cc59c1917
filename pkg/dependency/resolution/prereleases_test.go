package resolution_test

import (
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/resolution"
)

// An edge on exactly one prerelease asks for it, where its release is chosen. A range does not.
func TestAnEdgeOnExactlyAPrereleaseAsksForIt(t *testing.T) {
	const store = "store 3.0.0-rc.1\nstore 3.0.0-rc.2\nstore 2.0.0\n"
	const exact = "exact 1.0.0 dependencies: [{name: store, version: 3.0.0-rc.1}]\n"
	for name, test := range map[string]struct{ releases, wishes, want string }{
		"it is chosen": {store + exact, "exact", "exact 1.0.0, store 3.0.0-rc.1"},
		"with an operator": {
			store + "exact 1.0.0 dependencies: [{name: store, version: '= v3.0.0-rc.1'}]", "exact", "exact 1.0.0, store 3.0.0-rc.1",
		},
		"as an alternative of a range": {
			"store 3.0.0-rc.1\nstore 1.0.0\nexact 1.0.0 dependencies: [{name: store, version: '3.0.0-rc.1 || >= 2'}]", "exact",
			"exact 1.0.0, store 3.0.0-rc.1",
		},
		"as one of several add-ons": {
			store + "exact 1.0.0 dependencies: [{name: any, anyOf: [{addOn: none}, {addOn: store, version: 3.0.0-rc.1}]}]", "exact",
			"exact 1.0.0, store 3.0.0-rc.1",
		},
		"beside a wish for any version": {store + exact, "exact, store", "exact 1.0.0, store 3.0.0-rc.1"},
		"an Optional edge where both are": {
			store + "exact 1.0.0 dependencies: [{name: store, type: Optional, version: 3.0.0-rc.1}]", "exact, store",
			"exact 1.0.0, store 3.0.0-rc.1",
		},
		"a range takes none": {store + "range 1.0.0 dependencies: [{name: store, version: '>= 2'}]", "range", "range 1.0.0, store 2.0.0"},
		"a range that names one takes none": {
			store + "range 1.0.0 dependencies: [{name: store, version: '>= 2.0.0-0'}]", "range", "range 1.0.0, store 2.0.0",
		},
		"a conflict asks for none": {
			store + "exact 1.0.0 dependencies: [{name: store, type: Conflicts, version: 3.0.0-rc.1}]", "exact, store", "exact 1.0.0, store 2.0.0",
		},
		"an add-on that is not chosen asks for none": {store + exact, "store", "store 2.0.0"},
		"a version that is not chosen asks for none": {
			store + exact + "exact 2.0.0 dependencies: [{name: store}]", "exact", "exact 2.0.0, store 2.0.0",
		},
		"no other prerelease": {
			"store 3.0.0-rc.2\nstore 2.0.0\n" + exact, "exact",
			"this wish cannot be satisfied: exact is wanted; exact 1.0.0 requires store in version '3.0.0-rc.1'. The index has exact 1.0.0; " +
				"store 3.0.0-rc.2 (a prerelease: a wish has to ask for it, with prereleases: {}), 2.0.0",
		},
	} {
		if got := outcome(releasesOf(t, test.releases), wishesOf(test.wishes), resolution.Kind{}); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, test.want)
		}
	}
}
