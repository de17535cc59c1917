package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestReadmeShowsRealOutputOfTheDemo(t *testing.T) {
	_, excerpt, ok := strings.Cut(read(t, "README.md"), "```text\n")
	excerpt, _, closed := strings.Cut(excerpt, "```")
	if !ok || !closed {
		t.Fatal("README.md shows no output of the demo")
	}
	if !strings.Contains(read(t, "docs/demo.md"), excerpt) {
		t.Errorf("docs/demo.md does not contain what README.md shows:\n%s", excerpt)
	}
}

func TestReadmeShowsRealOutputOfThePlugin(t *testing.T) {
	_, excerpt, ok := strings.Cut(read(t, "README.md"), "$ kubectl addon why\n")
	excerpt, _, closed := strings.Cut(excerpt, "```")
	if !ok || !closed {
		t.Fatal("README.md shows no output of kubectl addon why")
	}
	if !strings.Contains(read(t, "pkg/cli/testdata/bare/why.txt"), excerpt) {
		t.Errorf("pkg/cli/testdata/bare/why.txt does not contain what README.md shows:\n%s", excerpt)
	}
}

func TestReadmeNamesTheTestedVersions(t *testing.T) {
	readme := read(t, "README.md")
	for _, tested := range []struct{ name, module, required string }{
		{"OCM", "test/ocm/go.mod", `open-cluster-management\.io/ocm v(\S+)`},
		{"Kubernetes", "test/controlplane/go.mod", `k8s\.io/kubernetes v(\S+)`},
	} {
		version := regexp.MustCompile(tested.required).FindStringSubmatch(read(t, tested.module))
		if version == nil {
			t.Fatalf("%s does not require %s", tested.module, tested.name)
		}
		if row := "| " + tested.name + " | " + version[1] + " |"; !strings.Contains(readme, row) {
			t.Errorf("README.md has no row %q, the version in %s", row, tested.module)
		}
	}
}
