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

// What a shell offers are the lines before the last one, which has directives for it.
func completed(t *testing.T, args ...string) string {
	t.Helper()
	out := run(t, append([]string{cobra.ShellCompNoDescRequestCmd}, args...)...)
	names, _, _ := strings.Cut(out, ":")
	return strings.Join(strings.Fields(names), " ")
}

func TestNamesAreCompleted(t *testing.T) {
	from := "--from=" + file(t, hub())
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
		{"graph --format d", "dot mermaid svg"}, // the shell filters,
	} {
		words := strings.Fields(test.line)
		args := append([]string{words[0], from}, words[1:]...)
		if got := completed(t, args...); got != test.want {
			t.Errorf("%s: got %q, want %q", test.line, got, test.want)
		}
	}
}

func TestACompletionWithoutAHubIsSilentAndShort(t *testing.T) {
	for _, from := range []string{"--server=http://192.0.2.1:1", "--from=nowhere", "--from=-", "--kubeconfig=nowhere"} {
		for _, line := range []string{"why a", "why -n a", "status --reason a"} {
			words := strings.Fields(line)
			start := time.Now()
			got := run(t, append([]string{cobra.ShellCompNoDescRequestCmd, words[0], from}, words[1:]...)...)
			if !strings.HasPrefix(got, ":4\n") || time.Since(start) > 10*time.Second {
				t.Errorf("%s %s: after %s\n%s", from, line, time.Since(start), got)
			}
		}
	}
}

// The shell waits meanwhile.
func TestACompletionDoesNotWaitForASlowHub(t *testing.T) {
	done := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer slow.Close()
	defer close(done)
	start := time.Now()
	got := run(t, cobra.ShellCompNoDescRequestCmd, "why", "--server="+slow.URL, "-n", "a")
	if taken := time.Since(start); !strings.HasPrefix(got, ":4\n") || taken > 10*time.Second {
		t.Errorf("after %s\n%s", taken, got)
	}
}

// Shells that are installed accept their script; bash is everywhere.
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

// kubectl finds this file by its name, and the shell by its mode.
func TestKubectlCanRunTheCompletion(t *testing.T) {
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
