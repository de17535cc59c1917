package index_test

import (
	"slices"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

// Releases are in the order of their versions. The names of their files have another order.
func TestReleasesAreInTheOrderOfTheirVersions(t *testing.T) {
	folder := newIndex(t, manifestOf("b", "1.0.0", ""))
	for _, version := range []string{"2.0.0", "1.10.0", "1.9.0", "1.10.0-rc.1"} {
		built, err := index.Build(objects(t, map[string]string{"a.yaml": manifestOf("a", version, "")}), "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := index.Write(folder, &built[0].Release); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := index.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range entries {
		got = append(got, entries[i].Name+" "+entries[i].Version)
	}
	if want := []string{"a 1.9.0", "a 1.10.0-rc.1", "a 1.10.0", "a 2.0.0", "b 1.0.0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
