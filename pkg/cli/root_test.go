package cli

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
)

func TestHelpHasGroups(t *testing.T) {
	help := run(t, "--help")
	for _, want := range []string{
		"Troubleshooting Commands:\n  why  ", "Other Commands:\n  completion", `Use "kubectl addon <command> --help" for more`,
	} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in\n%s", want, help)
		}
	}
	if strings.Contains(help, "--as") {
		t.Errorf("the help of the plugin has flags of all verbs:\n%s", help)
	}
	// Each verb is in one group.
	for _, verb := range NewCommand(genericiooptions.NewTestIOStreamsDiscard()).Commands() {
		if n := strings.Count(help, "\n  "+verb.Name()+" "); n != 1 && verb.Name() != "options" {
			t.Errorf("%s is in the help %d times", verb.Name(), n)
		}
	}
}

func TestHelpOfVerbNamesOptions(t *testing.T) {
	help := run(t, "why", "--help")
	for _, want := range []string{"kubectl addon why [ADDON] [options]\n", `Use "kubectl addon options" for a list of global`} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in\n%s", want, help)
		}
	}
	if strings.Contains(help, "--kubeconfig") {
		t.Errorf("the help of a verb has flags of all verbs:\n%s", help)
	}
	for _, want := range []string{"--kubeconfig=''", "--from=''", "--color='auto'"} {
		if got := run(t, "options"); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestColorFlag(t *testing.T) {
	const red = "\x1b[31m"
	fleet := file(t, hub())
	for _, test := range []struct {
		screen terminal.Screen
		mode   string
		want   bool
	}{
		{terminal.Screen{}, "auto", false},
		{terminal.Screen{}, "always", true},
		{terminal.Screen{Width: 80, Colored: true}, "auto", true},
		{terminal.Screen{Width: 80, Colored: true}, "never", false},
		{terminal.Screen{Width: 80}, "always", true},
	} {
		for _, verb := range []string{"why", "status -A"} {
			got := runOn(t, test.screen, append(strings.Fields(verb), "--color", test.mode, "--from", fleet)...)
			if strings.Contains(got, red) != test.want {
				t.Errorf("%s --color=%s on %v: %q", verb, test.mode, test.screen, got)
			}
		}
	}
	expectRun(t, "why --color=blue --from "+fleet, `kubectl addon why: invalid argument "blue" for "--color" flag: `,
		"must be one of auto, always, never", "exit code 2")
}

// TestCustomColumns tests columns as kubectl has them, for a report with items, a report without, and a plain list.
func TestCustomColumns(t *testing.T) {
	fleet := " --from " + file(t, hub())
	expectRun(t, "why -o custom-columns=ADD-ON:.addOn,VERDICT:verdict"+fleet,
		"ADD-ON                        VERDICT\nmanaged-serviceaccount        NotAvailable\ngovernance-policy-framework   NotInstalled\n")
	expectRun(t, "describe cluster-gateway -o custom-columns=NAME:.addOn,NEEDS:.needs[*].name"+fleet,
		"NAME              NEEDS\ncluster-gateway   managed-serviceaccount,cluster-proxy\n")
	expectRun(t, "status -n cluster40 --no-headers -o custom-columns=:.name,:.degraded,:.nothing"+fleet, "cluster-gateway")
	for format, want := range map[string]string{
		"custom-columns=ADD-ON": "unexpected custom-columns spec: ADD-ON",
		"custom-columns":        "custom-columns format specified but no",
	} {
		expectRun(t, "why -o "+format+fleet, fmt.Sprintf("kubectl addon why: --output=%q: %s", format, want), "exit code 2")
	}
}

func TestVersionWithoutHub(t *testing.T) {
	expectRun(t, "version --client", "Client Version: unknown\n")
	expectRun(t, "version --client -o jsonpath={.kind}{.hub}", "ComponentVersions")
	expectRun(t, "version --server http://127.0.0.1:1", "Client Version: unknown\n", "does http://127.0.0.1:1 respond?", "exit code 3")
	expectRun(t, "version --from "+file(t, hub()), "kubectl addon version: --from: version needs a hub", "exit code 2")
}
