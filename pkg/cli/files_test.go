package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

func TestUnusableFiles(t *testing.T) {
	folder, fleet := t.TempDir(), file(t, hub())
	pipe, note := filepath.Join(folder, "pipe"), filepath.Join(folder, "note")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, []byte("kind: Note\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"why --from " + pipe:                                   "--from: " + pipe + " is no regular file",
		"why --from " + folder:                                 "--from: " + folder + " is a directory",
		"why --from " + folder + "/none":                       "--from: there is no file or folder " + folder + "/none",
		"status -A --from " + note:                             "--from: " + note + " is no snapshot",
		"lint " + note + " --from " + folder + "/none":         "has no ClusterManagementAddOn",
		"impact -f " + pipe + " --from " + fleet:               pipe + " is no regular file",
		"describe -f " + pipe:                                  pipe + " is no regular file",
		"describe -f " + folder + "/none":                      "there is no file",
		"why --kubeconfig " + folder + "/none":                 "read kubeconfig: ",
		"why --request-timeout soon --server http://127.0.0.1": "read kubeconfig: ",
	} {
		got := run(t, strings.Fields(command)...)
		if code := "exit code 2"; !strings.Contains(got, want) || !strings.Contains(got, code) {
			t.Errorf("%s: no %q and %s in\n%s", command, want, code, got)
		}
	}
}

func TestSnapshotThroughPipes(t *testing.T) {
	copied := run(t, "snapshot", "-", "--from", file(t, hub()))
	for _, test := range []struct{ command, want string }{
		{"why --from -", "2 root causes of add-ons on 49 managed clusters"}, {"status -n cluster01 --from -", "application-portal"},
	} {
		streams, stdin, out, errOut := genericiooptions.NewTestIOStreams()
		if _, err := io.Copy(stdin, bytes.NewReader([]byte(copied))); err != nil {
			t.Fatal(err)
		}
		command := NewCommand(streams)
		command.SetArgs(strings.Fields(test.command))
		if code := cmdline.Run(t.Context(), command, errOut); code != cmdline.ExitOK || !strings.Contains(out.String(), test.want) {
			t.Errorf("%s: exit code %d, no %q in\n%s%s", test.command, code, test.want, out, errOut)
		}
	}
}

func TestSnapshotPrintsItsSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy.json")
	got := run(t, "snapshot", path, "--from", file(t, hub()))
	if want := path + " has 202 add-ons on 50 managed clusters (1 cannot be reached). Read it with --from " + path + ".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestImpactReadsPlacementFromPipe(t *testing.T) {
	streams, stdin, out, errOut := genericiooptions.NewTestIOStreams()
	stdin.WriteString("kind: Placement\nmetadata: {name: all, namespace: default}\n")
	command := NewCommand(streams)
	command.SetArgs([]string{"impact", "--install", "application-portal", "--placement", "-", "--from", file(t, hub())})
	code := cmdline.Run(t.Context(), command, errOut)
	if want := "Placement all selects 50 of 50"; code != cmdline.ExitError || !strings.Contains(out.String(), want) {
		t.Errorf("exit code %d, %s%s", code, out, errOut)
	}
	if got := run(t, "impact", "-f", "-", "--placement", "-", "--server", "http://127.0.0.1:1"); !strings.Contains(got, "exit code 2") {
		t.Error(got)
	}
}
