package index_test

import (
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

// The remedies depend on the releases that have an object with different contents.
func TestObjectsThatDiffer(t *testing.T) {
	const config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: A}\n"
	with := func(registration string, values ...string) string {
		for _, value := range values {
			registration += strings.Replace(config, "{a: A}", "{a: "+value+"}", 1)
		}
		return registration
	}
	const kinds = "\nclusterKinds: [{name: east}, {name: west}]"
	for name, test := range map[string]struct {
		releases []string
		wishes   string
		want     string
	}{
		"the same content": {
			[]string{with(manifestOf("a", "1.0.0", ""), "u"), with(manifestOf("b", "1.0.0", ""), "u")}, "addOns: [{name: a}, {name: b}]", "",
		},
		"one release": {
			[]string{with(manifestOf("a", "1.0.0", ""), "u", "v")},
			"addOns: [{name: a}]",
			"ConfigMap c is in a 1.0.0 twice, with different contents: remove or rename one of them, and add the add-on to the index in " +
				"another version",
		},
		"two add-ons": {
			[]string{with(manifestOf("a", "1.0.0", ""), "u"), with(manifestOf("b", "2.0.0", ""), "v")},
			"addOns: [{name: a}, {name: b}]",
			"ConfigMap c is another one of b 2.0.0 for clusters of kind default than of a 1.0.0 for clusters of kind default, and a hub has it " +
				"once: remove or rename it in one of the two, and add that one to the index in another version",
		},
		"two add-ons of two kinds": {
			[]string{with(manifestOf("a", "1.0.0", ""), "u"), with(manifestOf("b", "2.0.0", ""), "v")},
			"addOns: [{name: a, clusterKinds: [east]}, {name: b, clusterKinds: [west]}]" + kinds,
			"ConfigMap c is another one of b 2.0.0 for clusters of kind west than of a 1.0.0 for clusters of kind east, and a hub has it once: " +
				"remove or rename it in one of the two, and add that one to the index in another version, or build one kind with --cluster-kind",
		},
		"two versions": {
			[]string{with(manifestOf("a", "1.0.0", ""), "u"), with(manifestOf("a", "2.0.0", ""), "v")},
			"addOns: [{name: a, version: 1.x, clusterKinds: [east]}, {name: a, version: 2.x, clusterKinds: [west]}]" + kinds,
			"want versions that are the same, or build one kind with --cluster-kind",
		},
	} {
		t.Run(name, func(t *testing.T) {
			entries := entriesOf(t, test.releases...)
			lock, err := index.Resolve(entries, wishesOf(t, test.wishes))
			if err != nil {
				t.Fatal(err)
			}
			_, err = index.Plan(lock, entries)
			if (err != nil) != (test.want != "") || err != nil && !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}
