package build

import (
	"slices"
	"testing"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

// People apply the folders in the order of a glob.
func TestFoldersSortInTheOrderOfTheLayers(t *testing.T) {
	for count, want := range map[int]string{1: "00/a.yaml", 100: "99/a.yaml", 101: "100/a.yaml", 1001: "1000/a.yaml"} {
		var plan []index.Planned
		for layer := range count {
			plan = append(plan, index.Planned{Name: "a", Layer: layer})
		}
		if files := filesOf(plan); !slices.IsSorted(files) || files[count-1] != want {
			t.Errorf("%d layers: %v", count, files)
		}
		written, err := (&layout{format: formatFlux}).files(plan)
		if err != nil || len(written) != count+1 {
			t.Errorf("%d layers: %d files, %v", count, len(written), err)
		}
	}
}
