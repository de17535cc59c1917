package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// completed returns the completions of a command. The last line has directives for the shell.
func completed(t *testing.T, args ...string) string {
	t.Helper()
	out := run(t, append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...)
	names, _, _ := strings.Cut(out, ":")
	return strings.Join(strings.Fields(names), " ")
}

func TestNamesAreCompleted(t *testing.T) {
	fleet := "--from=" + file(t, hub())
	for _, test := range []struct{ line, want string }{
		{"why cl", "cluster-gateway cluster-proxy"},
		{"tree multi", "multicluster-kueue-manager"},
		{"describe appl", "application-portal"},
		{"why cluster-gateway c", ""},
		{"why -n cluster4", "cluster40 cluster41 cluster42 cluster43 cluster44 cluster45 cluster46 cluster47 cluster48 cluster49"},
		{"status --namespace=cluster5", "cluster50"},
		{"impact --remove gov", "governance-policy-framework"},
		{"impact --remove cluster-proxy,gov", "cluster-proxy,governance-policy-framework"},
		{"impact --version cluster-g", "cluster-gateway="},
		{"impact --install gov", "governance-policy-framework"},
		{"wait cluster-gateway cluster-p", "cluster-proxy"},
		{"install cluster-gateway appl", "application-portal"},
		{"install cluster-gateway --cluster cluster40,cluster5", "cluster40,cluster50"},
		{"impact cl", ""},
		{"status --reason Man", "ManagedClusterAddOnLeaseUpdateStopped ManagedClusterAddOnLeaseUpdated"},
		{"graph --format d", "dot mermaid svg"}, // the shell filters them
		{"why --color n", "auto always never"},
	} {
		words := strings.Fields(test.line)
		args := append([]string{words[0], fleet}, words[1:]...)
		if got := completed(t, args...); got != test.want {
			t.Errorf("%s: got %q, want %q", test.line, got, test.want)
		}
	}
}

func TestCompletionWithoutHubIsSilentAndShort(t *testing.T) {
	for _, flag := range []string{"--server=http://192.0.2.1:1", "--from=nowhere", "--from=-", "--kubeconfig=nowhere"} {
		for _, line := range []string{"why a", "why -n a", "status --reason a"} {
			words := strings.Fields(line)
			start := time.Now()
			got := run(t, append([]string{cobra.ShellCompNoDescRequestCmd, words[0], flag}, words[1:]...)...)
			if !strings.HasPrefix(got, ":4\n") || time.Since(start) > 10*time.Second {
				t.Errorf("%s %s: after %s\n%s", flag, line, time.Since(start), got)
			}
		}
	}
}

// TestCompletionDoesNotWaitForSlowHub tests the timeout of a completion, because the shell waits for it.
func TestCompletionDoesNotWaitForSlowHub(t *testing.T) {
	end := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer slow.Close()
	defer close(end)
	start := time.Now()
	got := run(t, cobra.ShellCompNoDescRequestCmd, "why", "--server="+slow.URL, "-n", "a")
	if elapsed := time.Since(start); !strings.HasPrefix(got, ":4\n") || elapsed > 10*time.Second {
		t.Errorf("after %s\n%s", elapsed, got)
	}
}

// TestShellsAcceptTheCompletion tests the scripts with the installed shells. bash is installed everywhere.
func TestShellsAcceptTheCompletion(t *testing.T) {
	for shell, check := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}} {
		script := filepath.Join(t.TempDir(), "completion")
		printed := run(t, "completion", shell)
		if err := os.WriteFile(script, []byte(printed), 0o600); err != nil {
			t.Fatal(err)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		if out, err := exec.CommandContext(t.Context(), path, append(check, script)...).CombinedOutput(); err != nil || len(printed) < 1000 {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
}

// TestKubectlCanRunCompletion tests the name and the mode of the script, because kubectl finds it by its name.
func TestKubectlCanRunCompletion(t *testing.T) {
	script := "../../cmd/kubectl-addon/kubectl_complete-addon"
	info, err := os.Stat(script)
	if err != nil || info.Mode().Perm()&0o111 != 0o111 {
		t.Fatalf("%v, %v", info, err)
	}
	for _, file := range []string{script, script + ".cmd"} {
		if content, err := os.ReadFile(file); err != nil || !strings.Contains(string(content), "kubectl addon "+cobra.ShellCompRequestCmd+" ") {
			t.Errorf("%s: %s, %v", file, content, err)
		}
	}
}
