package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// asPlugin makes this test program the plugin, so that kubectl can run it.
const asPlugin = "INTERLOCK_TEST_AS_PLUGIN"

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) == "" {
		os.Exit(m.Run())
	}
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	command := NewCommand(streams)
	command.SetArgs(os.Args[1:])
	os.Exit(cmdline.Run(context.Background(), command, os.Stderr))
}

// standIn runs plugins as kubectl does. The machine may have no kubectl, or a kubectl that makes
// further requests, such as for the version of the hub.
const standIn = `#!/bin/sh
case "$1 $2" in
"addon "*) shift; exec kubectl-addon "$@" ;;
"__complete addon") shift 2; exec kubectl_complete-addon "$@" ;;
esac
exit 1
`

// TestKubectlCompletesNamesOfHub tests that kubectl runs kubectl_complete-addon with the typed words.
// The script runs kubectl addon, which finds the names on the hub of the kubeconfig.
func TestKubectlCompletesNamesOfHub(t *testing.T) {
	script, err := os.ReadFile("../../cmd/kubectl-addon/kubectl_complete-addon")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	files := map[string]string{
		"kubectl": standIn, "kubectl_complete-addon": string(script),
		"kubectl-addon": "#!/bin/sh\n" + asPlugin + "=1 exec '" + self + "' \"$@\"\n",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(path, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", path+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("KUBECONFIG", kubeconfig(t, serve(t)))

	for _, test := range []struct{ typed, want string }{
		{"why cl", "cluster-gateway :4"},
		{"tree multi", "multicluster-kueue-manager :4"},
		{"why -n cluster5", "cluster50 :4"},
		{"impact --remove gov", "governance-policy-framework :4"},
		{"wait cluster-gateway managed", "managed-serviceaccount :4"},
		{"describe nothing", ":4"},
	} {
		// As kubectl's own script for a shell does. A completion ends after 2 s, which a busy machine
		// may need to start it.
		var got string
		for end := time.Now().Add(time.Minute); got != test.want && time.Now().Before(end); {
			command := exec.CommandContext(t.Context(), "kubectl", append([]string{"__complete", "addon"}, strings.Fields(test.typed)...)...)
			out, err := command.Output()
			if err != nil {
				t.Fatal(err)
			}
			got = strings.Join(strings.Fields(string(out)), " ")
		}
		if got != test.want {
			t.Errorf("kubectl addon %s: got %q, want %q", test.typed, got, test.want)
		}
	}
}

// kubeconfig writes a kubeconfig for a hub.
func kubeconfig(t *testing.T, server string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: server}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub"}
	config.CurrentContext = "hub"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
