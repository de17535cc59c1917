package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var makesMetrics = regexp.MustCompile(`prometheus\.(Must)?New(Counter|Gauge|Histogram|Summary|Desc)|promauto\.`)

// Only existing series can be linted, so each package with metrics lints its own.
func TestMetricsOfEveryPackageAreLinted(t *testing.T) {
	hasMetrics, lints := map[string]bool{}, map[string]bool{}
	for _, folder := range []string{"cmd", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			source, err := os.ReadFile(path)
			if strings.HasSuffix(path, "_test.go") {
				lints[filepath.Dir(path)] = lints[filepath.Dir(path)] || strings.Contains(string(source), "testutil.GatherAndLint(")
			} else if makesMetrics.Match(source) {
				hasMetrics[filepath.Dir(path)] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for folder := range hasMetrics {
		if !lints[folder] {
			t.Errorf("%s has metrics, and no test lints them with testutil.GatherAndLint", folder)
		}
	}
	if len(hasMetrics) < 6 {
		t.Errorf("only %d packages with metrics found", len(hasMetrics))
	}
}
