package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/cli/source"
)

// serverNote is printed because the plugin's tests name their hub by its address.
const serverNote = "The commands act on the hub and as the user of the current context, without --server.\n"

// The page shows the golden output of the plugin's tests.
func TestPluginPageShowsRealOutput(t *testing.T) {
	output := regexp.MustCompile("```sh\nkubectl addon (.*)\n```\n\n```text\n((?s).*?)```")
	shown := output.FindAllStringSubmatch(read(t, "docs/kubectl-addon.md"), -1)
	if len(shown) < 3 {
		t.Fatalf("the page shows %d outputs", len(shown))
	}
	for _, block := range shown {
		golden := filepath.Join(root, "pkg/cli/testdata", strings.NewReplacer(" ", "_", "/", "_").Replace(block[1])+".txt")
		want, err := os.ReadFile(golden)
		// The page shows commands that read a hub, and the tests read a file. The verb snapshot writes that file.
		if !strings.HasPrefix(block[1], "snapshot ") {
			want = bytes.ReplaceAll(want, []byte(" --from fleet.json"), nil)
		}
		for _, line := range []string{"note  " + source.FileNote + "\n\n", source.FileNote + "\n\n", serverNote} {
			want = bytes.ReplaceAll(want, []byte(line), nil)
		}
		printed, _, _ := strings.Cut("\n"+string(want), "\nkubectl addon ") // the error of a check follows
		if err != nil || strings.TrimSpace(printed) != strings.TrimSpace(block[2]) {
			t.Errorf("kubectl addon %s: the page differs from %s (%v)", block[1], golden, err)
		}
	}
}

func TestPluginPageShowsRealGraph(t *testing.T) {
	graph := read(t, "pkg/cli/testdata/graph.txt")
	if !strings.Contains(read(t, "docs/kubectl-addon.md"), "```mermaid\n"+graph+"```") {
		t.Error("docs/kubectl-addon.md shows another graph than pkg/cli/testdata/graph.txt")
	}
}

func TestPluginPageShowsRealPicture(t *testing.T) {
	if read(t, "docs/graph.svg") != read(t, "pkg/cli/testdata/graph_--format_svg.txt") {
		t.Error("docs/graph.svg is another picture than pkg/cli/testdata/graph_--format_svg.txt: copy it")
	}
}

// The plugin's tests check that the pictures are current.
func TestPluginPageShowsAllTerminals(t *testing.T) {
	page := read(t, "docs/kubectl-addon.md")
	pictures, err := filepath.Glob("terminal/*.svg")
	if err != nil || len(pictures) < 15 {
		t.Fatalf("%d pictures of terminals, %v", len(pictures), err)
	}
	for _, path := range pictures {
		shown := regexp.MustCompile(`\[[^\]]{10,}\]\(` + regexp.QuoteMeta(path) + `\)`)
		if !shown.MatchString(page) {
			t.Errorf("docs/kubectl-addon.md does not show %s with a text for it", path)
		}
	}
}

func TestPagesShowTestedHealthChecks(t *testing.T) {
	page := read(t, "docs/coexistence.md")
	for _, file := range []string{"deploy/gitops/argocd-cm.yaml", "deploy/gitops/flux-kustomization.yaml"} {
		if !strings.Contains(page, "```yaml\n"+read(t, file)+"```") {
			t.Errorf("docs/coexistence.md does not show %s as it is", file)
		}
	}
}

func TestPluginPageNamesAllVerbs(t *testing.T) {
	page := read(t, "docs/kubectl-addon.md")
	for _, verb := range cli.NewCommand(genericiooptions.NewTestIOStreamsDiscard()).Commands() {
		if name := "`" + verb.Name() + "`"; !strings.Contains(page, "| "+name) && !strings.Contains(page, "| ["+name) {
			t.Errorf("docs/kubectl-addon.md has no row for %s", name)
		}
	}
}
