package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/cli/statuscmd"
)

// make e2e-kind compares the page with the plugin's output, column by column.
func TestKindPageHasTheColumnsOfStatus(t *testing.T) {
	_, output, _ := strings.Cut(read(t, "docs/kind.md"), "\nkubectl addon status -n cluster1\n```\n\n```text\n")
	heading, _, _ := strings.Cut(output, "\n")
	if got := strings.Fields(heading); !slices.Equal(got, statuscmd.Heading) {
		t.Errorf("docs/kind.md shows the columns %q, the plugin prints %q", got, statuscmd.Heading)
	}
}

// make e2e-kind runs the page with images of these versions.
func TestKindPageNamesTheTestedVersions(t *testing.T) {
	for _, tested := range []struct{ module, required, named string }{
		{"test/ocm/go.mod", `open-cluster-management\.io/ocm (v\S+)`, `--bundle-version (v[0-9.]+)`},
		{"test/controlplane/go.mod", `k8s\.io/kubernetes (v\S+)`, `kind-node:(v[0-9.]+)`},
	} {
		version := regexp.MustCompile(tested.required).FindStringSubmatch(read(t, tested.module))
		if version == nil {
			t.Fatalf("%s does not require %s", tested.module, tested.required)
		}
		for _, page := range []string{"docs/kind.md", "docs/dev/testing.md"} {
			matches := regexp.MustCompile(tested.named).FindAllStringSubmatch(read(t, page), -1)
			if page == "docs/kind.md" && len(matches) < 2 {
				t.Errorf("%s has %q %d times", page, tested.named, len(matches))
			}
			for _, match := range matches {
				if match[1] != version[1] {
					t.Errorf("%s has %q, %s requires %s", page, match[0], tested.module, version[1])
				}
			}
		}
	}
}

// make kind-try runs the page up to the commands that remove Interlock, and keeps the clusters.
func TestKindTryRunsThePage(t *testing.T) {
	command := exec.CommandContext(t.Context(), filepath.Join(top(t), "hack/kind-try.sh"))
	command.Env = append(command.Environ(), "DRY_RUN=1")
	printed, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	tried, removed, ok := strings.Cut(read(t, "docs/kind.md"), "\n## Remove Interlock\n")
	if !ok {
		t.Fatal(`docs/kind.md has no part "Remove Interlock"`)
	}
	rest := string(printed)
	blocks := regexp.MustCompile("(?s)\n```sh\n(.*?)```\n")
	for _, block := range blocks.FindAllStringSubmatch(tried, -1) {
		if _, rest, ok = strings.Cut(rest, block[1]); !ok {
			t.Errorf("make kind-try does not run these commands of docs/kind.md in their order:\n%s", block[1])
		}
	}
	for _, block := range blocks.FindAllStringSubmatch(removed, -1) {
		if strings.Contains(string(printed), block[1]) {
			t.Errorf("make kind-try runs these commands of docs/kind.md, which remove what it is to keep:\n%s", block[1])
		}
	}
}

// Without Docker, it says so before it builds or changes anything.
func TestKindTryNeedsDocker(t *testing.T) {
	programs := t.TempDir()
	for _, name := range []string{"bash", "dirname"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), filepath.Join(top(t), "hack/kind-try.sh"))
	command.Env = []string{"PATH=" + programs}
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "docker is missing") {
		t.Errorf("%v: %s", err, output)
	}
}
