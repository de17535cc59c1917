package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// run calls the command as main does.
func run(t *testing.T, arguments ...string) (code int, out, errOut string) {
	t.Helper()
	command := newCommand()
	command.SetArgs(arguments)
	var stdout, stderr bytes.Buffer
	command.SetOut(&stdout)
	code = cmdline.Run(t.Context(), command, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestWrongCallsNameFlagAndValue(t *testing.T) {
	for _, test := range []struct {
		argument string
		want     []string
	}{
		{"--offline=sometimes", []string{"--offline", `"sometimes"`, "hold or strict"}},
		{"--offline=", []string{"--offline", `""`, "hold or strict"}},
		{"--reports=some", []string{"--reports", `"some"`, "off, unsatisfied or all"}},
		{"--reports=", []string{"--reports", `""`}},
		{"--guard=on", []string{"--guard", `"on"`, "auto, policy, webhook or off"}},
		{"--guard=", []string{"--guard", `""`}},
		{"--graft-crds=maybe", []string{"--graft-crds", `"maybe"`}},
		{"--graft-grace-period=0s", []string{"--graft-grace-period=0s", "more than 0"}},
		{"--graft-grace-period=-1m", []string{"--graft-grace-period=-1m0s", "more than 0"}},
		{"--webhook-address=host", []string{"--webhook-address", `"host"`, "[host]:port"}},
		{"--webhook-address=0", []string{"--webhook-address", `"0"`, "[host]:port"}},
		{"--concurrency=0", []string{"--concurrency", "0", "at least 1"}},
		{"--concurrency=-3", []string{"--concurrency", "-3"}},
		{"--concurrency=many", []string{"--concurrency", `"many"`}},
		{"--leader-elect=perhaps", []string{"--leader-elect", `"perhaps"`}},
		{"--log-format=xml", []string{"--log-format", `"xml"`, "text or json"}},
		{"--v=-1", []string{"--v", "-1"}},
		{"--metrics-bind-address=8080", []string{"--metrics-bind-address", `"8080"`}},
		{"--metrics-bind-address=:99999", []string{"--metrics-bind-address", `":99999"`}},
		{"--health-probe-bind-address=:port", []string{"--health-probe-bind-address", `":port"`}},
		{"--leader-elect-namespace=Kube_System", []string{"--leader-elect-namespace", `"Kube_System"`}},
		{"--no-such-flag", []string{"--no-such-flag"}},
		{"argument", []string{`"argument"`}},
	} {
		t.Run(test.argument, func(t *testing.T) {
			code, out, errOut := run(t, test.argument)
			if code != cmdline.ExitUsage {
				t.Errorf("exit code %d, want %d", code, cmdline.ExitUsage)
			}
			for _, want := range append(test.want, "addon-manager: ", "See 'addon-manager --help'.") {
				if !strings.Contains(errOut, want) {
					t.Errorf("%q does not say %q", errOut, want)
				}
			}
			if lines := strings.Count(errOut, "\n"); lines != 2 || out != "" {
				t.Errorf("%d lines of error, output %q", lines, out)
			}
		})
	}
}

func TestAKubeconfigThatCannotBeReadIsAWrongCall(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.kubeconfig")
	code, _, errOut := run(t, "--kubeconfig="+missing)
	if code != cmdline.ExitUsage || !strings.Contains(errOut, "--kubeconfig="+strconv.Quote(missing)) {
		t.Errorf("exit code %d, %q", code, errOut)
	}
}

func TestEveryFormOfTheGuardIsTaken(t *testing.T) {
	for _, mode := range []string{"auto", "policy", "webhook", "off"} {
		code, _, errOut := run(t, "--guard="+mode, "--kubeconfig="+filepath.Join(t.TempDir(), "missing.kubeconfig"))
		if code != cmdline.ExitUsage || !strings.Contains(errOut, "--kubeconfig") {
			t.Errorf("--guard=%s: exit code %d, %q", mode, code, errOut)
		}
	}
	if _, out, _ := run(t, "--help"); !strings.Contains(out, `(default "auto")`) {
		t.Errorf("the default is not auto: %s", out)
	}
}

func TestALogInJSONIsJSONToItsEnd(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.kubeconfig")
	code, _, errOut := run(t, "--log-format=json", "--kubeconfig="+missing)
	var line struct{ Level, Error string }
	if err := json.Unmarshal([]byte(errOut), &line); err != nil {
		t.Fatalf("%q is not one line of JSON: %v", errOut, err)
	}
	if code != cmdline.ExitUsage || line.Level != "error" || !strings.Contains(line.Error, missing) {
		t.Errorf("exit code %d, %q", code, errOut)
	}
}

func TestHelpNamesEveryFlag(t *testing.T) {
	code, out, errOut := run(t, "--help")
	if code != cmdline.ExitOK || errOut != "" {
		t.Errorf("exit code %d, %q", code, errOut)
	}
	for _, want := range []string{
		"--kubeconfig", "--leader-elect ", "--leader-elect-namespace", "--metrics-bind-address", "--health-probe-bind-address",
		"--offline", "--guard", "--graft-crds", "--graft-grace-period", "--webhook-address", "--concurrency", "--log-format", "-v, --v",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("help does not say %q", want)
		}
	}
}

func TestTheDelayOfRemovals(t *testing.T) {
	for _, delay := range []string{"-1h", "0", "999ms"} {
		code, out, errOut := run(t, "--lifecycle", "--lifecycle-removal-delay="+delay)
		if code != cmdline.ExitUsage || out != "" || !strings.Contains(errOut, "--lifecycle-removal-delay=") ||
			!strings.Contains(errOut, "must be at least 1s") {
			t.Errorf("%s: exit code %d, %q", delay, code, errOut)
		}
	}
}

func TestWrongCallsOfTheWebhook(t *testing.T) {
	for argument, want := range map[string]string{
		"--webhook-bind-address=0":           "nothing else to serve",
		"--webhook-bind-address=9443":        "must be [host]:port",
		"--metrics-bind-address=:port":       "must be [host]:port",
		"--health-probe-bind-address=:99999": "must be [host]:port",
		"--log-format=xml":                   "text or json",
		"--leader-elect=false":               "unknown flag",
		"--certificates=cert-manager":        `"cert-manager": must be interlock or files`,
		"--certificates=":                    "must be interlock or files",
		"--certificate-dir=/certificate":     "is not read with --certificates=interlock; set --certificates=files",
		"--stop-after=-1s":                   "--stop-after=-1s: must not be negative",
		"--namespace=A_b":                    `--namespace="A_b": `,
		"--service-name=A_b":                 `--service-name="A_b": `,
		"--certificates=files":               `--certificate-dir="": open tls.crt: no such file`,
	} {
		code, out, errOut := run(t, "webhook", argument)
		if code != cmdline.ExitUsage || out != "" || !strings.Contains(errOut, want) ||
			!strings.Contains(errOut, "See 'addon-manager webhook --help'.") {
			t.Errorf("%s: exit code %d, %q", argument, code, errOut)
		}
	}
}

func TestWrongCallsOfTheUninstallation(t *testing.T) {
	for argument, want := range map[string]string{
		"--timeout=0s":                       `--timeout=0s: must be at least 1s`,
		"--only=guard":                       `--only="guard": must be graft`,
		"--namespace=Interlock_System":       `--namespace="Interlock_System": `,
		"--leader-elect-namespace=Kube_Test": `--leader-elect-namespace="Kube_Test": `,
		"--kubeconfig=/nowhere":              `--kubeconfig="/nowhere": `,
		"everything":                         `"everything"`,
	} {
		code, out, errOut := run(t, "uninstall", argument)
		if code != cmdline.ExitUsage || out != "" || !strings.Contains(errOut, want) ||
			!strings.Contains(errOut, "See 'addon-manager uninstall --help'.") {
			t.Errorf("%s: exit code %d, %q", argument, code, errOut)
		}
	}
}
