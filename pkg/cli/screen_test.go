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
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/test/picture"
)

// screens has the widths of terminals. TestVerbsPrint tests the output without a terminal.
var screens = []int{80, 200}

// runOn returns the output of a command on a terminal.
func runOn(t *testing.T, screen terminal.Screen, args ...string) string {
	t.Helper()
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	out := &picture.Screen{Terminal: screen}
	streams.Out = out
	command := NewCommand(streams)
	command.SetArgs(args)
	if code := cmdline.Run(t.Context(), command, errOut); code != cmdline.ExitOK && code != cmdline.ExitError {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	return out.String()
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// TestVerbsFitTheScreen tests the commands in testdata/screens/commands. The files with the name of a
// command have its output on terminals. Their pictures are in docs/terminal.
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

// packageFolder is the initial working directory. Some tests change it.
var packageFolder, _ = filepath.Abs(".")

func onScreens(t *testing.T, line string, sourceFlag ...string) {
	t.Helper()
	args := append(strings.Fields(line), sourceFlag...)
	tidy := strings.NewReplacer(" --from "+sourceFlag[1], "", sourceFlag[1], "fleet.json")
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

// TestSnapshotPrints tests output that docs/kubectl-addon.md shows.
func TestSnapshotPrints(t *testing.T) {
	fleet := file(t, hub())
	t.Chdir(t.TempDir())
	compare(t, run(t, "snapshot", "fleet.json", "--from", fleet), filepath.Join(packageFolder, "testdata/snapshot_fleet.json.txt"))
}

// fileNote matches notes that do not appear with the hub of the current context.
var fileNote = regexp.MustCompile(`(?s)(note +)?Run the commands on the hub.*?--context\.\n\n|The commands act on the hub[^.]*--server\.\n`)

// fitsInto checks that no line is wider than the screen. Commands to paste are not wrapped.
func fitsInto(t *testing.T, printed string, width int) {
	t.Helper()
	for line := range strings.Lines(printed) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > width && !strings.HasPrefix(strings.TrimSpace(line), "run  ") {
			t.Errorf("%d characters on %d columns: %s", n, width, line)
		}
	}
}

// pictured maps the commands with pictures in the documentation to the names of the files.
var pictured = map[string]string{
	"why": "why", "why application-portal -n cluster01": "why-add-on", "tree managed-serviceaccount --dependents": "tree",
	"wait multicluster-kueue-manager": "wait", "status -n cluster01": "status", "status --summary": "status-summary",
	"report -n cluster01": "report", "impact --remove managed-serviceaccount": "impact", "describe cluster-gateway": "describe",
	"lint add-ons.yaml --live": "lint", "suggest": "suggest",
}

// wide has the commands that also have a picture of a wide terminal.
var wide = map[string]bool{"tree managed-serviceaccount --dependents": true, "status -n cluster01": true, "report -n cluster01": true}

// TestVerbsFitNarrowScreens tests that the output of verbs fits terminals of several widths.
func TestVerbsFitNarrowScreens(t *testing.T) {
	fleet := file(t, hub())
	for _, verb := range []string{"tree cluster-gateway", "status -A", "status --summary", "report", "impact --remove cluster-proxy"} {
		for _, width := range []int{60, 100, 120} {
			fitsInto(t, runOn(t, terminal.Screen{Width: width}, append(strings.Fields(verb), "--from", fleet)...), width)
		}
	}
}
