package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/test/picture"
)

// The screens of terminals. The output to none is that of TestVerbsPrint.
var screens = []int{80, 200}

// runOn returns what a command prints on a terminal.
func runOn(t *testing.T, screen terminal.Screen, args ...string) string {
	t.Helper()
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	out := &picture.Screen{On: screen}
	streams.Out = out
	command := NewCommand(streams)
	command.SetArgs(args)
	if code := cmdline.Run(t.Context(), command, errOut); code != cmdline.ExitOK && code != cmdline.ExitError {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	return out.String()
}

func lines(t *testing.T, path string) (all []string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// Each line of testdata/screens/commands is a command, and the files with that name what it
// prints on terminals. Their pictures are in docs/terminal.
func TestVerbsFitTheScreen(t *testing.T) {
	fleet := file(t, hub())
	for _, line := range lines(t, "testdata/screens/commands") {
		t.Run(line, func(t *testing.T) { onScreens(t, line, "--from", fleet) })
	}
	commands := lines(t, "testdata/screens/hub-commands")
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	server := serve(t)
	folder, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range commands {
		t.Run(line, func(t *testing.T) {
			t.Chdir(filepath.Join(folder, "testdata/files"))
			onScreens(t, line, "--server", server)
		})
	}
}

// packageFolder is where the tests begin; some change to another folder.
var packageFolder, _ = filepath.Abs(".")

func onScreens(t *testing.T, line string, from ...string) {
	t.Helper()
	args := append(strings.Fields(line), from...)
	tidy := strings.NewReplacer(" --from "+from[1], "", from[1], "fleet.json")
	for _, width := range screens {
		got := runOn(t, terminal.Screen{Width: width}, args...)
		colored := runOn(t, terminal.Screen{Width: width, Colored: true}, args...)
		if colorless := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(colored, ""); colorless != got {
			t.Errorf("on %d columns, colors change more than colors:\n%s\n%s", width, got, colorless)
		}
		if !strings.HasPrefix(line, "graph") && !strings.Contains(line, "-o wide") {
			fitsInto(t, got, width)
		}
		name := strings.TrimSuffix(golden(line), ".txt")
		compare(t, tidy.Replace(got), filepath.Join(packageFolder, "testdata/screens", fmt.Sprintf("%s_%d.txt", name, width)))
		svg := filepath.Join(packageFolder, "../../docs/terminal", fmt.Sprintf("%s-%d.svg", pictured[line], width))
		if pictured[line] != "" && (width == 80 || wide[line]) {
			picture.Compare(t, svg, picture.SVG("kubectl addon "+line, fileNote.ReplaceAllString(tidy.Replace(colored), ""), width))
		}
	}
}

// The page docs/kubectl-addon.md shows it.
func TestSnapshotPrints(t *testing.T) {
	fleet := file(t, hub())
	t.Chdir(t.TempDir())
	compare(t, run(t, "snapshot", "fleet.json", "--from", fleet), filepath.Join(packageFolder, "testdata/snapshot_fleet.json.txt"))
}

// fileNote is what a hub of the current context does not give.
var fileNote = regexp.MustCompile(`(?s)(note +)?Run the commands on the hub.*?--context\.\n\n|The commands act on the hub[^.]*--server\.\n`)

// fitsInto finds lines that are wider than the screen. Commands to paste stay one line.
func fitsInto(t *testing.T, printed string, width int) {
	t.Helper()
	for line := range strings.Lines(printed) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > width && !strings.HasPrefix(strings.TrimSpace(line), "run  ") {
			t.Errorf("%d characters on %d columns: %s", n, width, line)
		}
	}
}

// pictured are the commands whose pictures are in the documentation, by the names of files.
var pictured = map[string]string{
	"why": "why", "why application-portal -n cluster01": "why-add-on", "tree managed-serviceaccount --dependents": "tree",
	"wait multicluster-kueue-manager": "wait", "status -n cluster01": "status", "status --summary": "status-summary",
	"report -n cluster01": "report", "impact --remove managed-serviceaccount": "impact", "describe cluster-gateway": "describe",
	"lint add-ons.yaml --live": "lint", "suggest": "suggest",
}

// wide are those with a picture of a wide terminal, too.
var wide = map[string]bool{"tree managed-serviceaccount --dependents": true, "status -n cluster01": true, "report -n cluster01": true}

// No verb breaks on a terminal of any size.
func TestVerbsFitNarrowScreens(t *testing.T) {
	fleet := file(t, hub())
	for _, verb := range []string{"tree cluster-gateway", "status -A", "status --summary", "report", "impact --remove cluster-proxy"} {
		for _, width := range []int{60, 100, 120} {
			fitsInto(t, runOn(t, terminal.Screen{Width: width}, append(strings.Fields(verb), "--from", fleet)...), width)
		}
	}
}
