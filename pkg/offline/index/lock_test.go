package index_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

// entriesOf builds entries of registrations.
func entriesOf(t testing.TB, registrations ...string) []index.Entry {
	t.Helper()
	var entries []index.Entry
	for _, registration := range registrations {
		built, err := index.Build(objects(t, map[string]string{"a.yaml": registration}), "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, built...)
	}
	return entries
}

func wishesOf(t testing.TB, content string) *index.Wishes {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, map[string]string{"addons.yaml": "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\n" +
		"kind: AddOnWishes\n" + content})
	wishes, _, err := index.ReadWishes(filepath.Join(folder, "addons.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return wishes
}

// The lock does not depend on the order of its input.
func TestTheLockDoesNotDependOnOrder(t *testing.T) {
	entries := entriesOf(t, manifestOf("a", "1.0.0", "[{name: b}, {name: c, version: '< 2'}]"), manifestOf("b", "1.0.0", "[{name: c}]"),
		manifestOf("c", "1.0.0", ""), manifestOf("c", "2.0.0", ""))
	const names, kinds = "addOns: [{name: a}, {name: b}]\n", "clusterKinds: [{name: x, kubernetes: 1.30.0}, {name: z}]"
	const otherNames, otherKinds = "addOns: [{name: b}, {name: a}]\n", "clusterKinds: [{name: z}, {name: x, kubernetes: 1.30.0}]"
	var want string
	for _, content := range []string{names + kinds, otherNames + kinds, names + otherKinds, otherNames + otherKinds} {
		slices.Reverse(entries)
		lock, err := index.Resolve(entries, wishesOf(t, content))
		if err != nil {
			t.Fatal(err)
		}
		written, err := lock.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(written)
		}
		if string(written) != want {
			t.Errorf("%s gives\n%s\nand not\n%s", content, written, want)
		}
	}
	if strings.Count(want, "version: 1.0.0") != 6 || strings.Count(want, "digest: sha256:") != 6 {
		t.Error(want)
	}
}

// The cases of Helm's article on dependencies, for add-ons in folders instead of charts.
func TestHelmDependencies(t *testing.T) {
	released := entriesOf(t, manifestOf("b", "1.0.0", ""), manifestOf("b", "2.0.0", ""), manifestOf("extra", "1.0.0", ""))
	const wishA = "addOns: [{name: a}]"
	for name, test := range map[string]struct {
		wishes    string
		workspace []string
		want      string
	}{
		"direct dependencies are available": {wishA, []string{manifestOf("a", "1.0.0", "[{name: b, version: 1.x}]")}, "a 1.0.0 b 1.0.0"},
		"transitive ones too, which Helm does not resolve": {
			wishA, []string{manifestOf("a", "1.0.0", "[{name: c}]"), manifestOf("c", "1.0.0", "[{name: b}]")}, "a 1.0.0 b 2.0.0 c 1.0.0",
		},
		"a version or a range": {wishA, []string{manifestOf("a", "1.0.0", "[{name: b, version: 2.0.0}]")}, "a 1.0.0 b 2.0.0"},
		"a local chart is used in its one version": {
			wishA,
			[]string{manifestOf("a", "1.0.0", "[{name: b}]"), manifestOf("b", "1.5.0", "")},
			"a 1.0.0 b 1.5.0",
		},
		"can't get a valid version for dependency b": {
			wishA,
			[]string{manifestOf("a", "1.0.0", "[{name: b, version: '>= 2'}]"), manifestOf("b", "1.5.0", "")},
			"on clusters of kind default, this wish cannot be satisfied: a is wanted; a 1.0.0 requires b in version '>= 2'. The " +
				"index has a 1.0.0; b 1.5.0",
		},
		"improper constraint": {
			wishA,
			[]string{manifestOf("a", "1.0.0", "[{name: b, version: x y}]")},
			"on clusters of kind default, this wish cannot be satisfied: a is wanted; a 1.0.0 has a declaration that cannot be used: ",
		},
		"found in Chart.yaml, but missing in charts/": {
			wishA,
			[]string{manifestOf("a", "1.0.0", "[{name: some-dependency-chart}]")},
			"on clusters of kind default, this wish cannot be satisfied: a is wanted; a 1.0.0 requires some-dependency-chart. " +
				"The index has a 1.0.0; no some-dependency-chart",
		},
		"a chart that is there and not declared is not installed": {wishA, []string{manifestOf("a", "1.0.0", "[]")}, "a 1.0.0"},
		"an alias": {wishA, []string{manifestOf("a", "1.0.0", "[{name: database, addOn: b}]")}, "a 1.0.0 b 2.0.0"},
		"a condition": {
			wishA + "\nclusterKinds: [{name: default, labels: {front-end: 'no'}}]",
			[]string{manifestOf("a", "1.0.0", "[{name: b, when: {clusterSelector: {matchLabels: {front-end: 'yes'}}}}]")},
			"a 1.0.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			lock, err := index.Resolve(index.Workspace(released, entriesOf(t, test.workspace...)), wishesOf(t, test.wishes))
			var got []string
			if err != nil {
				got = []string{err.Error()}
			} else {
				for _, addOn := range lock.ClusterKinds[0].AddOns {
					got = append(got, addOn.Name+" "+addOn.Version)
				}
			}
			if joined := strings.Join(got, " "); joined != test.want && (err == nil || !strings.HasSuffix(test.want, ": "+
				"") || !strings.HasPrefix(joined, test.want)) {
				t.Errorf("got  %s\nwant %s", joined, test.want)
			}
		})
	}
}

// A file is replaced as a whole. Its folder has no other file afterwards.
func TestReplace(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "addons.lock")
	for _, content := range []string{"one", "two"} {
		if err := index.Replace(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := index.Replace(filepath.Join(folder, "none", "addons.lock"), nil); err == nil {
		t.Error("a folder that does not exist")
	}
	if files, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(files) != 1 {
		t.Error(files, err)
	}
	if hidden, err := filepath.Glob(filepath.Join(folder, ".*")); err != nil || len(hidden) != 0 {
		t.Error(hidden, err)
	}
}
