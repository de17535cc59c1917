package cli

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

var update = flag.Bool("update", false, "write what the verbs print to testdata")

// TestVerbsPrint tests the commands in testdata/commands on the fleet of hub. The file with
// the name of a command has its output.
func TestVerbsPrint(t *testing.T) {
	commands, err := os.ReadFile("testdata/commands")
	if err != nil {
		t.Fatal(err)
	}
	fleet := file(t, hub())
	for line := range strings.Lines(string(commands)) {
		line = strings.TrimSpace(line)
		t.Run(line, func(t *testing.T) {
			got := run(t, append(strings.Fields(line), "--from", fleet)...)
			got = strings.ReplaceAll(got, fleet, "fleet.json")
			compare(t, got, filepath.Join("testdata", golden(line)))
		})
	}
}

// golden returns the name of the file with the output of a command.
func golden(line string) string {
	return strings.NewReplacer(" ", "_", "/", "_").Replace(line) + ".txt"
}

// compare compares the output of a command with a file, or writes the file.
func compare(t *testing.T, got, golden string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v: go test ./pkg/cli -update writes it", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), go test ./pkg/cli -update accepts it:\n%s", golden, diff)
	}
}

// run returns the output of a command, and its exit code unless that is 0.
func run(t *testing.T, args ...string) string {
	t.Helper()
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	command := NewCommand(streams)
	command.SetArgs(args)
	if code := cmdline.Run(t.Context(), command, errOut); code != cmdline.ExitOK {
		return out.String() + errOut.String() + "exit code " + string(rune('0'+code)) + "\n"
	}
	return out.String() + errOut.String()
}
