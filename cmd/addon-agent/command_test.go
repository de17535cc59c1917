package main

import (
	"bytes"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

func TestWrongCallsNameFlagAndValue(t *testing.T) {
	for _, test := range []struct {
		argument string
		want     []string
	}{
		{"--cluster-name=Cluster_1", []string{"--cluster-name", `"Cluster_1"`}},
		{"--hub-kubeconfig=", []string{"--hub-kubeconfig"}},
		{"--lease-grace-period=0s", []string{"--lease-grace-period", "0s"}},
		{"--lease-grace-period=soon", []string{"--lease-grace-period", `"soon"`}},
		{"--metrics-bind-address=8080", []string{"--metrics-bind-address", `"8080"`}},
		{"--health-probe-bind-address=:port", []string{"--health-probe-bind-address", `":port"`}},
		{"--log-format=xml", []string{"--log-format", `"xml"`, "text or json"}},
		{"--v=-1", []string{"--v", "-1"}},
		{"argument", []string{`"argument"`}},
	} {
		t.Run(test.argument, func(t *testing.T) {
			command := newCommand()
			command.SetArgs([]string{"--cluster-name=cluster1", "--hub-kubeconfig=hub.kubeconfig", test.argument})
			var errOut bytes.Buffer
			if code := cmdline.Run(t.Context(), command, &errOut); code != cmdline.ExitUsage {
				t.Errorf("exit code %d, want %d", code, cmdline.ExitUsage)
			}
			for _, want := range append(test.want, "addon-agent: ", "See 'addon-agent --help'.") {
				if !strings.Contains(errOut.String(), want) {
					t.Errorf("%q does not say %q", errOut.String(), want)
				}
			}
		})
	}
}
